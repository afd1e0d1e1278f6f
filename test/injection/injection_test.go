// Package injection sends hostile texts through the whole service, as the real program runs it, and looks for them
// wherever a text that a customer or recipient wrote comes out again: page, mail, SMS, PDF, JSON, log and terminal.
// Everywhere it must be text, and nothing but text: what comes out has the same shape as that of a harmless gift.
package injection

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"boon.example/internal/base/normalize"
	"boon.example/internal/contact"
	"boon.example/internal/post/card"
	"boon.example/test/rig"
)

// binary is the program, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	dir, boon, err := rig.Workshop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = boon
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// hostile reads the list.
func hostile(t *testing.T) (texts []string) {
	t.Helper()
	file, err := os.Open("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		var s string
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		texts = append(texts, s)
	}
	if len(texts) < 200 {
		t.Fatalf("only %d texts", len(texts))
	}
	return texts
}

// fields are the texts of a gift, by where they go in a request.
type fields map[string]string

// The texts of a gift, and those of them that may have more lines than one.
var (
	inGift    = []string{"senderDescription", "recipientDescription", "message", "label", "terms"}
	inRequest = []string{"notes", "relatedOrderID", "relatedOrderNumber"}
	inPayment = []string{"externalTransactionReferenceNumber", "externalTransactionCustomerFirstName",
		"externalTransactionCustomerLastName"}
	prose = []string{"message", "terms", "notes", "promotionalTerms"}
)

func everywhere(s string) fields {
	f := fields{"promotionalTerms": s}
	for _, name := range slices.Concat(inGift, inRequest, inPayment) {
		f[name] = s
	}
	return f
}

// harmless gives every text that takes the place of a hostile one the same lines.
func (f fields) harmless() fields {
	twin := fields{}
	for name, s := range f {
		lines := card.Lines(s)
		if !slices.Contains(prose, name) {
			lines = []string{card.Line(s)}
		}
		for n := range lines {
			if lines[n] != "" {
				lines[n] = "x"
			}
		}
		twin[name] = strings.Join(lines, "\n")
		if !contact.Blank(s) && twin[name] == "" {
			twin[name] = "\u00ad" // it can be sent, and there is nothing to be seen of it
		}
	}
	return twin
}

// unspaced takes out what is put into a text so that no program makes a link of it.
func unspaced(s string) string { return strings.NewReplacer(" ", "", "\u2060", "").Replace(s) }

// linked is what programs make links of.
var linked = regexp.MustCompile(`(?i)(\bwww\.|\b(https?|ftp|ldap|mailto|tel|sms|javascript|data):)\S|[^\s.]\.(example|com|net|org|ini)\b`)

// refusable tells why a text may be refused where it stands: "" for no reason.
func refusable(name, s string) string {
	lines := slices.Contains(prose, name)
	for _, r := range s {
		if (unicode.IsControl(r) && !(lines && (r == '\n' || r == '\r'))) || r == '\u2028' || r == '\u2029' {
			return "a control character"
		}
	}
	if utf8.RuneCountInString(normalize.String(s)) > 200 && !lines || utf8.RuneCountInString(normalize.String(s)) > 1000 {
		return "it is too long"
	}
	if contact.Blank(s) {
		return "it shows nothing"
	}
	return ""
}

// TestHostileTexts sends each text in every place at once, and looks at everything that comes out. The short version
// sends every third; make torture all.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n, s := range hostile(t) {
		if testing.Short() && n%3 != 0 {
			continue
		}
		for _, kind := range []string{"email", "sms", "printed"} {
			g, sent := w.send(t, n, kind, everywhere(s))
			if g == nil {
				continue
			}
			w.look(t, kind, s, sent, g, w.twin(t, kind, sent))
		}
	}
	w.tables(t)
	w.logs(t)
}

// twin sends a harmless gift with the same lines, once for all hostile ones of these lines.
func (w *world) twin(t *testing.T, kind string, sent fields) *seen {
	t.Helper()
	harmless := sent.harmless()
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(harmless)) {
		fmt.Fprintf(&key, "%s %q ", name, harmless[name])
	}
	at := kind + key.String()
	if w.twins[at] == nil {
		g, as := w.send(t, -1, kind, harmless)
		if g == nil || !maps.Equal(as, harmless) {
			t.Fatalf("the harmless twin %q was refused", harmless)
		}
		w.twins[at] = w.see(t, kind, g)
	}
	return w.twins[at]
}

