package api_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// adjusting is an adjust-gift request about no gift.
func adjusting(amount string) string { return adjustBody(nowhere, amount) }

func adjustBody(voucher, amount string) string {
	return `{"voucherID":"` + voucher + `","amount":` + amount + `,"reasonCode":"FRAUD","reason":"why"}`
}

// promotional makes a gift of a promotion, valid for a year.
func (w *world) promotional(value string) made {
	w.Helper()
	return w.send(`{"monetaryGift":{"value":` + value + `,"deliveryMethodID":3},"paymentMethodID":4,"promotionID":"` +
		bareSpring + `","validStarting":"` + w.now().UTC().Format(time.RFC3339) +
		`","validForDays":365,"promotionalTerms":"One."}`)
}

func (w *world) block(g made, reason string, headers ...string) reply {
	w.Helper()
	return w.post("block-gift", `{"voucherID":"`+g.id+`","reasonCode":"`+reason+`","reason":"in words"}`, headers...)
}

func (w *world) unblock(g made, headers ...string) reply {
	w.Helper()
	return w.post("unblock-gift", `{"voucherID":"`+g.id+`","reason":"found"}`, headers...)
}

func (w *world) adjust(g made, amount string, headers ...string) reply {
	w.Helper()
	return w.post("adjust-gift", adjustBody(g.id, amount), headers...)
}

func (w *world) extend(g made, until string, headers ...string) reply {
	w.Helper()
	return w.post("extend-gift", `{"voucherID":"`+g.id+`","validUntil":"`+until+`"}`, headers...)
}

// TestABlockedCard: nothing is taken of it or held, whoever asks; what was approved before is settled.
func TestABlockedCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("50"))
	taken := w.redeem(g, "5").want(200).at("redemptionID")
	hold, other := w.holdGift(g, "10").want(200).at("holdID"), w.holdGift(g, "1").want(200).at("holdID")
	first := w.block(g, "STOLEN", once("b")...).want(200, "voucherID", g.id, "blockedReason", "STOLEN", "status",
		"CLAIMED",
		"statusID", "5", "outcome", "DONE")
	w.block(g, "STOLEN", once("b")...).again(first)
	w.block(g, "STOLEN").want(200, "outcome", "ALREADY_DONE", "blockedReason", "STOLEN")
	validate := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `"}`
	w.post("validate-gift", validate).want(200, "isRedeemable", "false", "status", "CLAIMED", "blockedReason", "null",
		"notRedeemableReasons", `[{"code":"BLOCKED","text":"This gift is blocked."}]`, "cashOutAllowed", "false")
	w.get("/gifting/gifts/"+g.id).want(200, "blockedReason", "STOLEN", "isRedeemable", "false")
	w.get("/gifting/gifts?lastFour="+g.code[8:]).want(200, "gifts[0].blockedReason", "STOLEN")
	refused := func(r reply) {
		t.Helper()
		if text := r.refused(409, refusal.RedemptionNotAllowed).at("messages[0].text"); !strings.Contains(text, "blocked") {
			t.Error(text)
		}
	}
	refused(w.redeem(g, "1"))
	refused(w.redeem(g, ""))
	refused(w.post("redeem-gift", strings.TrimSuffix(validate, "}")+`,"amount":1}`))
	refused(w.holdGift(g, "1"))
	refused(w.post("resend-gift", `{"voucherID":"`+g.id+`"}`))
	refused(w.reload(g, "5"))
	for _, pair := range [][2]string{{g.id, w.send(ofMoney("5")).id}, {w.send(ofMoney("5")).id, g.id}} {
		refused(w.post("transfer-balance", `{"fromVoucherID":"`+pair[0]+`","toVoucherID":"`+pair[1]+`","amount":1}`))
	}
	w.capture(hold, `,"amount":8`).want(200, "currentBalance", "37.00", "availableBalance", "36.00", "isRedeemable",
		"false")
	w.release(other).want(200, "availableBalance", "37.00")
	w.post("reverse-redemption", `{"redemptionID":"`+taken+`"}`).want(200, "currentBalance", "42.00", "isRedeemable",
		"false")
	refused(w.redeem(g, "1"))
	w.block(g, "FRAUD").want(200, "outcome", "DONE", "blockedReason", "FRAUD")
	free := w.unblock(g, once("u")...).want(200, "blockedReason", "null", "outcome", "DONE")
	w.unblock(g, once("u")...).again(free)
	w.unblock(g).want(200, "outcome", "ALREADY_DONE")
	w.redeem(g, "1").want(200, "currentBalance", "41.00", "isRedeemable", "true")
	w.get("/gifting/gifts/"+g.id+"/history").want(200, "entries[4].kind", "BLOCKED", "entries[4].reasonCode", "STOLEN",
		"entries[4].reason", "in words", "entries[4].amount", "0.00", "entries[4].status", "CLAIMED", "entries[5].kind",
		"REDEMPTION", "entries[5].reasonCode", "null", "entries[5].validUntil", "null", "entries[8].reasonCode", "FRAUD",
		"entries[9].kind", "UNBLOCKED", "entries[9].reasonCode", "null", "entries[9].reason", "found").has("entries", 11)
	w.get("/gifting/activity?kind=BLOCKED").want(200, "entries[0].reasonCode", "FRAUD", "entries[1].reasonCode",
		"STOLEN").has("entries", 2)
	w.get("/requests/b").want(200, "requests[0].operation", "block-gift", "requests[0].answer.blockedReason", "STOLEN")
	small := w.send(ofMoney("5"))
	w.block(small, "OTHER").want(200, "blockedReason", "OTHER")
	refused(w.cashOut(small))
	w.unblock(small).want(200)
	w.cashOut(small).want(200)
	w.sound()
}

