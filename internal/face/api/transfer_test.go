package api_test

import (
	"sync"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// transferBody asks to move an amount from a gift to another; "": all that is available.
func transferBody(from, to made, amount string) string {
	if amount != "" {
		amount = `,"amount":` + amount
	}
	return `{"fromVoucherID":"` + from.id + `","toVoucherID":"` + to.id + `"` + amount + `}`
}

// Two cards of a guest become one. Each tells of the other, nothing is redeemed, and what is held stays.
func TestCardsAreMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.send(ofMoney("25")), w.send(ofMoney("10"))
	w.holdGift(a, "5").want(200)
	merged := w.post("transfer-balance", transferBody(a, b, ""), once("m")...).want(200, "amount", "20.00", "currency",
		"USD", "from.voucherID", a.id, "from.currentBalance", "5.00", "from.heldBalance", "5.00", "from.availableBalance",
		"0.00", "from.status", "DELIVERED", "to.voucherID", b.id, "to.currentBalance", "30.00", "to.status", "DELIVERED")
	w.post("transfer-balance", transferBody(a, b, ""), once("m")...).again(merged)
	w.post("transfer-balance", transferBody(b, a, ""), once("m")...).refused(422, refusal.IdempotencyMismatch)
	w.post("transfer-balance", transferBody(a, b, "")).refused(409, refusal.InsufficientBalance, "amount")
	w.post("transfer-balance", transferBody(a, a, "")).refused(400, refusal.ValidationFailure, "toVoucherID")
	out, in := merged.at("from.entryID"), merged.at("to.entryID")
	w.get("/gifting/gifts/"+a.id+"/history").want(200, "entries[2].kind", "TRANSFER_OUT", "entries[2].amount", "-20.00",
		"entries[2].entryID", out, "entries[2].counterpartEntryID", in, "entries[2].counterpartVoucherID", b.id,
		"entries[1].counterpartEntryID", "null", "entries[1].counterpartVoucherID", "null")
	w.get("/gifting/gifts/"+b.id+"/history").want(200, "entries[1].kind", "TRANSFER_IN", "entries[1].amount", "20.00",
		"entries[1].entryID", in, "entries[1].counterpartEntryID", out, "entries[1].counterpartVoucherID", a.id)
	w.get("/gifting/activity?kind=TRANSFER_IN").want(200, "entries[0].counterpartVoucherID", a.id)
	w.get("/gifting/gifts/"+b.id).want(200, "originalBalance", "30.00", "currentBalance", "30.00")
	w.get("/requests/m").want(200, "requests[0].operation", "transfer-balance", "requests[0].answer.to.entryID", in)
	w.sound()
}

// What a purchase failed of, or was redeemed, goes nowhere; a promotional gift cannot be laundered into a purchased
// one.
func TestWhatIsNotTransferred(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, full := w.send(ofMoney("25")), w.send(ofMoney("10000"))
	given := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},` + promotion + `}`)
	ofOneProgram := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3,"programID":"` +
		merchant.BusinessProgram.ID.String() + `"},` + promotion + `}`)
	items := w.send(`{"itemGift":{"label":"Latte","quantity":2,"deliveryMethodID":3},` + purchase + `}`)
	lunch := w.send(`{"itemGift":{"label":"Latte","quantity":2,"terms":"At lunch","deliveryMethodID":3},` + purchase + `}`)
	w.post("transfer-balance", transferBody(lunch, items, "")).refused(409, refusal.RedemptionNotAllowed, "toVoucherID")
	w.post("transfer-balance", transferBody(items, lunch, "1")).want(200)
	german := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3,"recipientLanguage":"de"},` + promotion + `}`)
	stricter := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},"promotionalTerms":"Mondays.",` + promotion + `}`)
	w.post("transfer-balance", transferBody(german, given, "1")).want(200) // the same terms, in two languages
	w.post("transfer-balance", transferBody(given, german, "1")).want(200)
	w.post("transfer-balance", transferBody(stricter, german, "1")).refused(409, refusal.RedemptionNotAllowed,
		"toVoucherID")
	for _, promotional := range []made{given, ofOneProgram} {
		for _, pair := range [][2]made{{promotional, a}, {a, promotional}} {
			w.post("transfer-balance", transferBody(pair[0], pair[1], "")).refused(422, refusal.MissingOrInvalidGiftProgram,
				"toVoucherID")
		}
	}
	w.post("transfer-balance", transferBody(items, a, "")).refused(422, refusal.InvalidVoucherType, "toVoucherID")
	w.post("transfer-balance", transferBody(a, full, "0.01")).refused(400, refusal.ValidationFailure, "amount")
	w.post("transfer-balance", transferBody(a, full, "25.01")).refused(409, refusal.InsufficientBalance, "amount")
	w.redeem(a, "").want(200)
	w.post("transfer-balance", transferBody(a, full, "")).refused(409, refusal.AlreadyRedeemed, "fromVoucherID")
	w.post("transfer-balance", transferBody(full, a, "100")).want(200, "to.status", "CLAIMED", "to.currentBalance",
		"100.00")
	w.redeem(a, "100").want(200, "status", "REDEEMED")
	w.sound()
}

