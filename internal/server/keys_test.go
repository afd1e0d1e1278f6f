package server

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// TestKeysThatExpire: the report names a key that ends soon. A till that waits for its device is none: its link ends in
// minutes, and nobody can call with it.
func TestKeysThatExpire(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	key := func(name string, till merchant.TillKey, ends time.Duration) *merchant.Key {
		return &merchant.Key{Name: name, Till: till, AccountID: guid.ID{1}, ExpiresAt: now.Add(ends)}
	}
	d := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{{1}: {Name: "Harbor", Zone: time.UTC}},
		Keys: map[merchant.KeyHash]*merchant.Key{{1}: key("Counter 1", merchant.WaitingTill, merchant.PairWithin)}}
	told := func() string {
		var r Report
		r.setup(d, now)
		return strings.Join(r.Wrong, "\n")
	}
	if text := told(); strings.Contains(text, "expires") || !strings.Contains(text, "no API key works") {
		t.Errorf("of a till that waits for its device: %s", text)
	}
	d.Keys[merchant.KeyHash{2}] = key("web shop", merchant.NoTill, time.Hour)
	if text := told(); !strings.Contains(text, "key web shop expires at 2026-11-22T13:00:00Z") ||
		strings.Contains(text, "Counter 1") || strings.Contains(text, "no API key works") {
		t.Errorf("of a key that ends within the hour: %s", text)
	}
}
