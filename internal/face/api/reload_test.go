package api_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// paidAt are the members of an external payment at a storefront.
func paidAt(storefront string) string {
	return `"externalTransactionReferenceNumber":"TOP-1","externalTransactionCustomerFirstName":"Ann",` +
		`"externalTransactionCustomerLastName":"Lee","externalTransactionCustomerEmailAddress":"ann@example.com",` +
		`"externalStorefrontID":"` + storefront + `"`
}

func loadBody(g made, amount string) string {
	return `{"voucherID":"` + g.id + `","organizationID":"` + pier + `","amount":` + amount + `,` + paidAt(shop) + `}`
}

func (w *world) reload(g made, amount string, headers ...string) reply {
	w.Helper()
	return w.post("reload-gift", loadBody(g, amount), headers...)
}

func (w *world) unload(reload string, headers ...string) reply {
	w.Helper()
	return w.post("reverse-reload", `{"reloadID":"`+reload+`"}`, headers...)
}

func TestReload(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("25"))
	w.redeem(g, "").want(200, "status", "REDEEMED")
	loaded := w.post("reload-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`","amount":15,`+paidAt(counter)+
		`,"reference":"till 4"}`, once("top up")...).want(200, "voucherID", g.id, "organizationID", pier, "amount", "15.00",
		"currentBalance", "15.00", "heldBalance", "0.00", "availableBalance", "15.00", "currency", "USD", "status", "CLAIMED",
		"statusID", "5", "isRedeemable", "true", "reference", "till 4")
	reload := loaded.at("reloadID")
	w.reload(g, "5", once("top up")...).refused(422, refusal.IdempotencyMismatch)
	w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`"}`).want(200, "originalBalance",
		"40.00",
		"value", "40.00", "currentBalance", "15.00")
	history := w.get("/gifting/gifts/"+g.id+"/history").want(200, "entries[2].kind", "RELOAD", "entries[2].amount",
		"15.00",
		"entries[2].entryID", reload, "entries[2].externalTransactionReferenceNumber", "TOP-1",
		"entries[2].externalStorefrontID", counter, "entries[2].reference", "till 4", "entries[2].reverses", "null",
		"entries[1].externalTransactionReferenceNumber", "null")
	activity := w.get("/gifting/activity?kind=RELOAD").want(200, "entries[0].entryID", reload,
		"entries[0].externalTransactionReferenceNumber", "TOP-1", "entries[0].externalStorefrontID", counter)
	for _, told := range []reply{loaded, history, activity} {
		if text := string(told.body); strings.Contains(text, "ann@example.com") || strings.Contains(text, "Lee") {
			t.Errorf("it tells who paid: %s", text)
		}
	}

	w.redeem(g, "10").want(200)
	refused := w.unload(reload).refused(409, refusal.InsufficientBalance)
	if text := refused.at("messages[0].text"); text != "This reload was of 15.00 USD; of this gift, 5.00 USD is "+
		"available." {
		t.Error(text)
	}
	hold := w.reload(g, "12").want(200, "currentBalance", "17.00").at("reloadID")
	held := w.holdGift(g, "6").want(200, "availableBalance", "11.00").at("holdID")
	refused = w.unload(hold).refused(409, refusal.InsufficientBalance)
	if text := refused.at("messages[0].text"); !strings.HasPrefix(text,
		"This reload was of 12.00 USD; of this gift, 11.00 USD is available: 6.00 USD is held until ") {
		t.Error(text)
	}
	w.release(held).want(200)
	back := w.unload(hold, once("undo")...).want(200, "reloadID", hold, "voucherID", g.id, "organizationID", pier,
		"amount",
		"12.00", "currentBalance", "5.00", "availableBalance", "5.00", "status", "CLAIMED", "isRedeemable", "true")
	w.unload(hold, once("undo")...).again(back)
	w.unload(hold).refused(409, refusal.AlreadyReversed)
	w.get("/gifting/gifts/"+g.id+"/history").want(200, "entries[7].kind", "RELOAD_REVERSAL", "entries[7].amount", "-12.00",
		"entries[7].reverses", hold, "entries[7].reversalID", back.at("reversalID"), "entries[7].redemptionID", "null",
		"entries[7].organizationID", pier)
	w.get("/gifting/gifts/"+g.id).want(200, "originalBalance", "40.00", "currentBalance", "5.00")
	w.sound()
}

