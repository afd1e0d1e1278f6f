package till

import (
	"context"
	"slices"
	"sync"

	"boon.example/internal/gift"
)

// turns shares a few places out among tills. A place that becomes free goes to the account that had one the longest
// ago, within it to the till that had one the longest ago, and there to who came first. So an account waits for one
// turn of each other one at most, however many calls others send, and a till for one of each other till of its
// account.
type turns struct {
	mu      sync.Mutex
	free    int
	count   uint64             // turns that were given
	last    map[gift.ID]uint64 // the number of the last turn of an account or a till
	waiting []*turn            // in the order in which they came
}

// turn is a call that waits.
type turn struct {
	account, till gift.ID
	given         chan struct{} // closed when it has a place
}

func newTurns(places int) *turns { return &turns{free: places, last: map[gift.ID]uint64{}} }

// take waits for a place. done gives it back.
func (t *turns) take(ctx context.Context, c *gift.Caller) (done func(), _ error) {
	w := &turn{c.Account.ID, c.KeyID, make(chan struct{})}
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

func (t *turns) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	t.next()
}

// next gives the free places to those whose turn it is.
func (t *turns) next() {
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
		t.last[w.account], t.last[w.till] = t.count, t.count
		close(w.given)
	}
	if len(t.waiting) == 0 && len(t.last) > maxRemembered {
		clear(t.last)
	}
}

// maxRemembered is of how many accounts and tills it is known when they had a place, once nobody waits.
const maxRemembered = 10_000

func (t *turns) before(a, b *turn) bool {
	if of, other := t.last[a.account], t.last[b.account]; of != other {
		return of < other
	}
	return t.last[a.till] < t.last[b.till]
}
