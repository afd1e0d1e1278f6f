package api_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// capture captures of a hold.
func (w *world) capture(hold, members string, headers ...string) reply {
	w.Helper()
	return w.post("capture-hold", `{"holdID":"`+hold+`"`+members+`}`, headers...)
}

func (w *world) release(hold string, headers ...string) reply {
	w.Helper()
	return w.post("release-hold", `{"holdID":"`+hold+`"}`, headers...)
}

// sound checks the whole store.
func (w *world) sound() {
	w.Helper()
	report, err := verify.All(w.Context(), w.store, 2, func(_, _ int64) {})
	if err != nil || len(report.Problems) > 0 {
		w.Errorf("verify finds %q, %v", report.Problems, err)
	}
}

// heldAddsUp checks that the entries of a gift tell what is held of it.
func (w *world) heldAddsUp(g made) {
	w.Helper()
	var history struct {
		Entries []struct{ HeldAmount json.Number }
	}
	if err := json.Unmarshal(w.get("/gifting/gifts/"+g.id+"/history?limit=200").want(200).body, &history); err != nil {
		w.Fatal(err)
	}
	held := money.Amount(0)
	for _, e := range history.Entries {
		amount, err := strconv.ParseInt(strings.Replace(e.HeldAmount.String(), ".", "", 1), 10, 64)
		if err != nil {
			w.Fatal(err)
		}
		held += money.Amount(amount)
	}
	if want := w.get("/gifting/gifts/" + g.id).at("heldBalance"); dollars.Format(held) != want {
		w.Errorf("its entries hold %s of it, want %s", dollars.Format(held), want)
	}
}

func TestFuelPump(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("150"))
	held := w.holdGift(g, "100", once("pump")...).want(200, "voucherID", g.id, "organizationID", pier, "amount", "100.00",
		"currency", "USD", "currentBalance", "150.00", "heldBalance", "100.00", "availableBalance", "50.00",
		"reference", "null")
	w.holdGift(g, "100", once("pump")...).again(held)
	hold := held.at("holdID")
	expires, err := time.Parse(time.RFC3339, held.at("expiresAt"))
	if left := expires.Sub(w.now()); err != nil || left < 14*time.Minute || left > 15*time.Minute {
		t.Errorf("it expires in %v: %v", left, err)
	}
	validate := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `"`
	w.post("validate-gift", validate+`}`).want(200, "status", "DELIVERED", "isRedeemable", "true", "currentBalance",
		"150.00", "heldBalance", "100.00", "availableBalance", "50.00")
	w.post("validate-gift", validate+`,"ticketData":{"format":"standard","data":{"lineItems":[{"quantity":1,`+
		`"itemTotalPrice":90}]}}}`).want(200, "eligibility.maximumAmount", "50.00")
	refused := w.redeem(g, "50.01").refused(409, refusal.InsufficientBalance, "amount")
	if text := refused.at("messages[0].text"); !strings.HasPrefix(text,
		"Of this gift, 50.00 USD is available: 100.00 USD is held until ") {
		t.Error(text)
	}
	w.holdGift(g, "50.01").refused(409, refusal.InsufficientBalance, "amount")
	w.redeem(g, "50").want(200, "currentBalance", "100.00", "availableBalance", "0.00", "isRedeemable", "true")
	w.redeem(g, "").refused(409, refusal.InsufficientBalance, "amount")
	w.capture(hold, `,"amount":100.01`).refused(409, refusal.InsufficientBalance, "amount")
	taken := w.capture(hold, `,"amount":43.17,"reference":"pump 4"`, once("pumped")...).want(200, "holdID", hold,
		"organizationID", pier, "amount", "43.17", "currentBalance", "56.83", "heldBalance", "0.00", "availableBalance",
		"56.83", "status", "CLAIMED", "reference", "pump 4", "isRedeemable", "true")
	w.capture(hold, `,"amount":43.17,"reference":"pump 4"`, once("pumped")...).again(taken)
	notOpen := w.capture(hold, `,"amount":1`).refused(409, refusal.HoldNotOpen, "holdID")
	if text := notOpen.at("messages[0].text"); !strings.HasPrefix(text, "This hold was captured at ") {
		t.Error(text)
	}
	w.release(hold).refused(409, refusal.HoldNotOpen, "holdID")
	w.post("reverse-redemption", `{"redemptionID":"`+taken.at("redemptionID")+`","amount":3.17}`).want(200,
		"currentBalance", "60.00", "availableBalance", "60.00")
	w.get("/gifting/gifts/"+g.id+"/history").want(200,
		"entries[1].kind", "HOLD", "entries[1].amount", "0.00", "entries[1].heldAmount", "100.00", "entries[1].holdID", hold,
		"entries[1].currentBalance", "150.00", "entries[0].availableBalance", "150.00",
		"entries[1].availableBalance", "50.00", "entries[2].kind", "REDEMPTION", "entries[2].heldAmount", "0.00",
		"entries[2].availableBalance", "0.00", "entries[3].availableBalance", "56.83",
		"entries[2].holdID", "null", "entries[3].kind", "REDEMPTION", "entries[3].heldAmount", "-100.00", "entries[3].holdID",
		hold, "entries[3].redemptionID", taken.at("redemptionID"), "entries[4].kind", "REVERSAL").has("entries", 5)
	w.get("/gifting/activity?kind=HOLD").want(200, "entries[0].holdID", hold,
		"entries[0].availableBalance", "50.00").has("entries", 1)
	w.get("/requests/pump").want(200, "requests[0].operation", "hold-gift", "requests[0].answer.holdID", hold)
	w.sound()
}

