package vtex

import (
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// TestEveryCodeHasAStatus: each of our refusals is told with a status that the Hub can pass on, and each failure of
// ours with one that has it ask again.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	ours := map[refusal.Code]int{refusal.UnexpectedError: 500, refusal.Unavailable: 503, refusal.RequestInProgress: 503}
	for _, code := range refusal.Codes() {
		status := statusOf(code)
		if want := ours[code]; want != 0 && status != want || want == 0 && (status < 400 || status > 404) {
			t.Errorf("%s is told with %d", code, status)
		}
	}
}

// TestAnsweredInTime: a shop waits a second and a half, and the answer has to travel.
func TestAnsweredInTime(t *testing.T) {
	t.Parallel()
	if within >= 1500*time.Millisecond {
		t.Errorf("a call may take %v", within)
	}
}

// TestHeldForDays: a Debit is held for as many days as the set-up says.
func TestHeldForDays(t *testing.T) {
	t.Parallel()
	c := &call{provider: &merchant.Provider{HoldDays: 45}}
	if lasts := c.holdTime(); lasts != 1080*time.Hour {
		t.Errorf("it is held for %v", lasts)
	}
}
