package server_test

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/png"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"boon.example/examples"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/server"
	"boon.example/internal/staff"
	"boon.example/internal/store"
)

// form is what a browser would send of the form on a page that has a button with a name.
func (a answer) form(t *testing.T, button string) url.Values {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.DataAtom != atom.Form {
			continue
		}
		if values := inputs(n); slices.Contains(values["do"], button) {
			values.Set("do", button)
			return values
		}
	}
	t.Fatalf("no form has the button %s: %s", button, a.body)
	return nil
}

// inputs are those of a form, with all of its buttons under do.
func inputs(form *nethtml.Node) url.Values {
	all := url.Values{}
	for n := range form.Descendants() {
		name, _ := attribute(n, "name")
		value, _ := attribute(n, "value")
		_, checked := attribute(n, "checked")
		kind, _ := attribute(n, "type")
		switch {
		case name == "":
		case n.DataAtom == atom.Textarea && n.FirstChild != nil:
			all.Add(name, n.FirstChild.Data)
		case n.DataAtom == atom.Select:
			for o := range n.Descendants() {
				if _, chosen := attribute(o, "selected"); chosen {
					value, _ := attribute(o, "value")
					all.Add(name, value)
				}
			}
		case kind == "file", kind == "checkbox" && !checked:
		case n.DataAtom == atom.Input, n.DataAtom == atom.Button:
			all.Add(name, value)
		}
	}
	return all
}

// unfilled are the fields of a page that are required and empty: with them, no browser sends their form.
func (a answer) unfilled(t *testing.T) (names []string) {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		value, _ := attribute(n, "value")
		if name, _ := attribute(n, "name"); n.DataAtom == atom.Input && value == "" {
			if _, is := attribute(n, "required"); is {
				names = append(names, name)
			}
		}
	}
	return names
}

func attribute(n *nethtml.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// links are the addresses of a page that begin so, below those of the console of the example.
func (a answer) links(begin string) (all []string) {
	for _, found := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(a.body, -1) {
		if to := html.UnescapeString(found[1]); strings.HasPrefix(to, begin) && !slices.Contains(all, to) {
			all = append(all, to)
		}
	}
	return all
}

// record is the address of the only record with a name in a section.
func (b *browser) record(section, name string) string {
	b.Helper()
	list := b.want(http.StatusOK, harborConsole+"setup/"+section, nil)
	found := regexp.MustCompile(`<a href="([^"]+)">`+regexp.QuoteMeta(html.EscapeString(name))+`</a>`).
		FindAllStringSubmatch(list.body, -1)
	if len(found) != 1 {
		b.Fatalf("%s has %d records named %s: %s", section, len(found), name, list.body)
	}
	return harborConsole + "setup/" + found[0][1]
}

// TestSettingsStayAsTheyAre: each form of the set-up that is sent as it was shown changes nothing, in each language.
func TestSettingsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	forms := 0
	for n, language := range []string{"en", "de", "es"} {
		index := owner.want(http.StatusOK, harborConsole+"setup?lang="+language, nil)
		for _, section := range index.links("setup/") {
			page := owner.want(http.StatusOK, harborConsole+section+"?lang="+language, nil)
			name := strings.TrimPrefix(section, "setup/")
			paths := page.links(name + "/")
			if len(paths) == 0 {
				paths = []string{name}
			}
			for _, path := range paths {
				path = harborConsole + "setup/" + path
				shown := owner.want(http.StatusOK, path+"?lang="+language, nil)
				empty := shown.unfilled(t)
				if strings.HasSuffix(path, "/new") {
					if optional := slices.DeleteFunc(empty, neededFirst); len(optional) > 0 {
						t.Errorf("%s: a new record needs %q", path, optional)
					}
					continue
				}
				if n > 0 {
					continue
				}
				forms++
				if len(empty) > 0 {
					t.Errorf("%s: a browser sends nothing without %q", path, empty)
				}
				if saved := owner.want(http.StatusOK, path, shown.form(t, "save")); !strings.Contains(saved.body,
					"Nothing was changed") {
					t.Errorf("%s: %s", path, saved.body)
				}
			}
		}
	}
	if forms < 12 {
		t.Errorf("only %d forms were sent", forms)
	}
}