// TestAKeyThatTookByAnotherOperation: of a key without its operation, whose redemption never came or was refused, it is
// never said that nothing was taken where a capture or a cash-out took something.
func TestAKeyThatTookByAnotherOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reverse := func(key, operation string) reply {
		return w.post("reverse-redemption", `{"idempotencyKey":"`+key+`"`+operation+`,"organizationID":"`+pier+`"}`)
	}
	cash := w.send(ofMoney("5"))
	w.post("cash-out-gift", `{"voucherID":"`+cash.id+`","organizationID":"`+pier+`"}`, once("cash")...).want(200)
	reverse("cash", "").refused(400, refusal.ValidationFailure, "operation")
	reverse("cash", `,"operation":"cash-out-gift"`).want(200, "amount", "5.00")
	g := w.send(ofMoney("20"))
	w.redeem(g, "21", once("sale")...).refused(409, refusal.InsufficientBalance)
	hold := w.holdGift(g, "5").want(200).at("holdID")
	reverse("sale", "").refused(404, refusal.NotFound)
	w.capture(hold, "", once("sale")...).want(200)
	reverse("sale", "").refused(400, refusal.ValidationFailure, "operation")
	reverse("sale", `,"operation":"capture-hold"`).want(200, "amount", "5.00", "currentBalance", "20.00")
	w.sound()
}

func TestRestaurant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("100"))
	hold := w.post("hold-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+
		`","amount":80,"expiresInSeconds":7200,"reference":"table 9"}`).want(200, "reference", "table 9").at("holdID")
	w.capture(hold, `,"amount":55.50,"final":false`).want(200, "currentBalance", "44.50", "heldBalance", "24.50",
		"availableBalance", "20.00")
	w.pass(time.Hour)
	w.redeem(g, "20.01").refused(409, refusal.InsufficientBalance)
	w.heldAddsUp(g)
	tip := w.capture(hold, `,"amount":10,"reference":"tip"`, once("tip")...).want(200, "currentBalance", "34.50",
		"heldBalance", "0.00", "availableBalance", "34.50")
	w.heldAddsUp(g)
	w.post("reverse-redemption", `{"idempotencyKey":"tip"}`, once("undo")...).refused(400, refusal.ValidationFailure,
		"operation")
	w.post("reverse-redemption", `{"idempotencyKey":"tip","operation":"capture-hold"}`).want(200, "amount", "10.00",
		"redemptionID", tip.at("redemptionID"), "currentBalance", "44.50")
	w.post("hold-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":900,"allowPartial":true,`+
		`"ticketData":{"format":"standard","data":{"lineItems":[{"itemTotalPrice":30}]}}}`).want(200, "amount", "30.00",
		"currentBalance", "44.50", "availableBalance", "14.50")
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":15,"allowPartial":true}`).want(200,
		"amount", "14.50", "currentBalance", "30.00", "availableBalance", "0.00", "status", "CLAIMED")
	item := w.send(`{"itemGift":{"label":"Latte","quantity":3,"deliveryMethodID":3},` + purchase + `}`)
	hold = w.holdGift(item, "2").want(200, "amount", "2", "currency", "null", "availableBalance", "1").at("holdID")
	w.capture(hold, `,"amount":0.5`).refused(400, refusal.ValidationFailure, "amount")
	w.capture(hold, `,"amount":1`).want(200, "amount", "1", "currency", "null", "availableBalance", "2")
	all := w.holdGift(item, "").want(200, "amount", "2").at("holdID")
	w.capture(all, "").want(200, "amount", "2", "status", "REDEEMED", "isRedeemable", "false")
	w.sound()
}