// TestBlockInEveryState: also of what is on its way, and of what is out of use.
func TestBlockInEveryState(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, state := range everyState {
		k := s.make("anywhere", state)
		status := s.get("/gifting/gifts/" + k.id).at("status")
		s.block(k.made, "LOST").want(200, "outcome", "DONE", "status", status)
		s.redeem(k.made, "1").want(409)
		s.unblock(k.made).want(200, "outcome", "DONE", "status", status)
	}
	waits := s.make("anywhere", "pending")
	s.block(waits.made, "CHARGEBACK").want(200, "status", "PENDING")
	s.post("reschedule-gift", `{"voucherID":"`+waits.id+`","deliveryDate":"`+soon+`"}`).want(200, "blockedReason",
		"CHARGEBACK")
	s.sound()
}

func TestAdjustments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("20"))
	w.holdGift(g, "5").want(200)
	up := w.adjust(g, "7.5", once("a")...).want(200, "voucherID", g.id, "amount", "7.50", "currentBalance", "27.50",
		"heldBalance", "5.00", "availableBalance", "22.50", "currency", "USD", "status", "DELIVERED", "statusID", "3",
		"reasonCode", "FRAUD", "reason", "why")
	w.adjust(g, "7.50", once("a")...).again(up)
	w.heldAddsUp(g)
	w.adjust(g, "-22.51").refused(409, refusal.InsufficientBalance, "amount")
	w.adjust(g, "-27.51").refused(409, refusal.InsufficientBalance, "amount")
	w.adjust(g, "-22.50").want(200, "amount", "-22.50", "currentBalance", "5.00", "availableBalance", "0.00", "status",
		"DELIVERED")
	w.adjust(g, "9995.01").refused(400, refusal.ValidationFailure, "amount")
	w.get("/gifting/gifts/"+g.id).want(200, "originalBalance", "5.00", "value", "5.00", "currentBalance", "5.00")
	w.get("/gifting/gifts/"+g.id+"/history").want(200, "entries[2].kind", "ADJUSTMENT", "entries[2].entryID",
		up.at("adjustmentID"), "entries[2].amount", "7.50", "entries[2].reasonCode", "FRAUD", "entries[2].reason", "why",
		"entries[2].heldAmount", "0.00", "entries[3].amount", "-22.50").has("entries", 4)

	spent := w.send(ofMoney("10"))
	redemption := w.redeem(spent, "4").want(200).at("redemptionID")
	w.adjust(spent, "-6").want(200, "status", "REDEEMED", "currentBalance", "0.00", "statusID", "6")
	w.post("reverse-redemption", `{"redemptionID":"`+redemption+`"}`).want(200, "currentBalance", "4.00", "status",
		"CLAIMED")
	w.redeem(spent, "").want(200, "status", "REDEEMED")
	w.adjust(spent, "-0.01").refused(409, refusal.InsufficientBalance, "amount")
	w.adjust(spent, "1").want(200, "status", "CLAIMED", "currentBalance", "1.00")
	w.redeem(spent, "1").want(200)
	unused := w.send(ofMoney("10"))
	w.adjust(unused, "-10").want(200, "status", "REDEEMED")
	w.get("/gifting/gifts/"+unused.id).want(200, "originalBalance", "0.00", "value", "0.00")

	item := w.send(`{"itemGift":{"label":"Latte","quantity":3,"deliveryMethodID":3},` + purchase + `}`)
	w.adjust(item, "0.5").refused(400, refusal.ValidationFailure, "amount")
	w.adjust(item, "2").want(200, "amount", "2", "currency", "null", "currentBalance", "5")
	w.adjust(item, "9996").refused(400, refusal.ValidationFailure, "amount")
	w.adjust(item, "-5").want(200, "status", "REDEEMED")
	gone := w.send(ofMoney("10"))
	w.post("cancel-gift", `{"voucherID":"`+gone.id+`","cause":"CANCELLED"}`).want(200)
	w.adjust(gone, "1").refused(409, refusal.RedemptionNotAllowed)
	waits := w.send(mailed("ann@example.com"))
	all := w.get("/gifting/gifts/"+waits.id).want(200, "status", "PENDING").at("currentBalance")
	for _, why := range []string{"COMPLIMENTARY", "SUPPORT", "MISTAKE", "FRAUD", "PURCHASE_REFUNDED", "MIGRATION"} {
		w.post("adjust-gift", strings.Replace(adjustBody(waits.id, "1"), "FRAUD", why, 1)).want(200, "reasonCode", why)
		w.adjust(waits, "-1").want(200)
	}
	w.post("adjust-gift", strings.Replace(adjustBody(waits.id, "1"), "FRAUD", "LOST", 1)).refused(400,
		refusal.ValidationFailure, "reasonCode")
	w.post("adjust-gift", strings.Replace(adjustBody(waits.id, "1"), "why", "ok", 1)).refused(400,
		refusal.ValidationFailure, "reason")
	never := w.adjust(waits, "-"+all).refused(409, refusal.RedemptionNotAllowed)
	if text := never.at("messages[0].text"); text != "Gift "+waits.id+
		" cannot be adjusted to nothing: it is PENDING; cancel it instead." {
		t.Error(text)
	}
	w.adjust(waits, "-0.01").want(200, "status", "PENDING") // and goes out with what is left
	old := w.promotional("10")
	w.pass(366 * 24 * time.Hour)
	w.adjust(old, "1").want(200, "currentBalance", "11.00")
	w.sound()
}