// A reload whose answer never came is undone by its key; one that did not arrive never takes effect any more.
func TestReloadUndoneByItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("25"))
	byKey := func(key string, headers ...string) reply {
		return w.post("reverse-reload", `{"idempotencyKey":"`+key+`"}`, headers...)
	}
	w.reload(g, "5", append(once("arrived"), as(pierKey)...)...).want(200, "currentBalance", "30.00")
	byKey("arrived", as(wharfKey)...).refused(403, refusal.NotAuthorized)
	byKey("arrived", as(cornerKey)...).refused(404, refusal.NotFound) // another merchant's key of the same text is spent
	byKey("arrived", as(pierKey)...).want(200, "amount", "5.00", "currentBalance", "25.00", "status", "DELIVERED")
	byKey("arrived").refused(409, refusal.AlreadyReversed)
	missing := byKey("late").refused(404, refusal.NotFound)
	if text := missing.at("messages[0].text"); text != "No reload with this key has arrived, so nothing was loaded. "+
		"The key "+
		"is spent now: should the reload still come, it is refused." {
		t.Error(text)
	}
	w.reload(g, "5", once("late")...).refused(409, refusal.RedemptionNotAllowed)
	w.get("/requests/late").want(200, "requests[0].operation", "reload-gift", "requests[0].state", "spent")
	w.redeem(g, "1", once("late")...).want(200) // a till may count the keys of each operation by itself
	w.reload(g, "20000", once("refused")...).refused(400, refusal.ValidationFailure, "amount")
	w.reload(w.send(mailed("ann@example.com")), "5",
		once("pending")...).refused(409, refusal.RedemptionNotAllowed)
	missing = byKey("pending").refused(404, refusal.NotFound)
	if text := missing.at("messages[0].text"); text != "The request with this key did nothing, so nothing was loaded." {
		t.Error(text)
	}
	w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "24.00", "originalBalance", "25.00")
	w.sound()
}

