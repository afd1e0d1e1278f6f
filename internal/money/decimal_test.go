package money

import (
	"math"
	"strings"
	"testing"
)

func TestDecimal(t *testing.T) {
	t.Parallel()
	usd, jpy := Currency{"USD", 2}, Currency{Code: "JPY"}
	for _, tt := range []struct {
		number string
		c      Currency
		round  Amount
		in     string
	}{
		{"0", usd, 0, "0"},
		{"-0.00", usd, 0, "0"},
		{"4.5", usd, 450, "450"},
		{"45e-1", usd, 450, "450"},
		{"1.3333", usd, 133, "133.33"},
		{"0.30000000000000004", usd, 30, "30.000000000000004"},
		{"0.005", usd, 1, "0.5"},
		{"0.00499999999999999999999999999999999999999999999999999", usd, 0,
			"0.499999999999999999999999999999999999999999999999999"},
		{"-0.005", usd, 0, "-0.5"},
		{"-0.0051", usd, -1, "-0.51"},
		{"-4.5", usd, -450, "-450"},
		{"449.5", jpy, 450, "449.5"},
		{"1e17", usd, math.MaxInt64, "10000000000000000000"},
		{"-1e17", usd, math.MinInt64, "-10000000000000000000"},
		{"5e-324", usd, 0, "0." + strings.Repeat("0", 321) + "5"},
		{"1.1368683772161603e-13", usd, 0, "0.000000000011368683772161603"},
	} {
		d, err := ParseDecimal(Number(tt.number))
		if err != nil {
			t.Errorf("%s: %v", tt.number, err)
			continue
		}
		if got := d.Round(tt.c); got != tt.round {
			t.Errorf("%s rounds to %d, want %d", tt.number, got, tt.round)
		}
		if got := d.In(tt.c); got != tt.in {
			t.Errorf("%s is %s, want %s", tt.number, got, tt.in)
		}
	}
	for number, want := range map[string]error{
		"": ErrNotANumber, "1.": ErrNotANumber, "NaN": ErrNotANumber, "+1": ErrNotANumber, "1e": ErrNotANumber,
		"1e18": ErrOutOfRange, "1e999999999999": ErrOutOfRange, strings.Repeat("9", 400): ErrOutOfRange,
		"1e-401": ErrTooLong, "1e-999999999999": ErrTooLong, "0." + strings.Repeat("3", 61): ErrTooLong,
	} {
		if _, err := ParseDecimal(Number(number)); err != want {
			t.Errorf("%.20q: %v, want %v", number, err, want)
		}
	}
}

func TestDecimalArithmetic(t *testing.T) {
	t.Parallel()
	usd := Currency{"USD", 2}
	parse := func(s string) Decimal {
		d, err := ParseDecimal(Number(s))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, tt := range []struct{ name, got, want string }{
		{"a sum", parse("0.1").Add(parse("0.2")).In(usd), "30"},
		{"of other scales", parse("1e3").Add(parse("-0.125")).In(usd), "99987.5"},
		{"with zero", Decimal{}.Add(Decimal{}).Add(parse("4.5")).In(usd), "450"},
		{"a product", parse("1.3333").Mul(parse("3")).In(usd), "399.99"},
		{"with zero", parse("1.3333").Mul(Decimal{}).In(usd), "0"},
		{"less", parse("4.5").Less().In(usd), "-450"},
		{"less of less", parse("-4.5").Less().In(usd), "-450"},
		{"a whole number", DecimalOf(-7).In(Pieces), "-7"},
		{"an amount", usd.Decimal(-1234).In(Pieces), "-12.34"},
		{"a sum beyond int64", parse("999999999999999999").Add(parse("9e17")).Mul(parse("1e2")).In(Pieces),
			"189999999999999999900"},
		{"a product beyond int64", parse("99999999999").Mul(parse("-99999999999")).In(Pieces), "-9999999999800000000001"},
		{"scales beyond int64", parse("1e-20").Add(parse("1e17")).In(Pieces), "100000000000000000.00000000000000000001"},
		{"back from beyond", parse("9e17").Mul(parse("1e3")).Mul(parse("1e-3")).In(Pieces), "900000000000000000"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

// FuzzDecimal holds the rounding of what an Amount can hold exactly against ParseSigned.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"4.50", "-0", "1e18", "1e-400", "0.30000000000000004", "9e999999999",
		strings.Repeat("1", 400)} {
		f.Add(s)
	}
	usd := Currency{"USD", 2}
	f.Fuzz(func(t *testing.T, number string) {
		d, err := ParseDecimal(Number(number))
		if err != nil {
			return
		}
		if a, err := usd.ParseSigned(Number(number)); err == nil && a != d.Round(usd) {
			t.Errorf("%q is %d, but rounds to %d", number, a, d.Round(usd))
		}
		if read, err := ReadDecimal([]byte(number)); err != nil || read.In(usd) != d.In(usd) {
			t.Errorf("%q is %s, but its bytes are %s, %v", number, d.In(usd), read.In(usd), err)
		}
		asLarge := Decimal{large: d.int(), scale: d.scale}
		for _, c := range []Currency{usd, Pieces, {"XAU", 6}} {
			if d.Round(c) != asLarge.Round(c) || d.Add(d).In(c) != asLarge.Add(asLarge).In(c) ||
				d.Mul(d).In(c) != asLarge.Mul(asLarge).In(c) || d.Less().In(c) != asLarge.Less().In(c) {
				t.Errorf("%q as an int64 and as a big number are two", number)
			}
		}
		if got := d.Add(d.Less()).Sign(); d.Sign() > 0 && got != 0 {
			t.Errorf("%q less itself has the sign %d", number, got)
		}
	})
}
