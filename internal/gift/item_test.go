package gift

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"boon.example/internal/guid"
)

func TestItemNames(t *testing.T) {
	t.Parallel()
	var many []Item
	for n := range MaxItems {
		many = append(many, Item{ID: fmt.Sprint("I", n)})
	}
	for _, tt := range []struct {
		items []Item
		want  string
	}{
		{nil, ""},
		{[]Item{{ID: "LATTE", Name: ""}, {ID: "MOCHA", Name: "Mocha"}}, "LATTE, Mocha"},
		{[]Item{{ID: "L1", Name: "Latte"}, {ID: "L2", Name: "Latte"}, {ID: "M", Name: "Mocha"}}, "Latte, Mocha"},
		{many, "I0, I1, I2, I3, I4, I5, I6, I7, I8, I9 and 190 more"},
	} {
		if got := ItemNames(tt.items); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.items, got, tt.want)
		}
	}
	for i := range many {
		many[i].Name = strings.Repeat("é", 195) + many[i].ID
	}
	if got := ItemNames(many); utf8.RuneCountInString(got) > namedLetters || !strings.HasSuffix(got, "and 199 more") {
		t.Errorf("long names: %q", got)
	}
}

func TestItemsAreKept(t *testing.T) {
	t.Parallel()
	now := []Item{{ID: "MOCHA", Name: "Mocha"}}
	a := &Account{Promotions: []Promotion{{ID: guid.ID{1}, EligibleItems: now, TicketOptional: true},
		{ID: guid.ID{2}, EligibleItems: now}}}
	for _, tt := range []struct {
		name     string
		v        Voucher
		want     string
		optional bool
	}{
		{"kept", Voucher{PromotionID: guid.ID{1}, Items: []Item{{ID: "LATTE", Name: "Latte"}}}, "Latte", true},
		{"kept: anything", Voucher{PromotionID: guid.ID{1}, Items: []Item{}}, "", true},
		{"of before", Voucher{PromotionID: guid.ID{2}}, "Mocha", false},
		{"of before, the promotion is gone", Voucher{PromotionID: guid.ID{3}}, "", false},
		{"a purchase", Voucher{}, "", false},
	} {
		if got := ItemNames(a.Items(&tt.v)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := a.TicketOptional(&tt.v); got != tt.optional {
			t.Errorf("%s: the ticket is optional: %t, want %t", tt.name, got, tt.optional)
		}
	}
}