// TestSettingsAreChosen: a time zone, a country and a state are found by their names in the language of the page; only
// the pages that ask for one have the list, and each list that a field names is there.
func TestSettingsAreChosen(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	for path, offers := range map[string][]string{
		"setup/business?lang=de": {`<input name="timeZone" value="America/New_York" list="timeZone-offers" required`,
			`<datalist id="timeZone-offers">`, `<option value="Europe/Vienna" label="Vienna, Österreich">`,
			`<input name="country" value="" list="country-offers"`, `<datalist id="country-offers">`,
			`<option value="DE" label="Deutschland">`},
		"setup/business?lang=es": {`<option value="DE" label="Alemania">`},
		"setup/locations/new?lang=en": {`<datalist id="jurisdiction-offers">`,
			`<option value="US-CA" label="California, United States">`, `<option value="AT" label="Austria">`},
		"setup/messages?lang=de": {`<input name="textCountries" value="" list="textCountries-offers" aria-label="Länder, in `,
			`<option value="Österreich">`},
		"setup/designs/new?lang=en": {` placeholder="#0b5fff" data-color`, `/color.js`},
	} {
		page := owner.want(http.StatusOK, harborConsole+path, nil).body
		for _, offer := range offers {
			if !strings.Contains(page, offer) {
				t.Errorf("%s offers no %s: %s", path, offer, page)
			}
		}
		if lists := strings.Contains(page, "<datalist"); lists == strings.Contains(path, "designs") || len(page) > 80<<10 {
			t.Errorf("%s has lists: %t, and %d bytes", path, lists, len(page))
		}
	}
}

// TestCountriesAreChosenByName: the countries of SMS are shown and taken by their names in the language of the page, by
// their codes as before, and what is no country is told at its field and kept.
func TestCountriesAreChosenByName(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	const path = harborConsole + "setup/messages"
	typed := owner.want(http.StatusOK, path+"?lang=de", nil).form(t, "save")
	typed["textCountries"] = []string{"österreich", "Deutschland", "", "CH\r\nus"}
	saved := owner.want(http.StatusOK, path+"?lang=de", typed)
	if !strings.Contains(saved.body, "Österreich, Schweiz, Deutschland, Vereinigte Staaten") {
		t.Errorf("saved: %s", saved.body)
	}
	if said := s.trail("countries of SMS from US and CA to AT and CH and DE and US"); said.Actor.Person != "ann" {
		t.Errorf("the audit trail says %+v", said)
	}
	for language, want := range map[string][]string{"de": {"Österreich", "Schweiz", "Deutschland", "Vereinigte Staaten"},
		"es": {"Austria", "Suiza", "Alemania", "Estados Unidos"}} {
		shown := owner.want(http.StatusOK, path+"?lang="+language, nil).form(t, "save")
		got := slices.DeleteFunc(slices.Clone(shown["textCountries"]), func(s string) bool { return s == "" })
		if !slices.Equal(got, want) || len(shown["textCountries"]) < len(want)+2 {
			t.Errorf("in %s they are %q", language, shown["textCountries"])
		}
		if again := owner.want(http.StatusOK, path+"?lang="+language, shown); !strings.Contains(again.body, map[string]string{
			"de": "Nichts wurde geändert", "es": "No ha cambiado nada"}[language]) {
			t.Errorf("sent as it is shown: %s", again.body)
		}
	}
	typed = owner.want(http.StatusOK, path, nil).form(t, "save")
	typed["textCountries"] = []string{"Atlantis", "<b>"}
	refused := owner.want(http.StatusUnprocessableEntity, path, typed)
	if got := refused.form(t, "save")["textCountries"]; got[0] != "Atlantis" || got[1] != "<b>" {
		t.Errorf("what is no country stands as %q", got)
	}
}

