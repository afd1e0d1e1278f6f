package api_test

import (
	"strings"
	"testing"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// TestAReversalMayNameItsGift: a till whose counter of keys starts anew must not give back what yesterday's sale took
// from another gift.
func TestAReversalMayNameItsGift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ana, ben := w.send(ofMoney("20")), w.send(ofMoney("50"))
	foreign := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},`+purchaseAt(cornerShop)+`}`, as(cornerKey)...)
	w.redeem(ana, "10", once("1")...).want(200)
	held := w.holdGift(ana, "2").want(200).at("holdID")
	w.post("capture-hold", `{"holdID":"`+held+`","amount":2}`, once("2")...).want(200)
	reverse := func(key, of string) reply {
		t.Helper()
		return w.post("reverse-redemption", `{"idempotencyKey":"`+key+`"`+of+`}`)
	}
	id := func(g made) string { return `,"voucherID":"` + g.id + `"` }
	code := func(g made) string { return `,"voucherCode":"` + g.code + `"` }
	token := func(g made) string { return `,"voucherPublicToken":"` + g.token + `"` }

	const captured = `,"operation":"capture-hold"`
	others := []string{id(ben), code(ben), token(ben), code(foreign), `,"voucherID":"` + nowhere + `"`}
	for _, of := range others {
		reverse("1", of).refused(422, refusal.IdempotencyMismatch, "idempotencyKey")
		reverse("2", captured+of).refused(422, refusal.IdempotencyMismatch, "idempotencyKey")
	}
	// What was named then and leads nowhere now tells nothing of the key.
	reverse("1", `,"voucherCode":"999990000000"`).refused(400, refusal.ValidationFailure, "")
	w.get("/gifting/gifts/"+ana.id).want(200, "currentBalance", "8.00")

	// A key that is not known is spent, whatever gift is named.
	for n, of := range []string{id(ben), code(ben), `,"voucherCode":"999990000001"`} {
		key := "never-" + string(rune('a'+n))
		reverse(key, of).refused(404, refusal.NotFound, "idempotencyKey")
		w.redeem(ben, "1", once(key)...).refused(409, refusal.RedemptionNotAllowed)
	}

	w.post("replace-gift", `{"voucherID":"`+ana.id+`","reason":"lost"}`).want(200)
	reverse("1", code(ana)).want(200, "voucherID", ana.id, "amount", "10.00")
	reverse("1", token(ana)).refused(409, refusal.AlreadyReversed)
	reverse("1", id(ben)).refused(422, refusal.IdempotencyMismatch)
	reverse("2", captured+id(ana)).want(200, "amount", "2.00")
}

// TestUndoingByKeyMayNameTheGift: nor must such a till take back what yesterday's guest loaded, bought or had held.
func TestUndoingByKeyMayNameTheGift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	card, ana, ben := w.stock(`"count":1`)[0], w.send(ofMoney("20")), w.send(ofMoney("50"))
	for _, c := range []struct {
		operation, undo string
		of              made
		body, amount    string
	}{
		{"activate-gift", "reverse-activation", card, activateBody(card, "25"), "25.00"},
		{"reload-gift", "reverse-reload", ana, loadBody(ana, "5"), "5.00"},
		{"hold-gift", "release-hold", ana, `{"voucherID":"` + ana.id + `","organizationID":"` + pier + `","amount":2}`, "2.00"},
	} {
		w.post(c.operation, c.body, once("1")...).want(200)
		undo := func(key, member, gift string) reply {
			t.Helper()
			return w.post(c.undo, `{"idempotencyKey":"`+key+`","`+member+`":"`+gift+`"}`)
		}
		undo("1", "voucherID", ben.id).refused(422, refusal.IdempotencyMismatch, "idempotencyKey")
		undo("1", "voucherCode", ben.code).refused(422, refusal.IdempotencyMismatch, "idempotencyKey")
		undo("1", "voucherPublicToken", ben.token).refused(422, refusal.IdempotencyMismatch, "idempotencyKey")
		undo("1", "voucherID", nowhere).refused(422, refusal.IdempotencyMismatch, "idempotencyKey")
		undo("1", "voucherCode", "999990000000").refused(400, refusal.ValidationFailure, "")
		undo("never", "voucherID", ben.id).refused(404, refusal.NotFound, "idempotencyKey")
		undo("1", "voucherCode", c.of.code).want(200, "voucherID", c.of.id, "amount", c.amount)
		undo("1", "voucherID", ben.id).refused(422, refusal.IdempotencyMismatch, "idempotencyKey")
	}
	w.get("/gifting/gifts/"+ana.id).want(200, "availableBalance", "20.00")
	w.sound()
}

// TestTheGiftOfAReversalIsNoFreeGuess: a code that leads nowhere counts there, too, where the key's other codes count.
// Who has guessed too often still takes back what was done with the gift that is named, and learns of no other.
func TestTheGiftOfAReversalIsNoFreeGuess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, other := w.send(ofMoney("5")), w.send(ofMoney("5"))
	w.redeem(g, "1", append(as(pierKey), once("1")...)...).want(200)
	w.holdGift(g, "1", append(as(pierKey), once("1")...)...).want(200)
	of := func(code string) string { return `{"idempotencyKey":"1","voucherCode":"` + code + `"}` }
	undoings := []string{"release-hold", "reverse-redemption"}
	for n := range merchant.GuessBurst {
		w.post(undoings[n%2], of("999990000000"), as(pierKey)...).refused(400, refusal.ValidationFailure)
	}
	w.post("validate-gift", `{"voucherCode":"`+g.code+`"}`, as(pierKey)...).refused(429, refusal.RateLimited)
	for _, undo := range undoings {
		for _, code := range []string{"999990000000", other.code} {
			w.post(undo, of(code), as(pierKey)...).refused(429, refusal.RateLimited)
		}
		w.post(undo, of(g.code), as(pierKey)...).want(200, "amount", "1.00")
		w.post(undo, strings.Replace(of(g.code), `"1"`, `"never"`, 1), as(pierKey)...).refused(404, refusal.NotFound)
	}
}

// TestAnUndoingThatFoundNothingIsRepeated: a till at one location, or at some, is given the first answer again.
func TestAnUndoingThatFoundNothingIsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{pierKey, harborKey, rotatedKey} {
		if key == rotatedKey {
			some := *w.directory.Load().Keys[merchant.HashKey(key)]
			some.Locations = []guid.ID{id(pier), id(wharf)}
			w.addKeys(&some)
		}
		for _, undo := range []string{"reverse-redemption", "reverse-reload", "reverse-activation", "release-hold"} {
			again := append(as(key), once(key+undo)...)
			first := w.post(undo, `{"idempotencyKey":"never"}`, again...).refused(404, refusal.NotFound, "idempotencyKey")
			w.post(undo, `{"idempotencyKey":"never"}`, again...).again(first)
		}
	}
}
