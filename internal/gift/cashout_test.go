package gift

import "testing"

func TestCashOutAllowed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		jurisdiction      string
		original, balance Amount
		want              bool
	}{
		{"US-CA", 5000, 1499, true}, {"US-CA", 5000, 1500, false}, {"US-CA", 1499, 1499, true}, {"US-CA", 5000, 1, true},
		{"US-CO", 5000, 500, true}, {"US-CO", 5000, 501, false}, {"US-CO", 500, 500, true},
		{"US-CT", 5000, 299, true}, {"US-CT", 5000, 300, false}, {"US-CT", 299, 299, false}, {"US-CT", 299, 298, true},
		{"US-MA", 10000, 1000, true}, {"US-MA", 10000, 1001, false}, {"US-MA", 1005, 100, true}, {"US-MA", 1005, 101, false},
		{"US-MA", 5, 0, false},
		{"US-ME", 5000, 499, true}, {"US-ME", 5000, 500, false}, {"US-ME", 500, 100, false}, {"US-ME", 501, 100, true},
		{"US-MT", 5000, 499, true}, {"US-MT", 5000, 500, false}, {"US-MT", 500, 499, false}, {"US-MT", 501, 499, true},
		{"US-NJ", 5000, 499, true}, {"US-NJ", 5000, 500, false}, {"US-NJ", 500, 499, false}, {"US-NJ", 501, 499, true},
		{"US-OR", 5000, 499, true}, {"US-OR", 5000, 500, false}, {"US-OR", 499, 499, false}, {"US-OR", 499, 498, true},
		{"US-RI", 5000, 99, true}, {"US-RI", 5000, 100, false}, {"US-RI", 99, 99, false},
		{"US-VT", 5000, 99, true}, {"US-VT", 5000, 100, false}, {"US-VT", 99, 99, true},
		{"US-WA", 5000, 499, true}, {"US-WA", 5000, 500, false}, {"US-WA", 499, 499, false},
		{"US-TX", 5000, 1, false}, {"US-PR", 5000, 1, false}, {"US-NY", 5000, 1, false},
		{"US", 5000, 1, false}, {"", 5000, 1, false}, {"us-ca", 5000, 1, false}, {"CA", 5000, 1, false},
	} {
		v := Voucher{Currency: usd, Loaded: tt.original, Balance: tt.balance, Status: Claimed}
		if got := CashOutAllowed(tt.jurisdiction, &v, now); got != tt.want {
			t.Errorf("%s, %d of %d: %v", tt.jurisdiction, tt.balance, tt.original, got)
		}
	}
	for jurisdiction := range cashOutRules {
		good := Voucher{Currency: usd, Loaded: 5000, Balance: 50, Status: Claimed}
		if !CashOutAllowed(jurisdiction, &good, now) {
			t.Errorf("%s: not even 0.50 of 50.00", jurisdiction)
		}
		for name, spoil := range map[string]func(*Voucher){
			"an item": func(v *Voucher) { v.Item = true }, "a promotion": func(v *Voucher) { v.Promotional = true },
			"in Canadian dollars": func(v *Voucher) { v.Currency = Currency{"CAD", 2} },
			"empty":               func(v *Voucher) { v.Balance = 0 },
		} {
			v := good
			spoil(&v)
			if CashOutAllowed(jurisdiction, &v, now) {
				t.Errorf("%s: allowed for a gift that is %s", jurisdiction, name)
			}
		}
		for _, s := range Statuses() {
			v := good
			if v.Status = s; CashOutAllowed(jurisdiction, &v, now) != s.Redeemable() {
				t.Errorf("%s: %s", jurisdiction, s)
			}
		}
	}
}