// TestAPersonNeedsAPIN: whoever adds a person at the tills is told what is still to be done, and is not told it of
// another change.
func TestAPersonNeedsAPIN(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	const path = harborConsole + "setup/people/new"
	typed := owner.want(http.StatusOK, path, nil).form(t, "save")
	typed.Set("name", "Ben <b>")
	const next = "Ben &lt;b&gt; still needs a PIN."
	if saved := owner.want(http.StatusOK, path, typed); !strings.Contains(saved.body, next) {
		t.Errorf("added: %s", saved.body)
	}
	record := owner.record("people", "Ben <b>")
	typed = owner.want(http.StatusOK, record, nil).form(t, "save")
	typed.Set("may", "reverse")
	if saved := owner.want(http.StatusOK, record, typed); strings.Contains(saved.body, next) {
		t.Errorf("changed: %s", saved.body)
	}
}

// neededFirst reports whether no record can be without a field of a form.
func neededFirst(name string) bool { return name == "name" || name == "url" }

// TestOwnersChangeASetting: what is saved is told in words and is in force at once; it can be taken back; what is wrong
// stands at its field, and what was typed is kept.
func TestOwnersChangeASetting(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	path := owner.record("promotions", "Spring")
	typed := owner.want(http.StatusOK, path, nil).form(t, "save")
	typed.Set("validForDays", "0")
	typed.Set("name", `Spring "><script>x</script>`)
	refused := owner.want(http.StatusUnprocessableEntity, path, typed)
	if !strings.Contains(refused.body, "a whole number of days from 1 to 3650.</small>") ||
		!strings.Contains(refused.body, "Nothing was saved.") ||
		strings.Contains(refused.body, "<script>") || refused.form(t, "save").Get("name") != typed.Get("name") {
		t.Errorf("refused: %s", refused.body)
	}
	typed = refused.form(t, "save")
	typed.Set("validForDays", "60")
	saved := owner.want(http.StatusOK, path, typed)
	if !strings.Contains(saved.body, "60 instead of 30") || strings.Contains(saved.body, "<script>") {
		t.Errorf("saved: %s", saved.body)
	}
	if again := owner.want(http.StatusOK, path, typed); !strings.Contains(again.body, "Nothing was changed") {
		t.Errorf("sent twice: %s", again.body)
	}
	list := owner.want(http.StatusOK, harborConsole+"setup/promotions", nil)
	if !strings.Contains(list.body, "&lt;script&gt;") || strings.Contains(list.body, "<script>") {
		t.Errorf("the list: %s", list.body)
	}
	owner.want(http.StatusOK, path, saved.form(t, "undo"))
	now := owner.want(http.StatusOK, owner.record("promotions", "Spring"), nil).form(t, "save")
	if now.Get("validForDays") != "30" {
		t.Errorf("taken back, it is %v", now)
	}
	if said := s.trail("validity from 60 to 30"); said.Actor.Person != "ann" || said.RequestID == "" {
		t.Errorf("the audit trail says %+v", said)
	}
}

// trail is the line of the audit trail of the example that has a text.
func (s *service) trail(text string) (found event.TrailEntry) {
	s.Helper()
	s.withStore(func(db *store.Store) error {
		account, err := guid.Parse(examples.HarborAccount)
		if err != nil {
			return err
		}
		page, err := db.Trail(s.Context(), event.TrailFilter{AccountID: account, Limit: 100})
		for _, e := range page.Entries {
			if strings.Contains(e.What, text) {
				found = e
			}
		}
		return err
	})
	return found
}

