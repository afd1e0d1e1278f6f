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
	count   uint64             // turns that were given
	last    map[guid.ID]uint64 // the number of the last turn of an account or a part
	waiting []*turn            // in the order in which they came
}

// turn is a call that waits.
type turn struct {
	account, part guid.ID
	given         chan struct{} // closed when it has a place
}

// New makes so many places.
func New(places int) *Places { return &Places{free: places, last: map[guid.ID]uint64{}} }

// Take waits for a place. done gives it back.
func (t *Places) Take(ctx context.Context, account, part guid.ID) (done func(), _ error) {
	w := &turn{account, part, make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, w)
	t.next()
	t.mu.Unlock()
	select {
	case <-w.given:
		return t.done, nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := slices.Index(t.waiting, w); at >= 0 {
		t.waiting = slices.Delete(t.waiting, at, at+1)
	} else { // it came just now
		t.free++
		t.next()
	}
	return nil, ctx.Err()
}

func (t *Places) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	t.next()
}

// next gives the free places to those whose turn it is.
func (t *Places) next() {
	for t.free > 0 && len(t.waiting) > 0 {
		at := 0
		for n, w := range t.waiting {
			if t.before(w, t.waiting[at]) {
				at = n
			}
		}
		w := t.waiting[at]
		t.waiting = slices.Delete(t.waiting, at, at+1)
		t.free--
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