// TestItemsAreTransferred: pieces move between gifts of one item.
func TestItemsAreTransferred(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := func(label string) made {
		return w.send(`{"itemGift":{"label":"` + label + `","quantity":3,"deliveryMethodID":3},` + purchase + `}`)
	}
	a, b := item("Latte"), item("Latte")
	w.post("transfer-balance", transferBody(a, item("Mocha"), "1")).refused(422, refusal.InvalidVoucherType)
	w.post("transfer-balance", transferBody(a, b, "1.5")).refused(400, refusal.ValidationFailure, "amount")
	w.post("transfer-balance", transferBody(a, b, "2")).want(200, "amount", "2", "currency", "null", "from.currentBalance",
		"1", "to.currentBalance", "5")
	w.sound()
}

// TestThievesTransferNothing: a till's key, a shop's, one that is limited to a location, and another merchant's.
func TestThievesTransferNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := func(place string) made {
		return w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3,"organizationID":"` + place + `"},` + purchase + `}`)
	}
	guest, own, here, there := w.send(ofMoney("25")), w.send(ofMoney("1")), at(pier), at(wharf)
	for _, role := range []string{"till", "shop", "office"} {
		may, _ := merchant.RoleByName(role)
		w.permit(rotatedKey, may.Names()...)
		w.post("transfer-balance", transferBody(guest, own, ""), as(rotatedKey)...).refused(403, refusal.NotAuthorized)
	}
	w.post("transfer-balance", transferBody(guest, here, ""), as(pierKey)...).refused(404, refusal.NotFound,
		"fromVoucherID")
	w.post("transfer-balance", transferBody(here, guest, ""), as(pierKey)...).refused(404, refusal.NotFound, "toVoucherID")
	w.post("transfer-balance", transferBody(there, here, ""), as(pierKey)...).refused(404, refusal.NotFound,
		"fromVoucherID")
	w.post("transfer-balance", transferBody(here, there, "")).refused(409, refusal.RedemptionNotAllowed, "toVoucherID")
	w.post("transfer-balance", transferBody(here, at(pier), "1"), as(pierKey)...).want(200)
	theirs := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},`+purchaseAt(cornerShop)+`}`, as(cornerKey)...)
	w.post("transfer-balance", transferBody(guest, theirs, "")).refused(404, refusal.NotFound, "toVoucherID")
	w.post("transfer-balance", transferBody(theirs, guest, "")).refused(404, refusal.NotFound, "fromVoucherID")
	w.post("transfer-balance", transferBody(guest, theirs, ""), as(cornerKey)...).refused(404, refusal.NotFound,
		"fromVoucherID")
	w.get("/gifting/gifts/"+guest.id).want(200, "currentBalance", "25.00")
	w.sound()
}

// TestTransferAgainstRedemption: what is moved away meanwhile is not redeemed, and the other way about.
func TestTransferAgainstRedemption(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 20 {
		a, b := w.send(ofMoney("10")), w.send(ofMoney("1"))
		var done sync.WaitGroup
		var moved, taken reply
		done.Go(func() { moved = w.post("transfer-balance", transferBody(a, b, "10")) })
		done.Go(func() { taken = w.redeem(a, "10") })
		done.Wait()
		if (moved.status == 200) == (taken.status == 200) {
			t.Errorf("moved: %s; taken: %s", moved.body, taken.body)
		}
	}
	w.sound()
}