// TestTwoOwnersAtOnePromotion: the second of two who saved is told what the first one made of it, keeps what was typed,
// and decides.
func TestTwoOwnersAtOnePromotion(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann, ben := s.joined("ann@example.com", staff.Owner), s.joined("ben@example.com", staff.Owner)
	path := ann.record("promotions", "Spring")
	hers, his := ann.want(http.StatusOK, path, nil).form(t, "save"), ben.want(http.StatusOK, path, nil).form(t, "save")
	hers.Set("validForDays", "41")
	ann.want(http.StatusOK, path, hers)
	his.Set("validForDays", "52")
	told := ben.want(http.StatusConflict, path, his)
	again := told.form(t, "save")
	if !strings.Contains(told.body, `class="now">Saved now: 41</small>`) || again.Get("validForDays") != "52" {
		t.Errorf("the second is told %s", told.body)
	}
	if saved := ben.want(http.StatusOK, path, again); !strings.Contains(saved.body, "52 instead of 41") {
		t.Errorf("decided: %s", saved.body)
	}
	hers.Set("do", "remove")
	ann.want(http.StatusConflict, path, hers)
	his = ben.want(http.StatusOK, path, nil).form(t, "save")
	ann.want(http.StatusOK, path, ann.want(http.StatusOK, path, nil).form(t, "remove"))
	his.Set("validForDays", "63")
	told = ben.want(http.StatusConflict, path, his)
	if !strings.Contains(told.body, "Somebody else removed this") {
		t.Errorf("of what was removed, the second is told %s", told.body)
	}
	ben.want(http.StatusOK, path, told.form(t, "save"))
	if now := ben.want(http.StatusOK, path, nil).form(t, "save"); now.Get("validForDays") != "63" {
		t.Errorf("it is not made anew: %v", now)
	}
}

// TestKeysAndProof: who makes or ends a key has proved who they are within five minutes; the key is shown once, works,
// and works no more once it is revoked.
func TestKeysAndProof(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	const path = harborConsole + "setup/keys/new"
	typed := owner.want(http.StatusOK, path, nil).form(t, "save")
	typed.Set("name", "Web shop 2")
	typed.Set("role", "shop")
	made := owner.want(http.StatusOK, path, typed)
	key := regexp.MustCompile(`boon_live_[A-Za-z0-9_]+`).FindString(made.body)
	if key == "" {
		t.Fatalf("no key is shown: %s", made.body)
	}
	s.must("GET", "/api/integration/gifting/gifts", key, "", nil)
	again := owner.want(http.StatusUnprocessableEntity, path, typed)
	if !strings.Contains(again.body, "did not see its secret") {
		t.Errorf("sent twice: %s", again.body)
	}
	typed.Set("name", "Reader")
	typed.Set("permissions", "look-up")
	typed.Del("role")
	owner.want(http.StatusOK, path, typed)
	if again := owner.want(http.StatusOK, path, typed); !strings.Contains(again.body, "its secret was shown once") {
		t.Errorf("sent twice: %s", again.body)
	}
	its := owner.record("keys", "Web shop 2")
	shown := owner.want(http.StatusOK, its, nil)
	if strings.Contains(shown.body, key) {
		t.Error("the key is shown again")
	}
	owner.want(http.StatusOK, its, shown.form(t, "remove"))
	if status, _, err := s.call("GET", "/api/integration/gifting/gifts", key, ""); status != http.StatusUnauthorized {
		t.Errorf("once it is revoked: %d, %v", status, err)
	}
	owner = s.unproven(owner.token())
	for _, fresh := range []string{"keys/new", "webhooks/new", "platforms/new", "people/new", "programs/new", "wallet",
		"books", "limits"} {
		for _, do := range []string{"", "save", "more", "undo", "remove", "pin", "replay", "rotate"} {
			var form url.Values
			if do != "" {
				form = url.Values{"do": {do}, "was": {"{}"}, "days": {"1"}}
			}
			a := owner.want(http.StatusSeeOther, harborConsole+"setup/"+fresh, form)
			if to := a.header.Get("Location"); to != harborConsole+"confirm?to=setup/"+fresh {
				t.Errorf("%s leads to %s", fresh, to)
			}
		}
	}
	owner.want(http.StatusOK, harborConsole+"setup/business", nil)
}