// TestAdjustmentsCountAsIssued: of the account and of the key, in money and in what pieces are worth.
func TestAdjustmentsCountAsIssued(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limited := *w.directory.Load().Keys[merchant.HashKey(rotatedKey)]
	limited.Limits.IssuedPerDay = 2000
	w.addKeys(&limited)
	mine := as(rotatedKey)
	g := w.send(ofMoney("10"), mine...)
	item := w.send(`{"itemGift":{"label":"Latte","quantity":3,"equivalentValue":13.50,"deliveryMethodID":3},` + purchase +
		`}`)
	w.adjust(g, "5", mine...).want(200)
	w.adjust(g, "5.01", mine...).refused(429, refusal.RateLimited)
	w.adjust(g, "-15", mine...).want(200, "status", "REDEEMED")    // which gives nothing back of the limit
	w.adjust(item, "2", mine...).refused(429, refusal.RateLimited) // 9.00
	w.adjust(item, "1", mine...).want(200)                         // 4.50
	w.adjust(g, "0.51", mine...).refused(429, refusal.RateLimited)
	w.adjust(g, "0.50", mine...).want(200, "status", "CLAIMED")
	w.adjust(g, "100").want(200) // with another key
	w.sound()
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.promotional("10")
	before := w.get("/gifting/gifts/" + g.id).at("validUntil")
	until := w.now().AddDate(3, 0, 0).UTC().Truncate(time.Second)
	text, told := until.Format(time.RFC3339), until.Format("2006-01-02T15:04:05.000Z")
	w.extend(g, before).refused(400, refusal.ValidationFailure, "validUntil")
	w.pass(366 * 24 * time.Hour)
	w.redeem(g, "1").refused(409, refusal.RedemptionNotAllowed)
	w.extend(g, w.now().Add(-time.Hour).UTC().Format(time.RFC3339)).refused(400, refusal.ValidationFailure, "validUntil")
	first := w.extend(g, text, once("x")...).want(200, "voucherID", g.id, "validUntil", told, "status", "DELIVERED",
		"statusID", "3", "isRedeemable", "true")
	w.extend(g, text, once("x")...).again(first)
	w.extend(g, text).refused(400, refusal.ValidationFailure, "validUntil")
	w.get("/gifting/gifts/"+g.id).want(200, "validUntil", told, "isInRedeemablePeriod", "true")
	w.redeem(g, "1").want(200)
	w.get("/gifting/gifts/"+g.id+"/history").want(200, "entries[1].kind", "EXTENDED", "entries[1].validUntil", told,
		"entries[1].reasonCode", "null", "entries[2].validUntil", "null")
	w.get("/gifting/activity?kind=EXTENDED").want(200, "entries[0].validUntil", told).has("entries", 1)
	w.pass(3 * 365 * 24 * time.Hour)
	w.redeem(g, "1").refused(409, refusal.RedemptionNotAllowed)
	paid := w.send(ofMoney("10"))
	w.extend(paid, w.now().AddDate(1, 0, 0).UTC().Format(time.RFC3339)).refused(422, refusal.NotSupported)
	w.post("cancel-gift", `{"voucherID":"`+g.id+`","cause":"CANCELLED"}`).want(200)
	w.extend(g, w.now().AddDate(1, 0, 0).UTC().Format(time.RFC3339)).refused(409, refusal.RedemptionNotAllowed)
	w.sound()
}

