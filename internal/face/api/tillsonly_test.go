package api_test

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// rowOfCards is a file of cards with numbers in a row, the first of which has a PIN, and one has an e-mail address.
const rowOfCards = "code,balance,pin,contact\n6006123456789010,50,1234,\n6006123456789011,50,,\n" +
	"6006123456789012,50,,ann@example.com\n6006123456789013,50,,\n6006123456789014,50,,\n6006123456789015,50,,\n"

// bringRow imports rowOfCards for tills only.
func (w *world) bringRow() {
	w.Helper()
	w.declare(merchant.CodeForm{Digits: 16})
	w.check("", rowOfCards).want(200, "importable", "false", "gifts", "6", "tillsOnlyGifts", "0")
	w.check("tillsOnly=true", rowOfCards).want(200, "importable", "true", "tillsOnlyGifts", "5")
	const bring = "tillsOnly=true&expectCount=6&expectTotal=300"
	importID := w.upload(bring, rowOfCards).want(200, "tillsOnlyGifts", "5").at("import.importID")
	w.settles(importID, "FINISHED")
	w.upload(bring, rowOfCards).want(200, "tillsOnlyGifts", "null")
}

func atPier(code string, members ...string) string {
	more := strings.Join(append([]string{""}, members...), ",")
	return `{"voucherCode":"` + code + `","organizationID":"` + pier + `"` + more + `}`
}

// TestCardsForTillsOnly: a card that would be guessed is taken by keys of tills, and is not there for others; its first
// use gives it a new code, which the key that used it reads; a repeat of the use is the same; the old code takes
// nothing any more, and the new one is good everywhere.
func TestCardsForTillsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bringRow()
	const old = "6006123456789011"
	w.permit(pierKey, "validate", "redeem", "reverse")
	w.post("validate-gift", atPier(old), as(pierKey)...).refused(404, refusal.NotFound, "voucherCode")
	w.post("redeem-gift", atPier(old), as(pierKey)...).refused(404, refusal.NotFound, "voucherCode")
	w.post("validate-gift", atPier("6006123456789010"), as(pierKey)...).want(200) // it has a PIN
	id := w.post("validate-gift", atPier(old)).want(200).at("voucherID")
	for _, operation := range []string{"redeem-gift", "hold-gift"} {
		w.post(operation, `{"voucherID":"`+id+`","amount":1,"organizationID":"`+pier+`"}`, as(pierKey)...).
			refused(409, refusal.RedemptionNotAllowed)
	}
	const redeem = base + "/redemption/redeem-gift"
	json := []string{"Content-Type", "application/json"}
	w.do("POST", redeem+"?dryRun=true", atPier(old, `"amount":20`), json...).want(200, "newCard.sent", "false")
	w.post("validate-gift", atPier(old)).want(200, "currentBalance", "50.00")

	w.permit(pierKey, "validate", "redeem", "reverse", "tills-only")
	till := as(pierKey)
	keyed := append(as(pierKey), "Idempotency-Key", "sale 1")
	used := w.do("POST", redeem+"?receipt=true", atPier(old, `"amount":20`), append(keyed, json...)...).
		want(200, "currentBalance", "30.00", "newCard.sent", "false")
	again := w.post("redeem-gift", atPier(old, `"amount":20`), keyed...).want(200)
	if string(again.body) != string(used.body) {
		t.Errorf("a repeat is answered with %s, not with %s", again.body, used.body)
	}
	told := w.get("/redemption/new-cards/"+used.at("redemptionID"), till...).want(200, "voucherID", id, "lastFour",
		used.at("newCard.lastFour"))
	code := told.at("voucherCode")
	if strings.Contains(string(used.body), code) || !strings.HasSuffix(code, used.at("newCard.lastFour")) ||
		!strings.Contains(string(told.body), code[:4]+" "+code[4:8]+" "+code[8:]) {
		t.Errorf("%s, and the new code is told in %s", used.body, told.body)
	}
	w.get("/redemption/new-cards/"+used.at("redemptionID"), as(wharfKey)...).refused(404, refusal.NotFound, "entryID")
	w.get("/redemption/new-cards/"+id, till...).refused(404, refusal.NotFound, "entryID")
	w.get("/redemption/new-cards/x", till...).refused(400, refusal.ValidationFailure, "entryID")
	w.post("redeem-gift", atPier(old, `"amount":1`), till...).refused(409, refusal.RedemptionNotAllowed)
	w.permit(pierKey, "validate", "redeem", "reverse")
	second := w.post("redeem-gift", atPier(code, `"amount":1`), till...).want(200, "currentBalance", "29.00")
	if strings.Contains(string(second.body), "newCard") {
		t.Errorf("the second use replaces the card again: %s", second.body)
	}
	w.get("/redemption/new-cards/"+second.at("redemptionID"), till...).refused(404, refusal.NotFound, "entryID")
	w.post("reverse-redemption", `{"idempotencyKey":"sale 1"}`).want(200, "currentBalance", "49.00")
	w.skew.Store(int64(25 * time.Hour))
	w.get("/redemption/new-cards/"+used.at("redemptionID"), till...).refused(404, refusal.NotFound, "entryID")
	w.skew.Store(0)
	history := w.get("/gifting/gifts/" + id + "/history").want(200)
	if strings.Count(string(history.body), `"kind":"`+string(gift.Replaced)+`"`) != 1 {
		t.Errorf("its history is %s", history.body)
	}
	report, err := verify.All(t.Context(), w.store, 1, func(int64, int64) {})
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("%v, %v", report.Problems, err)
	}
}

