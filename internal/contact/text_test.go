package contact

import (
	"net/mail"
	"slices"
	"strings"
	"testing"
)

func TestCheckText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text  string
		limit int
		lines bool
		want  string // a part of the sentence
	}{
		{"", 1, false, ""},
		{"Zoë & Søren 🎁", 200, false, ""},
		{strings.Repeat("é", 200), 200, false, ""},
		{strings.Repeat("é", 201), 200, false, "at most 200 characters; it has 201"},
		{"two\nlines\r\n", 200, true, ""},
		{"two\nlines", 200, false, "U+000A"},
		{"two\rlines", 200, false, "U+000D"},
		{"a\tb", 200, true, "U+0009"},
		{"a\x00b", 200, true, "U+0000"},
		{"a\x1bb", 200, true, "U+001B"},
		{"a\u007fb", 200, true, "U+007F"},
		{"a\u0085b", 200, true, "U+0085"},
		{"a\u2028b", 200, true, "U+2028"},
		{"a\u2029b", 200, false, "U+2029"},
		{"a\xffb", 200, true, "UTF-8"},
		{"\xed\xa0\x80", 200, true, "UTF-8"}, // half a surrogate pair
	} {
		err := CheckText(tt.text, tt.limit, tt.lines)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.20q: got %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestEmail(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for _, good := range []string{
		"name@example.com", "first.last+tag@sub.example.co.uk", "!#$%&'*+-/=?^_`{|}~@example.com",
		`"quoted local"@example.com`, `"a@b"@example.com`,
		`"a\"b\\c"@example.com`, long + "@example.com", "zoë@exämple.de", "用户@例え.jp", "a@xn--bcher-kva.example",
		"1@2.c3", `"a..b"@example.com`,
		long + "@" + strings.Repeat(strings.Repeat("b", 61)+".", 3) + "com", // 254 characters
	} {
		if got, err := Parse(Email, good, nil); got != good || err != nil {
			t.Errorf("%q: got %q, %v", good, got, err)
		}
	}
	for spelled, want := range map[string]string{
		"A@B.CO": "A@b.co", `"spam"@Example.com`: "spam@example.com", `"a.b"@ÉCOLE.example`: "a.b@école.example",
		"taro..love@docomo.ne.jp": `"taro..love"@docomo.ne.jp`, "Taro.@DOCOMO.ne.jp": `"Taro."@docomo.ne.jp`,
		".taro...x.@ezweb.ne.jp": `".taro...x."@ezweb.ne.jp`, "a..b@t.ezweb.ne.jp": `"a..b"@t.ezweb.ne.jp`,
		`"a..b"@au.com`: `"a..b"@au.com`, "taro.love@docomo.ne.jp": "taro.love@docomo.ne.jp",
		"a@" + strings.Repeat("例", 63) + ".jp": "a@" + strings.Repeat("例", 63) + ".jp",
	} {
		if got, err := Parse(Email, spelled, nil); got != want || err != nil {
			t.Errorf("%q: got %q, %v", spelled, got, err)
		}
	}
	for _, bad := range []string{
		"", "@", "name", "name@", "@example.com", "name@example", "name@@example.com", "a@b@example.com", "a b@example.com",
		" name@example.com",
		"name@example.com ", "name@example.com\n", "name@example.com\r\nBcc: all@example.com", "na\r\nme@example.com",
		"\"a\r\nb\"@example.com",
		"\"a\tb\"@example.com", "Name <name@example.com>", "<name@example.com>", "name@example.com, other@example.com",
		"name@example.com;other@example.com",
		"name(comment)@example.com", "name@example.com(comment)", `"a" @example.com`, `"a"@ example.com`, `"a"b@example.com`,
		`"a"@b.com>,<c@d.com`,
		`"@example.com`, `""@example.com`, `"a\"@example.com`, `"a"b"@example.com`, ".name@example.com", "name.@example.com",
		"na..me@example.com", "na..me@notdocomo.ne.jp", "na..me@docomo.ne.jp.example.com", "..@docomo.ne.jp",
		"a b..c@docomo.ne.jp", "a..b(c)@docomo.ne.jp", `a.."b@docomo.ne.jp`, long[:62] + "..@docomo.ne.jp",
		"name@.example.com", "name@example.com.", "name@example..com", "name@-example.com", "name@example-.com",
		"name@exa_mple.com", "name@[192.0.2.1]",
		"name@192.0.2.1", "name@example.c\x00m", "name\u00a0x@example.com", "name\u2028@example.com",
		"name@example.com\u200b", "name@exam\u200dple.com",
		"name@example。com", "name@１２３.com", "name@١٢٣.com", long + "a@example.com", "a@" + strings.Repeat("b", 64) + ".com",
		long + "@" + strings.Repeat(strings.Repeat("b", 61)+".", 3) + "come", "a@" + strings.Repeat("b.", 126) + "com",
		"name@example.com\xff", "mailto:name@example.com", "a\xffb@example.com",
	} {
		if got, err := Parse(Email, bad, nil); err == nil || got != "" {
			t.Errorf("%q: got %q", bad, got)
		}
	}
}

func TestMobile(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"4155550132", "415-555-0132", "(415) 555-0132", "415.555.0132", "415 555 0132", "+14155550132", "+1 (415) 555-0132",
		"1-415-555-0132", "14155550132", "+1.415.555.0132", "+1 (1) 415 555 0132",
		"415/555/0132", "415\u00a0555–0132",
	} {
		if got, err := Parse(SMS, good, nil); got != "+14155550132" || err != nil {
			t.Errorf("%q: got %q, %v", good, got, err)
		}
	}
	for _, bad := range []string{
		"", "+1", "415555013", "41555501320", "24155550132", "+24155550132", "+4155550132", "++14155550132", "1+4155550132",
		"+441632960132", "+0415555013", "+4412", "+4412345678901234", "+4416329６0132",
		"0155550132", "1155550132", "4150550132", "4151550132", "4915550132", "9115550132", "4159110132", "4154110132",
		"411-555-0132",
		"415555013a", "415-555-0132 x5", "415\n5550132", "415\t5550132", "4155550132\x00", "name@example.com",
		strings.Repeat("(", 300) + "4155550132",
	} {
		if got, err := Parse(SMS, bad, nil); err == nil || got != "" {
			t.Errorf("%q: got %q", bad, got)
		}
	}
}