// TestHoldsExpire: by the clock, whoever looks and whoever has entered it.
func TestHoldsExpire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("10"))
	one := w.post("hold-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":6,"expiresInSeconds":60}`).
		want(200).at("holdID")
	two := w.holdGift(g, "1").want(200).at("holdID")
	look := func() reply { return w.get("/gifting/gifts/"+g.id, as(harborKey)...) }
	look().want(200, "heldBalance", "7.00", "availableBalance", "3.00")
	w.pass(61 * time.Second)
	look().want(200, "heldBalance", "1.00", "availableBalance", "9.00", "currentBalance", "10.00")
	w.get("/gifting/gifts/"+g.id+"/history").has("entries", 3)
	w.redeem(g, "9").want(200, "currentBalance", "1.00", "heldBalance", "1.00", "availableBalance", "0.00")
	w.get("/gifting/gifts/"+g.id+"/history").has("entries", 5).want(200, "entries[3].kind", "HOLD_EXPIRED",
		"entries[3].heldAmount", "-6.00", "entries[3].amount", "0.00", "entries[3].holdID", one, "entries[3].keyID", "null",
		"entries[3].organizationID", pier)
	expired := w.capture(one, `,"amount":1`).refused(409, refusal.HoldNotOpen, "holdID")
	if text := expired.at("messages[0].text"); !strings.HasPrefix(text, "This hold expired at ") {
		t.Error(text)
	}
	// there is nothing to release any more
	w.release(one).want(200, "holdID", one, "amount", "6.00", "heldBalance", "1.00")
	w.pass(time.Hour)
	w.capture(two, "").refused(409, refusal.HoldNotOpen, "holdID") // and so it is entered
	w.get("/gifting/gifts/"+g.id+"/history").has("entries", 6)
	w.sound()
}

// TestReleaseByKey: also before the hold has arrived, and where tills count their keys from 1 for each operation.
func TestReleaseByKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("10"))
	hold := w.holdGift(g, "6", once("1")...).want(200).at("holdID")
	w.redeem(g, "1", once("1")...).want(200, "availableBalance", "3.00")
	first := w.post("release-hold", `{"idempotencyKey":"1"}`, once("1")...).want(200, "holdID", hold, "amount", "6.00",
		"organizationID", pier, "currentBalance", "9.00", "heldBalance", "0.00", "availableBalance", "9.00")
	w.post("release-hold", `{"idempotencyKey":"1"}`, once("1")...).again(first)
	w.post("release-hold", `{"idempotencyKey":"1"}`).want(200, "amount", "6.00", "releasedAt", first.at("releasedAt"))
	w.release(hold).want(200, "amount", "6.00")
	w.holdGift(g, "6", once("1")...).want(200, "holdID", hold) // what it was answered first
	w.redeem(g, "9", once("2")...).want(200, "status", "REDEEMED")
	w.post("reverse-redemption", `{"idempotencyKey":"1"}`, once("1")...).want(200, "amount", "1.00")
	again := w.holdGift(g, "1", once("2")...).want(200).at("holdID")
	w.capture(again, "", once("1")...).want(200)
	w.post("reverse-redemption", `{"idempotencyKey":"1","operation":"capture-hold"}`, once("2")...).want(200, "amount",
		"1.00")

	late := w.post("release-hold", `{"idempotencyKey":"late"}`).refused(404, refusal.NotFound, "idempotencyKey")
	if text := late.at("messages[0].text"); !strings.HasPrefix(text,
		"No hold with this key has arrived, so nothing is held.") {
		t.Error(text)
	}
	w.holdGift(g, "1", once("late")...).refused(409, refusal.RedemptionNotAllowed)
	w.get("/requests/late").want(200, "requests[0].operation", "hold-gift", "requests[0].state", "spent")
	w.redeem(g, "0.50", once("late")...).want(200) // another operation
	w.holdGift(g, "9", once("refused")...).refused(409, refusal.InsufficientBalance)
	w.post("release-hold", `{"idempotencyKey":"refused"}`).refused(404, refusal.NotFound, "idempotencyKey")
	w.sound()
}

// TestWhichOperationAKeyWasFor: to somebody who does not say what a key was sent with, it is never said that nothing
// was taken, if something was. A key is spent for the operation that is named, and for every one where none is.
func TestWhichOperationAKeyWasFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("100"))
	reverse := func(key, more string, headers ...string) reply {
		return w.post("reverse-redemption", `{"idempotencyKey":"`+key+`"`+more+`}`, headers...)
	}
	capture := func(key string) reply {
		return w.capture(w.holdGift(g, "10").want(200).at("holdID"), "", once(key)...)
	}
	capture("1").want(200)
	reverse("1", "").refused(400, refusal.ValidationFailure, "operation")
	reverse("1", "", as(wharfKey)...).refused(403, refusal.NotAuthorized) // it was used elsewhere
	w.redeem(g, "5", once("1")...).want(200)                              // it was not spent
	reverse("1", "").want(200, "amount", "5.00")
	reverse("1", `,"operation":"capture-hold"`).want(200, "amount", "10.00")

	capture("2").want(200)
	reverse("2", `,"operation":"redeem-gift"`).refused(404, refusal.NotFound, "idempotencyKey") // and now it is spent
	w.redeem(g, "5", once("2")...).refused(409, refusal.RedemptionNotAllowed)
	reverse("2", "").refused(400, refusal.ValidationFailure, "operation")
	reverse("2", `,"operation":"capture-hold"`).want(200, "amount", "10.00")

	reverse("3", "").refused(404, refusal.NotFound, "idempotencyKey")
	capture("3").refused(409, refusal.RedemptionNotAllowed) // it was spent for each operation

	w.redeem(g, "500", once("4")...).refused(409, refusal.InsufficientBalance)
	capture("4").want(200)
	reverse("4", "").refused(400, refusal.ValidationFailure, "operation")
	reverse("4", `,"operation":"redeem-gift"`).refused(404, refusal.NotFound, "idempotencyKey") // which was refused
	w.sound()
}

// TestHoldsOfOthers: a thief with a till key of another location or account has no use for a holdID.
func TestHoldsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("10"))
	hold := w.holdGift(g, "6", once("k")...).want(200).at("holdID")
	for _, thief := range []string{wharfKey, cornerKey} {
		w.capture(hold, "", as(thief)...).refused(404, refusal.NotFound, "holdID")
		w.release(hold, as(thief)...).refused(404, refusal.NotFound, "holdID")
		w.post("reverse-redemption", `{"idempotencyKey":"k","operation":"capture-hold"}`, as(thief)...).
			refused(404, refusal.NotFound)
	}
	w.post("release-hold", `{"idempotencyKey":"k"}`, as(wharfKey)...).refused(403, refusal.NotAuthorized)
	w.post("release-hold", `{"idempotencyKey":"k"}`, as(cornerKey)...).refused(404, refusal.NotFound)
	w.holdGift(g, "1", as(cornerKey)...).refused(404, refusal.NotFound)
	w.post("hold-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+cornerPlace+`"}`, as(cornerKey)...).
		refused(403, refusal.NotAuthorized)
	w.capture(hold, "", as(pierKey)...).want(200, "amount", "6.00")
	w.sound()
}

func TestCancellationOfWhatIsHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("10"))
	hold := w.holdGift(g, "6").want(200).at("holdID")
	w.holdGift(g, "1").want(200)
	cancel := `{"voucherID":"` + g.id + `","cause":"CANCELLED"`
	refused := w.post("cancel-gift", cancel+`}`).refused(409, refusal.RedemptionNotAllowed)
	if text := refused.at("messages[0].text"); !strings.Contains(text, hold) {
		t.Error(text)
	}
	w.post("cancel-gift", cancel+`,"skipNotAllowed":true}`).want(200, "vouchers[0].outcome", "NOT_ALLOWED",
		"vouchers[0].currentBalance", "10.00", "vouchers[0].heldBalance", "7.00", "vouchers[0].availableBalance", "3.00")
	w.post("cancel-gift", cancel+`,"releaseHolds":true}`).want(200, "vouchers[0].outcome", "DONE",
		"vouchers[0].heldBalance", "0.00", "vouchers[0].availableBalance", "10.00")
	w.capture(hold, "").refused(409, refusal.HoldNotOpen, "holdID")
	w.get("/gifting/gifts/"+g.id+"/history").has("entries", 6).want(200, "entries[3].kind", "HOLD_RELEASED",
		"entries[4].kind", "HOLD_RELEASED", "entries[5].kind", "CANCELLATION")
	w.get("/gifting/gifts/"+g.id).want(200, "heldBalance", "0.00", "availableBalance", "10.00")
	w.post("reinstate-gift", `{"voucherID":"`+g.id+`"}`).want(200, "vouchers[0].availableBalance", "10.00")
	w.holdGift(g, "1").want(200)
	w.post("reinstate-gift", `{"voucherID":"`+g.id+`"}`).want(200, "vouchers[0].outcome", "ALREADY_DONE",
		"vouchers[0].heldBalance", "1.00", "vouchers[0].availableBalance", "9.00")
	w.redeem(g, "9").want(200)
	w.sound()
}

