package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	saleof "boon.example/internal/sale"
)

// saleBody asks gifts to pay for a sale at the pier, each once; members are others of the request.
func saleBody(members string, gifts ...made) string {
	var list []string
	seen := map[string]bool{}
	for _, g := range gifts {
		if !seen[g.id] {
			list = append(list, `{"voucherID":"`+g.id+`"}`)
		}
		seen[g.id] = true
	}
	if members != "" {
		members = "," + members
	}
	return `{"gifts":[` + strings.Join(list, ",") + `],"organizationID":"` + pier + `"` + members + `}`
}

func (w *world) balance(g made) string {
	w.Helper()
	return w.get("/gifting/gifts/" + g.id).want(200).at("currentBalance")
}

// addsUp has boon verify look at everything.
func (w *world) addsUp() {
	w.Helper()
	report, err := verify.All(w.Context(), w.store, 2, func(int64, int64) {})
	if err != nil || len(report.Problems) > 0 {
		w.Errorf("verify: %v, %v", report.Problems, err)
	}
}

// TestSeveralGiftsPay: gifts pay in their order up to what is to be paid, each has its own redemption, and one reversal
// by the key gives everything back.
func TestSeveralGiftsPay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.send(ofMoney("5")), w.send(ofMoney("10")), w.send(ofMoney("20"))
	body := `{"gifts":[{"voucherCode":"` + a.code + `"},{"voucherPublicToken":"` + b.token + `"},{"voucherID":"` + c.id +
		`"}],"organizationID":"` + pier + `","upTo":12.50,"reference":"sale 1"}`
	sale := w.post("redeem-gifts", body, "Idempotency-Key", "s").want(200, "amount", "12.50", "leftToPay", "0.00",
		"currency", "USD", "reference", "sale 1", "redemptions[0].amount", "5.00", "redemptions[0].status", "REDEEMED",
		"redemptions[1].amount", "7.50", "redemptions[1].currentBalance", "2.50", "redemptions[2].amount", "0.00",
		"redemptions[2].redemptionID", "null", "redemptions[2].currentBalance", "20.00").has("redemptions", 3)
	if sale.at("saleID") != sale.at("redemptions[0].redemptionID") {
		t.Errorf("the sale is named %s", sale.body)
	}
	again := w.post("redeem-gifts", body, "Idempotency-Key", "s").want(200)
	if string(again.body) != string(sale.body) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the repeat got %s", again.body)
	}
	w.get("/gifting/gifts/"+b.id+"/history").want(200, "entries[1].kind", "REDEMPTION", "entries[1].requestID",
		sale.at("requestID"), "entries[1].reference", "sale 1")

	undo := func(more string) string { return `{"idempotencyKey":"s","operation":"redeem-gifts"` + more + `}` }
	w.post("reverse-redemption", undo(`,"amount":1`)).refused(400, refusal.ValidationFailure, "amount")
	w.post("reverse-redemption", `{"idempotencyKey":"s"}`).refused(400, refusal.ValidationFailure, "operation")
	w.post("reverse-redemption", undo(`,"voucherID":"`+c.id+`"`)).refused(422, refusal.IdempotencyMismatch)
	w.post("reverse-redemption", `{"redemptionID":"`+sale.at("redemptions[1].redemptionID")+`","amount":0.50}`).want(200,
		"amount", "0.50", "currentBalance", "3.00")
	w.post("reverse-redemption", undo(`,"voucherID":"`+b.id+`","reason":"R"`)).want(200, "amount", "5.00",
		"currentBalance", "5.00", "reversals[0].amount", "5.00", "reversals[1].amount", "7.00", "reversals[1].reason", "R",
		"reversals[1].currentBalance", "10.00").has("reversals", 2)
	w.post("reverse-redemption", undo("")).refused(409, refusal.AlreadyReversed)
	for g, want := range map[made]string{a: "5.00", b: "10.00", c: "20.00"} {
		if got := w.balance(g); got != want {
			t.Errorf("a gift has %s, want %s", got, want)
		}
	}
	w.addsUp()
}