func TestNumbersByCountry(t *testing.T) {
	t.Parallel()
	europe := []string{"GB", "DE", "FR", "US"}
	for _, tt := range []struct {
		number    string
		countries []string
		want      string // "": refused
		text      string
	}{
		{"416-555-0132", nil, "+14165550132", ""}, // Toronto
		{"787-555-0132", nil, "+17875550132", ""}, // Puerto Rico is of the United States
		{"876-555-0132", nil, "", "the country JM; this account sends SMS to US, CA only"},
		{"+1 809 555 0132", nil, "", "DO"},
		{"876-555-0132", []string{"US", "JM"}, "+18765550132", ""},
		{"416-555-0132", []string{"US"}, "", "CA"},
		{"+44 7700 900123", europe, "+447700900123", ""},
		{"+44 7700 300123", europe, "", "JE"},
		{"+44 7911 123456", europe, "", "GG"},
		{"+447400123456", nil, "", "the country GB"},
		{"+447400123456", europe, "+447400123456", ""},
		{"+49 (1512) 345-6789", europe, "+4915123456789", ""},
		{"+33 6 12 34 56 78", europe, "+33612345678", ""},
		{"+81 90 1234 5678", []string{"JP"}, "+819012345678", ""},
		{"+81 90 1234 5678", europe, "", "the country JP"},
		{"+7 701 123 4567", []string{"RU"}, "", "KZ"},
		{"4155550132", europe, "+14155550132", ""},
		{"4155550132", []string{"GB"}, "", "the country US"},
		// Paid, or of no country.
		{"900-555-0132", nil, "", "costs its caller extra"}, {"415-976-0132", nil, "", "costs its caller extra"},
		{"976-555-0132", nil, "", "costs its caller extra"},
		{"+1 500 555 0132", nil, "", "costs its caller extra"},
		{"800-555-0132", nil, "", "costs its caller extra"}, {"700-555-0132", nil, "", "costs its caller extra"},
		{"876-976-0132", []string{"JM"}, "", "costs its caller extra"},
		{"+44 909 879 0123", europe, "", "costs its caller extra"}, {"+44 7012345678", europe, "", "costs its caller extra"},
		{"+49 900 1234567", europe, "", "costs its caller extra"},
		{"+371 90 123456", []string{"LV"}, "", "costs its caller extra"}, {"+371 21 234567", []string{"LV"}, "+37121234567",
			""},
		// Antarctica
		{"+672 3 81234", []string{"NF"}, "+672381234", ""}, {"+672 1 12345", []string{"NF"}, "", "of no country"},
		{"+881 6 1234 5678", europe, "", "of no country"}, {"+979 1 2345 6789", europe, "", "of no country"},
		{"+800 1234 5678", europe, "", "of no country"},
	} {
		got, err := Parse(SMS, tt.number, tt.countries)
		if got != tt.want || (err == nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s to %v: %q, %v; want %q", tt.number, tt.countries, got, err, tt.want)
		}
	}
	if all := TextCountries(); len(all) < 220 || !slices.Contains(all, "US") || !slices.Contains(all, "JM") {
		t.Errorf("%d countries: %v", len(all), all)
	}
}

