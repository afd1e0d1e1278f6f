package sums

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

// begun is what moved in the beginning of a day that is open, where no entry can follow any more. It is in memory: a
// busy account would else read its entries of a whole day for every report. It never changes; what follows replaces it.
type begun struct {
	day   books.Day
	until time.Time // the end of the beginning
	flips int64     // of imports, before it was worked out
	epoch int       // before it was worked out: see openDays
	sums  books.Sums
}

// openDays are the beginnings that are known, by account.
type openDays struct {
	mu    sync.Mutex
	known map[guid.ID]*begun
	epoch int // how often all were forgotten, so that nothing of before is kept that is being worked out meanwhile
}

const (
	step     = 2_000   // entries that are summed up at a time; fewer are not worth it
	mostSums = 100_000 // that are in memory, of all accounts: some 30 MB
)

// of is the beginning of an open day; nil: none is known, or an import has appeared or disappeared since.
func (o *openDays) of(account guid.ID, day books.Day, flips int64) *begun {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b := o.known[account]; b != nil && b.day == day && b.flips == flips {
		return b
	}
	return nil
}

// next is what follows the beginning that is known, or else the beginning that has nothing yet.
func (o *openDays) next(account guid.ID, day books.Day, flips int64) *begun {
	o.mu.Lock()
	defer o.mu.Unlock()
	next := &begun{day: day, until: day.From, flips: flips, epoch: o.epoch, sums: books.Sums{}}
	if b := o.known[account]; b != nil && b.day == day && b.flips == flips {
		next.until, next.sums = b.until, maps.Clone(b.sums)
	}
	return next
}

// ForgetOpenDays forgets what SumUp has summed up of all accounts: where a clock was set back, or the database went
// back, other entries may follow.
func (b *Books) ForgetOpenDays() {
	b.open.mu.Lock()
	defer b.open.mu.Unlock()
	b.open.known = nil
	b.open.epoch++
}

// put keeps the beginning of an account's open day, as long as there is memory: at most half of what others leave. If
// there is none, the shorter beginning that is known stays.
func (o *openDays) put(account guid.ID, b *begun) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b.epoch != o.epoch {
		return
	}
	if old := o.known[account]; old != nil && (old.day != b.day || old.flips != b.flips) {
		delete(o.known, account)
	}
	free := mostSums
	for id, other := range o.known {
		if id != account {
			free -= len(other.sums)
		}
	}
	if len(b.sums) > free/2 {
		return
	}
	if o.known == nil {
		o.known = map[guid.ID]*begun{}
	}
	o.known[account] = b
}

// nextOf is the day that follows the closed ones, which is open; ok is false where none is closed.
func nextOf(account *merchant.Account, days books.Days) (day books.Day, ok bool) {
	if len(days) == 0 {
		return day, false
	}
	return days[len(days)-1].Next(zoneOf(account)), true
}

// eachOpen tells of what moved from an instant on and before another one, where no day is closed: of the beginning of
// the open day from memory, of the rest by entries.
func (b *Books) eachOpen(ctx context.Context, a *books.Asked, days books.Days, flips int64, from, until time.Time,
	tell func(day int, k books.Key, s books.Sum) error) error {
	day, ok := nextOf(a.Account, days)
	if !ok {
		return b.eachEntry(ctx, a, days, from, until, tell)
	}
	known := b.open.of(a.Account.ID, day, flips)
	if known == nil || from.After(day.From) || until.Before(known.until) {
		return b.eachEntry(ctx, a, days, from, until, tell)
	}
	if err := b.eachEntry(ctx, a, days, from, day.From, tell); err != nil {
		return err
	}
	for k, s := range known.sums {
		if slices.Contains(a.Cubes, k.Cube) {
			if err := tell(day.Number, k, s); err != nil {
				return err
			}
		}
	}
	return b.eachEntry(ctx, a, days, known.until, until, tell)
}

// SumUp sums up some more of the beginning of an account's open day, up to an instant before which no entry of it can
// follow, and keeps the sums in memory. more reports whether there is more to sum up; an account with few entries has
// none. Where the clock of the account was set back, wrong is what it had said: ids go on from there.
func (b *Books) SumUp(ctx context.Context, account *merchant.Account, until, wrong time.Time) (more bool, err error) {
	days, err := b.ClosedDays(ctx, account.ID)
	if err != nil {
		return false, err
	}
	day, ok := nextOf(account, days)
	if !ok || !until.After(day.From) {
		return false, nil
	}
	flips, err := b.flips(ctx, account.ID)
	if err != nil {
		return false, err
	}
	next := b.open.next(account.ID, day, flips)
	end, ok, err := b.stepFrom(ctx, account.ID, next.until, until, wrong)
	if err != nil || !ok {
		return false, err
	}
	before := idsOf(end)
	if wrong.After(end) {
		before = idsOf(wrong)
	}
	err = b.eachMovement(ctx, account, append(days, day), next.until, end, before,
		func(t *books.Terms, m *books.Movement) error { next.sums.Move(t, m); return nil })
	if err != nil {
		return false, err
	}
	next.until = end
	b.open.put(account.ID, next)
	return b.open.of(account.ID, day, flips) == next, nil
}

// stepFrom is the instant up to which there are about step entries from an instant on; ok is false where there are
// fewer before until. See SumUp of a wrong clock.
func (b *Books) stepFrom(ctx context.Context, account guid.ID, from, until, wrong time.Time) (end time.Time, ok bool,
	err error) {
	if !from.Before(until) {
		return end, false, nil
	}
	last := until
	if wrong.After(last) {
		last = wrong
	}
	const step = `SELECT e.made_at FROM entry AS e
		WHERE e.account_id = $1 AND e.id >= $2 AND e.id < $3 AND e.made_at >= $4 ORDER BY e.id LIMIT 1 OFFSET $5`
	args := []any{db.KeyOf(account), db.KeyOf(idAt(from)), db.KeyOf(idAt(last)), db.Micros(from), b.Step - 1}
	found, err := db.CollectLong(ctx, b.db, step, args,
		func(from db.Scanner) (at time.Time, err error) { return at, from.Scan(db.ScanTime(&at)) })
	if err != nil {
		return end, false, fmt.Errorf("reading the newest entries of account %s: %w", account, err)
	}
	if len(found) == 0 {
		return end, false, nil
	}
	if end = found[0]; end.Before(from.Add(time.Second)) { // so that there is an end to it, whatever the ids say
		end = from.Add(time.Second)
	}
	if end.After(until) {
		end = until
	}
	return end, true, nil
}

// idAt is the least id of an instant.
func idAt(at time.Time) guid.ID { return gift.IDsFrom(at.Add(time.Minute)) }
