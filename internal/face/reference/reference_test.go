package reference_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/docs"
	"boon.example/internal/face/reference"
)

func pages(t *testing.T) (all map[string]reference.Page, operations []string) {
	t.Helper()
	file, err := os.ReadFile("../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	all, err = reference.Pages(file, "1.2.3", "https://cards.example.org")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(file, &doc); err != nil {
		t.Fatal(err)
	}
	for _, methods := range doc.Paths {
		for _, o := range methods {
			operations = append(operations, o.OperationID)
		}
	}
	if len(operations) < 40 {
		t.Fatalf("%d operations", len(operations))
	}
	return all, operations
}

// Every operation has a page with samples in all languages, an entry in the navigation, and one in the collection.
func TestEveryOperationIsThere(t *testing.T) {
	t.Parallel()
	all, operations := pages(t)
	for _, id := range operations {
		page := string(all["/docs/reference/"+id].Body)
		for _, language := range []string{"curl", "go", "ts", "python", "php"} {
			if !regexp.MustCompile(`data-language="` + language + `"><code>\S`).MatchString(page) {
				t.Errorf("%s has no sample in %s", id, language)
			}
		}
		if !regexp.MustCompile(`href="docs/reference/` + id + `"[^>]*>[^<]+ <code>` + id + `</code></a>`).Match(all["/docs"].Body) {
			t.Errorf("%s is not in the navigation", id)
		}
		if !strings.Contains(string(all["/docs/collection.json"].Body), `"name": "`+id+`"`) {
			t.Errorf("%s is not in the collection", id)
		}
	}
}

// What a call must have is told, also where that depends on what else it has.
func TestRequiredIsTold(t *testing.T) {
	t.Parallel()
	all, _ := pages(t)
	for _, tt := range []struct{ operation, member, told string }{
		{"sendGift", "paymentMethodID", "required"},
		{"sendGift", "monetaryGift", "one of monetaryGift, itemGift"},
		{"sendGift", "externalStorefrontID", "required if paymentMethodID is 2"},
		{"sendGift", "promotionID", "required unless paymentMethodID is 2"},
		{"sendGift", "notes", ""},
		{"redeemGift", "voucherCode", "one of voucherID, voucherCode, voucherPublicToken"},
		{"redeemGift", "amount", ""},
	} {
		page := string(all["/docs/reference/"+tt.operation].Body)
		_, rest, _ := strings.Cut(page, `<div data-field="`+tt.member+`">`)
		line, _, _ := strings.Cut(rest, "</dt>")
		if _, told, _ := strings.Cut(line, `<span class="needed">`); line == "" || strings.TrimSuffix(told, "</span>") != tt.told {
			t.Errorf("%s of %s is told to be %q", tt.member, tt.operation, told)
		}
	}
}

// A journal is JSON in one of its forms only: samples take it as the file that it is.
func TestSamplesTakeFiles(t *testing.T) {
	t.Parallel()
	all, _ := pages(t)
	for id, file := range map[string]bool{"getJournal": true, "exportStock": true, "getLiability": false} {
		page := string(all["/docs/reference/"+id].Body)
		if strings.Contains(page, "=FROM") {
			t.Errorf("a sample of %s is from no day", id)
		}
		for _, takes := range []string{"print(answer.body.decode())", "$boon-&gt;file(", "parseAs: "} {
			if strings.Contains(page, takes) != file {
				t.Errorf("a sample of %s, whose answer is a file: %v, has %q: %v", id, file, takes, !file)
			}
		}
	}
}

// Every link of a page leads to a page, and to a place on it; no page is heavy; none names a key or has a script or a
// style within.
func TestPagesAreSound(t *testing.T) {
	t.Parallel()
	all, _ := pages(t)
	links := regexp.MustCompile(` (?:href|src)="([^"#:]*)(?:#([^"]*))?"`)
	for at, p := range all {
		most := 300_000
		if strings.HasSuffix(at, "/search.json") { // of all pages, and fetched when somebody searches
			most = 400_000
		}
		if len(p.Body) > most {
			t.Errorf("%s has %d bytes", at, len(p.Body))
		}
		if !strings.HasPrefix(p.Type, "text/html") {
			continue
		}
		page, root := string(p.Body), strings.Repeat("../", strings.Count(at, "/")-1)
		if found := regexp.MustCompile(`(?i)<style|<script>| style=| on[a-z]+=|boon_live_[0-9a-zA-Z]{20}`).FindString(page); found != "" {
			t.Errorf("%s holds %s", at, found)
		}
		for _, link := range links.FindAllStringSubmatch(page, -1) {
			to := at
			if link[1] != "" {
				to = "/" + strings.TrimPrefix(link[1], root)
			}
			target, known := all[to]
			if !known && !strings.HasPrefix(to, "/openapi") ||
				link[2] != "" && !strings.Contains(string(target.Body), ` id="`+link[2]+`"`) {
				t.Errorf("%s leads to %s", at, link[0])
			}
		}
	}
}

