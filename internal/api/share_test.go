package api

import (
	"testing"

	"boon.example/internal/guid"
)

// TestAnAccountLeavesMemoryToOthers: however much two accounts take, there is room for an order of a third one.
func TestAnAccountLeavesMemoryToOthers(t *testing.T) {
	t.Parallel()
	var m memory
	const piece = 64 << 10
	taken := map[byte]int{}
	for _, account := range []byte{1, 2} {
		for m.take(guid.ID{account}, piece, maxOrders) {
			taken[account] += piece
		}
	}
	if taken[1] != maxOrders/2 || taken[2] < maxOrders/5 || !m.take(guid.ID{3}, 2*maxOrderBody-piece, maxOrders) {
		t.Errorf("two accounts have %v of %d", taken, maxOrders)
	}
	for account, n := range taken {
		m.give(guid.ID{account}, n)
	}
	m.give(guid.ID{3}, 2*maxOrderBody-piece)
	if m.used != 0 || len(m.ofAccount) != 0 {
		t.Errorf("%d bytes are left, of %v", m.used, m.ofAccount)
	}
}
