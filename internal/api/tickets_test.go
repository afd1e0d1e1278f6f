package api_test

import (
	"slices"
	"strings"
	"testing"

	"boon.example/internal/gift"
)

// check is ticket data of the standard format.
func check(lines, totals string) string {
	return `{"format":"standard","data":{"lineItems":[` + lines + `],"totals":{` + totals + `}}}`
}

func TestATicketCapsEveryGift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := func(g made, ticket, more string) string {
		return `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","ticketData":` + ticket + more + `}`
	}
	const sandwich = `{"itemID":"SANDWICH","quantity":1,"itemTotalPrice":8.25}`
	for _, tt := range []struct{ name, gift, ticket, most string }{
		{"a purchase, the grand total", money("100"), check(sandwich, `"grandTotal":9`), "9.00"},
		{"a purchase, the sum of the lines", money("100"), check(sandwich+`,`+sandwich, ``), "16.50"},
		{"a purchase, a coupon", money("100"), check(sandwich+`,{"itemName":"Coupon","itemTotalPrice":-1.333}`, ``), "6.92"},
		{"pieces", `{"itemGift":{"label":"Latte","quantity":5,"deliveryMethodID":3},` + purchase + `}`,
			check(sandwich+`,`+sandwich, `"grandTotal":0`), "2"},
		{"certain items", latte, check(sandwich+`,{"itemID":"LATTE","itemUnitPrice":4.5,"quantity":2},{"itemID":"LATTE",`+
			`"itemUnitPrice":4.5,"quantity":-1}`, ``), "4.50"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := w.in(t)
			g := w.send(tt.gift)
			w.post("validate-gift", ask(g, tt.ticket, "")).want(200, "eligibility.maximumAmount", tt.most)
			w.post("redeem-gift", ask(g, tt.ticket, `,"amount":`+tt.most)).want(200, "amount", tt.most)
			g = w.send(tt.gift)
			w.post("redeem-gift", ask(g, tt.ticket, "")).want(200, "amount", tt.most)
			g = w.send(tt.gift)
			w.post("redeem-gift", ask(g, tt.ticket, `,"amount":20,"allowPartial":true`)).want(200, "amount", tt.most)
		})
	}
	g := w.send(money("100"))
	w.post("redeem-gift", ask(g, check(sandwich, `"grandTotal":9`), `,"amount":9.01`)).refused(400, gift.ValidationFailure,
		"amount")
}

// A ticket on which there is nothing to pay is not one without the right items.
func TestNothingToPay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(latte)
	ask := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","ticketData":` +
		check(`{"itemID":"LATTE","quantity":1,"itemTotalPrice":4.5}`, `"grandTotal":0`) + `}`
	w.post("validate-gift", ask).want(200, "eligibility.maximumAmount", "0.00", "currentBalance", "10.00")
	r := w.post("redeem-gift", ask).refused(400, gift.ValidationFailure, "ticketData")
	if !strings.Contains(string(r.body), "There is nothing to pay on this ticket") {
		t.Errorf("%s", r.body)
	}
}

// promote changes the promotion of the gifts that latte asks for.
func (w *world) promote(change func(*gift.Promotion)) {
	w.Helper()
	err := w.store.Configure(w.Context(), func(d *gift.Directory, _ gift.Uses) (gift.Changes, error) {
		a := *d.Accounts[id(harbor)]
		a.Promotions = slices.Clone(a.Promotions)
		change(&a.Promotions[slices.IndexFunc(a.Promotions, func(p gift.Promotion) bool { return p.ID == id(spring) })])
		return gift.Changes{Accounts: []*gift.Account{&a}}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
	directory, err := w.store.Directory(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	w.directory.Store(directory)
}

func TestARestrictedGiftNeedsItsTicket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(latte)
	ask := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `"`
	w.post("validate-gift", ask+`}`).want(200, "requiresEligibleItems", "true", "eligibility", "null", "isRedeemable",
		"true")
	for _, amount := range []string{"", `,"amount":1`, `,"amount":1,"allowPartial":true`} {
		r := w.post("redeem-gift", ask+amount+`}`).refused(422, gift.ItemEligibilityFailure, "ticketData")
		if !strings.Contains(string(r.body), "Send the ticket as ticketData: this gift is good for certain items only: "+
			"LATTE, Mocha.") {
			t.Errorf("%s", r.body)
		}
	}
	r := w.post("validate-gift", ask+`,"ticketData":`+ticketOf("TEA")+`}`).refused(422, gift.ItemEligibilityFailure,
		"ticketData")
	if !strings.Contains(string(r.body), "It is good for: LATTE, Mocha.") {
		t.Errorf("%s", r.body)
	}
	w.promote(func(p *gift.Promotion) { p.TicketOptional = true })
	w.post("validate-gift", ask+`}`).want(200, "requiresEligibleItems", "true")
	w.post("redeem-gift", ask+`,"amount":1}`).want(200, "amount", "1.00")
	w.post("redeem-gift", ask+`,"ticketData":`+ticketOf("TEA")+`}`).refused(422, gift.ItemEligibilityFailure, "ticketData")
}

// A later set-up changes no gift: neither what one is good for, nor that one is good for anything.
func TestASetUpChangesNoGift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	restricted := w.send(latte)
	w.promote(func(p *gift.Promotion) { p.EligibleItems = nil })
	free := w.send(latte)
	w.promote(func(p *gift.Promotion) { p.EligibleItems = []gift.Item{{ID: "CAKE", Name: "Cake"}} })
	cake := w.send(latte)
	for _, tt := range []struct {
		gift               made
		items, good, wrong string
	}{
		{restricted, `[{"id":"LATTE","name":null},{"id":"MOCHA","name":"Mocha"}]`, "LATTE", "CAKE"},
		{free, "null", "TEA", ""},
		{cake, `[{"id":"CAKE","name":"Cake"}]`, "CAKE", "LATTE"},
	} {
		w.get("/gifting/gifts/"+tt.gift.id).want(200, "eligibleItems", tt.items)
		ask := `{"voucherID":"` + tt.gift.id + `","organizationID":"` + pier + `","amount":1,"ticketData":`
		if tt.wrong != "" {
			w.post("redeem-gift", ask+ticketOf(tt.wrong)+`}`).refused(422, gift.ItemEligibilityFailure)
		}
		w.post("redeem-gift", ask+ticketOf(tt.good)+`}`).want(200, "amount", "1.00")
	}
}
