package money

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	usd = Currency{Code: "USD", Decimals: 2}
	jpy = Currency{Code: "JPY", Decimals: 0}
	kwd = Currency{Code: "KWD", Decimals: 3}
)

func TestParseAmount(t *testing.T) {
	t.Parallel()
	tests := []struct {
		currency Currency
		number   string
		want     Amount
		err      error
	}{
		{usd, "25", 2500, nil},
		{usd, "25.0", 2500, nil},
		{usd, "2.5e1", 2500, nil},
		{usd, "2.5E+1", 2500, nil},
		{usd, "2500e-2", 2500, nil},
		{usd, "25.5", 2550, nil},
		{usd, "25.50000000000000000000000000000", 2550, nil},
		{usd, "0.01", 1, nil},
		{usd, "1e-2", 1, nil},
		{usd, "0.00001e3", 1, nil},
		{usd, "25e00000000000000000000000000000", 2500, nil},
		{usd, "92233720368547758.07", math.MaxInt64, nil},
		{usd, "92233720368547758.08", 0, ErrOutOfRange},
		{usd, "25.001", 0, ErrTooPrecise},
		{usd, "0.001", 0, ErrTooPrecise},
		{usd, "1e-3", 0, ErrTooPrecise},
		{usd, "1e-999999999", 0, ErrTooPrecise},
		{usd, "1e-99999999999999999999999", 0, ErrTooPrecise},
		{usd, "1e400", 0, ErrOutOfRange},
		{usd, "1e999999999", 0, ErrOutOfRange},
		{usd, "1e99999999999999999999999", 0, ErrOutOfRange},
		{usd, strings.Repeat("9", 1<<20), 0, ErrOutOfRange},
		{usd, "0." + strings.Repeat("0", 1<<20) + "1", 0, ErrTooPrecise},
		{usd, "1" + strings.Repeat("0", 1<<20) + "e-1048576", 100, nil},
		{usd, "0", 0, ErrNotPositive},
		{usd, "-0", 0, ErrNotPositive},
		{usd, "0.00", 0, ErrNotPositive},
		{usd, "0e999999999", 0, ErrNotPositive},
		{usd, "-0.01", 0, ErrNotPositive},
		{usd, "-1e400", 0, ErrNotPositive},
		{usd, "-0.001", 0, ErrNotPositive},
		{jpy, "2500", 2500, nil},
		{jpy, "2500.0", 2500, nil},
		{jpy, "25.5", 0, ErrTooPrecise},
		{kwd, "2.55", 2550, nil},
		{kwd, "2.5501", 0, ErrTooPrecise},
		{Pieces, "3", 3, nil},
		{Pieces, "3.5", 0, ErrTooPrecise},
	}
	for _, tt := range tests {
		got, err := tt.currency.Parse(Number(tt.number))
		if got != tt.want || err != tt.err {
			t.Errorf("%s %.40q: got %d, %v; want %d, %v", tt.currency.Code, tt.number, got, err, tt.want, tt.err)
		}
	}
	for _, number := range []string{
		"", " ", "-", "+1", ".5", "5.", "01", "00", "-01", "1e", "1e+", "e5", "1.e5", "0x10", "1_000", "1,5", "1 ", " 1",
		"1\n", "NaN", "Infinity",
		"٣", "１", "1e٣", "--1", "1-", "1.2.3", "1e2e3", "1e2.5", "\x00", "²",
	} {
		if got, err := usd.Parse(Number(number)); err != ErrNotANumber {
			t.Errorf("%q: got %d, %v", number, got, err)
		}
		if got, err := usd.ParseSigned(Number(number)); err != ErrNotANumber {
			t.Errorf("ParseSigned %q: got %d, %v", number, got, err)
		}
	}
}

func TestParseSigned(t *testing.T) {
	t.Parallel()
	tests := []struct {
		number string
		want   Amount
		err    error
	}{
		{"0", 0, nil}, {"-0", 0, nil}, {"-0.000", 0, nil}, {"0e-999999999", 0, nil}, {"-1.5", -150, nil}, {"1.5", 150, nil},
		{"-92233720368547758.07", -math.MaxInt64, nil}, {"-1e400", 0, ErrOutOfRange}, {"-0.001", 0, ErrTooPrecise},
	}
	for _, tt := range tests {
		if got, err := usd.ParseSigned(Number(tt.number)); got != tt.want || err != tt.err {
			t.Errorf("%s: got %d, %v; want %d, %v", tt.number, got, err, tt.want, tt.err)
		}
	}
}