// TestAmountsOfTheSetUpAreTypedAsElsewhere: forms of the set-up show and read amounts as the language of the page
// writes them. What may mean two amounts is refused with both, and stands there as it was typed.
func TestAmountsOfTheSetUpAreTypedAsElsewhere(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	path := harborConsole + "setup/limits"
	save := func(language, typed string, status int, says ...string) {
		t.Helper()
		form := owner.want(http.StatusOK, path+"?lang="+language, nil).form(t, "save")
		form.Set("maxGiftValue", typed)
		saved := owner.want(status, path+"?lang="+language, form)
		for _, text := range says {
			if !strings.Contains(saved.body, text) {
				t.Errorf("%s %q: no %q in %s", language, typed, text, saved.body)
			}
		}
	}
	save("de", "1.750,50", http.StatusOK, "1750,50")
	for language, shown := range map[string]string{"de": "1750,50", "en": "1750.50"} {
		form := owner.want(http.StatusOK, path+"?lang="+language, nil).form(t, "save")
		if form.Get("maxGiftValue") != shown {
			t.Errorf("%s: %q", language, form.Get("maxGiftValue"))
		}
	}
	save("en", "1.250", http.StatusUnprocessableEntity, `value="1.250"`, "could be $1,250.00 or $1.25")
	save("de", "viel", http.StatusUnprocessableEntity, `value="viel"`)
	save("de", "0,00", http.StatusUnprocessableEntity, `value="0,00"`)
}

// TestOnlyOwnersSetUp: nobody else sees a page of the set-up, or changes anything.
func TestOnlyOwnersSetUp(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	paths, forms := []string{"setup"}, map[string]url.Values{}
	for _, section := range owner.want(http.StatusOK, harborConsole+"setup", nil).links("setup/") {
		paths = append(paths, section)
		if values := added[strings.TrimPrefix(section, "setup/")]; values != nil {
			section += "/new"
		}
		forms[section] = owner.want(http.StatusOK, harborConsole+section, nil).form(t, "save")
		maps.Copy(forms[section], added[strings.TrimSuffix(strings.TrimPrefix(section, "setup/"), "/new")])
	}
	delete(forms, "setup/programs/new") // the example has all of them
	forms["setup/platforms/new"].Set("sites.0.location", pier39)
	for n, role := range []staff.Role{staff.Manager, staff.Bookkeeper, staff.Cashier} {
		other := s.joined(fmt.Sprintf("other%d@example.com", n), role)
		for _, path := range paths {
			if a := other.ask(harborConsole+path, nil); a.status != http.StatusForbidden {
				t.Errorf("%s sees %s: %d", role, path, a.status)
			}
		}
		for path, form := range forms {
			if a := other.ask(harborConsole+path, form); a.status != http.StatusForbidden {
				t.Errorf("%s saves %s: %d", role, path, a.status)
			}
		}
	}
	for path, form := range forms {
		owner.want(http.StatusOK, harborConsole+path, form)
	}
	owner.want(http.StatusForbidden, harborConsole+"setup/business", url.Values{"do": {"save"}}, "Origin",
		"https://thief.example")
	owner.want(http.StatusNotFound, harborConsole+"setup/nothing", nil)
	owner.want(http.StatusNotFound, harborConsole+"setup/locations/nothing", nil)
}

