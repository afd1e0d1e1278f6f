package sums

import (
	"testing"

	"boon.example/internal/guid"
)

// TestTotalsThatAreKept: what was used least lately makes room; an account that needs more than half of the room keeps
// what it has, and others keep theirs; nothing is kept that was read before all was forgotten.
func TestTotalsThatAreKept(t *testing.T) {
	t.Parallel()
	const most = 100
	var k knownTotals
	a, b, c, large := guid.ID{1}, guid.ID{2}, guid.ID{3}, guid.ID{4}
	november := monthCube{month: 202611}
	put := func(account guid.ID, last, n int) {
		k.put(account, november, total{monthEdition{last: last}, make([]keyed, n)}, most, k.epoch)
	}
	known := func(account guid.ID, last int) bool {
		_, ok, _ := k.of(account, november, monthEdition{last: last})
		return ok
	}
	put(a, 1, 40)
	put(b, 1, 40)
	if !known(a, 1) || known(a, 2) {
		t.Error("of the first account another edition is kept")
	}
	put(c, 1, 40)
	if !known(a, 1) || known(b, 1) || !known(c, 1) {
		t.Errorf("kept are the first %v, the second %v, the third %v: the second was used least lately", known(a, 1),
			known(b, 1), known(c, 1))
	}
	put(large, 1, 51)
	put(a, 2, 51)
	if known(large, 1) || known(a, 2) || !known(a, 1) || !known(c, 1) {
		t.Error("an account has more than half of the room, or something made room for it")
	}
	if put(a, 2, 10); !known(a, 2) || known(a, 1) || k.size != 50 {
		t.Errorf("another edition does not take the place of the one before: there are %d sums", k.size)
	}
	_, _, before := k.of(a, november, monthEdition{})
	k.forget()
	k.put(a, november, total{monthEdition{last: 3}, make([]keyed, 1)}, most, before)
	if known(a, 3) || known(c, 1) || k.size != 0 {
		t.Error("something is kept that was read before all was forgotten")
	}
}