// TestASaleIsAllOrNothing: what is wrong with one gift keeps the others as they are, and the path names it.
func TestASaleIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good, small, blocked, item := w.send(ofMoney("10")), w.send(ofMoney("5")), w.send(ofMoney("5")),
		w.send(`{"itemGift":{"label":"Latte","quantity":2,"deliveryMethodID":3},`+purchase+`}`)
	w.post("block-gift", `{"voucherID":"`+blocked.id+`","reasonCode":"LOST","reason":"R"}`).want(200)
	empty := w.send(ofMoney("5"))
	w.redeem(empty, "").want(200)
	named := func(id, more string) string { return `{"voucherID":"` + id + `"` + more + `}` }
	for _, tt := range []struct {
		second string
		status int
		code   refusal.Code
		path   string
	}{
		{named(small.id, `,"amount":5.01`), 409, refusal.InsufficientBalance, "gifts[1].amount"},
		{named(small.id, `,"amount":5.001`), 400, refusal.ValidationFailure, "gifts[1].amount"},
		{named(small.id, `,"amount":-1`), 400, refusal.ValidationFailure, "gifts[1].amount"},
		{named(blocked.id, ""), 409, refusal.RedemptionNotAllowed, "gifts[1]"},
		{named(item.id, ""), 422, refusal.InvalidVoucherType, "gifts[1].voucherID"},
		{named(nowhere, ""), 404, refusal.NotFound, "gifts[1].voucherID"},
		{named(empty.id, ""), 409, refusal.AlreadyRedeemed, "gifts[1]"},
		{named(good.id, ""), 400, refusal.ValidationFailure, "gifts[1]"},
		{`{"voucherCode":"` + good.code + `"}`, 400, refusal.ValidationFailure, "gifts[1]"},
		{`{"voucherCode":"12345"}`, 400, refusal.InvalidCodeFormat, "gifts[1].voucherCode"},
		{`{"voucherPublicToken":"x"}`, 400, refusal.InvalidTokenFormat, "gifts[1].voucherPublicToken"},
		{`{}`, 400, refusal.ValidationFailure, "gifts[1]"},
		{`{"voucherCode":"900000000001"}`, 404, refusal.NotFound, "gifts[1].voucherCode"},
	} {
		w.post("redeem-gifts", `{"gifts":[`+named(good.id, "")+`,`+tt.second+`],"organizationID":"`+pier+`"}`).
			refused(tt.status, tt.code, tt.path)
	}
	w.post("redeem-gifts", `{"gifts":[{"voucherCode":"900000000001"}]}`, as(homelessKey)...).refused(409,
		refusal.AccountMisconfigured)
	w.post("redeem-gifts", `{"gifts":[],"organizationID":"`+pier+`"}`).refused(400, refusal.ValidationFailure, "gifts")
	w.post("redeem-gifts", saleBody(`"upTo":1,"ticketData":{"format":"standard","data":{}}`, good)).refused(400,
		refusal.ValidationFailure, "upTo")
	w.post("redeem-gifts", saleBody(`"upTo":""`, good)).refused(400, refusal.ValidationFailure, "upTo")
	var many []made
	for range saleof.MaxGifts + 1 {
		many = append(many, made{id: fmt.Sprintf("7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f9c%02d", len(many))})
	}
	w.post("redeem-gifts", saleBody("", many...)).refused(400, refusal.ValidationFailure, "gifts")
	w.post("redeem-gifts", saleBody(`"upTo":5`, empty)).refused(409, refusal.InsufficientBalance, "gifts")
	if got := w.balance(good); got != "10.00" {
		t.Errorf("%s is left of a gift of 10.00", got)
	}
	w.post("redeem-gifts", saleBody(`"upTo":7`, empty, good)).want(200, "amount", "7.00", "redemptions[0].amount", "0.00")
}

