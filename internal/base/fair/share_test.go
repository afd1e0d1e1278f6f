package fair

import (
	"testing"

	"boon.example/internal/guid"
)

// TestAnAccountLeavesAShareToOthers: however much two accounts take, something is left for a third one.
func TestAnAccountLeavesAShareToOthers(t *testing.T) {
	t.Parallel()
	const piece, most = 1, 512
	var s Share
	taken := map[byte]int{}
	for _, account := range []byte{1, 2} {
		for s.Take(guid.ID{account}, piece, most) {
			taken[account] += piece
		}
	}
	if taken[1] != most/2 || taken[2] != most/4 || !s.Take(guid.ID{3}, most/8, most) {
		t.Errorf("two accounts have %v of %d", taken, most)
	}
	for account, n := range taken {
		s.Give(guid.ID{account}, n)
	}
	s.Give(guid.ID{3}, most/8)
	if s.used != 0 || len(s.held) != 0 {
		t.Errorf("%d are left, of %v", s.used, s.held)
	}
}