// What a thief with the key of a till would try.
func TestReloadForAThief(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("25"))
	w.permit(rotatedKey, "validate", "redeem", "reverse")
	refused := w.reload(g, "5", as(rotatedKey)...).refused(403, refusal.NotAuthorized)
	if text := refused.at("messages[0].text"); text != "This key may not reload gifts: it lacks the permission reload." {
		t.Error(text)
	}
	reload := w.reload(g, "10").want(200).at("reloadID")
	w.unload(reload, as(rotatedKey)...).refused(403, refusal.NotAuthorized)
	w.unload(reload, as(wharfKey)...).refused(404, refusal.NotFound)
	w.unload(reload, as(cornerKey)...).refused(404, refusal.NotFound)
	w.post("reload-gift", `{"voucherID":"`+g.id+`","amount":5,`+paidAt(cornerShop)+`}`, as(cornerKey)...).refused(404,
		refusal.NotFound, "voucherID")
	w.post("reload-gift", `{"voucherCode":"`+g.code+`","amount":5,`+paidAt(cornerShop)+`}`, as(cornerKey)...).refused(403,
		refusal.NotAuthorized)
	w.post("reload-gift", strings.Replace(loadBody(g, "5"), pier, wharf, 1), as(pierKey)...).refused(403,
		refusal.NotAuthorized)
	// Loaded, spent, and taken back: the money is gone once.
	w.redeem(g, "30").want(200, "currentBalance", "5.00")
	w.unload(reload).refused(409, refusal.InsufficientBalance)
	sale := w.redeem(g, "5").want(200).at("redemptionID")
	w.post("reverse-redemption", `{"redemptionID":"`+reload+`"}`).refused(404, refusal.NotFound, "redemptionID")
	w.unload(sale).refused(404, refusal.NotFound, "reloadID")
	for amount, field := range map[string]string{"0": "amount", "-5": "amount", "0.001": "amount", `""`: "amount",
		"null": "amount", "1e30": "amount"} {
		w.reload(g, amount).refused(400, refusal.ValidationFailure, field)
	}
	w.post("reload-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`"}`).refused(400, refusal.ValidationFailure,
		"amount", "externalTransactionReferenceNumber", "externalTransactionCustomerFirstName",
		"externalTransactionCustomerLastName", "externalTransactionCustomerEmailAddress", "externalStorefrontID")
	w.post("reload-gift", strings.Replace(loadBody(g, "5"), shop, cornerShop, 1)).refused(400, refusal.ValidationFailure,
		"externalStorefrontID")
	w.reload(w.send(`{"itemGift":{"label":"Latte","quantity":3,"deliveryMethodID":3},`+purchase+`}`), "5").refused(422,
		refusal.NotSupported)
	w.reload(w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},"paymentMethodID":4,"promotionID":"`+bareSpring+
		`","validStarting":"2020-01-01T00:00Z","validForDays":3650,"promotionalTerms":"One."}`), "5").refused(422,
		refusal.NotSupported)
	w.post("reload-gift", `{"voucherPublicToken":"x","amount":5,"organizationID":"`+pier+`",`+paidAt(shop)+
		`}`).refused(400, refusal.InvalidTokenFormat)
	w.post("reload-gift", loadBody(g, "5"), as(homelessKey)...).refused(409, refusal.AccountMisconfigured)
	// Nothing of what was loaded is left in a gift whose purchase failed.
	failed := w.send(ofMoney("10"))
	reload = w.reload(failed, "5").want(200).at("reloadID")
	w.adjust(failed, "-10").want(200)
	w.post("cancel-gift", `{"voucherID":"`+failed.id+`","cause":"PURCHASE_FAILED"}`).want(200)
	w.unload(reload).refused(409, refusal.RedemptionNotAllowed)
	w.sound()
}

// What is loaded counts as issued.
func TestReloadCountsAsIssued(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("25"))
	w.limit(merchant.Limits{IssuedPerDay: 4000}, merchant.Limits{})
	w.reload(g, "15").want(200)
	w.reload(g, "0.01").refused(429, refusal.RateLimited)
	w.redeem(g, "40").want(200)
	w.skew.Store(int64(25 * time.Hour))
	w.reload(g, "40").want(200, "currentBalance", "40.00")
	w.limit(merchant.Limits{}, merchant.Limits{IssuedPerDay: 100})
	w.reload(g, "1.01", as(rotatedKey)...).refused(429, refusal.RateLimited)
	w.reload(g, "1.01").want(200)
}

// However reversals of a reload, redemptions and holds meet, nothing is taken back twice, and no money is made.
func TestReloadsRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *config) { c.Records = unlimited{c.Records} })
	for n := range 12 {
		g, key := w.send(ofMoney("10")), fmt.Sprintf("load %d", n)
		reload := w.reload(g, "10", once(key)...).want(200).at("reloadID")
		var all sync.WaitGroup
		var mu sync.Mutex
		did := map[string]int{}
		try := func(what string, call func() reply) {
			all.Go(func() {
				r := call()
				mu.Lock()
				defer mu.Unlock()
				if r.status == 200 {
					did[what]++
				}
			})
		}
		for range 3 {
			try("undone", func() reply { return w.unload(reload) })
			try("undone", func() reply { return w.post("reverse-reload", `{"idempotencyKey":"`+key+`"}`) })
		}
		try("spent", func() reply { return w.redeem(g, "8") })
		try("held", func() reply { return w.holdGift(g, "7") })
		all.Wait()
		undone, taken := did["undone"], 8*did["spent"]+7*did["held"]
		if undone > 1 || undone*10+taken > 20 || undone == 0 && taken <= 10 {
			t.Errorf("of 20.00, 10.00 was taken back %d times, and %d.00 taken", undone, taken)
		}
		w.get("/gifting/gifts/"+g.id).want(200, "availableBalance", fmt.Sprintf("%d.00", 20-undone*10-taken))
	}
	w.sound()
}