// TestHostileTexts: whatever is typed into a field of the set-up, and whether it is refused or saved, no page takes it
// for its own.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	const hostile = `"><script>alert(1)</script><a href="javascript:x">' onload=x {{.}}`
	typed := 0
	for _, section := range owner.want(http.StatusOK, harborConsole+"setup", nil).links("setup/") {
		name := strings.TrimPrefix(section, "setup/")
		page := owner.want(http.StatusOK, harborConsole+section, nil)
		path := harborConsole + section
		if page.links(name+"/") != nil {
			path += "/new"
			page = owner.want(http.StatusOK, path, nil)
		}
		for _, fields := range [][]string{nil, {"name", "id", "seen", "do"}} { // all, and those that may be saved
			form := page.form(t, "save")
			for field := range form {
				if field != "do" && field != "seen" && (fields == nil || field == "name") {
					form.Set(field, hostile)
					typed++
				}
			}
			a := owner.ask(path, form)
			if strings.Contains(a.body, "<script>") || strings.Contains(a.body, "javascript:x\">") ||
				strings.Contains(a.body, `' onload`) || a.status >= http.StatusInternalServerError {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
			if undo := strings.Contains(a.body, `value="undo"`); undo {
				form := a.form(t, "undo")
				nested := strings.Repeat(`{"a":`, 500) + `"1"` + strings.Repeat("}", 500)
				for was, status := range map[string]int{`{"Known":` + nested + `}`: http.StatusNotFound, "": http.StatusNotFound,
					`{"Known":"x","Seen":"x","Is":{"name":` + nested + `,"logo":[1],"x":{}}}`: http.StatusConflict} {
					form.Set("was", was)
					if a := owner.ask(path, form); a.status != status {
						t.Errorf("%s: an undo of %.30s: %d, not %d: %s", path, was, a.status, status, a.body)
					}
				}
			}
		}
		if list := owner.want(http.StatusOK, harborConsole+section, nil); strings.Contains(list.body, "<script>") {
			t.Errorf("%s lists %s", section, list.body)
		}
	}
	if typed < 60 {
		t.Errorf("only %d texts were typed", typed)
	}
}

// send sends a form with a file.
func (b *browser) send(path string, form url.Values, name string, file []byte) answer {
	b.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for key, values := range form {
		for _, value := range values {
			if err := w.WriteField(key, value); err != nil {
				b.Fatal(err)
			}
		}
	}
	part, err := w.CreateFormFile(name, `"><script>.png`)
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, b.url+path, &body)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	return b.answered(req)
}

// crops has a part of the logo of a design be kept: of the one that there is, and of one that is brought.
func (b *browser) crops(path, picture string) {
	b.Helper()
	size := func() (string, image.Point) {
		now := regexp.MustCompile(`/assets/[0-9a-f]{64}`).FindString(b.want(http.StatusOK, path, nil).body)
		img, _, err := image.DecodeConfig(strings.NewReader(b.want(http.StatusOK, now, nil).body))
		if err != nil {
			b.Fatal(err)
		}
		return now, image.Pt(img.Width, img.Height)
	}
	form := b.want(http.StatusOK, path, nil).form(b.T, "save")
	form.Set("logo.left", "50")
	form.Set("logo.height", "25 %")
	b.want(http.StatusOK, path, form)
	if now, is := size(); now == picture || is != image.Pt(20, 10) {
		b.Errorf("the part has the size %v", is)
	}
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, image.NewNRGBA(image.Rect(0, 0, 200, 100))); err != nil {
		b.Fatal(err)
	}
	form = b.want(http.StatusOK, path, nil).form(b.T, "save")
	form.Set("logo.top", "80")
	b.send(path, form, "logo.file", drawn.Bytes())
	if _, is := size(); is != image.Pt(200, 20) {
		b.Errorf("the part of a picture that is brought has the size %v", is)
	}
}