// TestRefundOfACancelledGift: what was taken of a gift goes back to it after it was cancelled, cannot be spent there,
// and can again when the cancellation is taken back. A gift of which something is held is cancelled with it.
func TestRefundOfACancelledGift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("100"))
	hold := w.holdGift(g, "80").want(200).at("holdID")
	dinner := w.capture(hold, `,"amount":55.50,"final":false`).want(200).at("redemptionID")
	coffee := w.redeem(g, "4.50").want(200, "availableBalance", "15.50").at("redemptionID")
	w.post("cancel-gift", `{"voucherID":"`+g.id+`","cause":"CANCELLED","releaseHolds":true}`).want(200,
		"vouchers[0].outcome", "DONE", "vouchers[0].availableBalance", "40.00")
	w.capture(hold, `,"amount":1`).refused(409, refusal.HoldNotOpen, "holdID")
	refund := func(redemption, amount string) reply {
		return w.post("reverse-redemption", `{"redemptionID":"`+redemption+`"`+amount+`}`)
	}
	refund(dinner, `,"amount":20`).want(200, "status", "CANCELLED", "isRedeemable", "false", "currentBalance", "60.00",
		"availableBalance", "60.00")
	refund(coffee, "").want(200, "status", "CANCELLED", "currentBalance", "64.50")
	refund(coffee, "").refused(409, refusal.AlreadyReversed)
	w.redeem(g, "1").refused(409, refusal.RedemptionNotAllowed)
	w.holdGift(g, "1").refused(409, refusal.RedemptionNotAllowed)
	w.post("reinstate-gift", `{"voucherID":"`+g.id+`"}`).want(200, "vouchers[0].status", "CLAIMED",
		"vouchers[0].availableBalance", "64.50")
	refund(dinner, "").want(200, "amount", "35.50", "currentBalance", "100.00")
	w.redeem(g, "100").want(200, "status", "REDEEMED")
	w.sound()
}

