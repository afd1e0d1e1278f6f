package access

import (
	"testing"
	"time"

	"boon.example/internal/merchant"
)

// TestTillsInTheList: each stage of a till's key reads as what it is.
func TestTillsInTheList(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	soon, ago := now.Add(time.Minute), now.Add(-time.Minute)
	for want, k := range map[string]merchant.Key{
		"till, waits for its device until 2026-11-22 12:01Z": {Till: merchant.WaitingTill, ExpiresAt: soon},
		"expired 2026-11-22 11:59Z":                          {Till: merchant.WaitingTill, ExpiresAt: ago},
		"till, paired":                                       {Till: merchant.PairedTill},
		"revoked 2026-11-22 11:59Z":                          {Till: merchant.PairedTill, RevokedAt: ago},
	} {
		if got := keyState(&k, now); got != want {
			t.Errorf("%s reads as %s", want, got)
		}
	}
}
