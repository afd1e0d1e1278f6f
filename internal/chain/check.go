package chain

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/sealed"
)

// Check holds chains against what is in the database. First come the heads that were noted earlier, then all rows of
// all chains, then entries in any order, and then Missing. It may be used while chains go on: an entry that is newer
// than the rows that it was given is held against its row and not counted. It keeps one bit for each entry, and a
// little for each chain. It is not safe for concurrent use.
type Check struct {
	auth     *sealed.Authenticator
	found    func(problem string)
	chains   map[guid.ID]*progress
	seed     maphash.Seed
	room     int         // for digests that may still be remembered
	setup    SetupChange // the last
	setupWas string      // where the set-up was not what its chain says
}

// progress is what is known of a chain.
type progress struct {
	head     Head
	expected Head  // how far it had come once, at least
	noted    int64 // how far as another chain's genesis says; -1: none does
	begun    bool  // the genesis is there
	broken   bool  // rows are missing
	seen     []uint64
	digests  []uint64 // hashes of those of the first entries, in their order
}

// NewCheck begins a check that tells found of each problem, as a sentence.
func NewCheck(auth *sealed.Authenticator, found func(problem string)) *Check {
	return &Check{auth: auth, found: found, chains: map[guid.ID]*progress{}}
}

// Remember keeps a hash of 8 bytes for each of so many entries, so that Has knows their digests without the database: a
// row of a large group is long, and would be read once for each of its entries.
func (c *Check) Remember(entries int) { c.room, c.seed = entries, maphash.MakeSeed() }

// Has tells whether the row of an entry has a digest at its place, and whether that is known.
func (c *Check) Has(at Place, d Digest) (has, known bool) {
	p := c.chains[at.Writer]
	if p == nil || at.N < 1 || at.N > int64(len(p.digests)) {
		return false, false
	}
	return p.digests[at.N-1] == maphash.Bytes(c.seed, d[:]), true
}

// remember keeps the digests of a row that follows those that are kept.
func (c *Check) remember(p *progress, r *Row) {
	n := len(r.Content) / digestSize
	if r.N == 0 || n > c.room || int64(len(p.digests)+n) != r.N {
		return
	}
	c.room -= n
	for d := r.Content; len(d) >= digestSize; d = d[digestSize:] {
		p.digests = append(p.digests, maphash.Bytes(c.seed, d[:digestSize]))
	}
}

func (c *Check) problem(format string, args ...any) { c.found(fmt.Sprintf(format, args...)) }

func (c *Check) chain(writer guid.ID) *progress {
	p := c.chains[writer]
	if p == nil {
		p = &progress{noted: -1}
		p.head.Writer = writer
		c.chains[writer] = p
	}
	return p
}

// Genesis takes a genesis before all rows, for what it says of other chains.
func (c *Check) Genesis(r Row) {
	for _, h := range heads(r.Content) {
		c.Expect(h)
		p := c.chain(h.Writer)
		p.noted = max(p.noted, h.N)
	}
}

// Expect takes a head that a chain has had. A later one stands for all that is before it.
func (c *Check) Expect(h Head) {
	p := c.chain(h.Writer)
	switch {
	case p.expected == (Head{}) || h.N > p.expected.N:
		p.expected = h
	case h.N == p.expected.N && h != p.expected:
		c.problem("what was noted of chain %s at entry %d is not the same everywhere", h.Writer, h.N)
	}
}

// Row takes the next row in the order of writer and number. What follows a problem is judged by what is there.
func (c *Check) Row(r Row) {
	p := c.chain(r.Writer)
	first := r.N - int64(len(r.Content)/digestSize) // before the group
	switch {
	case r.N == 0 && !p.begun:
		p.begun = true
	case !p.begun:
		c.problem("chain %s has lost its genesis", r.Writer)
		p.begun, p.broken = true, true
	case first != p.head.N || len(r.Content)%digestSize != 0:
		c.problem("groups are missing from chain %s: between its entries %d and %d", r.Writer, p.head.N, r.N)
		p.broken = true
	}
	if err := c.auth.Check(r.MAC, r.authenticated(p.head.MAC)); err != nil && !p.broken {
		c.problem("the group of chain %s that ends with its entry %d is not as it was written: %s", r.Writer, r.N, err)
	}
	c.remember(p, &r)
	c.reach(p, Head{r.Place, r.MAC})
}

func (c *Check) reach(p *progress, h Head) {
	if p.head = h; h.N == p.expected.N && p.expected.MAC != (sealed.MAC{}) && h.MAC != p.expected.MAC {
		c.problem("chain %s is not what it was when it had come to its entry %d", h.Writer, h.N)
	}
}

