package sums

import (
	"bytes"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/gift"
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

// TestOpenIDs: whoever reads what was made from an instant of the open day on looks at no entries of a minute before
// it, and at all entries that the ledger may have made since, whatever the clock says.
func TestOpenIDs(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 12, 1, 12, 0, 0, 999_999_000, time.UTC)
	of := openIDs(from)
	for at, want := range map[time.Time]bool{
		from: true, from.Add(time.Hour): true, from.AddDate(50, 0, 0): true,
		from.Add(-500 * time.Millisecond): true, // an older version drew it
		from.Add(-2 * time.Second):        false,
	} {
		id := gift.FirstID(at)
		if got := bytes.Compare(id[:], of.after[:]) >= 0 && bytes.Compare(id[:], of.before[:]) < 0; got != want {
			t.Errorf("an id of %v is looked at: %t, want %t", at, got, want)
		}
	}
	if of := openIDs(time.Time{}); of.after != (guid.ID{}) || of.before != lastID {
		t.Errorf("from the beginning on: %v", of)
	}
}
