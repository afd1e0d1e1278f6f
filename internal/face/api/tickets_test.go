package api_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// check is ticket data of the standard format.
func check(lines, totals string) string {
	return `{"format":"standard","data":{"lineItems":[` + lines + `],"totals":{` + totals + `}}}`
}

// squareOrder is 4.25 for a latte, 10 for a mug, 1 of tax, and 25 for a gift card.
const squareOrder = `{"format":"square","data":{"order":{"state":"OPEN","line_items":[
	{"name":"Latte","catalog_object_id":"LATTE","quantity":"1","total_money":{"amount":425,"currency":"USD"}},
	{"name":"Mug","quantity":"1","total_money":{"amount":1100},"total_tax_money":{"amount":100}},
	{"name":"eGift Card","item_type":"GIFT_CARD","quantity":"1","total_money":{"amount":2500}}],
	"total_money":{"amount":4025},"total_tax_money":{"amount":100}}}}`

// readTickets has pier read tickets so.
func (w *world) readTickets(how ...merchant.TicketReading) {
	w.configure(func(a *merchant.Account) {
		a.Locations = slices.Clone(a.Locations)
		for i := range a.Locations {
			if a.Locations[i].ID == id(pier) {
				a.Locations[i].Tickets = how
			}
		}
	})
}

// What a location says of tickets holds there, unless the till says otherwise.
func TestALocationSaysHowTicketsAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.readTickets(merchant.TicketReading{Format: "shopify", ItemID: "sku"})
	g := w.send(latte)
	ask := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","ticketData":{"format":"shopify","data":{"order":` +
		`{"currency":"USD","line_items":[{"variant_id":1,"sku":"LATTE","quantity":1,"price":"4.50"}],"total_price":"4.50"}}`
	w.post("validate-gift", ask+`}}`).want(200, "eligibility.maximumAmount", "4.50")
	w.post("validate-gift", ask+`,"options":{"itemID":"variant_id"}}}`).refused(422, refusal.ItemEligibilityFailure)
	w.post("redeem-gift", ask+`}}`).want(200, "amount", "4.50")
}

// What a location says is a gift card is paid by no gift.
func TestALocationSaysWhatIsAGiftCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.readTickets(merchant.TicketReading{Format: "square", GiftCards: []string{"GC"}},
		merchant.TicketReading{Format: "standard", GiftCards: []string{"GC"}})
	for _, ticket := range []string{
		`{"format":"square","data":{"line_items":[{"catalog_object_id":"GC","total_money":{"amount":2500}},` +
			`{"catalog_object_id":"LATTE","total_money":{"amount":450}}],"total_money":{"amount":2950}}}`,
		check(`{"itemID":"GC","itemTotalPrice":25},{"itemID":"LATTE","itemTotalPrice":4.5}`, `"grandTotal":29.5`),
	} {
		g := w.send(ofMoney("100"))
		ask := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","ticketData":` + ticket
		w.post("validate-gift", ask+`}`).want(200, "eligibility.maximumAmount", "4.50", "eligibility.excludedLines",
			`[{"index":0,"reason":"A gift cannot pay for a gift card."}]`)
		w.post("redeem-gift", ask+`,"amount":4.51}`).refused(400, refusal.ValidationFailure, "amount")
		w.post("redeem-gift", ask+`}`).want(200, "amount", "4.50")
	}
}

// TestATillCannotHideAGiftCard: where a location lists its gift cards, a request cannot name items by another member.
func TestATillCannotHideAGiftCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.readTickets(merchant.TicketReading{Format: "toast", ItemID: "plu", GiftCards: []string{"GC25"}})
	g := w.send(ofMoney("100"))
	ask := func(itemID string) string {
		return `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","ticketData":{"format":"toast","data":{"checks":[` +
			`{"selections":[{"displayName":"Card","item":{"guid":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c99"},"plu":"GC25",` +
			`"quantity":1,"price":25}],"totalAmount":25}]},"options":{"itemID":"` + itemID + `"}}}`
	}
	w.post("redeem-gift", ask("item.guid")).refused(400, refusal.ValidationFailure, "ticketData.options.itemID")
	w.post("validate-gift", ask("plu")).want(200, "eligibility.maximumAmount", "0.00")
}