// Entry takes an entry, and whether its row has its digest.
func (c *Check) Entry(at Place, e *gift.Entry, has bool) {
	if !has {
		c.problem("account %s: entry %s of gift %s is not as it was written, or was never written by this program: "+
			"it is not in the group of chain %s that has the entry %d", e.AccountID, e.ID, e.VoucherID, at.Writer, at.N)
		return
	}
	p := c.chains[at.Writer]
	if p == nil || p.broken || at.N < 1 || at.N > p.head.N {
		return
	}
	if more := at.N/64 + 1 - int64(len(p.seen)); more > 0 { // no more than rows came for, and rows may still come
		p.seen = append(p.seen, make([]uint64, more)...)
	}
	p.seen[at.N/64] |= 1 << (at.N % 64)
}

// Rows tells that all rows have come, and finds chains that had come further once.
func (c *Check) Rows() {
	for _, writer := range c.writers() {
		if p := c.chains[writer]; p.head.N < p.expected.N || !p.begun {
			c.problem("chain %s had come to its entry %d, and ends with its entry %d", writer, p.expected.N, p.head.N)
		}
	}
}

// Missing finds the entries of chains that have not come. All that the rows told of must have been given to Entry.
func (c *Check) Missing() {
	for _, writer := range c.writers() {
		p := c.chains[writer]
		has := func(n int64) bool { return n/64 < int64(len(p.seen)) && p.seen[n/64]&(1<<(n%64)) != 0 }
		for n := int64(1); n <= p.head.N && !p.broken; n++ {
			from := n
			for n <= p.head.N && !has(n) {
				n++
			}
			if n > from {
				c.problem("%d entries are missing that are in a group of chain %s: from its entry %d on", n-from, writer, from)
			}
		}
	}
}

// writers are those that have a chain, but for the set-up's.
func (c *Check) writers() []guid.ID {
	all := slices.SortedFunc(maps.Keys(c.chains), func(a, b guid.ID) int { return slices.Compare(a[:], b[:]) })
	return slices.DeleteFunc(all, guid.ID.IsZero)
}

// Checkpoint gives the heads that say how far all chains have come: those that no genesis has.
func (c *Check) Checkpoint() (all []Head) {
	for _, writer := range c.writers() {
		if p := c.chains[writer]; p.head.N > p.noted {
			all = append(all, p.head)
		}
	}
	return append(all, Head{Place{N: c.setup.Number}, c.setup.MAC})
}

// SetupChange takes the next change of the set-up, and tells whether it was written by this program where it stands.
func (c *Check) SetupChange(s SetupChange) (authentic bool) {
	p := c.chain(guid.ID{})
	err := c.auth.Check(s.MAC, s.authenticated(p.head.MAC))
	switch {
	case s.Number != p.head.N+1:
		c.problem("changes %d to %d are missing from the log of the set-up", p.head.N+1, s.Number-1)
	case err != nil:
		c.problem("change %d of the set-up is not as it was written: %s", s.Number, err)
	case s.Number > 1 && s.Before != c.setup.After:
		c.setupWas = fmt.Sprintf("before its change %d", s.Number)
	}
	c.setup = s
	c.reach(p, Head{Place{N: s.Number}, s.MAC})
	return err == nil
}

// Setup takes what the set-up is, after all its changes: its hash, and the hash that release 0.1.0 makes of it, which
// knows less.
func (c *Check) Setup(hash, older [32]byte, version int64) {
	p := c.chain(guid.ID{})
	if p.head.N < p.expected.N {
		c.problem("the log of the set-up had %d changes, and has %d", p.expected.N, p.head.N)
	}
	switch {
	case hash != c.setup.After && older == c.setup.After && version == c.setup.Version:
		c.problem("accounts and keys are what change %d of the set-up says, and tills, networks, test accounts or webhooks "+
			"are not: release 0.1.0, which knows none of these, made that change beside this release, or somebody changed "+
			"them past boon. If all is right (boon key list), accept it with boon verify --accept-set-up WHY", c.setup.Number)
	case hash != c.setup.After || version != c.setup.Version:
		c.setupWas = cmp.Or(c.setupWas, "since its last change")
	}
	if c.setupWas != "" {
		c.problem("the set-up was changed past boon, %s: its log does not say how. Release 0.1.0, used beside this one, "+
			"writes such changes, too. If that explains it, accept it with boon verify --acknowledge WHY", c.setupWas)
	}
}