func TestFormatAmount(t *testing.T) {
	t.Parallel()
	tests := []struct {
		currency Currency
		amount   Amount
		format   string
		money    string
	}{
		{usd, 2550, "25.50", "25.50 USD"},
		{usd, 5, "0.05", "0.05 USD"},
		{usd, 0, "0.00", "0.00 USD"},
		{usd, -5, "-0.05", "-0.05 USD"},
		{usd, math.MaxInt64, "92233720368547758.07", "92233720368547758.07 USD"},
		{usd, math.MinInt64, "-92233720368547758.08", "-92233720368547758.08 USD"},
		{jpy, 2550, "2550", "2550 JPY"},
		{kwd, 2550, "2.550", "2.550 KWD"},
		{Pieces, 3, "3", "3"},
	}
	for _, tt := range tests {
		if got := tt.currency.Format(tt.amount); got != tt.format {
			t.Errorf("Format %d: got %s, want %s", tt.amount, got, tt.format)
		}
		if got := tt.currency.Money(tt.amount); got != tt.money {
			t.Errorf("Money %d: got %s, want %s", tt.amount, got, tt.money)
		}
	}
	if got := string(usd.Append([]byte("x"), 1)); got != "x0.01" {
		t.Errorf("Append: got %s", got)
	}
}

func TestAmountRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]Currency{usd, jpy, kwd, Pieces}).Draw(t, "currency")
		a := Amount(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "amount"))
		if got, err := c.ParseSigned(Number(c.Format(a))); got != a || err != nil {
			t.Fatalf("%d became %s became %d, %v", a, c.Format(a), got, err)
		}
		got, err := c.Parse(Number(c.Format(a)))
		if positive := a > 0; positive != (err == nil) || positive && got != a {
			t.Fatalf("%d: Parse gave %d, %v", a, got, err)
		}
	})
}

func TestCurrencies(t *testing.T) {
	t.Parallel()
	for code, decimals := range map[string]int{"USD": 2, "EUR": 2, "JPY": 0, "KWD": 3, "ISK": 0, "HUF": 2, "TND": 3,
		"CLP": 0} {
		if got, err := ParseCurrency(code); err != nil || got != (Currency{code, decimals}) {
			t.Errorf("%s: got %v, %v", code, got, err)
		}
	}
	for _, code := range []string{"", "usd", "US", "USDX", "XXX", "   ", "D E", "BGN", "AUD "} {
		if got, err := ParseCurrency(code); err == nil {
			t.Errorf("%q: got %v", code, got)
		}
	}
	for typed, meant := range map[string]string{"eur": "EUR", "EURO": "EUR", "euros": "EUR", "€": "EUR", "Dollar": "USD",
		"$": "USD", "yen": "JPY", " GBP ": "GBP", "pounds": "GBP", "kwd": "KWD", "XXX": "", "": "", "S": "", "USX": ""} {
		_, err := ParseCurrency(typed)
		_, said, _ := strings.Cut(fmt.Sprint(err), "; did you mean ")
		if err == nil || strings.TrimSuffix(said, "?") != meant {
			t.Errorf("%q: %v, want %q", typed, err, meant)
		}
	}
	seen := map[string]bool{}
	for _, codes := range currencies {
		for code := range strings.FieldsSeq(codes) {
			if len(code) != 3 || strings.ToUpper(code) != code || seen[code] {
				t.Errorf("%q is no code, or there twice", code)
			}
			seen[code] = true
		}
	}
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// FuzzAmount compares with exact rational arithmetic, where that is feasible.
func FuzzAmount(f *testing.F) {
	for _, s := range []string{"25", "25.0", "2.5e1", "25.001", "1e400", "-0.01", "0", "-0", "1e999999999", "1e-5", "01",
		"1.", "92233720368547758.07"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, number string) {
		got, err := kwd.ParseSigned(Number(number))
		if valid := jsonNumber.MatchString(number); valid == (err == ErrNotANumber) {
			t.Fatalf("%q: is a JSON number: %v, but %v", number, valid, err)
		}
		told, refused := kwd.ReadSigned(Number(number))
		if want := err == nil && got != 0; want != (refused == nil) || want && told != got {
			t.Fatalf("%q: told %d, %v; read %d, %v", number, told, refused, got, err)
		}
		if e := strings.IndexAny(number, "eE"); err == ErrNotANumber || e >= 0 && len(number)-e > 5 {
			return
		}
		exact, ok := new(big.Rat).SetString(number)
		if !ok {
			t.Fatalf("%q: is no number to math/big", number)
		}
		exact.Mul(exact, big.NewRat(1000, 1))
		inRange := exact.IsInt() && exact.Num().IsInt64() && exact.Num().Int64() != math.MinInt64
		if inRange != (err == nil) || inRange && exact.Num().Int64() != int64(got) {
			t.Fatalf("%q: got %d, %v; exactly %s", number, got, err, exact)
		}
	})
}