// TestATicketIsOneRequest: the same request gets its first answer also after the set-up has learned of gift cards, and
// one that differs in what it says of the total does not.
func TestATicketIsOneRequest(t *testing.T) {
	t.Parallel()
	for format, ticket := range map[string]string{
		"standard": `{"lineItems":[{"itemID":"LATTE","itemTotalPrice":9},{"itemID":"CARD","itemTotalPrice":20}],` +
			`"totals":{"grandTotal":29}}`,
		"square": `{"line_items":[{"name":"Latte","catalog_object_id":"LATTE","quantity":"1","total_money":{"amount":900}},` +
			`{"name":"Card","catalog_object_id":"CARD","quantity":"1","total_money":{"amount":2000}}],` +
			`"total_money":{"amount":2900}}`,
	} {
		w := newWorld(t)
		g := w.send(ofMoney("50"))
		ask := func(ticket string) reply {
			return w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":5,"ticketData":`+
				`{"format":"`+format+`","data":`+ticket+`}}`, once("k")...)
		}
		first := ask(ticket).want(200)
		w.readTickets(merchant.TicketReading{Format: format, GiftCards: []string{"CARD"}})
		ask(strings.ReplaceAll(ticket, `,"`, ` , "`)).again(first)
		ask(strings.ReplaceAll(ticket, `CARD`, `CARDS`)).refused(422, refusal.IdempotencyMismatch)
	}
	w := newWorld(t)
	g := w.send(ofMoney("50"))
	ask := func(totals string) reply {
		return w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","ticketData":{"format":"standard",`+
			`"data":{"lineItems":[{"itemTotalPrice":2}],"totals":{`+totals+`}}}}`, once("k")...)
	}
	first := ask(`"subTotal":2`).want(200, "amount", "2.00")
	ask(`"subTotal":2.0`).again(first)
	ask(`"subTotal":2,"grandTotal":0`).refused(422, refusal.IdempotencyMismatch)
}

// A gift for a group of items, or for items of a name, is good for these on a platform's order.
func TestAGiftForAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, items := range [][]merchant.Item{{{Group: "CAKES", Name: "Cakes"}}, {{Name: "Pie Large"}}} {
		w.promote(func(p *merchant.Promotion) { p.EligibleItems = items })
		g := w.send(latte)
		ask := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","ticketData":{"format":"square","data":` +
			`{"line_items":[{"name":"Pie","variation_name":"Large","category_id":"CAKES","total_money":{"amount":500}},` +
			`{"name":"Pie","category_id":"PIES","total_money":{"amount":700}}],"total_money":{"amount":1200}}}}`
		w.post("validate-gift", ask).want(200, "eligibility.maximumAmount", "5.00")
		w.post("redeem-gift", ask).want(200, "amount", "5.00")
	}
	w.get("/gifting/gifts/"+w.send(latte).id).want(200, "eligibleItems", `[{"id":null,"name":"Pie Large","group":null}]`)
}

// Names of items are compared composed and to the letter: one that only looks like another is another.
func TestLookalikesAreOtherItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.promote(func(p *merchant.Promotion) { p.EligibleItems = []merchant.Item{{Name: "Caf\u00e9"}} })
	g := w.send(latte)
	for name, same := range map[string]bool{"Caf\u00e9": true, "Cafe\u0301": true, "caf\u00e9": false, "Cafe": false,
		"Caf\u200b\u00e9": false, "\u202eCaf\u00e9": false, "\u0421af\u00e9": false} {
		ask := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","ticketData":{"format":"square","data":` +
			`{"line_items":[{"name":"` + name + `","total_money":{"amount":100}}],"total_money":{"amount":100}}}}`
		if r := w.post("validate-gift", ask); same != (r.status == 200) {
			t.Errorf("%+q: %d %s", name, r.status, r.body)
		}
	}
}

// Wrong orders of platforms are refused with the place of everything that is wrong.
func TestPlatformTicketsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("100"))
	for _, tt := range []struct {
		ticket string
		status int
		code   refusal.Code
		paths  []string
	}{
		{`{"format":"Square","data":{}}`, 422, refusal.NotSupported, []string{"ticketData.format"}},
		{`{"format":"","data":{}}`, 400, refusal.ValidationFailure, []string{"ticketData.format"}},
		{`{"format":"square"}`, 400, refusal.ValidationFailure, []string{"ticketData.data"}},
		{`{"format":"square","data":[]}`, 400, refusal.ValidationFailure, []string{"ticketData.data"}},
		{`{"format":"square","data":{"order":{"line_items":[{"quantity":1}]}},"options":{"checkGuid":"x","itemID":"sku",` +
			`"taxInclusive":true,"more":1}}`, 400, refusal.ValidationFailure, []string{"ticketData.options.checkGuid",
			"ticketData.options.itemID", "ticketData.options.taxInclusive", "ticketData.options.more",
			"ticketData.data.order.total_money", "ticketData.data.order.line_items[0].quantity",
			"ticketData.data.order.line_items[0].total_money"}},
		{`{"format":"standard","data":{"lineItems":[]},"options":{"itemID":"sku"}}`, 400, refusal.ValidationFailure,
			[]string{"ticketData.options.itemID"}},
		{`{"format":"shopify","data":{"line_items":[],"total_price":"0"},"options":{"itemID":"SKU"}}`, 400,
			refusal.ValidationFailure, []string{"ticketData.options.itemID"}},
	} {
		for _, operation := range []string{"validate-gift", "redeem-gift"} {
			w.post(operation, `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`","ticketData":`+tt.ticket+`}`).
				refused(tt.status, tt.code, tt.paths...)
		}
	}
}

