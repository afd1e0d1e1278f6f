package verify

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
)

// Auditor does what All does beside the service, in a loop and so slowly that it costs next to nothing: it follows the
// hash chains and checks all gifts, and between two pages those that this process has just changed, as far as it gets
// round to them. While gifts change, it takes a hundredth of a core; while tills rest, it goes on at its Pace. It
// leaves to All what needs whole tables to be read, and very long histories.
type Auditor struct {
	Store   VoucherReader
	Logger  *slog.Logger  // told of each problem
	Pace    int           // rows a second; 0: Pace
	Rest    time.Duration // between two rounds; 0: Rest
	Longest int           // entries that a history may have, to be checked; 0: Longest

	// What it has done so far.
	Audited struct {
		Gifts, Problems, TooLong atomic.Int64
		LastRound                atomic.Int64 // when the last round was complete, in seconds since 1970
	}

	mu      sync.Mutex
	changed map[ledger.Ref]mark // to be checked soon
	busy    bool                // something was committed since the last pause
}

// mark is what the history of a changed gift must hold.
type mark struct {
	seq  int
	last guid.ID // of the entry with that number
}

// What an Auditor does unless it is told otherwise.
const (
	Pace = 500
	Rest = time.Minute
	// Longest takes some megabytes.
	Longest = 10_000
)

const (
	pageSize   = 50
	maxChanged = 512 // gifts that may wait to be checked soon
	minPause   = 200 * time.Millisecond
	share      = 100              // while gifts change, it works for one of so many parts of the time
	maxPause   = 10 * time.Second // that it pauses for that
	retryAfter = 10 * time.Second
)

// Changed remembers what was committed, to be checked soon. It is quick, and safe for concurrent use.
func (a *Auditor) Changed(c ledger.Changes) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = true
	for n := range c.Vouchers {
		a.remember(&c.Vouchers[n])
	}
	for n := range c.Gifts {
		a.remember(&c.Gifts[n].Voucher)
	}
}

func (a *Auditor) remember(v *gift.Voucher) {
	at := ledger.Ref{AccountID: v.AccountID, ID: v.ID}
	if known, waits := a.changed[at]; waits && known.seq > v.Seq || !waits && len(a.changed) >= maxChanged {
		return
	}
	if a.changed == nil {
		a.changed = map[ledger.Ref]mark{}
	}
	a.changed[at] = mark{v.Seq, v.Last}
}

// someChanged gives some of the changed gifts.
func (a *Auditor) someChanged() map[ledger.Ref]mark {
	a.mu.Lock()
	defer a.mu.Unlock()
	some := map[ledger.Ref]mark{}
	for at, m := range a.changed {
		if some[at] = m; len(some) == pageSize {
			break
		}
	}
	return some
}

// checked forgets a changed gift, unless it has changed again.
func (a *Auditor) checked(at ledger.Ref, m mark) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changed[at] == m {
		delete(a.changed, at)
	}
}

// Run checks until ctx ends.
func (a *Auditor) Run(ctx context.Context) {
	a.Pace = cmp.Or(a.Pace, Pace)
	a.Rest = cmp.Or(a.Rest, Rest)
	a.Longest = cmp.Or(a.Longest, Longest)
	for ctx.Err() == nil {
		err := a.round(ctx)
		if err != nil && ctx.Err() == nil {
			a.Logger.Warn("gifts could not be audited; this is tried again", "error", err)
			_ = sleep(ctx, retryAfter)
		}
	}
}

// round checks all gifts once, and pauses.
func (a *Auditor) round(ctx context.Context) error {
	check := a.Store.Check(a.found)
	begun := time.Now() // to work, after the last pause
	pause := func(rows int) error {
		more, err := a.checkChanged(ctx, check)
		if err != nil {
			return err
		}
		err = sleep(ctx, a.pauseAfter(rows+more, time.Since(begun)))
		begun = time.Now()
		return err
	}
	if err := check.Chains(ctx, pause); err != nil {
		return err
	}
	whole := true
	for from, more := (ledger.Ref{}), true; more; {
		page, histories, err := check.Page(ctx, from, pageSize, a.Longest)
		if err == nil {
			audit(page, histories, a.Longest, unless(check.Acknowledged, a.found))
			whole = a.count(page) && whole
			err = pause(len(page) + countEntries(histories))
		}
		if err != nil {
			return err
		}
		from, more = after(page), len(page) > 0
	}
	if whole {
		check.Missing()
	}
	a.Audited.LastRound.Store(time.Now().Unix())
	for begun := time.Now(); time.Since(begun) < a.Rest; {
		if err := pause(0); err != nil {
			return err
		}
	}
	return nil
}

// pauseAfter is how long the auditor pauses after it has read so many rows, for which it took so long. What it took is
// measured by the clock, so that it takes less of a machine that has too much to do.
func (a *Auditor) pauseAfter(rows int, took time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	pause := max(minPause, time.Duration(rows)*time.Second/time.Duration(a.Pace))
	if a.busy {
		pause = max(pause, min(maxPause, (share-1)*took))
	}
	a.busy = false
	return pause
}

// count counts the vouchers of a page, and tells whether all their histories were short enough.
func (a *Auditor) count(page []gift.Voucher) bool {
	long := int64(0)
	for i := range page {
		if page[i].Seq > a.Longest {
			long++
		}
	}
	a.Audited.Gifts.Add(int64(len(page)) - long)
	a.Audited.TooLong.Add(long)
	return long == 0
}

// checkChanged checks some of the changed gifts. Of a long history only its length is known.
func (a *Auditor) checkChanged(ctx context.Context, check Check) (rows int, err error) {
	for at, m := range a.someChanged() {
		page, histories, err := check.One(ctx, at, a.Longest)
		if err != nil {
			return rows, err
		}
		audit(page, histories, a.Longest, unless(check.Acknowledged, a.found))
		history := histories[at.ID]
		tooLong := len(page) > 0 && page[0].Seq > a.Longest
		if tooLong && page[0].Seq < m.seq || !tooLong && (len(history) < m.seq || history[m.seq-1].ID != m.last) {
			a.found(fmt.Sprintf("gift %s: entry %d (%s) was answered and is not there", at.ID, m.seq, m.last))
		}
		a.count(page)
		a.checked(at, m)
		rows += len(page) + len(history)
	}
	return rows, nil
}

func (a *Auditor) found(problem string) {
	a.Audited.Problems.Add(1)
	a.Logger.Error("the books do not add up", "problem", problem)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
