package client

import (
	"cmp"
	"encoding/json"
	"math/big"
	"testing"
	"testing/quick"
)

func TestParseDecimal(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"0", "25", "25.50", "-0.01", "0.000", "9223372036854775807", "0.1234567890123456789"} {
		d, err := ParseDecimal(good)
		if err != nil || d.String() != good || !d.Given() {
			t.Errorf("ParseDecimal(%q) = %q, %v", good, d, err)
		}
	}
	long := "1"
	for range maxDecimal {
		long += "0"
	}
	for _, bad := range []string{"", " 1", "1 ", "+1", "01", "1.", ".5", "1e3", "1E400", "1,000", "NaN", "Inf", "0x10",
		"1_000", "٣", "--1", "-", "1.2.3", long} {
		if d, err := ParseDecimal(bad); err == nil {
			t.Errorf("ParseDecimal(%q) = %q, want an error", bad, d)
		}
	}
}

func TestDecimalJSON(t *testing.T) {
	t.Parallel()
	type doc struct {
		A Decimal `json:"a"`
		B Decimal `json:"b,omitzero"`
	}
	text, err := json.Marshal(doc{})
	if err != nil || string(text) != `{"a":null}` {
		t.Errorf("the zero Decimal is written as %s, %v", text, err)
	}
	text, err = json.Marshal(doc{MustDecimal("25.50"), Whole(0)})
	if err != nil || string(text) != `{"a":25.50,"b":0}` {
		t.Errorf("25.50 and 0 are written as %s, %v", text, err)
	}
	d := doc{A: Whole(1)}
	if err := json.Unmarshal([]byte(`{"a":null,"b":0.10}`), &d); err != nil || d.A.Given() || d.B.String() != "0.10" {
		t.Errorf("null and 0.10 are read as %+v, %v", d, err)
	}
	for _, bad := range []string{`"25.50"`, `2.5e1`, `true`, `[]`, `{}`} {
		if err := json.Unmarshal([]byte(`{"a":`+bad+`}`), &d); err == nil {
			t.Errorf("%s is read as %q, want an error", bad, d.A)
		}
	}
}

func TestDecimalCompares(t *testing.T) {
	t.Parallel()
	if MustDecimal("25").Cmp(MustDecimal("25.00")) != 0 || MustDecimal("-1").Sign() != -1 || (Decimal{}).Sign() != 0 {
		t.Error("25 is 25.00, -1 is below zero, and no number counts as zero")
	}
	cents := func(n int64) Decimal { return MustDecimal(big.NewRat(n, 100).FloatString(2)) }
	compares := func(a, b int64) bool { return cents(a).Cmp(cents(b)) == cmp.Compare(a, b) }
	if err := quick.Check(compares, nil); err != nil {
		t.Error(err)
	}
}

func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0", "25.50", "-1", "1e9", "00", "999999999999999999999999", "1.", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDecimal(s)
		if err != nil {
			return
		}
		text, err := json.Marshal(d)
		if err != nil || string(text) != s {
			t.Fatalf("%q is written as %s, %v", s, text, err)
		}
		var back Decimal
		if err := json.Unmarshal(text, &back); err != nil || back != d {
			t.Fatalf("%q comes back as %q, %v", s, back, err)
		}
	})
}
