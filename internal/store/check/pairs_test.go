package check

import (
	"encoding/binary"
	"testing"
)

// TestPairs: a set has what was added, however often it grew, and nothing else.
func TestPairs(t *testing.T) {
	t.Parallel()
	p := newPairs()
	pair := func(n int) (a, b []byte) {
		return binary.BigEndian.AppendUint32(nil, uint32(n/7)), binary.BigEndian.AppendUint64(nil, uint64(n))
	}
	const n = 50_000
	for i := range n {
		a, b := pair(i)
		p.add(a, b)
		p.add(a, b)
	}
	if p.n != n {
		t.Errorf("%d pairs, want %d", p.n, n)
	}
	for i := range 2 * n {
		if a, b := pair(i); p.has(a, b) != (i < n) {
			t.Fatalf("pair %d is there: %t", i, p.has(a, b))
		}
	}
	if p.has([]byte("abcd"), []byte("efghijkl")) {
		t.Error("a pair is there that was never added")
	}
}