func TestATicketCapsEveryGift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := func(g made, ticket, more string) string {
		return `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","ticketData":` + ticket + more + `}`
	}
	const sandwich = `{"itemID":"SANDWICH","quantity":1,"itemTotalPrice":8.25}`
	for _, tt := range []struct{ name, gift, ticket, most string }{
		{"a purchase, the grand total", ofMoney("100"), check(sandwich, `"grandTotal":9`), "9.00"},
		{"a purchase, the sum of the lines", ofMoney("100"), check(sandwich+`,`+sandwich, ``), "16.50"},
		{"a purchase, a coupon", ofMoney("100"), check(sandwich+`,{"itemName":"Coupon","itemTotalPrice":-1.333}`, ``), "6.92"},
		{"pieces", `{"itemGift":{"label":"Latte","quantity":5,"deliveryMethodID":3},` + purchase + `}`,
			check(sandwich+`,`+sandwich, `"grandTotal":0`), "2"},
		{"certain items", latte, check(sandwich+`,{"itemID":"LATTE","itemUnitPrice":4.5,"quantity":2},{"itemID":"LATTE",`+
			`"itemUnitPrice":4.5,"quantity":-1}`, ``), "4.50"},
		{"an order of Square's", ofMoney("100"), squareOrder, "15.25"},
		{"certain items of it", latte, squareOrder, "4.25"},
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
	g := w.send(ofMoney("100"))
	w.post("redeem-gift", ask(g, check(sandwich, `"grandTotal":9`), `,"amount":9.01`)).refused(400, refusal.ValidationFailure,
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
	r := w.post("redeem-gift", ask).refused(400, refusal.ValidationFailure, "ticketData")
	if !strings.Contains(string(r.body), "There is nothing to pay on this ticket") {
		t.Errorf("%s", r.body)
	}
}

// TestWhyNothingIsEligible: where a gift is good for certain items only, money or pieces, the refusal tells a ticket
// without these items from one on which the gift cannot pay for them, and why.
func TestWhyNothingIsEligible(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	toast := func(more string) string {
		return `{"format":"toast","data":{"checks":[{"selections":[{"item":{"guid":"LATTE"},"displayName":"Latte","quantity":1,` +
			`"price":5,"tax":0` + more + `},{"item":{"guid":"TEA"},"displayName":"Tea","quantity":1,"price":4,"tax":0}],` +
			`"totalAmount":9,"amount":9}]}}`
	}
	const twoLattes = `{"itemGift":{"label":"Latte","quantity":2,"deliveryMethodID":3},` + promotion + `}`
	const absent, there = "No item on this ticket is eligible", "This ticket has what this gift is good for"
	for _, tt := range []struct{ name, gift, ticket, says, why string }{
		{"money, other items", latte, check(`{"itemID":"TEA","quantity":1,"itemTotalPrice":4}`, ``), absent, ""},
		{"pieces, other items", twoLattes, check(`{"itemID":"TEA","quantity":1,"itemTotalPrice":4}`, ``), absent, ""},
		{"money, a free line", latte, check(`{"itemID":"LATTE","quantity":1,"itemTotalPrice":0}`, ``), there,
			"There is nothing to pay on this line."},
		{"money, refunded", latte, toast(`,"refundDetails":{"refundAmount":5,"taxRefundAmount":0}`), there,
			"This line was refunded or taken off."},
		{"pieces, refunded in part", twoLattes, toast(`,"refundDetails":{"refundAmount":2,"taxRefundAmount":0}`), there,
			"What is left of this line is less than one piece."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := w.in(t)
			g := w.send(tt.gift)
			body := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","ticketData":` + tt.ticket + `}`
			for _, operation := range []string{"validate-gift", "redeem-gift"} {
				r := w.post(operation, body).refused(422, refusal.ItemEligibilityFailure, "ticketData")
				if text := string(r.body); !strings.Contains(text, tt.says) || !strings.Contains(text, tt.why) {
					t.Errorf("%s: %s", operation, text)
				}
			}
		})
	}
}