// TestGiftsPayATicket: what one gift has paid of a ticket, no other pays again, and a gift that is good for some items
// pays for these only.
func TestGiftsPayATicket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ticket := func(latte, cake, grand string) string {
		return `"ticketData":{"format":"standard","data":{"lineItems":[{"itemID":"LATTE","quantity":1,"itemTotalPrice":` +
			latte + `},{"itemID":"CAKE","quantity":1,"itemTotalPrice":` + cake + `}],"totals":{"grandTotal":` + grand + `}}}`
	}
	var lattes []made
	for range 3 {
		lattes = append(lattes, w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},`+promotion+`}`))
	}
	paper := w.send(ofMoney("10"))
	// 7.00 of lattes: 5.00 and 2.00; the third gift finds nothing, and the paper card pays for the cake
	w.post("redeem-gifts", saleBody(ticket("7", "4", "11.50"), append(lattes, paper)...)).want(200, "amount", "11.50",
		"leftToPay", "0.00", "redemptions[0].amount", "5.00", "redemptions[1].amount", "2.00", "redemptions[2].amount",
		"0.00", "redemptions[3].amount", "4.50")
	// the cake alone is nothing that the gift is good for
	teas := strings.ReplaceAll(ticket("7", "4", "4"), "LATTE", "TEA")
	w.post("redeem-gifts", saleBody(teas, paper, lattes[2])).refused(422, refusal.ItemEligibilityFailure, "ticketData")
	w.post("redeem-gifts", saleBody("", lattes[2])).refused(422, refusal.ItemEligibilityFailure)
	w.post("redeem-gifts", saleBody(`"upTo":3`, lattes[2])).refused(422, refusal.ItemEligibilityFailure)
	w.post("redeem-gifts", saleBody(ticket("1", "9", "10"), paper, lattes[2])).want(200, "amount", "6.50", "leftToPay",
		"3.50")
}

// TestASaleCountsAsOne: a limit of the day holds for the sum, and wrong verification codes count.
func TestASaleCountsAsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure(func(a *merchant.Account) { a.Limits.RedeemedPerDay = 12_00 })
	a, b := w.send(ofMoney("10")), w.send(ofMoney("10"))
	w.post("redeem-gifts", saleBody(`"upTo":12.01`, a, b)).refused(429, refusal.RateLimited)
	cards, codes := w.verified(1)
	body := func(code string) string {
		return `{"gifts":[{"voucherID":"` + a.id + `","amount":1},{"voucherID":"` + cards[0].id +
			`","amount":1,"verificationCode":"` + code + `"}],"organizationID":"` + pier + `"}`
	}
	for n := range gift.MaxWrongCodes {
		w.post("redeem-gifts", body(wrong(codes[0], n))).refused(409, refusal.RedemptionNotAllowed,
			"gifts[1].verificationCode")
	}
	w.post("redeem-gifts", body(codes[0])).refused(409, refusal.RedemptionNotAllowed, "gifts[1]")
	w.post("redeem-gifts", saleBody(`"upTo":12`, a, b)).want(200)
}

// TestGiftsThatPayNothingGiveNoAttempts: whoever lists an empty gift in sale after sale may not try more codes for it.
func TestGiftsThatPayNothingGiveNoAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pays, empty := w.send(ofMoney("5")), w.send(ofMoney("5"))
	w.redeem(empty, "").want(200)
	for range 2 {
		w.redeem(pays, "0.01").want(200)
	}
	guess := func(n int) reply {
		return w.post("validate-gift", fmt.Sprintf(`{"voucherCode":"9%011d","organizationID":"%s"}`, n, pier))
	}
	for n := range 20 {
		guess(n).refused(404, refusal.NotFound)
	}
	guess(20).refused(429, refusal.RateLimited)
	w.post("redeem-gifts", saleBody(`"upTo":0.01`, empty, pays)).want(200, "redemptions[0].amount", "0.00")
	guess(21).refused(429, refusal.RateLimited)
}

