// Package closing closes the days of accounts in the books, once no entry of them can follow: by the machine's clock,
// and in test accounts by theirs. Any number of services may run it, and each may be killed at any point: a day is
// closed in one transaction, once.
//
// # Why no entry can follow
//
// An entry is dated while its transaction is under way, and its position among the events is drawn in that transaction.
// A round notes the time and the newest position that was drawn. A later round, once all transactions that drew a
// position up to there are over, closes the days that had ended long enough before the first: what is dated in such a
// day was written by then.
//
// For between the dating of an entry and the drawing of its position lie a minute and some seconds at most, even if the
// process or the machine stands still meanwhile. Gifts that were made before their transaction, longer than that ago,
// are made again (ledger). On PostgreSQL a transaction that stands still is ended by the server
// (idle_in_transaction_session_timeout). The embedded database dates entries while it holds the lock for writing, and
// Drawn waits for that lock. And the clocks of instances differ by less than what After leaves beside that.
//
// The first round of a process closes what ended days ago at once, as after an upgrade, since reports wait for it.
//
// Another job sums up the days that are open: see Summer.
package closing

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"maps"
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
const After = books.Skew

// old is how long a day has ended that the first round of a process closes.
const old = 48 * time.Hour

// Positions are those of events, and the clocks by which these are dated.
type Positions interface {
	Clock(ctx context.Context, account guid.ID) (merchant.Clock, error)
	// Drawn is the newest position of an event that was drawn, and Committed whether all up to one are committed that
	// ever will be.
	Drawn(ctx context.Context) (int64, error)
	Committed(ctx context.Context, position int64) (bool, error)
}

// Store keeps the books.
type Store interface {
	Positions
	// NextDay is the first day of an account that is not closed; ok is false where it has no entry.
	NextDay(ctx context.Context, account *merchant.Account) (day books.Day, ok bool, err error)
	// CloseDay closes a day, unless somebody else has, or an import appeared or disappeared while it was worked out.
	CloseDay(ctx context.Context, account *merchant.Account, day books.Day, now time.Time) (closed bool, err error)
}

// Closer closes the days of all accounts.
type Closer struct {
	Store
	Directory func() *merchant.Directory
	Logger    *slog.Logger
	Now       func() time.Time // nil: the machine's clock

	noted note
	clock wallClock
	told  time.Time // when the log was last told how far a long work has come
}

// note is what a round noted for itself or for the next one.
type note struct {
	position int64
	at       time.Time                 // by the machine's clock; zero: nothing is noted
	ahead    map[guid.ID]time.Duration // the clocks of test accounts
}

// wallClock is the clock of the machine, which somebody may set back.
type wallClock struct {
	seen  time.Time // what it said last
	wrong time.Time // the latest time that it had said when it was set back; zero: it never was
}

// look looks at what the clock says, and reports whether it was set back since it was looked at before.
func (c *wallClock) look(now time.Time) (setBack bool) {
	if setBack = now.Before(c.seen); setBack && c.seen.After(c.wrong) {
		c.wrong = c.seen
	}
	c.seen = now
	return setBack
}

// due is an account with the instant, by its clock, up to which its days may be closed.
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

// begin begins a round, and gives what was due at the one before. It looks at the clock first, also where transactions
// of then go on: a clock that was set back says the same times again soon, and a later round would not see it any more.
func (c *Closer) begin(ctx context.Context) (all []due, err error) {
	now := c.Now().Round(0) // of the wall clock alone: by Go's other clock, the wall clock is never set back
	accounts := c.Directory().Accounts
	if c.clock.look(now) {
		c.noted, err = takeNote(ctx, c.Store, now, maps.Values(accounts))
		return nil, err // entries that are dated before what was noted until now may follow
	}
	before, after := c.noted, After
	if !before.at.IsZero() {
		if over, err := c.Committed(ctx, before.position); err != nil || !over {
			return nil, err
		}
	}
	if c.noted, err = takeNote(ctx, c.Store, now, maps.Values(accounts)); err != nil {
		c.noted = before
		return nil, err
	}
	if before.at.IsZero() { // what is committed now is all of days that ended long ago
		if over, err := c.Committed(ctx, c.noted.position); err != nil || !over {
			return nil, err
		}
		before, after = note{at: c.noted.at}, old
	}
	for id, account := range accounts {
		if ahead, known := before.ahead[id]; known || !account.Test {
			all = append(all, due{account, before.at.Add(ahead - after)})
		}
	}
	return all, nil
}

// takeNote notes up to where all is written once the transactions of now are over. The time is from before the
// position.
func takeNote(ctx context.Context, from Positions, now time.Time, accounts iter.Seq[*merchant.Account]) (n note,
	err error) {
	n = note{at: now, ahead: map[guid.ID]time.Duration{}}
	for account := range accounts {
		if account.Test {
			clock, err := from.Clock(ctx, account.ID)
			if err != nil {
				return note{}, err
			}
			n.ahead[account.ID] = clock.Ahead
		}
	}
	if n.position, err = from.Drawn(ctx); err != nil {
		return note{}, err
	}
	return n, nil
}

// close closes the next day of an account, if it is due.
func (c *Closer) close(ctx context.Context, d due) (done int, more bool, err error) {
	day, ok, err := c.NextDay(ctx, d.account)
	if err != nil || !ok || day.Until.After(d.until) {
		return 0, false, err
	}
	closed, err := c.CloseDay(ctx, d.account, day, c.Now())
	if err != nil {
		return 0, false, fmt.Errorf("account %s: %w", d.account.ID, err)
	}
	if !closed { // the next round goes on
		return 0, false, nil
	}
	c.tell(d, day)
	return 1, true, nil
}

// toldEvery is how often the log is told how far a long work has come, as after an upgrade.
const toldEvery = 30 * time.Second

// tell tells the log how far the books of an account are closed, where more than a day is left.
func (c *Closer) tell(d due, day books.Day) {
	left := int(d.until.Sub(day.Until) / (24 * time.Hour))
	if now := time.Now(); left > 0 && now.Sub(c.told) >= toldEvery {
		c.told = now
		c.Logger.Info("old days are being closed in the books", "account", d.account.ID, "closed", day.Number, "left", left)
	}
}
