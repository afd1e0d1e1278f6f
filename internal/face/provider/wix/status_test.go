package wix

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"boon.example/internal/face/provider"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// TestEveryCodeHasAnError: none of our refusals is left without one of Wix's errors.
func TestEveryCodeHasAnError(t *testing.T) {
	t.Parallel()
	ours := map[refusal.Code]int{refusal.UnexpectedError: 500, refusal.Unavailable: 503, refusal.RequestInProgress: 503}
	for _, code := range refusal.Codes() {
		reply := (&call{Call: new(provider.Call)}).failed(refusal.New(code, "no"))
		if status := ours[code]; status != 0 && (reply.Status != status || len(reply.Body) > 0) ||
			status == 0 && (reply.Status < 400 || reply.Status >= 500 || len(reply.Body) == 0) {
			t.Errorf("%s is told as %d %s", code, reply.Status, reply.Body)
		}
	}
}

// TestExpired: an expired card is told as such, unless it is something else as well.
func TestExpired(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := &call{Call: &provider.Call{Call: service.Call{Now: now}}}
	c.card.ValidUntil = now
	if got := c.refusalOf(refusal.New(refusal.RedemptionNotAllowed, "no")); got != cardExpired {
		t.Errorf("an expired card is told as %s", got.code)
	}
	c.Now = now.Add(-1)
	if got := c.refusalOf(refusal.New(refusal.RedemptionNotAllowed, "no")); got != cardDisabled {
		t.Errorf("a card that is not expired yet is told as %s", got.code)
	}
}

// FuzzRequest: whatever a request holds, its amount is above zero or refused.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"code":"481516234299","amount":5.00,"orderId":"o","currencyCode":"USD"}`))
	usd := money.Currency{Code: "USD", Decimals: 2}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r request
		if json.Unmarshal(body, &r) != nil {
			return
		}
		if amount, err := r.Amount.In(usd); err == nil && amount <= 0 {
			t.Errorf("%q is %d", r.Amount, amount)
		}
	})
}