// TestCareRaces: blocks against redemptions, adjustments against redemptions and holds.
func TestCareRaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	atOnce := func(n int, do func(int)) {
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() { do(i) })
		}
		all.Wait()
	}
	g := w.send(ofMoney("40"))
	var blocked atomic.Bool
	atOnce(24, func(i int) {
		if i == 8 {
			w.block(g, "STOLEN").want(200)
			blocked.Store(true)
			return
		}
		before := blocked.Load()
		if r := w.redeem(g, "1"); r.status == 200 && before || r.status != 200 && r.status != 409 {
			t.Errorf("blocked before: %v, answered %d: %s", before, r.status, r.body)
		}
	})
	g = w.send(ofMoney("10"))
	atOnce(24, func(i int) {
		var r reply
		switch i % 3 {
		case 0:
			r = w.adjust(g, "-2")
		case 1:
			r = w.redeem(g, "1")
		default:
			r = w.holdGift(g, "1")
		}
		if r.status != 200 && r.status != 409 {
			t.Errorf("answered %d: %s", r.status, r.body)
		}
	})
	w.sound() // which adds up
}

// TestCareAtOneLocation: a shop's key takes care of what is good there only, and another merchant's sees nothing.
func TestCareAtOneLocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		at, key string
		seen    bool
	}{{pier, pierKey, true}, {"", pierKey, false}, {wharf, pierKey, false}, {pier, cornerKey, false},
		{"", cornerKey, false}} {
		g := w.send(ofMoney("5", member("organizationID", c.at)))
		for _, r := range []reply{w.block(g, "LOST", as(c.key)...), w.unblock(g, as(c.key)...),
			w.adjust(g, "1", as(c.key)...),
			w.extend(g, "2040-01-01T00:00:00Z", as(c.key)...)} {
			if !c.seen {
				r.refused(404, refusal.NotFound, "voucherID")
			} else if r.status == 404 {
				t.Errorf("a gift for %q with %s: %s", c.at, c.key, r.body)
			}
		}
	}
	w.block(w.send(ofMoney("5")), "LOST", as(systemKey)...).refused(422, refusal.NotSupported)
	for _, role := range []string{"till", "shop", "office"} {
		may, _ := merchant.RoleByName(role)
		for _, p := range []merchant.Permissions{merchant.MayBlock, merchant.MayAdjust, merchant.MayExtend} {
			if may.Has(p) {
				t.Errorf("a %s may %s", role, p)
			}
		}
	}
}
