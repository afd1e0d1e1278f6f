package phone

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSpellings reads each spelling of a number, which has to give the number, also when it is read again.
func TestSpellings(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/contacts.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		want, quoted, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || strings.HasPrefix(want, "#") {
			continue
		}
		spelling, err := strconv.Unquote(`"` + quoted + `"`)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(spelling, nil); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", spelling, got, err, want)
		}
		if One(want) != want || Written(spelling) != want {
			t.Errorf("%q: kept as %q, written as %q", spelling, One(want), Written(spelling))
		}
	}
}

// TestNational reads numbers without a country code, as people of the countries dial them.
func TestNational(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		number, want string
		countries    []string
	}{
		{"07740 125622", "+447740125622", []string{"GB"}},
		{"07740 125622", "+447740125622", []string{"GB", "JE"}}, // one plan
		{"07740 125622", "", []string{"GB", "DE"}},
		{"07740 125622", "", []string{"US", "CA"}},
		{"07700 900123", "+447700900123", []string{"GB"}},
		{"7740 125622", "+447740125622", []string{"GB"}},
		{"44 7740 125622", "+447740125622", []string{"GB"}},
		{"0171/1234567", "+491711234567", []string{"DE"}},
		{"06 12 34 56 78", "+33612345678", []string{"FR"}},
		{"612 345 678", "+34612345678", []string{"ES"}},
		{"333 123 4567", "+393331234567", []string{"IT"}},
		{"06 1234 5678", "+390612345678", []string{"IT"}},
		{"090-1234-5678", "+819012345678", []string{"JP"}},
		{"0412 345 678", "+61412345678", []string{"AU"}},
		{"0011 44 7740 125622", "+447740125622", []string{"AU"}}, // as dialled from there
		{"011 44 7740 125622", "+447740125622", []string{"US"}},
		{"55 1234 5678", "+525512345678", []string{"MX"}},
		{"4155550132", "+14155550132", []string{"GB"}}, // which is for Check to refuse
		{"4155550132", "+14155550132", []string{"GB", "DE"}},
	} {
		if got, err := Parse(tt.number, tt.countries); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s in %v: %q, %v; want %q", tt.number, tt.countries, got, err, tt.want)
		}
	}
}

// TestNoNumber: what nobody can be called by is refused with an example of a number of the country.
func TestNoNumber(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "+", "+1", "415555013", "41555501320", "++14155550132", "1+4155550132", "+0415555013",
		"+4412", "+4412345678901234", "+4416329６o132", "4150550132", "4151550132", "4915550132", "9115550132", "4159110132",
		"411-555-0132", "415555013a", "415-555-0132 x5", "tel:+14155550132;ext=5", "415\n5550132", "415\t5550132",
		"4155550132\x00", "name@example.com", "+1 415 555 0132, +1 415 555 0133", strings.Repeat("(", 300) + "5550132",
		strings.Repeat("4", 300)} {
		got, err := Parse(bad, []string{"US", "CA"})
		if err == nil || !strings.Contains(err.Error(), "(201) 555-0123") {
			t.Errorf("%q: %q, %v", bad, got, err)
		}
	}
	for _, tt := range []struct {
		countries []string
		want      string
	}{
		{[]string{"GB"}, "a number of GB such as 07400 123456, or + and the country code, such as +44 7400 123456"},
		{[]string{"FR", "DE"}, "such as +33 6 12 34 56 78"},
		{nil, "+ and the country code"},
	} {
		if _, err := Parse("12", tt.countries); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v", tt.countries, err)
		}
	}
}

// TestEarlierSpellings: a gift that 0.1.0 kept with a trunk prefix is found by its number.
func TestEarlierSpellings(t *testing.T) {
	t.Parallel()
	for number, kept := range map[string]string{"+447740125622": "+4407740125622", "+4915123456789": "+49015123456789",
		"+525512345678": "+5215512345678", "+36201234567": "+3606201234567", "+79123456789": "+789123456789",
		"+34612345678": "+340612345678", "+14155550132": "+14155550132"} {
		if all := Spellings(number); all[0] != number || !slices.Contains(all, kept) || One(kept) != number {
			t.Errorf("%s: %v, and %s is %s", number, all, kept, One(kept))
		}
	}
	for _, kept := range []string{"", "name@example.com", "+", "+0", "+1234", "a name"} {
		if One(kept) != kept {
			t.Errorf("%q became %q", kept, One(kept))
		}
	}
}

// TestPaidBeginnings: the beginnings of numbers that earlier releases refused for their price stay refused. The table
// was made from numbering plans, independently of the metadata.
func TestPaidBeginnings(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"+19005550132", "+14159760132", "+19765550132", "+15005550132", "+17005550132",
		"+18005550132", "+16005550132", "+447012345678", "+449098790123", "+448456789012", "+499001234567", "+491371234567",
		"+37190123456", "+33899123456", "+39899123456", "+81570123456", "+41900123456", "+43900123456", "+34803123456",
		"+61190012345", "+881612345678", "+80012345678", "+97912345678", "+672112345"} {
		if err := Check(number, Countries()); err == nil {
			t.Errorf("%s is taken", number)
		}
	}
	for _, mobile := range []string{"+14155550132", "+447400123456", "+447700900123", "+4915123456789", "+33612345678",
		"+819012345678", "+525512345678", "+5511961234567", "+919876543210", "+8613123456789", "+37121234567"} {
		if err := Check(mobile, Countries()); err != nil {
			t.Errorf("%s: %v", mobile, err)
		}
	}
	if all := Countries(); len(all) < 240 || !slices.IsSorted(all) || !slices.Contains(all, "JM") {
		t.Errorf("%d countries: %v", len(all), all)
	}
}

// FuzzParse: what is read stays what it is when it is read again, and is one contact with what was written.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"+44 (0)7740 125622", "0171/1234567", "+1 (415) 555-0132", "tel:+81-90-1234-5678",
		"+54 011 15 2345-6789", "00 49 0 151 23456789", "+52 1 55 1234 5678", "+39 (0)6 12345678"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, countries := range [][]string{nil, {"US", "CA"}, {"GB"}, {"IT"}, {"AR"}} {
			number, err := Parse(s, countries)
			if err != nil {
				continue
			}
			if len(number) > 16 || number[0] != '+' || strings.Trim(number[1:], "0123456789") != "" {
				t.Fatalf("%q became %q", s, number)
			}
			if again, err := Parse(number, countries); again != number || err != nil || One(number) != number {
				t.Fatalf("%q became %q, which became %q, %v, %q", s, number, again, err, One(number))
			}
			for _, spelling := range Spellings(number) {
				if One(spelling) != number {
					t.Fatalf("%q is no spelling of %q", spelling, number)
				}
			}
		}
	})
}