// A guide begins with its title, then what is on the page, each heading of it; all code can have the focus, as it
// scrolls.
func TestGuidesTellTheirSections(t *testing.T) {
	t.Parallel()
	all, _ := pages(t)
	heading := regexp.MustCompile(`<h2 id="([^"]*)"`)
	guides := 0
	for at, p := range all {
		page := string(p.Body)
		if !strings.HasPrefix(p.Type, "text/html") {
			continue
		}
		if strings.Contains(page, "<pre>") {
			t.Errorf("code of %s cannot have the focus", at)
		}
		headings := heading.FindAllStringSubmatch(page, -1)
		if len(headings) == 0 || at == "/docs/errors" || strings.HasPrefix(at, "/docs/reference") {
			continue
		}
		guides++
		_, list, _ := strings.Cut(page, "</h1>")
		list, _, _ = strings.Cut(list, "</nav>")
		for _, h := range headings {
			if !strings.Contains(list, `href="#`+h[1]+`"`) {
				t.Errorf("%s does not tell at its top that it has %s", at, h[1])
			}
		}
	}
	if guides < 7 {
		t.Errorf("%d guides have sections", guides)
	}
}

// An operation, a field and a code are found, at places that are there.
func TestSearchFinds(t *testing.T) {
	t.Parallel()
	all, _ := pages(t)
	type entry struct {
		Text  string `json:"t"`
		Path  string `json:"p"`
		Words string `json:"w"`
	}
	var index []entry
	if err := json.Unmarshal(all["/docs/search.json"].Body, &index); err != nil {
		t.Fatal(err)
	}
	places := map[string][]string{}
	for _, e := range index {
		places[e.Text] = append(places[e.Text], e.Path)
		path, _, _ := strings.Cut(e.Path, "#")
		if _, known := all["/"+path]; !known {
			t.Errorf("%s leads to %s", e.Text, e.Path)
		}
	}
	for text, path := range map[string]string{"redeemGift": "docs/reference/redeemGift",
		"allowPartial": "docs/reference/redeemGift#allowPartial", "HOLD_NOT_OPEN": "docs/errors#HOLD_NOT_OPEN"} {
		if !strings.Contains(strings.Join(places[text], " "), path) {
			t.Errorf("%s leads to %v", text, places[text])
		}
	}
	for word, path := range map[string]string{"timeout": "docs#repeating-and-making-sure",
		"refund":     "docs/send#cancel-gifts",
		"chargeback": "docs/reference/blockGift", "curl": "docs#look-things-up", "digits": "docs/errors#INVALID_CODE_FORMAT",
		"clover": "docs/tickets", "camera": "docs/till", "twilio": "docs/delivery#sms---sms-boon_sms-sms",
		"applicationerror": "docs/platforms#wix-wixidv1balance-redeem-void"} {
		if !slices.ContainsFunc(index, func(e entry) bool {
			return e.Path == path && strings.Contains(e.Words, word) // as the script of the pages asks
		}) {
			t.Errorf("the word %s is not found at %s", word, path)
		}
	}
}

// TestCollectionIsWhole: every call of the collection says what it does and shows an answer where the OpenAPI file has
// one; every variable says what it is and has a value, but for the key, which each user fills in.
func TestCollectionIsWhole(t *testing.T) {
	t.Parallel()
	all, operations := pages(t)
	type described struct{ Name, Key, Value, Description string }
	var c struct {
		Variable []described
		Item     []struct {
			described
			Item []struct {
				Name    string
				Request struct {
					Description string
					URL         struct{ Query, Variable []described }
				}
				Response []struct {
					Name, Body string
					Code       int
				}
			}
		}
	}
	if err := json.Unmarshal(all["/docs/collection.json"].Body, &c); err != nil {
		t.Fatal(err)
	}
	for _, v := range c.Variable {
		if v.Description == "" || (v.Value == "") != (v.Key == "key") {
			t.Errorf("the variable %s is %q: %q", v.Key, v.Value, v.Description)
		}
	}
	calls, silent := 0, 0
	for _, folder := range c.Item {
		if folder.Description == "" {
			t.Errorf("the folder %s says nothing of itself", folder.Name)
		}
		for _, i := range folder.Item {
			calls++
			if len(i.Request.Description) < 10 {
				t.Errorf("%s is described as %q", i.Name, i.Request.Description)
			}
			for _, p := range append(i.Request.URL.Query, i.Request.URL.Variable...) {
				if p.Description == "" {
					t.Errorf("%s: the parameter %s is not described", i.Name, p.Key)
				}
			}
			if len(i.Response) == 0 {
				silent++
			}
			for _, r := range i.Response {
				if r.Code < 200 || r.Code > 599 || r.Body == "" {
					t.Errorf("%s shows the answer %+v", i.Name, r)
				}
			}
		}
	}
	if calls != len(operations) || silent > calls/3 {
		t.Errorf("%d calls of %d operations; %d show no answer", calls, len(operations), silent)
	}
}

// TestNavigationHasEveryDocument: each served document is once in the navigation, in the part of its folder.
func TestNavigationHasEveryDocument(t *testing.T) {
	t.Parallel()
	all, _ := pages(t)
	_, menu, _ := strings.Cut(string(all["/docs/watch"].Body), `<nav class="menu"`)
	menu, _, _ = strings.Cut(menu, "</nav>")
	parts := strings.Split(menu, `<p class="part">`)
	for file, at := range docs.Served {
		folder, _, _ := strings.Cut(file, "/")
		var in []string
		for _, part := range parts {
			if title, links, _ := strings.Cut(part, "</p>"); strings.Contains(links, `"../`+at+`"`) {
				in = append(in, strings.ToLower(title))
			}
		}
		if !slices.Equal(in, []string{folder}) {
			t.Errorf("%s is in the parts %q of the navigation", file, in)
		}
	}
}
