package feed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// How many calls may wait for events. One follower in a back office serves any number of tills; who follows from each
// of them asks without waiting. Where all places are taken, an account that has fewer than another takes one of its: it
// gets 1,024 divided by the number of accounts that wait.
const (
	MaxWaiting          = 1_024
	MaxWaitingOfAccount = 64
)

// watchEvery is how often it is looked for new events, while there is anybody who waits for some.
const watchEvery = 200 * time.Millisecond

// rereads is how many of those that wait read at once, in turns by account.
const rereads = 4

// watch is who waits for events. One loop looks for all of them.
type watch struct {
	mu        sync.Mutex
	running   bool
	waiting   map[*waiter]bool
	ofAccount map[guid.ID]int
	last      int64 // what was looked at; unknown while nobody waits
	known     bool
	reading   *fair.Places
}

// waiter is one of them.
type waiter struct {
	query *event.Query
	woken chan struct{}
}

func newWatch() watch {
	return watch{waiting: map[*waiter]bool{}, ofAccount: map[guid.ID]int{}, reading: fair.New(rereads)}
}

// WatchEvents lets callers of Await wait. What it gives looks for their events, until ctx ends; then none waits any
// more.
func (f *Feed) WatchEvents() (run func(ctx context.Context)) {
	f.watch.mu.Lock()
	defer f.watch.mu.Unlock()
	f.watch.running = true
	return f.look
}

func (f *Feed) look(ctx context.Context) {
	w := &f.watch
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = f.lookForWaiters(ctx) // while the database is away, nothing new is in it
		case <-ctx.Done():
			w.mu.Lock()
			defer w.mu.Unlock()
			w.running = false
			for one := range w.waiting {
				close(one.woken)
			}
			clear(w.waiting)
			return
		}
	}
}

// Await is Events; a page without events waits for one, as long as wait and ctx allow, and only while what
// WatchEvents gave runs. idle is told before it waits: a waiting call takes nothing but memory.
func (f *Feed) Await(ctx context.Context, q event.Query, wait time.Duration, idle func()) (page event.Page,
	err error) {
	if wait <= 0 {
		return f.Events(ctx, q)
	}
	one := &waiter{&q, make(chan struct{}, 1)}
	if err := f.watch.add(one); err != nil { // before it reads, so that nothing comes in between
		return page, err
	}
	defer f.watch.remove(one)
	end := time.NewTimer(wait)
	defer end.Stop()
	page, err = f.Events(ctx, q)
	if err == nil && len(page.Events) == 0 {
		idle()
	}
	for goesOn := true; err == nil && len(page.Events) == 0 && goesOn; {
		q := q
		q.After = page.Next
		more := make(chan struct{}, 1)
		if page.More {
			more <- struct{}{}
		}
		select {
		case <-more:
		case _, goesOn = <-one.woken:
		case <-end.C:
			return page, nil
		case <-ctx.Done():
			return page, nil
		}
		done, gone := f.watch.reading.Take(ctx, q.AccountID, guid.ID{})
		if gone != nil {
			return page, nil
		}
		page, err = f.Events(ctx, q)
		done()
	}
	return page, err
}

// add takes somebody who waits. Where nothing looks, nobody is woken but at once.
func (w *watch) add(one *waiter) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	account := one.query.AccountID
	switch {
	case !w.running:
		close(one.woken)
		return nil
	case w.ofAccount[account] >= MaxWaitingOfAccount, len(w.waiting) >= MaxWaiting && !w.makeRoom(account):
		return event.TooManyWaiting()
	}
	w.waiting[one] = true
	w.ofAccount[account]++
	return nil
}

// makeRoom ends a wait of the account that has the most, if that still has as many as this one then.
func (w *watch) makeRoom(account guid.ID) bool {
	var most *waiter
	for one := range w.waiting {
		if most == nil || w.ofAccount[one.query.AccountID] > w.ofAccount[most.query.AccountID] {
			most = one
		}
	}
	if w.ofAccount[most.query.AccountID] <= w.ofAccount[account]+1 {
		return false
	}
	w.drop(most)
	close(most.woken)
	return true
}

func (w *watch) remove(one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[one] {
		w.drop(one)
	}
}

func (w *watch) drop(one *waiter) {
	delete(w.waiting, one)
	if w.ofAccount[one.query.AccountID]--; w.ofAccount[one.query.AccountID] == 0 {
		delete(w.ofAccount, one.query.AccountID)
	}
}

const (
	selectNewest = `SELECT coalesce(max(t.position), 0) FROM event AS t`
	selectNews   = `SELECT t.account_id, t.position, t.kinds, t.body FROM event AS t
		WHERE t.position > $1 AND t.position <= $2 ORDER BY t.position LIMIT $3`
)

// lookForWaiters wakes those for whom there may be something new.
func (f *Feed) lookForWaiters(ctx context.Context) error {
	w := &f.watch
	w.mu.Lock()
	last, known, waiting := w.last, w.known, len(w.waiting)
	w.known = known && waiting > 0
	w.mu.Unlock()
	if waiting == 0 {
		return nil
	}
	upTo, err := f.safe(ctx)
	if err == nil && f.db.File != "" {
		err = f.db.Get(ctx, selectNewest, nil, &upTo)
	}
	if err != nil {
		return fmt.Errorf("looking for new events: %w", err)
	}
	if !known || upTo < last { // who began to wait before this may have missed something
		w.wake(func(*waiter) bool { return true })
		w.looked(upTo)
		return nil
	}
	const most = 1_000
	type news struct {
		account guid.ID
		row     row
	}
	all, err := db.Collect(ctx, f.db, selectNews, []any{last, upTo, most}, func(from db.Scanner) (n news, err error) {
		err = from.Scan(db.ScanID(&n.account), &n.row.position, &n.row.kinds, &n.row.body)
		return n, err
	})
	if err != nil {
		return fmt.Errorf("looking for new events: %w", err)
	}
	w.wake(func(one *waiter) bool {
		for i := range all {
			if all[i].account == one.query.AccountID && all[i].row.wanted(one.query) {
				return true
			}
		}
		return false
	})
	if len(all) == most {
		upTo = all[most-1].row.position
	}
	w.looked(upTo)
	return nil
}

// looked notes up to where it was looked.
func (w *watch) looked(upTo int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.known = upTo, true
}

// wake wakes some of those that wait.
func (w *watch) wake(some func(*waiter) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.waiting {
		if some(one) {
			select {
			case one.woken <- struct{}{}:
			default: // it is awake
			}
		}
	}
}