func cashBody(g made) string {
	return `{"voucherID":"` + g.id + `","organizationID":"` + pier + `"}`
}

func (w *world) cashOut(g made, headers ...string) reply {
	w.Helper()
	return w.post("cash-out-gift", cashBody(g), headers...)
}

// In California less than 15.00 can be asked for in cash, before April 2026 less than 10.00.
func TestCashOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, full := w.send(ofMoney("14.99")), w.send(ofMoney("15"))
	validate := func(g made, allowed string) {
		w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`"}`).want(200, "cashOutAllowed",
			allowed)
	}
	limit := func(g made, want string) {
		validate(g, "false")
		r := w.cashOut(g).refused(422, refusal.NotSupported)
		if text := r.at("messages[0].text"); text != "In California a gift can be cashed out when "+want {
			t.Error(text)
		}
	}
	validate(g, "true")
	limit(full, "below 15.00 USD is left; of this one, 15.00 USD is.")
	paid := w.cashOut(g, once("cash")...).want(200, "voucherID", g.id, "organizationID", pier, "amount", "14.99",
		"currentBalance", "0.00", "heldBalance", "0.00", "availableBalance", "0.00", "currency", "USD", "status", "REDEEMED",
		"statusID", "6")
	w.cashOut(g, once("cash")...).again(paid)
	w.cashOut(g).refused(409, refusal.AlreadyRedeemed)
	w.get("/gifting/gifts/"+g.id+"/history").want(200, "entries[1].kind", "CASH_OUT", "entries[1].amount", "-14.99",
		"entries[1].entryID", paid.at("cashOutID"), "entries[1].redemptionID", "null", "entries[1].organizationName",
		"Pier 39")
	w.post("reverse-reload", `{"reloadID":"`+paid.at("cashOutID")+`"}`).refused(404, refusal.NotFound)

	// Held is not to be had.
	g = w.send(ofMoney("14.99"))
	hold := w.holdGift(g, "1").want(200).at("holdID")
	validate(g, "false")
	w.cashOut(g).refused(409, refusal.RedemptionNotAllowed)
	w.release(hold).want(200)

	spring := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	w.skew.Store(int64(time.Until(spring)))
	limit(w.send(ofMoney("10")), "below 10.00 USD is left; of this one, 10.00 USD is.")
	w.cashOut(w.send(ofMoney("9.99"))).want(200, "amount", "9.99")
	w.skew.Store(int64(time.Until(spring.AddDate(0, 0, 1))))
	w.cashOut(w.send(ofMoney("10"))).want(200, "amount", "10.00")
}

// TestNothingComesBackBeforeTheCash: a redemption, a capture, and what a hold kept is not given back while a later
// cash-out stands, by whatever name it is called; what was redeemed after the cash-out is.
func TestNothingComesBackBeforeTheCash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure(func(a *merchant.Account) { a.Subscriptions[0].Reloadable = true })
	back := func(body string) reply { return w.post("reverse-redemption", "{"+body+"}") }
	g := w.send(ofMoney("100"))
	taken := w.redeem(g, "20", once("k")...).want(200).at("redemptionID")
	hold := w.holdGift(g, "70").want(200).at("holdID")
	captured := w.capture(hold, `,"amount":70`).want(200).at("redemptionID")
	paid := w.cashOut(g).want(200, "amount", "10.00").at("cashOutID")
	ways := []string{`"redemptionID":"` + taken + `"`, `"redemptionID":"` + captured + `","amount":1`,
		`"idempotencyKey":"k","operation":"redeem-gift"`}
	refused := func() {
		t.Helper()
		for _, way := range ways {
			r := back(way).refused(409, refusal.RedemptionNotAllowed)
			if text := r.at("messages[0].text"); !strings.Contains(text, "Take the cash-out back first") {
				t.Error(text)
			}
		}
	}
	refused()
	w.reload(g, "50").want(200)
	refused()
	later := w.redeem(g, "50").want(200).at("redemptionID")
	back(`"redemptionID":"`+later+`"`).want(200, "currentBalance", "50.00")
	back(`"redemptionID":"`+paid+`"`).want(200, "currentBalance", "60.00")
	for _, way := range ways[:2] {
		back(way).want(200)
	}
	back(ways[2]).refused(409, refusal.AlreadyReversed)
	w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "81.00")
	w.sound()
}