func TestPrintedHasNoContact(t *testing.T) {
	t.Parallel()
	if got, err := Parse(Printed, "name@example.com", nil); got != "" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if Email.String() != "e-mail" || SMS.String() != "SMS" || Printed.String() != "print" ||
		Method(0).String() != "unknown" {
		t.Error("a method has a wrong name")
	}
}

// FuzzContact holds what is taken for an address against net/mail, and both against what could break out of a header.
func FuzzContact(f *testing.F) {
	for _, s := range []string{"name@example.com", `"a\"b"@example.com`, "a@b.c\r\nBcc: d@e.f", "zoë@exämple.de",
		"+1 (415) 555-0132", `"a"@b.com>,<c@d.com`, "a@[1.2.3.4]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := Parse(Email, s, nil); err == nil {
			if got != s || len(s) > 254 || strings.ContainsAny(s, "\r\n\x00\u2028") {
				t.Fatalf("%q was taken for an address, as %q", s, got)
			}
			a, err := mail.ParseAddress("<" + s + ">")
			if err != nil || a.Name != "" {
				t.Fatalf("%q is no address to net/mail: %v, %v", s, a, err)
			}
			if s[0] != '"' && a.Address != s {
				t.Fatalf("%q is %q to net/mail", s, a.Address)
			}
		}
		if got, err := Parse(SMS, s, nil); err == nil {
			if len(got) != 12 || got[:2] != "+1" || strings.Trim(got[2:], "0123456789") != "" || got[2:5] == "900" {
				t.Fatalf("%q became the number %q", s, got)
			}
			if again, err := Parse(SMS, got, nil); again != got || err != nil {
				t.Fatalf("%q became %q, which became %q, %v", s, got, again, err)
			}
		}
	})
}

func TestKeyIgnoresCase(t *testing.T) {
	t.Parallel()
	if Key("Ann@Example.com") != Key("ann@example.COM") {
		t.Error("letter case makes another contact")
	}
}

// TestBlank: a text that shows nothing is none, whatever it is made of.
func TestBlank(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", " ", "\u00a0\u3000\n", "\u200b", "\u202e\u202c", "\u2066\u2069", "\u200e \u200f",
		"\ufeff",
		"\u00ad", "\u034f", "\u3164", "\u115f\u1160", "\uffa0", "\u2800", "\ufe0f", "\u180e", "\U000e0041", "\U000e0100"} {
		if !Blank(s) {
			t.Errorf("%+q is taken for a text", s)
		}
	}
	for _, s := range []string{"a", "\u202eא\u202c", "1", "-", "👩\u200d🚀", "❤\ufe0f", "\u0e33", "ᄒ"} {
		if Blank(s) {
			t.Errorf("%+q is taken for none", s)
		}
	}
}