func TestBadInputOfHolds(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	g := w.send(ofMoney("10"))
	hold := w.holdGift(g, "6").want(200).at("holdID")
	at := `{"voucherID":"` + g.id + `","organizationID":"` + pier + `","amount":1,"expiresInSeconds":`
	for _, c := range []struct {
		operation string
		badCase
	}{
		{"hold-gift", invalid("too short", at+`59}`, "expiresInSeconds")},
		{"hold-gift", invalid("too long", at+`2592001}`, "expiresInSeconds")},
		{"hold-gift", invalid("half a second", at+`60.5}`, "expiresInSeconds")},
		{"hold-gift", invalid("as a text", at+`"60"}`, "expiresInSeconds")},
		{"hold-gift", invalid("zero", redeemBody(g, "0"), "amount")},
		{"hold-gift", invalid("no gift", `{"amount":1}`, "")},
		{"capture-hold", invalid("no hold", `{}`, "holdID")},
		{"capture-hold", invalid("no GUID", `{"holdID":"x"}`, "holdID")},
		{"capture-hold", invalid("zero", `{"holdID":"`+hold+`","amount":0}`, "amount")},
		{"capture-hold", invalid("an empty amount", `{"holdID":"`+hold+`","amount":""}`, "amount")},
		{"capture-hold", invalid("too precise", `{"holdID":"`+hold+`","amount":0.001}`, "amount")},
		{"capture-hold", invalid("final", `{"holdID":"`+hold+`","final":1}`, "final")},
		{"capture-hold", invalid("a place", `{"holdID":"`+hold+`","organizationID":"`+pier+`"}`, "organizationID")},
		{"capture-hold", badCase{"unknown", `{"holdID":"` + nowhere + `"}`, 404, refusal.NotFound, []string{"holdID"}}},
		{"capture-hold", badCase{"a redemption", `{"holdID":"` + w.redeem(g, "1").at("redemptionID") + `"}`, 404,
			refusal.NotFound, []string{"holdID"}}},
		{"release-hold", invalid("neither", `{}`, "")},
		{"release-hold", invalid("both", `{"holdID":"`+hold+`","idempotencyKey":"k"}`, "")},
		{"release-hold", invalid("a blank key", `{"idempotencyKey":" "}`, "idempotencyKey")},
		{"release-hold", invalid("a gift without a key", `{"holdID":"`+hold+`","voucherID":"`+hold+`"}`, "voucherID")},
		{"release-hold", invalid("two gifts", `{"idempotencyKey":"k","voucherID":"`+hold+`","voucherCode":"123456789012"}`, "")},
		{"release-hold", badCase{"unknown", `{"holdID":"` + nowhere + `"}`, 404, refusal.NotFound, []string{"holdID"}}},
		{"reverse-redemption", invalid("an operation beside an id", `{"redemptionID":"`+nowhere+
			`","operation":"redeem-gift"}`, "operation")},
		{"reverse-redemption", invalid("another operation", `{"idempotencyKey":"k","operation":"hold-gift"}`, "operation")},
		{"reverse-redemption", badCase{"a hold", `{"redemptionID":"` + hold + `"}`, 404, refusal.NotFound,
			[]string{"redemptionID"}}},
	} {
		t.Run(c.operation+" "+c.name, func(t *testing.T) {
			w.in(t).post(c.operation, c.body).refused(c.status, c.code, c.paths...)
		})
	}
	w.post("hold-gift", at+`60}`).want(200)
	w.post("hold-gift", at+`2592000}`).want(200, "heldBalance", "8.00")
}