// A cash-out is taken back once and as a whole, by its id or its key, by who may pay out.
func TestCashOutTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	back := func(body string, headers ...string) reply {
		return w.post("reverse-redemption", "{"+body+"}", headers...)
	}
	byID := func(id string) string { return `"redemptionID":"` + id + `"` }
	const byKey, late = `"idempotencyKey":"cash","operation":"cash-out-gift"`, `"idempotencyKey":"late","operation":"cash-out-gift"`
	g := w.send(ofMoney("12.50"))
	w.redeem(g, "2.50").want(200)
	paid := w.cashOut(g, once("cash")...).want(200, "amount", "10.00").at("cashOutID")

	w.permit(rotatedKey, "redeem", "reverse")
	for _, body := range []string{byID(paid), byKey, late} {
		r := back(body, append(as(rotatedKey), once("refused")...)...).refused(403, refusal.NotAuthorized)
		if text := r.at("messages[0].text"); !strings.HasSuffix(text, "it lacks the permission cash-out.") {
			t.Error(text)
		}
	}
	back(byID(paid), as(cornerKey)...).refused(404, refusal.NotFound)
	back(byID(paid), as(wharfKey)...).refused(404, refusal.NotFound)
	back(byID(paid)+`,"amount":9.99`).refused(400, refusal.ValidationFailure, "amount")
	back(byID(paid)+`,"amount":10.01`).refused(400, refusal.ValidationFailure, "amount")
	back(byID(paid)+`,"operation":"cash-out-gift"`).refused(400, refusal.ValidationFailure, "operation")
	back(`"idempotencyKey":"cash","operation":"reload-gift"`).refused(400, refusal.ValidationFailure, "operation")
	back(`"idempotencyKey":"cash"`).refused(400, refusal.ValidationFailure, "operation")
	w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "0.00")

	undone := back(byKey+`,"reason":"the drawer was empty"`, once("back")...).want(200, "redemptionID", paid, "amount",
		"10.00", "currentBalance", "10.00", "availableBalance", "10.00", "status", "CLAIMED", "isRedeemable", "true")
	back(byKey+`,"reason":"the drawer was empty"`, once("back")...).again(undone)
	for _, body := range []string{byID(paid), byKey} {
		back(body).refused(409, refusal.AlreadyReversed)
	}
	w.get("/gifting/gifts/"+g.id+"/history").want(200, "entries[3].kind", "REVERSAL", "entries[3].amount", "10.00",
		"entries[3].redemptionID", paid, "entries[3].reverses", paid, "entries[3].reasonCode", "CASH_OUT",
		"entries[3].reason", "the drawer was empty")
	again := w.cashOut(g).want(200, "amount", "10.00").at("cashOutID")
	w.post("block-gift", `{"voucherID":"`+g.id+`","reasonCode":"LOST"}`).want(200)
	back(byID(again)+`,"amount":10`).want(200, "currentBalance", "10.00", "isRedeemable", "false")

	// One that never came, and never will.
	back(late).refused(404, refusal.NotFound)
	back(late).refused(404, refusal.NotFound)
	w.cashOut(w.send(ofMoney("5")), once("late")...).refused(409, refusal.RedemptionNotAllowed)

	// At once, it is taken back once.
	g = w.send(ofMoney("5"))
	paid = w.cashOut(g, once("both")...).want(200).at("cashOutID")
	var all sync.WaitGroup
	var did atomic.Int64
	for _, body := range []string{byID(paid), strings.Replace(byKey, "cash", "both", 1)} {
		for range 3 {
			all.Go(func() {
				if back(body).status == 200 {
					did.Add(1)
				}
			})
		}
	}
	all.Wait()
	w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "5.00")
	if did.Load() != 1 {
		t.Errorf("taken back %d times", did.Load())
	}
	w.sound()
}

