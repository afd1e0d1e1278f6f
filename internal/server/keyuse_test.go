package server

import (
	"testing"
	"time"

	"boon.example/internal/guid"
)

// TestKeyUsesAreWrittenSeldom: however often a key is used, it is written once in ten minutes, and what was noted last
// is written then.
func TestKeyUsesAreWrittenSeldom(t *testing.T) {
	t.Parallel()
	var uses keyUses
	busy, once := guid.ID{1}, guid.ID{2}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	uses.note(once, now)
	writes := map[guid.ID]int{}
	last := map[guid.ID]time.Time{}
	for range 60 { // an hour
		for second := range 60 {
			for range 10 {
				uses.note(busy, now.Add(time.Duration(second)*time.Second))
			}
		}
		now = now.Add(time.Minute)
		due := uses.due(now, false)
		for id, at := range due {
			writes[id]++
			last[id] = at
		}
		uses.wrote(due)
	}
	if writes[once] != 1 || writes[busy] > 7 || writes[busy] < 6 {
		t.Errorf("in an hour, a key that was used once was written %d times, a busy one %d times", writes[once], writes[busy])
	}
	for id, at := range uses.due(now, true) {
		last[id] = at
	}
	if want := now.Add(-time.Minute); !last[busy].Equal(want) {
		t.Errorf("at the end %v is known, want %v", last[busy], want)
	}
	if due := uses.due(now.Add(time.Hour), false); len(due) != 1 {
		t.Errorf("what was not written is not due later: %v", due)
	}
	for n := range 3000 {
		uses.note(guid.ID{3, byte(n), byte(n >> 8)}, now)
	}
	if due := uses.due(now, false); len(due) != keyUseBatch {
		t.Errorf("%d keys in one transaction, want %d", len(due), keyUseBatch)
	}
}