// TestNoPieceToPay: an item gift is good for a line of an order that is paid; no piece of it is paid again, and the
// refusal of redeem-gift says so.
func TestNoPieceToPay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(`{"itemGift":{"label":"Latte","quantity":2,"deliveryMethodID":3},` + promotion + `}`)
	r := w.post("redeem-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`","ticketData":{"format":"square","data":`+
		`{"line_items":[{"catalog_object_id":"LATTE","quantity":"1","total_money":{"amount":450}}],"total_money":{"amount":450},`+
		`"net_amount_due_money":{"amount":0}}}}`).refused(400, refusal.ValidationFailure, "ticketData")
	if !strings.Contains(string(r.body), "No whole piece that this gift pays for is left to pay on this ticket") {
		t.Errorf("%s", r.body)
	}
}

// promote changes the promotion of the gifts that latte asks for.
func (w *world) promote(change func(*merchant.Promotion)) {
	w.Helper()
	w.configure(func(a *merchant.Account) {
		a.Promotions = slices.Clone(a.Promotions)
		change(&a.Promotions[slices.IndexFunc(a.Promotions, func(p merchant.Promotion) bool { return p.ID == id(spring) })])
	})
}

// configure changes the account.
func (w *world) configure(change func(*merchant.Account)) {
	w.Helper()
	w.configureOne(harbor, change)
}

func (w *world) configureOne(account string, change func(*merchant.Account)) {
	w.Helper()
	err := w.store.Configure(w.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
		a := *d.Accounts[id(account)]
		change(&a)
		return merchant.Changes{Accounts: []*merchant.Account{&a}}, nil
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
		r := w.post("redeem-gift", ask+amount+`}`).refused(422, refusal.ItemEligibilityFailure, "ticketData")
		if !strings.Contains(string(r.body), "Send the ticket as ticketData: this gift is good for certain items only: "+
			"LATTE, Mocha.") {
			t.Errorf("%s", r.body)
		}
	}
	r := w.post("validate-gift", ask+`,"ticketData":`+ticketOf("TEA")+`}`).refused(422, refusal.ItemEligibilityFailure,
		"ticketData")
	if !strings.Contains(string(r.body), "It is good for: LATTE, Mocha.") {
		t.Errorf("%s", r.body)
	}
	w.promote(func(p *merchant.Promotion) { p.TicketOptional = true })
	w.post("validate-gift", ask+`}`).want(200, "requiresEligibleItems", "true")
	w.post("redeem-gift", ask+`,"amount":1}`).want(200, "amount", "1.00")
	w.post("redeem-gift", ask+`,"ticketData":`+ticketOf("TEA")+`}`).refused(422, refusal.ItemEligibilityFailure, "ticketData")
}

// A later set-up changes no gift: neither what one is good for, nor that one is good for anything.
func TestASetUpChangesNoGift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	restricted := w.send(latte)
	w.promote(func(p *merchant.Promotion) { p.EligibleItems = nil })
	free := w.send(latte)
	w.promote(func(p *merchant.Promotion) { p.EligibleItems = []merchant.Item{{ID: "CAKE", Name: "Cake"}} })
	cake := w.send(latte)
	for _, tt := range []struct {
		gift               made
		items, good, wrong string
	}{
		{restricted, `[{"id":"LATTE","name":null,"group":null},{"id":"MOCHA","name":"Mocha","group":null}]`, "LATTE", "CAKE"},
		{free, "null", "TEA", ""},
		{cake, `[{"id":"CAKE","name":"Cake","group":null}]`, "CAKE", "LATTE"},
	} {
		w.get("/gifting/gifts/"+tt.gift.id).want(200, "eligibleItems", tt.items)
		ask := `{"voucherID":"` + tt.gift.id + `","organizationID":"` + pier + `","amount":1,"ticketData":`
		if tt.wrong != "" {
			w.post("redeem-gift", ask+ticketOf(tt.wrong)+`}`).refused(422, refusal.ItemEligibilityFailure)
		}
		w.post("redeem-gift", ask+ticketOf(tt.good)+`}`).want(200, "amount", "1.00")
	}
}

// Validations lend each other memory; none sees the ticket or the answer of another.
func TestTicketsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("100"))
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 20 {
				lines := strings.TrimSuffix(strings.Repeat(`{"itemID":"LATTE","itemUnitPrice":1},`, n+1), ",")
				r := w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`","ticketData":`+
					check(lines, "")+`}`)
				want := fmt.Sprintf("%d.00", n+1)
				if got := r.at("eligibility.maximumAmount"); got != want || strings.Count(string(r.body), `"index"`) != n+1 {
					t.Errorf("a ticket of %s: %s", want, r.body)
				}
			}
		})
	}
	all.Wait()
}
