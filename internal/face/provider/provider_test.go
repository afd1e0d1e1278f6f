package provider

import (
	"testing"

	"github.com/go-json-experiment/json"

	"boon.example/internal/money"
)

func TestAmounts(t *testing.T) {
	t.Parallel()
	usd, yen := money.Currency{Code: "USD", Decimals: 2}, money.Currency{Code: "JPY"}
	for _, c := range []struct {
		text string
		in   money.Currency
		want money.Amount // 0: refused
	}{
		{"5", usd, 500}, {`"5.0"`, usd, 500}, {"5.000", usd, 500}, {"5e0", usd, 500}, {"2.5e1", usd, 2500},
		{"0.01", usd, 1}, {"9007199254740993.01", usd, 900719925474099301}, {"5.001", usd, 0}, {"0", usd, 0},
		{"-5", usd, 0}, {`"+5"`, usd, 0}, {`" 5"`, usd, 0}, {`"5,0"`, usd, 0}, {`"0x5"`, usd, 0}, {`"NaN"`, usd, 0},
		{`""`, usd, 0}, {"null", usd, 0}, {"1e400", usd, 0}, {"1e-400", usd, 0}, {"5", yen, 5}, {"5.0", yen, 5}, {"5.5", yen, 0},
	} {
		var a Amount
		if err := json.Unmarshal([]byte(c.text), &a); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if got, err := a.In(c.in); got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s in %s: %d, %v", c.text, c.in.Code, got, err)
		}
	}
	var a Amount
	if json.Unmarshal([]byte("true"), &a) == nil || json.Unmarshal([]byte("{}"), &a) == nil {
		t.Error("true and {} are amounts")
	}
	for text, want := range map[Amount]bool{"0": true, "0.00": true, "5": true, "-1": false, "": false, "0.001": false} {
		if _, err := text.OrZeroIn(usd); (err == nil) != want {
			t.Errorf("%q, or zero: %v", text, err)
		}
	}
}