// look holds a gift with a hostile text against its harmless twin.
func (w *world) look(t *testing.T, kind, s string, sent fields, g *sentGift, twin *seen) {
	t.Helper()
	got := w.see(t, kind, g)
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q changes the shape of the %s of a gift by %s:\n%s\nharmless:\n%s", s, what, kind, got, want)
		}
	}
	same("page", got.page.shape, twin.page.shape)
	same("mail's headers", got.mail.headers, twin.mail.headers)
	same("mail's parts", got.mail.parts, twin.mail.parts)
	same("mail's HTML", got.mail.html.shape, twin.mail.html.shape)
	if !got.pdf.like(twin.pdf) {
		t.Errorf("%q changes the PDF of a gift by %s:\n%+v\nharmless:\n%+v", s, kind, got.pdf, twin.pdf)
	}
	if len(s) < 60 && got.pdf.pages != twin.pdf.pages {
		t.Errorf("%q has a PDF of %d pages, harmless %d", s, got.pdf.pages, twin.pdf.pages)
	}
	for _, name := range []string{"senderDescription", "recipientDescription", "message", "label", "terms",
		"promotionalTerms"} {
		text, given := sent[name]
		if !given {
			continue
		}
		for _, line := range card.Lines(text) {
			for what, all := range map[string]string{"page": got.page.text, "mail's HTML": got.mail.html.text} {
				if all != "" && !strings.Contains(unspaced(all), unspaced(normalize.String(line))) {
					t.Errorf("%q: the %s of a gift by %s does not show %s as %q: %.500q", s, what, kind, name, line, all)
				}
			}
		}
	}
	lookForMarks(t, kind, s, g, got)
	if kind == "sms" && (!strings.Contains(got.sms, g.GiftURL) || !utf8.ValidString(got.sms)) {
		t.Errorf("%q: the SMS lacks its link: %q", s, got.sms)
	}
	if kind == "email" && !strings.Contains(got.mail.text, g.GiftURL) {
		t.Errorf("%q: the mail lacks its link: %q", s, got.mail.text)
	}
	w.answers(t, s, sent, g)
}

// lookForMarks finds no link and no control character in what people read.
func lookForMarks(t *testing.T, kind, s string, g *sentGift, got *seen) {
	t.Helper()
	for what, text := range map[string]string{
		"page": got.page.text, "mail's text": got.mail.text, "mail's HTML": got.mail.html.text,
		"mail's subject": got.mail.subject, "SMS": got.sms,
	} {
		if found := linked.FindString(strings.ReplaceAll(text, g.GiftURL, "")); found != "" {
			t.Errorf("%q: the %s of a gift by %s holds what becomes a link: %q", s, what, kind, found)
		}
		for _, r := range text {
			if r == '\n' && what != "mail's subject" && what != "SMS" {
				continue
			}
			if unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
				t.Errorf("%q puts %U into the %s: %q", s, r, what, text)
				break
			}
		}
	}
}

// answers holds what the interface says of a gift against what was sent.
func (w *world) answers(t *testing.T, s string, sent fields, g *sentGift) {
	t.Helper()
	status, body := w.call(t, "GET", "/api/integration/gifting/gifts/"+g.VoucherID, nil)
	var shown map[string]any
	if err := json.Unmarshal(body, &shown); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	for _, name := range []string{"senderDescription", "recipientDescription", "message", "label", "terms",
		"promotionalTerms"} {
		want, given := sent[name]
		// of nothing but spaces it is as good as none
		if !given || name == "senderDescription" && strings.TrimSpace(want) == "" {
			continue
		}
		if got, _ := shown[name].(string); got != normalize.String(want) {
			t.Errorf("%q: the interface shows %s as %q, want %q", s, name, got, normalize.String(want))
		}
	}
	if i := bytes.IndexFunc(body, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
		t.Errorf("%q: a control character stands in an answer: %q", s, body)
	}
}

// TestHostileContacts: as an address a hostile text is refused, or it is one mail to one recipient.
func TestHostileContacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	taken := 0
	for _, s := range hostile(t) {
		for _, contact := range []string{s, s + "@example.com", "ann@" + s, `"` + s + `"@example.com`} {
			body := w.request("email", -1, fields{"senderDescription": "Ann", "label": "Latte"})
			gift := body["itemGift"].(map[string]any)
			gift["recipientContact"] = contact
			status, answer := w.call(t, "POST", "/api/integration/gifting/send-gift", body)
			switch {
			case status == http.StatusBadRequest && bytes.Contains(answer, []byte(`"path":"itemGift.recipientContact"`)):
				continue
			case status != http.StatusCreated:
				t.Errorf("%q: %d %s", contact, status, answer)
				continue
			}
			taken++
			if strings.ContainsAny(contact, "\r\n<>,; ") && !strings.HasPrefix(contact, `"`) ||
				strings.IndexFunc(contact, unicode.IsControl) >= 0 {
				t.Errorf("%q was taken as an address", contact)
			}
		}
	}
	if taken == 0 {
		t.Error("no address was taken")
	}
	w.mailbox.settle(t, taken)
	for _, l := range w.mailbox.all() {
		if m := openMail(t, l.text); m.recipients != 1 || m.headers == "" {
			t.Errorf("a mail to %q has %d recipients", l.to, m.recipients)
		}
	}
	w.logs(t)
}