// TestPicturesOfDesigns: a picture is uploaded, shown, taken away and put back; what is none is refused at its field.
func TestPicturesOfDesigns(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	path := owner.record("designs", "Harbor")
	typed := owner.want(http.StatusOK, path, nil).form(t, "save")
	if a := owner.send(path, typed, "logo.file", []byte("<svg onload=x>")); a.status != http.StatusUnprocessableEntity ||
		!strings.Contains(a.body, "SVG is not taken") {
		t.Errorf("what is no picture: %d %s", a.status, a.body)
	}
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, image.NewNRGBA(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	saved := owner.send(path, typed, "logo.file", drawn.Bytes())
	if saved.status != http.StatusOK || !strings.Contains(saved.body, "logo") {
		t.Fatalf("a picture: %d %s", saved.status, saved.body)
	}
	shown := owner.want(http.StatusOK, path, nil)
	picture := regexp.MustCompile(`/assets/[0-9a-f]{64}`).FindString(shown.body)
	owner.want(http.StatusOK, picture, nil)
	for _, far := range []string{"101", "-1", "half"} {
		wrong := shown.form(t, "save")
		wrong.Set("logo.left", far)
		if a := owner.ask(path, wrong); a.status != http.StatusUnprocessableEntity ||
			!strings.Contains(a.body, "no part of the picture") || !strings.Contains(a.body, picture) {
			t.Errorf("a part from %s: %d %s", far, a.status, a.body)
		}
	}
	owner.crops(path, picture)
	shown = owner.want(http.StatusOK, path, nil)
	picture = regexp.MustCompile(`/assets/[0-9a-f]{64}`).FindString(shown.body)
	none := shown.form(t, "save")
	none.Set("logo.none", "on")
	gone := owner.want(http.StatusOK, path, none)
	if now := owner.want(http.StatusOK, path, nil); strings.Contains(now.body, picture) {
		t.Error("it is there still")
	}
	owner.want(http.StatusOK, path, gone.form(t, "undo"))
	if now := owner.want(http.StatusOK, path, nil); !strings.Contains(now.body, picture) {
		t.Errorf("it was not put back: %s", now.body)
	}
	if a := owner.send(path, typed, "logo.file", make([]byte, 10<<20)); a.status == http.StatusOK {
		t.Error("10 MiB were taken")
	}
	business := harborConsole + "setup/business"
	typed = owner.want(http.StatusOK, business, nil).form(t, "save")
	if a := owner.send(business, typed, "logo.file", make([]byte, 70<<10)); a.status == http.StatusOK {
		t.Error("a form without pictures takes 70 KB")
	}
}

// TestUploadsCountAsMemory: files that staff upload share the memory that large bodies have. Of twelve uploads at the
// same time, some find no room.
func TestUploadsCountAsMemory(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	path := owner.record("designs", "Harbor")
	const uploads, size, half = 12, 8 << 20, 4 << 20 // half is more than lies between client and service
	const head = "--x\r\nContent-Disposition: form-data; name=\"logo.file\"; filename=\"a\"\r\n\r\n"
	var underWay, answered sync.WaitGroup
	underWay.Add(uploads)
	var refused atomic.Int32
	for range uploads {
		answered.Go(func() {
			arrived := sync.OnceFunc(underWay.Done) // at the half of its body, or at its answer
			together := pause(func() { arrived(); underWay.Wait() })
			body := io.MultiReader(strings.NewReader(head), zeros(half), &together, zeros(size-half-len(head)))
			req, err := http.NewRequest(http.MethodPost, owner.url+path, body)
			if err != nil {
				t.Error(err)
				return
			}
			req.ContentLength = size
			req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
			resp, err := owner.Do(req)
			arrived()
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			page, _ := io.ReadAll(resp.Body)
			if resp.StatusCode == http.StatusServiceUnavailable &&
				bytes.Contains(page, []byte("Too many large requests are under way")) {
				refused.Add(1)
			}
		})
	}
	if answered.Wait(); refused.Load() == 0 || refused.Load() == uploads {
		t.Errorf("%d of %d find no room", refused.Load(), uploads)
	}
}

// zeros are so many bytes.
func zeros(n int) io.Reader { return bytes.NewReader(make([]byte, n)) }

// pause is the end of a part of a body, at which something is done.
type pause func()

// Read implements io.Reader.
func (p *pause) Read([]byte) (int, error) {
	(*p)()
	return 0, io.EOF
}

// TestWebhooksInTheConsole: an address is added with its secret, shown once; the page says what its receiver answered,
// in whatever words, and sends events again.
func TestWebhooksInTheConsole(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "<script>alert(1)</script>")
	}))
	t.Cleanup(receiver.Close)
	s := start(t, server.Config{WebhooksAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	owner := s.joined("ann@example.com", staff.Owner)
	const path = harborConsole + "setup/webhooks/new"
	typed := owner.want(http.StatusOK, path, nil).form(t, "save")
	typed.Set("url", "https://10.0.0.1/")
	owner.want(http.StatusUnprocessableEntity, path, typed)
	typed.Set("url", receiver.URL)
	typed.Set("types", "gift.created\r\ngift.redeemed")
	if made := owner.want(http.StatusOK, path, typed); !strings.Contains(made.body, "whsec_") {
		t.Errorf("no secret is shown: %s", made.body)
	}
	s.stock("1")
	its, page := owner.record("webhooks", receiver.URL), answer{}
	const answered = `>418</span>` // an address may have the number too, as its port
	for begun := time.Now(); !strings.Contains(page.body, answered) && time.Since(begun) < timeout; {
		page = owner.want(http.StatusOK, its, nil)
	}
	if !strings.Contains(page.body, "&lt;script&gt;alert") || strings.Contains(page.body, "<script>") ||
		strings.Contains(page.body, "whsec_") {
		t.Errorf("the page of the webhook: %s", page.body)
	}
	again := page.form(t, "replay")
	again.Set("days", "7")
	owner.want(http.StatusOK, its, again)
	again.Set("days", "8000")
	owner.want(http.StatusNotFound, its, again)
	if made := owner.want(http.StatusOK, its, page.form(t, "rotate")); !strings.Contains(made.body, "whsec_") {
		t.Errorf("another secret: %s", made.body)
	}
	if twice := owner.want(http.StatusConflict, its, page.form(t, "rotate")); strings.Contains(twice.body, "whsec_") {
		t.Errorf("the same form makes one more secret: %s", twice.body)
	}
	page = owner.want(http.StatusOK, its, nil)
	owner.want(http.StatusOK, its, page.form(t, "rotate"))
	owner.want(http.StatusOK, its, page.form(t, "remove"))
	owner.want(http.StatusNotFound, its, nil)
}

// TestDesignsAreLookedAt: a design is shown as it would look on a page, in a mail and on paper, before it is saved,
// with a picture that is nowhere else yet; nothing is saved by that.
func TestDesignsAreLookedAt(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	path := owner.record("designs", "Harbor")
	typed := owner.want(http.StatusOK, path, nil).form(t, "save")
	typed.Set("headline.en", "A <b>bold</b> gift")
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, image.NewNRGBA(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	const escaped = "A &lt;b&gt;bold&lt;/b&gt; gift"
	for look, has := range map[string]string{"page": escaped, "mail": escaped, "paper": "%PDF-"} {
		typed.Set("do", look)
		if a := owner.send(path, typed, "logo.file", drawn.Bytes()); a.status != http.StatusOK ||
			!strings.Contains(a.body, has) || strings.Contains(a.body, "<b>bold") ||
			look == "page" && !strings.Contains(a.body, "data:image/png;base64,") {
			t.Errorf("%s: %d %.2000s", look, a.status, a.body)
		}
	}
	typed.Set("accentColor", "blue")
	owner.want(http.StatusUnprocessableEntity, path, typed)
	if now := owner.want(http.StatusOK, path, nil).form(t, "save"); now.Get("headline.en") != "Enjoy" {
		t.Errorf("it was saved: %v", now)
	}
}
