package order

import (
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// TestVATIsKept: a gift is taxed as its promotion says when the gift is made, else as its program says. A later change
// of the set-up changes no gift.
func TestVATIsKept(t *testing.T) {
	t.Parallel()
	type vat struct {
		treatment merchant.VATTreatment
		rate      money.Number
	}
	none, many := vat{}, vat{merchant.MultiPurpose, ""}
	ways := map[string]func(*merchant.Account) Send{"purchased": purchased, "promoted": promoted, "several": several,
		"stock": nil}
	for _, tt := range []struct {
		way                           string
		business, promotional, spring vat
		want                          vat
	}{
		{"purchased", none, many, many, none},
		{"purchased", many, none, none, many},
		{"purchased", vat{merchant.SinglePurpose, "19"}, many, many, vat{merchant.SinglePurpose, "19"}},
		{"several", vat{merchant.SinglePurpose, "5.5"}, many, many, vat{merchant.SinglePurpose, "5.5"}},
		{"promoted", many, none, none, none},
		{"promoted", many, vat{merchant.SinglePurpose, "7"}, none, vat{merchant.SinglePurpose, "7"}},
		{"promoted", many, vat{merchant.SinglePurpose, "7"}, many, many},
		{"promoted", none, many, vat{merchant.SinglePurpose, "0"}, vat{merchant.SinglePurpose, "0"}},
		{"stock", vat{merchant.SinglePurpose, "19"}, many, many, vat{merchant.SinglePurpose, "19"}},
		{"stock", none, many, many, none},
	} {
		a := harborCoffee(t)
		set := func(business, promotional, spring vat) {
			a.Subscriptions[0].VATTreatment, a.Subscriptions[0].VATRate = business.treatment, business.rate
			a.Subscriptions[1].VATTreatment, a.Subscriptions[1].VATRate = promotional.treatment, promotional.rate
			a.Promotions[0].VATTreatment, a.Promotions[0].VATRate = spring.treatment, spring.rate
		}
		set(tt.business, tt.promotional, tt.spring)
		gifts, err := Stock{Caller: purchased(a).Caller, Count: ptr(3), Value: "10"}.Make(a, now, nil)
		if send := ways[tt.way]; send != nil {
			gifts, err = Issue(send(a), a, now, nil)
		}
		if err != nil {
			t.Fatalf("%s: %v", tt.way, err)
		}
		later := vat{merchant.SinglePurpose, "99"}
		set(later, later, later)
		for n := range gifts {
			if got := (vat{gifts[n].Card.VATTreatment, gifts[n].Card.VATRate}); got != tt.want {
				t.Errorf("%s %d of %+v, %+v, %+v is taxed as %+v, want %+v", tt.way, n, tt.business, tt.promotional, tt.spring,
					got, tt.want)
			}
		}
	}
}
