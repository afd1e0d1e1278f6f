package document

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"boon.example/internal/merchant"
	"boon.example/internal/setup/written"
)

// everything reads a set-up in which every field says something.
func everything(tb testing.TB) *File {
	tb.Helper()
	text, err := os.ReadFile("testdata/everything.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	drawn := func(side int) *fstest.MapFile {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, side, side))); err != nil {
			tb.Fatal(err)
		}
		return &fstest.MapFile{Data: b.Bytes()}
	}
	folder := fstest.MapFS{"logo.png": drawn(20), "photo.png": drawn(40)}
	f, err := ParseBeside("everything.yaml", text, folder, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// said is whether a record, or one of its kind, has a field with a value, by "location.address".
func said(def definition, name string, record reflect.Value, all map[string]bool) {
	for _, m := range def {
		switch path := name + "." + m.name; {
		case m.mapping != nil:
			said(m.mapping, path, record, all)
		case m.list != nil:
			list := record.FieldByIndex(m.index)
			all[path] = all[path] || list.Len() > 0
			for n := range list.Len() {
				said(m.list.of, string(m.list.kind), list.Index(n), all)
			}
		case m.name != "":
			value := record.FieldByIndex(m.index)
			all[path] = all[path] || !value.IsZero() && (m.with == nil || !record.FieldByIndex(m.with).IsZero())
		}
	}
}

// inFile is the same of the text of a file. It takes the members of lists for kinds by the names of the lists.
func inFile(def definition, name string, v *yaml.Node, all map[string]bool) {
	for i := 0; i+1 < len(v.Content); i += 2 {
		key, value := v.Content[i].Value, v.Content[i+1]
		path := name + "." + key
		all[path] = true
		at := slices.IndexFunc(def, func(m *member) bool { return m.name == key })
		if at < 0 {
			continue
		}
		if m := def[at]; m.mapping != nil {
			inFile(m.mapping, path, value, all)
		} else if m.list != nil {
			for _, one := range value.Content {
				inFile(m.list.of, string(m.list.kind), one, all)
			}
		}
	}
}

// headings of docs/reference/setup.md, by kind.
var headings = map[string]string{"account": "Accounts", "location": "Locations", "subscription": "Subscriptions",
	"storefront": "Storefronts", "voucher design": "Voucher designs", "promotion": "Promotions", "person": "People",
	"provider": "Providers", "books": "Books", "wallet": "Wallet"}

// TestEveryFieldIsEverywhere: a field of the set-up is one tag in merchant. It is read from a file, written to one, and
// described; that it is compared is for TestEveryFieldIsCompared, that it is stored for the store's tests.
func TestEveryFieldIsEverywhere(t *testing.T) {
	t.Parallel()
	f := everything(t)
	def := definitionOf(reflect.TypeFor[merchant.Account]())
	read, wrote := map[string]bool{}, map[string]bool{}
	for _, a := range f.Records() {
		said(def, "account", reflect.ValueOf(a).Elem(), read)
		inFile(def, "account", written.Node(def.write(reflect.ValueOf(a).Elem(), a)), wrote)
	}
	page, err := os.ReadFile("../../../docs/reference/setup.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(read) < 60 {
		t.Errorf("only %d fields are known: %v", len(read), read)
	}
	secrets := []string{"person.pin", "provider.secret", "account.wallet.apple.key",
		"account.wallet.google.serviceAccount"}
	for path, ok := range read {
		if !ok {
			t.Errorf("%s: testdata/everything.yaml says nothing, or what it says is not read", path)
		}
		if secret := slices.Contains(secrets, path); wrote[path] == secret {
			t.Errorf("%s: written %t, a secret %t", path, wrote[path], secret)
		}
		kind, name, _ := strings.Cut(path, ".")
		_, section, _ := strings.Cut(string(page), "\n### "+headings[kind]+"\n")
		section, _, _ = strings.Cut(section, "\n##")
		outer, inner, nested := strings.Cut(name, ".")
		row := regexp.MustCompile("(?m)^.*`"+outer+"`.*$").FindAllString(section, -1)
		_, own, _ := strings.Cut(string(page), "\n### "+headings[outer]+"\n") // of a mapping that has a section
		own, _, _ = strings.Cut(own, "\n##")
		if len(row) == 0 || nested && !strings.Contains(strings.Join(row, "")+own, inner) {
			t.Errorf("%s: not in the section %q of docs/reference/setup.md", path, headings[kind])
		}
	}
}

// TestEveryFieldHasAForm: each field that people can say or are told of is of a form, a mapping or a list.
func TestEveryFieldHasAForm(t *testing.T) {
	t.Parallel()
	var walk func(def definition, path string)
	walk = func(def definition, path string) {
		for _, m := range def {
			switch at := fmt.Sprint(path, ".", m.name, " (", m.told, ")"); {
			case m.mapping != nil:
				walk(m.mapping, at)
			case m.list != nil:
				walk(m.list.of, at)
			case m.form.read == nil:
				t.Errorf("%s has no form", at)
			}
		}
	}
	walk(definitionOf(reflect.TypeFor[merchant.Account]()), "account")
}

// TestBooks: what is wrong with what a journal needs is told with its place and its cure.
func TestBooks(t *testing.T) {
	t.Parallel()
	const account = "accounts:\n  - id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a01\n    name: A\n    currency: EUR\n" +
		"    timeZone: UTC\n    language: de\n    locations: [{id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a11, name: L}]\n"
	const program, shop = "subscriptions: [{program: 22222222-2222-2222-2222-222222222222, ",
		"storefronts: [{id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a21, name: S, location: "
	for line, want := range map[string]string{
		"books: {accounts: {liability: 1400, clearing: 1400}}": "books.accounts.clearing: This is the account of liability.",
		"books: {accounts: {liabilty: 1400}}": "books.accounts.liabilty: There is no such field; did you mean " +
			"liability?",
		`books: {accounts: {cash: "\u200b"}}`: "books.accounts.cash: This text shows nothing",
		`promotions: [{id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a31, name: "\u202e\u202c", validForDays: 3}]`: "promotions[0].name: " +
			"This text shows nothing",
		`promotions: [{id: 3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a31, name: P, terms: "\u2066\u2069"}]`: "promotions[0].terms: " +
			"This text must not be empty",
		"books: {accounts: {cash: ' '}}":                "books.accounts.cash: This text must not be empty",
		"books: {datev: {consultant: 1000}}":            "datev.consultant: This must be a whole number from 1001 to 9999999",
		"books: {datev: {client: '42'}}":                "datev.client: This must be a whole number from 1 to 99999, without",
		"books: {datev: {fiscalYearStart: 13}}":         "fiscalYearStart: This must be a whole number from 1 to 12",
		"books: {datev: {accountLength: 4.0}}":          "accountLength: This must be a whole number from 4 to 8",
		"books: 1400":                                   "books: This must be a mapping of fields (accounts, datev)",
		"books: {}":                                     "",
		program + "vatTreatment: both}]":                "[0].vatTreatment: This is multiPurpose or singlePurpose.",
		program + "vatTreatment: singlePurpose}]":       "[0].vatRate: Say the rate:",
		program + "vatRate: 19}]":                       "[0].vatRate: A rate belongs to vatTreatment: singlePurpose.",
		program + "vatRate: 19 %}]":                     "[0].vatRate: This must be a rate in percent",
		program + "vatRate: -1}]":                       "[0].vatRate: This must be a rate in percent",
		program + "vatRate: 100.01}]":                   "[0].vatRate: This must be a rate in percent",
		program + "vatRate: 5.125}]":                    "[0].vatRate: This must be a rate in percent",
		shop + "3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a12}]": "storefronts[0].location: This account has no such location.",
		shop + "3b0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a11}]": "",
	} {
		told := ""
		if _, err := Parse("f", []byte(account+"    "+line+"\n")); err != nil {
			told = err.Error()
		}
		if want == "" && told != "" || !strings.Contains(told, want) || strings.Contains(told, "\n") ||
			told != "" && !strings.HasPrefix(told, "f:8: accounts[0].") {
			t.Errorf("%s: got %q, want %q", line, told, want)
		}
	}
	for written, want := range map[string]string{"19": "19", "19.00": "19", "5.50": "5.5", "0": "0", "100": "100",
		"1e1": "10"} {
		f, err := Parse("f", []byte(account+"    "+program+"vatTreatment: singlePurpose, vatRate: "+written+"}]\n"))
		if err != nil || string(f.Records()[0].Subscriptions[0].VATRate) != want {
			t.Errorf("%s is read as %+v (%v)", written, f, err)
		}
	}
}

// TestWordsOfAChange: a field of a mapping is told of with what it belongs to.
func TestWordsOfAChange(t *testing.T) {
	t.Parallel()
	from, to := everything(t).Records()[0], everything(t).Records()[0]
	to.Books.Accounts.Liability, to.Books.DATEV.Client = "1401", 0
	to.Locations[0].LegalEntity, to.Subscriptions[0].VATRate = "", "7"
	got, _ := Diff(from, to)
	want := []string{
		"changed ledger account liability from 1400 to 1401",
		"changed DATEV client from 42 to none",
		"changed location Market square: legal entity from Bakery Market GmbH to none",
		"changed subscription to Business gift cards: VAT rate from none to 7 %",
	}
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
