package gift

import (
	"testing"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

func TestReads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		gift    string
		account merchant.Language
		want    merchant.Language
	}{
		{"", "", merchant.English}, // an account of version 0.1.0
		{"", merchant.German, merchant.German},
		{"fr", merchant.German, merchant.French},
		{"fr-CA", merchant.German, merchant.French},
		{"JA-jp", merchant.German, merchant.Japanese},
		{"pt-BR", merchant.German, merchant.German},
		{"pt-BR", "", merchant.English},
		{"deu", merchant.Spanish, merchant.Spanish},
		{"x-de", merchant.Spanish, merchant.Spanish},
	} {
		g := Gift{Card: Card{Language: tt.gift}}
		if got := g.Reads(&merchant.Account{Language: tt.account}); got != tt.want {
			t.Errorf("%q of an account in %q is read in %q, not %q", tt.gift, tt.account, got, tt.want)
		}
	}
}

func TestItemsAreKept(t *testing.T) {
	t.Parallel()
	now := []merchant.Item{{ID: "MOCHA", Name: "Mocha"}}
	a := &merchant.Account{Promotions: []merchant.Promotion{{ID: guid.ID{1}, EligibleItems: now, TicketOptional: true},
		{ID: guid.ID{2}, EligibleItems: now}}}
	for _, tt := range []struct {
		name     string
		v        Voucher
		want     string
		optional bool
	}{
		{"kept", Voucher{PromotionID: guid.ID{1}, Items: []merchant.Item{{ID: "LATTE", Name: "Latte"}}}, "Latte", true},
		{"kept: anything", Voucher{PromotionID: guid.ID{1}, Items: []merchant.Item{}}, "", true},
		{"of before", Voucher{PromotionID: guid.ID{2}}, "Mocha", false},
		{"of before, the promotion is gone", Voucher{PromotionID: guid.ID{3}}, "", false},
		{"a purchase", Voucher{}, "", false},
	} {
		if got := merchant.ItemNames(tt.v.GoodFor(a)).String(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := tt.v.TicketOptional(a); got != tt.optional {
			t.Errorf("%s: the ticket is optional: %t, want %t", tt.name, got, tt.optional)
		}
	}
}