// TestHostileRequests: names of requests, agents, paths and tickets.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, _ := w.send(t, -1, "printed", everywhere("harmless"))
	for _, s := range hostile(t) {
		if answered, sent := w.named(t, s); sent && answered != strings.TrimSpace(s) && len(answered) != 36 ||
			strings.ContainsAny(answered, "<>\"' \r\n") {
			t.Errorf("the X-Request-ID %q comes back as %q", s, answered)
		}
		for _, in := range []string{"/", "/g/", "/api/", "/docs/", "/api/integration/requests/", "/orders/", "/assets/"} {
			status, body := w.visit(t, in, s)
			if status >= 500 {
				t.Errorf("%s%q is answered %d", in, s, status)
			}
			if _, usual := w.visit(t, in, "harmless"); strings.Contains(s, "<") && strings.Contains(body, s) &&
				!strings.Contains(usual, s) {
				t.Errorf("the answer to %s%q repeats it: %s", in, s, body)
			}
		}
		line := map[string]any{"itemID": s, "itemName": s, "quantity": 1, "itemTotalPrice": 1}
		status, body := w.call(t, "POST", "/api/integration/redemption/validate-gift", map[string]any{
			"voucherPublicToken": g.VoucherPublicToken, "organizationID": place,
			"ticketData": map[string]any{"format": "standard", "data": map[string]any{"lineItems": []any{line}}},
		})
		if why := refusable("itemID", s); status != http.StatusOK && (why == "" || status != http.StatusBadRequest) ||
			!json.Valid(body) {
			t.Errorf("a ticket of %q is answered %d %s", s, status, body)
		}
		reason := map[string]any{"redemptionID": g.VoucherID, "reason": s}
		if status, body := w.call(t, "POST", "/api/integration/redemption/reverse-redemption", reason); status != 404 &&
			status != 400 || !json.Valid(body) {
			t.Errorf("the reason %q is answered %d %s", s, status, body)
		}
		unknown := map[string]any{s: 1}
		if status, body := w.call(t, "POST", "/api/integration/redemption/redeem-gift", unknown); status != 400 ||
			!json.Valid(body) {
			t.Errorf("the member %q is answered %d %s", s, status, body)
		}
	}
	w.logs(t)
}

// TestHostileSetup: names, headlines and footers of the merchant's own set-up are texts too.
func TestHostileSetup(t *testing.T) {
	t.Parallel()
	var accepted []string
	for _, s := range hostile(t) {
		if strings.TrimSpace(s) == s && s != "" && len(s) < 100 && refusable("label", s) == "" &&
			strings.IndexFunc(s, yamlRefuses) < 0 {
			accepted = append(accepted, s)
		}
	}
	w := newWorld(t, accepted...)
	twin := w.see(t, "printed", w.dressed(t, -1))
	for n, s := range accepted {
		got := w.see(t, "printed", w.dressed(t, n))
		if card.Line(s) != "" && got.page.shape != twin.page.shape {
			t.Errorf("%q in the set-up changes the page:\n%s\nharmless:\n%s", s, got.page.shape, twin.page.shape)
		}
		if !got.pdf.like(twin.pdf) {
			t.Errorf("%q in the set-up changes the PDF:\n%+v\nharmless:\n%+v", s, got.pdf, twin.pdf)
		}
		if !strings.Contains(got.page.text, normalize.String(card.Line(s))) {
			t.Errorf("the page does not show %q of the set-up as text: %q", s, got.page.text)
		}
	}
	if len(accepted) < 150 {
		t.Errorf("only %d texts can stand in a set-up", len(accepted))
	}
	w.logs(t)
}

func yamlRefuses(r rune) bool {
	return r < ' ' || r == 0x7f || r >= 0xd800 && r <= 0xdfff || r == 0xfffe || r == 0xffff || r == 0xfeff
}
