package check

import (
	"hash/maphash"
)

// pairs is a set of pairs of byte strings that keeps a hash of 8 bytes for each: whoever asks for one that is not there
// is told so, but for one in some 10^12 questions about a million pairs.
type pairs struct {
	seed  maphash.Seed
	slots []uint64 // 0: empty
	n     int
}

func newPairs() *pairs { return &pairs{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<10)} }

func (p *pairs) hash(a, b []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(p.seed)
	h.Write(a) // of one length
	h.Write(b)
	return max(1, h.Sum64())
}

// slot is where a hash is, or would be.
func (p *pairs) slot(h uint64) *uint64 {
	for at := h; ; at++ {
		if s := &p.slots[at&uint64(len(p.slots)-1)]; *s == 0 || *s == h {
			return s
		}
	}
}

func (p *pairs) add(a, b []byte) {
	if 2*p.n >= len(p.slots) {
		old := p.slots
		p.slots = make([]uint64, 2*len(old))
		for _, h := range old {
			if h != 0 {
				*p.slot(h) = h
			}
		}
	}
	h := p.hash(a, b)
	if s := p.slot(h); *s == 0 {
		*s = h
		p.n++
	}
}

func (p *pairs) has(a, b []byte) bool { return *p.slot(p.hash(a, b)) != 0 }
