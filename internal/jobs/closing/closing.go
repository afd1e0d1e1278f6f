// Package closing closes the days of accounts in the books, once no entry of them can follow: by the machine's clock,
// and in test accounts by theirs. Any number of services may run it, and each may be killed at any point: a day is
// closed in one transaction, once.
//
// # Why no entry can follow
//
// An entry is dated while its transaction is under way, and its position among the events is drawn in that transaction.
// A round notes the newest position that was drawn, and closes nothing. A later round, once all transactions that drew
// a position up to there are over, closes the days that had ended long enough before the first: what is dated in such a
// day was written by then.
package closing

import (
	"context"
	"fmt"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/jobs"
	"boon.example/internal/merchant"
)

// Every is the time between two rounds of the job.
const Every = time.Minute

// Pause is the least time between two days that are closed.
const Pause = 20 * time.Millisecond

// After is how long a day has ended before it is closed: the clocks of instances may differ by less.
const After = 10 * time.Minute

// Store keeps the books.
type Store interface {
	Clock(ctx context.Context, account guid.ID) (merchant.Clock, error)
	// Drawn is the newest position of an event that was drawn, and Committed whether all up to one are committed that
	// ever will be.
	Drawn(ctx context.Context) (int64, error)
	Committed(ctx context.Context, position int64) (bool, error)
	// NextDay is the first day of an account that is not closed; ok is false where it has no entry.
	NextDay(ctx context.Context, account *merchant.Account) (day books.Day, ok bool, err error)
	CloseDay(ctx context.Context, account *merchant.Account, day books.Day, now time.Time) error
}

// Closer closes the days of all accounts.
type Closer struct {
	Store
	Directory func() *merchant.Directory
	Now       func() time.Time // nil: the machine's clock

	noted note
}

// note is what a round noted for the next one.
type note struct {
	position int64
	at       time.Time                 // by the machine's clock; zero: nothing is noted
	ahead    map[guid.ID]time.Duration // the clocks of test accounts
}

// due is an account with the instant up to which its days may be closed.
type due struct {
	account *merchant.Account
	until   time.Time
}

// Batches makes the batches of the job.
func (c *Closer) Batches() func(context.Context) (done int, more bool, err error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	return jobs.Each(c.begin, c.close)
}

// begin begins a round, and gives what was due at the one before.
func (c *Closer) begin(ctx context.Context) (all []due, err error) {
	before, now := c.noted, c.Now()
	if !before.at.IsZero() {
		if over, err := c.Committed(ctx, before.position); err != nil || !over {
			return nil, err
		}
	}
	next := note{at: now, ahead: map[guid.ID]time.Duration{}}
	accounts := c.Directory().Accounts
	for id, account := range accounts {
		if account.Test {
			clock, err := c.Clock(ctx, id)
			if err != nil {
				return nil, err
			}
			next.ahead[id] = clock.Ahead
		}
	}
	if next.position, err = c.Drawn(ctx); err != nil {
		return nil, err
	}
	c.noted = next
	if before.at.IsZero() {
		return nil, nil
	}
	for id, account := range accounts {
		if ahead, known := before.ahead[id]; known || !account.Test {
			all = append(all, due{account, before.at.Add(ahead - After)})
		}
	}
	return all, nil
}

// close closes the next day of an account, if it is due.
func (c *Closer) close(ctx context.Context, d due) (done int, more bool, err error) {
	day, ok, err := c.NextDay(ctx, d.account)
	if err != nil || !ok || day.Until.After(d.until) {
		return 0, false, err
	}
	if err := c.CloseDay(ctx, d.account, day, c.Now()); err != nil {
		return 0, false, fmt.Errorf("account %s: %w", d.account.ID, err)
	}
	return 1, true, nil
}
