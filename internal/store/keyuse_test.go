package store

import (
	"maps"
	"testing"
	"time"

	"boon.example/internal/guid"
)

// testKeyUses: the latest use of a key is kept, whichever instance has seen it.
func testKeyUses(t *testing.T, open opener) {
	s, again := open(t)
	a, b := newID(), newID()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	must(t, s.NoteKeyUses(t.Context(), map[guid.ID]time.Time{a: noon, b: noon}))
	must(t, again().NoteKeyUses(t.Context(), map[guid.ID]time.Time{a: noon.Add(-time.Minute), b: noon.Add(time.Minute)}))
	uses, err := s.KeyUses(t.Context())
	must(t, err)
	if want := map[guid.ID]time.Time{a: noon, b: noon.Add(time.Minute)}; !maps.EqualFunc(uses, want, time.Time.Equal) {
		t.Errorf("uses are %v, want %v", uses, want)
	}
}