// TestALateSaleIsRefused: a sale that was taken back by its key before it arrived takes nothing.
func TestALateSaleIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.send(ofMoney("10")), w.send(ofMoney("10"))
	w.post("reverse-redemption", `{"idempotencyKey":"late","operation":"redeem-gifts"}`).refused(404, refusal.NotFound)
	w.post("redeem-gifts", saleBody(`"upTo":15`, a, b), "Idempotency-Key", "late").refused(409,
		refusal.RedemptionNotAllowed)
	w.get("/requests/late").want(200, "requests[0].operation", "redeem-gifts", "requests[0].state", "spent")
	if got := w.balance(a) + w.balance(b); got != "10.0010.00" {
		t.Errorf("the gifts have %s", got)
	}
}

// TestALateTakingIsRefused: whoever names a key and no operation is told that a late redemption is refused, and it is,
// by whichever operation that reverse-redemption undoes it comes. Of a cash-out that is so for who may cash out.
func TestALateTakingIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	late := func(op operation.Name, key string) reply {
		g := w.send(ofMoney("10"))
		body := map[operation.Name]func() string{
			operation.RedeemGift:  func() string { return redeemBody(g, "5") },
			operation.RedeemGifts: func() string { return saleBody(`"upTo":5`, g) },
			operation.CaptureHold: func() string { return `{"holdID":"` + w.holdGift(g, "5").want(200).at("holdID") + `"}` },
			operation.CashOutGift: func() string { return cashBody(g) },
		}[op]
		if body == nil {
			t.Fatalf("reverse-redemption undoes %s: add a call of it", op)
		}
		return w.post(string(op), body(), "Idempotency-Key", key)
	}
	for _, op := range operation.ReverseRedemption.Undoes() {
		key := "late " + string(op)
		w.post("reverse-redemption", `{"idempotencyKey":"`+key+`"}`).refused(404, refusal.NotFound, "idempotencyKey")
		late(op, key).refused(409, refusal.RedemptionNotAllowed)
		w.post("reverse-redemption", `{"idempotencyKey":"`+key+`"}`).refused(404, refusal.NotFound, "idempotencyKey")
	}
	w.permit(rotatedKey, "redeem", "reverse")
	w.post("reverse-redemption", `{"idempotencyKey":"not theirs"}`, as(rotatedKey)...).refused(404, refusal.NotFound)
	late(operation.RedeemGifts, "not theirs").refused(409, refusal.RedemptionNotAllowed)
	late(operation.CashOutGift, "not theirs").want(200)
	w.addsUp()
}

// TestAGiftInTheWayIsNamed: where a gift of a sale can get nothing back, the refusal names it and its redemption, and
// tells the way on, by which the others get back what they paid.
func TestAGiftInTheWayIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c, d := w.send(ofMoney("10")), w.send(ofMoney("10")), w.send(ofMoney("10")), w.send(ofMoney("10"))
	sale := w.post("redeem-gifts", saleBody(`"upTo":35`, a, b, c, d), "Idempotency-Key", "sale").want(200)
	ofSale := func(n int) string { return sale.at(fmt.Sprintf("redemptions[%d].redemptionID", n)) }
	w.cashOut(d, once("cash")...).want(200)
	undo := func(then string, dry bool, of ...int) {
		t.Helper()
		call := w.post
		if dry {
			call = w.rehearse
		}
		r := call("reverse-redemption", `{"idempotencyKey":"sale","operation":"redeem-gifts"}`).refused(409,
			refusal.RedemptionNotAllowed).has("messages", len(of))
		for n, gift := range of {
			text := r.at(fmt.Sprintf("messages[%d].text", n))
			want := "This is redemptionID " + ofSale(gift) + ", of the gift with voucherID " + []made{a, b, c, d}[gift].id + "."
			if n == len(of)-1 {
				want += then
			}
			if !strings.HasSuffix(text, want) {
				t.Errorf("the refusal says %s, want %s", text, want)
			}
		}
	}
	const then = " Nothing was given back of this sale. Give the others back one by one, by their redemptionID."
	undo(then, true, 3)
	undo(then, false, 3)
	for n := range 3 {
		w.post("reverse-redemption", `{"redemptionID":"`+ofSale(n)+`"}`).want(200, "amount", "10.00")
	}
	undo("", false, 3)
	w.post("reverse-redemption", `{"idempotencyKey":"cash","operation":"cash-out-gift"}`).want(200)
	w.post("reverse-redemption", `{"idempotencyKey":"sale","operation":"redeem-gifts"}`).want(200, "amount", "5.00")

	w.addsUp()
}