// TestHoldsRace: whoever comes first has it, and nobody has it twice.
func TestHoldsRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	atOnce := func(n int, do func(int) reply) (ok int) {
		var all sync.WaitGroup
		replies := make([]reply, n)
		for i := range n {
			all.Go(func() { replies[i] = do(i) })
		}
		all.Wait()
		for _, r := range replies {
			switch {
			case r.status == 200:
				ok++
			case r.status != 409:
				t.Errorf("answered %d: %s", r.status, r.body)
			}
		}
		return ok
	}
	g := w.send(ofMoney("10"))
	if ok := atOnce(40, func(i int) reply { // holds and redemptions of 1 each
		if i%2 == 0 {
			return w.holdGift(g, "1")
		}
		return w.redeem(g, "1")
	}); ok != 10 {
		t.Errorf("%d of 10 were given out", ok)
	}
	w.get("/gifting/gifts/"+g.id).want(200, "availableBalance", "0.00")

	for range 5 {
		g := w.send(ofMoney("10"))
		hold := w.holdGift(g, "6").want(200).at("holdID")
		if ok := atOnce(8, func(i int) reply { // of which a release repeats
			if i == 0 {
				return w.release(hold)
			}
			return w.capture(hold, `,"amount":5`)
		}); ok != 1 {
			t.Errorf("%d captures and releases of one hold", ok)
		}
		w.get("/gifting/gifts/"+g.id).want(200, "heldBalance", "0.00")

		hold = w.holdGift(g, "5").want(200).at("holdID")
		if ok := atOnce(3, func(i int) reply { // its time ends meanwhile
			if i == 0 {
				w.pass(16 * time.Minute)
			}
			return w.capture(hold, "")
		}); ok > 1 {
			t.Errorf("%d captures of one hold", ok)
		}
		w.get("/gifting/gifts/"+g.id).want(200, "heldBalance", "0.00")
	}
	w.sound()
}

// TestManyExpiredHolds: no gift has more open holds than can be read with it, and what is over leaves nothing behind.
func TestManyExpiredHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("500"))
	for range gift.MaxHolds {
		w.holdGift(g, "1").want(200)
	}
	w.holdGift(g, "1").refused(409, refusal.RedemptionNotAllowed)
	w.redeem(g, "400").want(200, "availableBalance", "0.00")
	w.pass(time.Hour)
	w.redeem(g, "1").want(200, "heldBalance", "0.00", "availableBalance", "99.00")
	w.get("/gifting/gifts/"+g.id+"/history?limit=200").want(200, "entries[102].kind", "HOLD_EXPIRED").has("entries", 200)
	w.holdGift(g, "1").want(200)
	w.sound()
}

// TestRefusalsOfHolds makes the refusals happen that the other operations share with those of holds.
func TestRefusalsOfHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := `"organizationID":"` + pier + `"`
	w.post("hold-gift", `{"voucherCode":"12345",`+at+`}`).refused(400, refusal.InvalidCodeFormat)
	w.post("hold-gift", `{"voucherPublicToken":"x",`+at+`}`).refused(400, refusal.InvalidTokenFormat)
	w.post("hold-gift", `{"voucherCode":"123456789012"}`, as(homelessKey)...).refused(409, refusal.AccountMisconfigured)
	w.holdGift(w.send(latte), "1").refused(422, refusal.ItemEligibilityFailure)
	g := w.send(ofMoney("10"))
	hold := w.holdGift(g, "2", once("k")...).want(200).at("holdID")
	w.holdGift(g, "3", once("k")...).refused(422, refusal.IdempotencyMismatch)
	w.post("reverse-redemption", `{"idempotencyKey":"late","operation":"capture-hold"}`).refused(404, refusal.NotFound)
	w.capture(hold, "", once("late")...).refused(409, refusal.RedemptionNotAllowed)
	w.capture(hold, `,"amount":1,"final":false`, once("k")...).want(200)
	w.capture(hold, `,"amount":1`, once("k")...).refused(422, refusal.IdempotencyMismatch)
	w.release(hold, once("k")...).want(200)
	w.release(nowhere, once("k")...).refused(422, refusal.IdempotencyMismatch)

	other := w.holdGift(g, "2").want(200).at("holdID")
	for _, c := range []struct {
		operation operation.Name
		call      func() reply
	}{
		{operation.HoldGift, func() reply { return w.holdGift(g, "1", once("slow")...) }},
		{operation.CaptureHold, func() reply { return w.capture(other, `,"amount":1,"final":false`, once("slow")...) }},
		{operation.ReleaseHold, func() reply { return w.release(other, once("slow")...) }},
	} {
		release := w.hold()
		end := w.start(c.operation, "slow", func() { c.call().want(200) })
		c.call().refused(409, refusal.RequestInProgress)
		release()
		end()
	}
	w.sound()
}