// What a thief, another merchant and a till without the permission would try.
func TestCashOutForAThief(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	w.permit(rotatedKey, "validate", "redeem", "reverse", "reload")
	w.cashOut(g, as(rotatedKey)...).refused(403, refusal.NotAuthorized)
	w.cashOut(g, as(wharfKey)...).refused(403, refusal.NotAuthorized)
	w.post("cash-out-gift", `{"voucherID":"`+g.id+`"}`, as(cornerKey)...).refused(404, refusal.NotFound, "voucherID")
	w.post("cash-out-gift", `{"voucherCode":"`+g.code+`"}`, as(cornerKey)...).refused(403, refusal.NotAuthorized)
	w.post("cash-out-gift", `{"voucherID":"`+g.id+`","organizationID":"`+wharf+`"}`).refused(422, refusal.NotSupported)
	w.post("cash-out-gift", cashBody(g), as(homelessKey)...).refused(409, refusal.AccountMisconfigured)
	w.post("cash-out-gift", `{"voucherPublicToken":"x","organizationID":"`+pier+`"}`).refused(400, refusal.InvalidTokenFormat)
	w.post("cash-out-gift", strings.Replace(cashBody(g), "}", `,"amount":5}`, 1)).refused(400, refusal.ValidationFailure,
		"amount")
	w.cashOut(w.send(`{"itemGift":{"label":"Latte","quantity":3,"deliveryMethodID":3},`+purchase+`}`)).refused(422,
		refusal.NotSupported)
	w.cashOut(w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},"paymentMethodID":4,"promotionID":"`+bareSpring+
		`","validStarting":"2020-01-01T00:00Z","validForDays":3650,"promotionalTerms":"One."}`)).refused(422,
		refusal.NotSupported)
	// A card with a verification code, without it.
	cards, codes := w.verified(1)
	w.post("redeem-gift", verifyBody(cards[0], "10", codes[0])).want(200)
	asking := func(code string) string {
		return strings.Replace(cashBody(cards[0]), "}", `,"verificationCode":"`+code+`"}`, 1)
	}
	w.cashOut(cards[0]).refused(400, refusal.ValidationFailure, "verificationCode")
	w.post("cash-out-gift", asking("12")).refused(400, refusal.ValidationFailure, "verificationCode")
	for n := range gift.MaxWrongCodes - 1 {
		w.post("cash-out-gift", asking(wrong(codes[0], n))).refused(409, refusal.RedemptionNotAllowed, "verificationCode")
	}
	w.post("cash-out-gift", asking(codes[0])).want(200, "amount", "10.00")
	// Cash for a reload that is then taken back.
	reload := w.reload(g, "5").want(200).at("reloadID")
	w.cashOut(g).want(200, "amount", "10.00")
	w.unload(reload).refused(409, refusal.InsufficientBalance)
	w.limit(merchant.Limits{RedeemedPerDay: 1000}, merchant.Limits{})
	w.cashOut(w.send(ofMoney("10"))).want(200)
	w.cashOut(w.send(ofMoney("0.01"))).refused(429, refusal.RateLimited)
	w.sound()

	// Asked for at once, it is paid once.
	for range 5 {
		g := w.send(ofMoney("5"))
		w.limit(merchant.Limits{}, merchant.Limits{})
		var all sync.WaitGroup
		var paid atomic.Int64
		for range 4 {
			all.Go(func() {
				if w.cashOut(g).status == 200 {
					paid.Add(500)
				}
			})
			all.Go(func() {
				if w.redeem(g, "5").status == 200 {
					paid.Add(500)
				}
			})
		}
		all.Wait()
		if paid.Load() != 500 {
			t.Errorf("of 5.00, %d cents were paid", paid.Load())
		}
	}
	w.sound()
}
