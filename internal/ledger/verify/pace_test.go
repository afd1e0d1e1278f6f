package verify

import (
	"testing"
	"time"

	"boon.example/internal/ledger"
)

// TestTheAuditorWorksWhenTillsRest: while gifts change, it takes a hundredth of the time.
func TestTheAuditorWorksWhenTillsRest(t *testing.T) {
	t.Parallel()
	a := &Auditor{Pace: Pace}
	const rows, took = 250, 30 * time.Millisecond // half a second at its pace
	for _, c := range []struct {
		what string
		busy bool
		rows int
		took time.Duration
		want time.Duration
	}{
		{"tills rest", false, rows, took, 500 * time.Millisecond},
		{"gifts change", true, rows, took, 99 * took},
		{"tills rest again", false, rows, took, 500 * time.Millisecond},
		{"few gifts change", true, 2, time.Millisecond, minPause},
		{"everything is slow", true, rows, time.Minute, maxPause},
	} {
		if c.busy {
			a.Changed(ledger.Changes{})
		}
		if got := a.pauseAfter(c.rows, c.took); got != c.want {
			t.Errorf("%s: it pauses for %v, want %v", c.what, got, c.want)
		}
	}
}
