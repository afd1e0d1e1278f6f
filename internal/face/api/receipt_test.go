package api_test

import (
	"slices"
	"strings"
	"testing"

	"boon.example/internal/face/api"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// TestReceipts: what takes something of a gift or puts something into it answers with a receipt, if one is asked for,
// and without one otherwise.
func TestReceipts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, cash, card := w.send(ofMoney("25.50")), w.send(ofMoney("5")), w.stock(`"count":1`)[0]
	hold := w.holdGift(g, "2").want(200).at("holdID")
	receipt := func(operation, body string) reply {
		return w.do("POST", paths[operation]+"?receipt=true", body, "Content-Type", "application/json").want(200)
	}
	for _, tt := range []struct {
		operation, body string
		of              made
		third           string
	}{
		{"redeem-gift", redeemBody(g, "10"), g, "Taken                     $10.00"},
		{"capture-hold", `{"holdID":"` + hold + `"}`, g, "Taken                      $2.00"},
		{"reload-gift", loadBody(g, "3"), g, "Loaded                     $3.00"},
		{"cash-out-gift", cashBody(cash), cash, "Paid in cash               $5.00"},
		{"activate-gift", activateBody(card, "7"), card, "Loaded                     $7.00"},
	} {
		r := receipt(tt.operation, tt.body).want(200, "receipt.lines[1]", "•••• "+tt.of.code[8:], "receipt.lines[2]",
			tt.third)
		if strings.Contains(string(r.body), tt.of.code) || !strings.HasPrefix(r.at("receipt.lines[3]"), "Left ") {
			t.Errorf("%s: %s", tt.operation, r.body)
		}
	}
	with := 0
	for _, r := range api.Routes() {
		if slices.Contains([]string{"redeem-gift", "capture-hold", "reload-gift", "cash-out-gift", "activate-gift"},
			r.Pattern[strings.LastIndex(r.Pattern, "/")+1:]) {
			with++
		}
	}
	if with != 5 {
		t.Errorf("%d operations have receipts", with)
	}
	if r := w.redeem(g, "1").want(200); strings.Contains(string(r.body), "receipt") {
		t.Errorf("nobody asked for a receipt: %s", r.body)
	}
	w.do("POST", paths["redeem-gift"]+"?receipt=1", redeemBody(g, "1")).refused(400, refusal.ValidationFailure, "receipt")
	w.do("POST", paths["redeem-gift"]+"?receipt=true", redeemBody(made{id: nowhere}, "1")).refused(404, refusal.NotFound)
	w.do("POST", paths["redeem-gift"]+"?receipt=true&dryRun=true", redeemBody(g, "1")).want(200, "dryRun", "true",
		"receipt.lines[2]", "Taken                      $1.00")
	w.configure(func(a *merchant.Account) { a.Language, a.Name = merchant.Japanese, "港\u202eコーヒー" })
	receipt("redeem-gift", redeemBody(g, "1")).want(200, "receipt.lines[0]", "港コーヒー")
}
