package api_test

import (
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/refusal"
)

// TestARedemptionIsGivenBackInAHundredParts: and the last of them is all that is left.
func TestARedemptionIsGivenBackInAHundredParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	redemption := `{"redemptionID":"` + w.redeem(w.send(ofMoney("5")), "2").at("redemptionID") + `"`
	for range gift.MaxReversals - 1 {
		w.post("reverse-redemption", redemption+`,"amount":0.01}`).want(200)
	}
	w.post("reverse-redemption", redemption+`,"amount":0.01}`).refused(400, refusal.ValidationFailure, "amount")
	w.post("reverse-redemption", redemption+`}`).want(200, "amount", "1.01", "currentBalance", "5.00")
	w.post("reverse-redemption", redemption+`}`).refused(409, refusal.AlreadyReversed)
}
