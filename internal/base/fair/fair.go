// Package fair shares a few places out among accounts, so that none of them keeps another waiting for long.
package fair

import (
	"context"
	"slices"
	"sync"

	"boon.example/internal/guid"
)

// Places are a few places that many want. One that becomes free goes to the account that had one the longest ago,
// within it to the part (a till, an order) that had one the longest ago, and there to who came first. So an account
// waits for one turn of each other one at most, however many calls others send, and a part for one of each other part
// of its account.
type Places struct {
	mu      sync.Mutex
	free    int
	left    int                // an account leaves so many times what it has free
	held    map[guid.ID]int    // by an account
	count   uint64             // turns that were given
	last    map[guid.ID]uint64 // the number of the last turn of an account or a part
	waiting []*turn            // in the order in which they came
}

// turn is a call that waits.
type turn struct {
	account, part guid.ID
	given         chan struct{} // closed when it has a place
}

// New makes so many places, for uses that end soon: one account may have all of them.
func New(places int) *Places { return NewShared(places, 0) }

// NewShared makes so many places for uses whose length the caller decides: then waiting for a turn is not enough. An
// account takes another place only while more than left times as many as it has are free. With 1, an account has half
// of what others leave, with 8 a ninth. So the next account finds a place at once, however many take all that they can;
// the higher left is, the more accounts it takes until the places are full.
func NewShared(places, left int) *Places {
	return &Places{free: places, left: left, held: map[guid.ID]int{}, last: map[guid.ID]uint64{}}
}

// Take waits for a place. done gives it back, and is called once.
func (t *Places) Take(ctx context.Context, account, part guid.ID) (done func(), _ error) {
	w := &turn{account, part, make(chan struct{})}
	done = func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.giveBack(account)
	}
	t.mu.Lock()
	t.waiting = append(t.waiting, w)
	t.next()
	t.mu.Unlock()
	select {
	case <-w.given:
		return done, nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := slices.Index(t.waiting, w); at >= 0 {
		t.waiting = slices.Delete(t.waiting, at, at+1)
	} else { // it came just now
		t.giveBack(account)
	}
	return nil, ctx.Err()
}

// Free is how many places nobody has.
func (t *Places) Free() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.free
}

func (t *Places) giveBack(account guid.ID) {
	t.free++
	if t.held[account]--; t.held[account] == 0 {
		delete(t.held, account)
	}
	t.next()
}

// next gives the free places to those whose turn it is.
func (t *Places) next() {
	for t.free > 0 {
		at := -1
		for n, w := range t.waiting {
			if t.left*t.held[w.account] < t.free && (at < 0 || t.before(w, t.waiting[at])) {
				at = n
			}
		}
		if at < 0 {
			break
		}
		w := t.waiting[at]
		t.waiting = slices.Delete(t.waiting, at, at+1)
		t.free--
		t.held[w.account]++
		t.count++
		t.last[w.account], t.last[w.part] = t.count, t.count
		close(w.given)
	}
	if len(t.waiting) == 0 && len(t.last) > maxRemembered {
		clear(t.last)
	}
}

// maxRemembered is of how many accounts and parts it is known when they had a place, once nobody waits.
const maxRemembered = 10_000

func (t *Places) before(a, b *turn) bool {
	if of, other := t.last[a.account], t.last[b.account]; of != other {
		return of < other
	}
	return t.last[a.part] < t.last[b.part]
}
