package sums

import (
	"testing"

	"boon.example/internal/books"
	"boon.example/internal/guid"
)

// TestWhereMemoryEndsWhatIsKnownStays: a beginning of an open day for which there is no room leaves the one that is
// known as it is, but not one of another day.
func TestWhereMemoryEndsWhatIsKnownStays(t *testing.T) {
	t.Parallel()
	var o openDays
	account, today := guid.ID{1}, books.Day{Number: 20261129}
	first, _ := o.next(account, today, 0)
	o.put(account, first)
	large, _ := o.next(account, today, 0)
	for n := range mostSums {
		large.sums[books.Key{Month: n}] = books.Sum{}
	}
	o.put(account, large)
	if got := o.of(account, today, 0); got != first {
		t.Errorf("known is %v, want the first", got)
	}
	large.day.Number++
	o.put(account, large)
	if len(o.known) != 0 {
		t.Error("the beginning of another day stays")
	}
}
