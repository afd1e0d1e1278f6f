package api_test

import (
	"testing"

	"boon.example/internal/refusal"
	"boon.example/internal/store"
)

// TestReplaysAcrossARotation: keys are rotated from another process while the service runs. What was asked before
// gets its answer again, another request under its key is refused; after a restart too.
func TestReplaysAcrossARotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, card := w.send(ofMoney("5")), w.stock(`"count":1,"value":5,"verificationCodes":true`)[0]
	code := w.get(exportPath(card.order, "csv")).want(200).rows()[1][2]
	w.post("activate-gift", activateBody(card, "")).want(200)
	sale := w.post("send-gift", ofMoney("7"), once("sale")...).want(201)
	first := w.redeem(g, "1", once("first")...).want(200)
	beside, err := store.Open(t.Context(), store.Options{Dir: w.dir, Database: w.database})
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	check := func(balance string) {
		t.Helper()
		w.post("send-gift", ofMoney("7"), once("sale")...).again(sale)
		w.redeem(g, "1", once("first")...).again(first)
		w.redeem(g, "2", once("first")...).refused(422, refusal.IdempotencyMismatch)
		w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", balance)
	}
	if _, err := beside.AddKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("4.00")
	if _, err := beside.UseKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("4.00")
	if _, err := w.store.Directory(t.Context()); err != nil || w.store.Keys().Current() != 2 {
		t.Fatalf("the service makes with key %d, want 2: %v", w.store.Keys().Current(), err)
	}
	second := w.redeem(g, "1", once("second")...).want(200)
	check("3.00")
	w.server.Close()
	w.engine.Stop()
	w.store.Close()
	reopened, err := store.Open(t.Context(), store.Options{Dir: w.dir, Database: w.database})
	if err != nil {
		t.Fatal(err)
	}
	w.run(reopened)
	w.redeem(g, "1", once("second")...).again(second)
	check("3.00")
	// What was sealed with the first key is still read.
	withVerification(card, "1", code)(w).want(200)
}