// TestFirstUsesOfManyKinds: a hold and a sale of several cards replace them as a redemption does; a card on which
// nothing is left stays; a recipient who has an address is told; and staff who give a card to somebody else replace it.
func TestFirstUsesOfManyKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bringRow()
	held := w.post("hold-gift", atPier("6006123456789011", `"amount":20`)).want(200)
	code := w.get("/redemption/new-cards/" + held.at("holdID")).want(200).at("voucherCode")
	w.post("validate-gift", atPier(code)).want(200, "availableBalance", "30.00")
	w.capture(held.at("holdID"), `,"amount":20`).want(200)

	sale := w.post("redeem-gifts", `{"gifts":[{"voucherCode":"6006123456789013"},{"voucherCode":"6006123456789012"}],`+
		`"upTo":70,"organizationID":"`+pier+`"}`).
		want(200, "redemptions[0].currentBalance", "0.00", "redemptions[1].newCard.sent", "true")
	if strings.Count(string(sale.body), "newCard") != 1 {
		t.Errorf("a card on which nothing is left is replaced: %s", sale.body)
	}
	w.get("/redemption/new-cards/"+sale.at("redemptions[1].redemptionID")).want(200, "voucherID",
		sale.at("redemptions[1].voucherID"))
	w.goesTo(w.claim(), "ann@example.com")

	whole := w.post("redeem-gift", atPier("6006123456789014")).want(200, "currentBalance", "0.00")
	w.post("reverse-redemption", `{"redemptionID":"`+whole.at("redemptionID")+`"}`).want(200, "currentBalance", "50.00")
	w.permit(pierKey, "validate")
	w.post("validate-gift", atPier("6006123456789014"), as(pierKey)...).refused(404, refusal.NotFound, "voucherCode")

	id := w.post("validate-gift", atPier("6006123456789015")).want(200).at("voucherID")
	w.permit(rotatedKey, "block") // which takes nothing of it
	w.block(made{id: id}, "LOST", as(rotatedKey)...).want(200)
	w.unblock(made{id: id}, as(rotatedKey)...).want(200)
	w.post("resend-gift", `{"voucherID":"`+id+`","deliveryMethodID":1,"recipientContact":"bob@example.com"}`).want(200)
	w.post("redeem-gift", atPier("6006123456789015")).refused(409, refusal.RedemptionNotAllowed)
	report, err := verify.All(t.Context(), w.store, 1, func(int64, int64) {})
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("%v, %v", report.Problems, err)
	}
}
