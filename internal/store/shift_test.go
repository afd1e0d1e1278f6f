package store

import (
	"testing"
	"time"
)

// testShifts: what a sign-in at a till lasts until is never what one before it lasted until, also in the same
// second, and tills do not know of each other.
func testShifts(t *testing.T, open opener) {
	s, again := open(t)
	account, till := newID(), newID()
	second := noon.Truncate(time.Second)
	begin := func(until, want time.Time) {
		t.Helper()
		got, err := s.BeginShift(t.Context(), account, till, until)
		must(t, err)
		known, err := again().Shift(t.Context(), account, till)
		must(t, err)
		if !got.Equal(want) || !known.Equal(want) {
			t.Errorf("a sign-in lasts until %v, and is known to until %v; want %v", got, known, want)
		}
	}
	if none, err := s.Shift(t.Context(), account, till); err != nil || !none.IsZero() {
		t.Errorf("before any sign-in: %v, %v", none, err)
	}
	begin(second, second)
	begin(second, second.Add(time.Second))
	begin(second.Add(-time.Hour), second.Add(2*time.Second)) // the clock was set back
	begin(second.Add(time.Hour), second.Add(time.Hour))
	if other, err := s.Shift(t.Context(), account, newID()); err != nil || !other.IsZero() {
		t.Errorf("another till: %v, %v", other, err)
	}
}
