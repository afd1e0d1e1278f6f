package locale

import (
	"slices"
	"strings"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

func named(t testing.TB, code string) money.Currency {
	t.Helper()
	c, err := money.ParseCurrency(code)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReadings: an amount is read as the language writes it, and never guessed where it may be two.
func TestReadings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in           *Locale
		code, typed  string
		first, other money.Number
	}{
		{For(merchant.English), "USD", "25", "25", ""},
		{For(merchant.English), "USD", " 12.50 ", "12.50", ""},
		{For(merchant.English), "USD", "12,50", "12.50", ""},
		{For(merchant.English), "USD", "1,250", "1250", ""},
		{For(merchant.English), "USD", "1,250.5", "1250.5", ""},
		{For(merchant.English), "USD", "1.250", "1250", "1.250"},
		{For(merchant.English), "USD", "-5", "-5", ""},
		{For(merchant.English), "USD", "−5.5", "-5.5", ""},
		{For(merchant.English), "USD", "1,250,000", "1250000", ""},
		{For(merchant.English), "KWD", "1.250", "1.250", ""},
		{For(merchant.English), "KWD", "1,250", "1250", "1.250"},
		{For(merchant.English), "JPY", "1,250", "1250", ""},
		{For(merchant.German), "EUR", "1,250", "1250", "1.250"},
		{For(merchant.German), "EUR", "1.250", "1250", ""},
		{For(merchant.German), "EUR", "1.250,00", "1250.00", ""},
		{For(merchant.German), "EUR", "1,255", "", ""},
		{For(merchant.German), "EUR", "0,250", "0.250", ""},
		{For(merchant.German), "EUR", "1250,5", "1250.5", ""},
		{For(merchant.German).In("CH"), "CHF", "1’250.50", "1250.50", ""},
		{For(merchant.German).In("CH"), "CHF", "1,250", "1250", "1.250"},
		{For(merchant.English).In("IN"), "INR", "1,25,000", "125000", ""},
		{For(merchant.English), "USD", "1,25,000", "", ""},
		{For(merchant.English), "USD", "12 50", "", ""},
		{For(merchant.English), "USD", "1.2.3", "", ""},
		{For(merchant.English), "USD", "1,234,56", "", ""},
		{For(merchant.English), "USD", "12.345,6.7", "", ""},
		{For(merchant.English), "USD", "a lot", "", ""},
		{For(merchant.English), "USD", "1e3", "", ""},
		{For(merchant.English), "USD", "12.", "", ""},
		{For(merchant.English), "USD", "", "", ""},
		{For(merchant.English), "USD", "-", "", ""},
		{For(merchant.English), "USD", "--5", "", ""},
	} {
		var want []money.Number
		for _, n := range []money.Number{c.first, c.other} {
			if n != "" {
				want = append(want, n)
			}
		}
		if got := c.in.Readings(c.typed, named(t, c.code)); !slices.Equal(got, want) {
			t.Errorf("%s in %s, %s: %q is read as %q, want %q", c.code, c.in.Language(), c.typed, c.typed, got, want)
		}
	}
}

// TestReadingsOfFile: the language of the reader decides nothing that may be two amounts.
func TestReadingsOfFile(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][]money.Number{"1,250": {"1250", "1.250"}, "1.250": {"1250", "1.250"},
		"25,00": {"25.00"}, "25.00": {"25.00"}, "1,250.00": {"1250.00"}, "1.250,00": {"1250.00"}, "1250": {"1250"},
		"0,250": {"0.250"}} {
		for _, in := range []merchant.Language{merchant.English, merchant.German, merchant.Spanish} {
			if got := For(in).ReadingsOfFile(typed, named(t, "EUR")); !slices.Equal(got, want) {
				t.Errorf("%s in %s: %q, not %q", typed, in, got, want)
			}
		}
	}
}

// FuzzReadings: what the console writes it reads again, in every region; and a reading has the digits that were typed,
// in their order.
func FuzzReadings(f *testing.F) {
	f.Add("1,250", int64(125_000))
	f.Add("1.234.567,89", int64(-5))
	f.Add("12 345", int64(9_999_999_999))
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || '9' < r {
				return -1
			}
			return r
		}, s)
	}
	f.Fuzz(func(t *testing.T, typed string, a int64) {
		for _, lang := range ConsoleLanguages() {
			for _, country := range []string{"", "DE", "CH", "US", "IN", "MX", "ES", "AT", "ZA", "FR"} {
				l := For(lang).In(country)
				for _, code := range []string{"EUR", "JPY", "KWD"} {
					c := named(t, code)
					written := l.Decimal(c.Format(money.Amount(a)))
					read := l.Readings(written, c)
					if len(read) != 1 {
						t.Fatalf("%s-%s writes %s and reads %q", lang, country, written, read)
					}
					if again, err := c.ParseSigned(read[0]); err != nil || again != money.Amount(a) {
						t.Fatalf("%s-%s writes %d %s as %s and reads %d, %v", lang, country, a, code, written, again, err)
					}
					read = l.Readings(typed, c)
					for _, n := range read {
						if _, err := c.ParseSigned(n); err != nil || digits(string(n)) != digits(typed) {
							t.Fatalf("%q is read as %q, %v", typed, n, err)
						}
					}
					if len(read) > 2 {
						t.Fatalf("%q has %d readings", typed, len(read))
					}
				}
			}
		}
	})
}
