package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// tax says in the set-up how Harbor's gifts are taxed: all that are sold, and those of the promotion Spring.
func (w *world) tax(sold merchant.VATTreatment, rate money.Number, spring merchant.VATTreatment) {
	w.Helper()
	w.configure(func(a *merchant.Account) {
		a.Subscriptions = slices.Clone(a.Subscriptions)
		for i := range a.Subscriptions {
			a.Subscriptions[i].VATTreatment, a.Subscriptions[i].VATRate = sold, rate
		}
		a.Promotions = slices.Clone(a.Promotions)
		for i := range a.Promotions {
			a.Promotions[i].VATTreatment = spring
		}
	})
}

// TestVATIsKept: gifts and cards of a stock are taxed as the set-up said when they were made, whatever it says later.
func TestVATIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type vat struct {
		treatment merchant.VATTreatment
		rate      money.Number
	}
	want := map[string]vat{}
	issue := func(sold, spring vat) {
		t.Helper()
		w.tax(sold.treatment, sold.rate, spring.treatment)
		want[w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},`+purchase+`}`).id] = sold
		want[w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},`+promotion+`}`).id] = spring
		for _, card := range w.stock(`"count":2`) {
			want[card.id] = sold
		}
	}
	issue(vat{}, vat{})
	issue(vat{merchant.SinglePurpose, "19"}, vat{merchant.MultiPurpose, ""})
	issue(vat{merchant.SinglePurpose, "7"}, vat{merchant.MultiPurpose, ""})
	issue(vat{merchant.MultiPurpose, ""}, vat{merchant.MultiPurpose, ""})
	if len(want) != 16 {
		t.Fatalf("%d gifts were made", len(want))
	}
	for gift, want := range want {
		g, err := w.store.Gift(t.Context(), id(harbor), id(gift))
		if err != nil {
			t.Fatal(err)
		}
		if got := (vat{g.Card.VATTreatment, g.Card.VATRate}); got != want {
			t.Errorf("gift %s is taxed as %+v, want %+v", gift, got, want)
		}
	}
}

// TestNoValueMovesBetweenVATs: value does not move between gifts of which VAT is due at another time or rate; the
// refusal names both.
func TestNoValueMovesBetweenVATs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sell := func(treatment merchant.VATTreatment, rate money.Number) made {
		t.Helper()
		w.tax(treatment, rate, "")
		return w.send(ofMoney("20"))
	}
	untold, many := sell("", ""), sell(merchant.MultiPurpose, "")
	const single = merchant.SinglePurpose
	full, reduced, again := sell(single, "19"), sell(single, "7"), sell(single, "19")
	move := func(from, to made) reply {
		return w.post("transfer-balance", fmt.Sprintf(`{"fromVoucherID":%q,"toVoucherID":%q,"amount":1}`, from.id, to.id))
	}
	for _, pair := range [][2]made{{untold, full}, {full, untold}, {many, full}, {full, reduced}, {reduced, many}} {
		move(pair[0], pair[1]).refused(422, refusal.InvalidVoucherType, "toVoucherID")
	}
	text := move(full, reduced).refused(422, refusal.InvalidVoucherType, "toVoucherID").at("messages[0].text")
	for _, said := range []string{full.id, reduced.id, "at 19 %", "at 7 %"} {
		if !strings.Contains(text, said) {
			t.Errorf("%q does not say %q", text, said)
		}
	}
	for _, pair := range [][2]made{{untold, many}, {many, untold}, {full, again}} {
		move(pair[0], pair[1]).want(200)
	}
}
