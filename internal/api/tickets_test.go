package api_test

import (
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
		{"pieces", `{"itemGift":{"label":"Latte","quantity":5,"deliveryMethodID":3},` + purchase + `}`, check(sandwich+`,`+sandwich, `"grandTotal":0`), "2"},
		{"certain items", latte, check(sandwich+`,{"itemID":"LATTE","itemUnitPrice":4.5,"quantity":2},{"itemID":"LATTE","itemUnitPrice":4.5,"quantity":-1}`, ``), "4.50"},
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
	w.post("redeem-gift", ask(g, check(sandwich, `"grandTotal":9`), `,"amount":9.01`)).refused(400, gift.ValidationFailure, "amount")
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