// TestSalesRace: sales of the same gifts, in other orders, race each other, single redemptions and holds. Nothing is
// taken twice, nobody waits for somebody who waits for him, and the books add up.
func TestSalesRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gifts := []made{w.send(ofMoney("20")), w.send(ofMoney("20")), w.send(ofMoney("20"))}
	turned := [][]made{{gifts[0], gifts[1], gifts[2]}, {gifts[2], gifts[1], gifts[0]}, {gifts[1], gifts[2], gifts[0]}}
	taken := make([]string, 36)
	var all sync.WaitGroup
	for n := range taken {
		all.Go(func() {
			g := gifts[n%3]
			switch n % 4 {
			case 0, 1:
				key := fmt.Sprint("sale ", n)
				r := w.post("redeem-gifts", saleBody(`"upTo":5`, turned[n%3]...), "Idempotency-Key", key)
				if r.status == 200 && n%8 == 0 {
					w.post("reverse-redemption", `{"idempotencyKey":"`+key+`","operation":"redeem-gifts"}`).want(200)
				} else if r.status == 200 {
					taken[n] = r.at("amount")
				}
			case 2:
				if r := w.redeem(g, "2"); r.status == 200 {
					taken[n] = r.at("amount")
				}
			default:
				if r := w.holdGift(g, "1"); r.status == 200 {
					r = w.post("capture-hold", `{"holdID":"`+r.at("holdID")+`"}`).want(200)
					taken[n] = r.at("amount")
				}
			}
		})
	}
	all.Wait()
	sum := func(amounts ...string) (cents int) {
		for _, amount := range amounts {
			var whole, part int
			if _, err := fmt.Sscanf(amount, "%d.%d", &whole, &part); err == nil {
				cents += whole*100 + part
			}
		}
		return cents
	}
	if got := sum(taken...) + sum(w.balance(gifts[0]), w.balance(gifts[1]), w.balance(gifts[2])); got != 60_00 {
		t.Errorf("%d cents were taken or are left of 6,000", got)
	}
	w.addsUp()
}

// BenchmarkRedeemGifts is a sale that three gifts pay for, beside a redemption of one: the sale may take 2.2 times as
// long, as it is one call and one commit.
func BenchmarkRedeemGifts(b *testing.B) {
	w := newWorld(b)
	for _, gifts := range []int{1, 3} {
		b.Run(fmt.Sprint(gifts), func(b *testing.B) {
			var pay []made
			for range gifts {
				pay = append(pay, w.send(ofMoney("9999")))
			}
			body, operation := redeemBody(pay[0], "0.01"), "redeem-gift"
			if gifts > 1 {
				operation = "redeem-gifts"
				body = strings.Replace(saleBody("", pay...), `"}`, `","amount":0.01}`, gifts)
			}
			for b.Loop() {
				if r := w.post(operation, body); r.status != 200 {
					b.Fatalf("%s", r.body)
				}
			}
		})
	}
}
