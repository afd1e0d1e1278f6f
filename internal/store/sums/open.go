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

// begun is what moved in the beginning of a day that is open. It is in memory: a busy account would else read its
// entries of a whole day for every report. It never changes; what follows replaces it.
//
// An entry may still be written that is dated before its end: by a transaction that takes long, by a process whose
// clock is behind, or once a clock was set back. Such an entry is in a commit after position. So whoever uses a
// beginning looks first whether there is one: see overtaken.
type begun struct {
	day      books.Day
	until    time.Time // the end of the beginning
	position int64     // all commits up to it were there when the beginning was worked out
	flips    int64     // of imports, before it was worked out
	epoch    int       // before it was worked out: see openDays
	sums     books.Sums
}

// openDays are the beginnings that are known, by account.
type openDays struct {
	mu    sync.Mutex
	known map[guid.ID]*begun
	works map[guid.ID]*work         // that SumUp has begun
	lags  map[guid.ID]time.Duration // where it is not LeastLag
	asked map[guid.ID]time.Time     // when somebody asked about the open day last
	// epoch is how often all were forgotten: nothing of before is kept that is being worked out meanwhile.
	epoch int
}

// work is what follows a beginning, while SumUp works it out: some gifts at a time.
type work struct {
	next     *begun // has the end of the beginning until all is summed up
	end      time.Time
	position int64
	left     []guid.ID // gifts
}

const (
	step     = 500     // gifts that are summed up at a time
	worth    = 10      // entries are summed up once there is a tenth of a step of them
	mostWork = 400     // times as many entries are looked at together, as finding them means passing over others
	mostSums = 100_000 // that are in memory, of all accounts: some 30 MB
	mostLag  = books.Skew + 2*time.Minute
	lately   = time.Minute // whoever asked about an open day may do so again
)

// LeastLag is how long before its position was noted a beginning ends, so that hardly an entry overtakes it.
const LeastLag = time.Second / 2

// ask notes that somebody asks about the open day of an account.
func (o *openDays) ask(account guid.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asked == nil {
		o.asked = map[guid.ID]time.Time{}
	}
	o.asked[account] = time.Now()
}

// AskedLately are the accounts whose open day somebody asked about lately.
func (b *Books) AskedLately() []guid.ID {
	b.open.mu.Lock()
	defer b.open.mu.Unlock()
	maps.DeleteFunc(b.open.asked, func(_ guid.ID, at time.Time) bool { return time.Since(at) > lately })
	return slices.Collect(maps.Keys(b.open.asked))
}

// of is the beginning of an open day; nil: none is known, or an import has appeared or disappeared since.
func (o *openDays) of(account guid.ID, day books.Day, flips int64) *begun {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b := o.known[account]; b != nil && b.day == day && b.flips == flips {
		return b
	}
	return nil
}

// next is what follows the beginning that is known, or else the beginning that has nothing yet; lag is how long before
// its position was noted it has to end.
func (o *openDays) next(account guid.ID, day books.Day, flips int64) (next *begun, lag time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	next = &begun{day: day, until: day.From, flips: flips, epoch: o.epoch, sums: books.Sums{}}
	if b := o.known[account]; b != nil && b.day == day && b.flips == flips {
		next.until, next.position, next.sums = b.until, b.position, maps.Clone(b.sums)
	}
	return next, max(LeastLag, o.lags[account])
}

// under is the work that was begun of an open day; nil: none was.
func (o *openDays) under(account guid.ID, day books.Day, flips int64) *work {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w := o.works[account]; w != nil && w.next.day == day && w.next.flips == flips {
		return w
	}
	return nil
}

// begin notes the work that was begun for an account; nil: it has none any more.
func (o *openDays) begin(account guid.ID, w *work) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.works, account)
	if w != nil && w.next.epoch == o.epoch {
		if o.works == nil {
			o.works = map[guid.ID]*work{}
		}
		o.works[account] = w
	}
}

// overtaken forgets the beginning of an account that an entry came into, and has the next one end sooner.
func (o *openDays) overtaken(account guid.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.known, account)
	delete(o.works, account)
	if o.lags == nil {
		o.lags = map[guid.ID]time.Duration{}
	}
	o.lags[account] = min(2*max(LeastLag, o.lags[account]), mostLag)
}

// ForgetOpenDays forgets what SumUp has summed up of all accounts: where a clock was set back, or the database went
// back, other entries may follow. In a database that went back, other days may be closed as well.
func (b *Books) ForgetOpenDays() {
	b.months.forget()
	b.totals.forget()
	b.open.mu.Lock()
	defer b.open.mu.Unlock()
	b.open.known, b.open.works = nil, nil
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

// openDay is the first day of an account that is not closed: the one after the closed days, of which the newest is
// enough, or that of its first entry. ok is false where it has none.
func (b *Books) openDay(ctx context.Context, account *merchant.Account, days books.Days) (day books.Day, ok bool,
	err error) {
	if n := len(days); n > 0 {
		return days[n-1].Next(zoneOf(account)), true, nil
	}
	const first = `SELECT e.made_at FROM entry AS e WHERE e.account_id = $1 ORDER BY e.id LIMIT 1`
	found, err := db.CollectLong(ctx, b.db, nil, first, []any{db.KeyOf(account.ID)},
		func(from db.Scanner) (at time.Time, err error) {
			err = from.Scan(db.ScanTime(&at))
			return at, err
		})
	if err != nil {
		return day, false, fmt.Errorf("reading the first entry of account %s: %w", account.ID, err)
	}
	if len(found) == 0 {
		return day, false, nil
	}
	return books.DayOf(found[0].Add(-books.Skew), zoneOf(account)), true, nil
}

// eachOpen tells of what moved from an instant on and before another one, where no day is closed: of the beginning of
// the open day from memory, of the rest by entries.
func (b *Books) eachOpen(ctx context.Context, a *books.Asked, days books.Days, open opened, from, until time.Time,
	tell func(day int, k books.Key, s books.Sum) error) error {
	if until.After(open.day.From) {
		b.open.ask(a.Account.ID)
	}
	known, err := b.beginning(ctx, a.Account.ID, open, from, until)
	if err != nil {
		return err
	}
	rest := from
	if known != nil {
		rest = known.until
	}
	if err := b.checkMost(ctx, a, rest, days); err != nil {
		return err
	}
	if known == nil {
		return b.eachEntry(ctx, a, days, from, until, tell)
	}
	if len(days) > 0 { // else there is nothing before the open day
		if err := b.eachEntry(ctx, a, days, from, open.day.From, tell); err != nil {
			return err
		}
	}
	for k, s := range known.sums {
		if slices.Contains(a.Cubes, k.Cube) {
			if err := tell(open.day.Number, k, s); err != nil {
				return err
			}
		}
	}
	return b.eachEntry(ctx, a, days, known.until, until, tell)
}

// opened is the open day of an account, and what it was read with.
type opened struct {
	day      books.Day
	flips    int64                // of imports
	editions map[int]monthEdition // of the closed days before it
}

// beginning is the beginning of the open day, where it is known and belongs wholly to the time from an instant on and
// before another one; nil: it does not.
func (b *Books) beginning(ctx context.Context, account guid.ID, open opened, from, until time.Time) (*begun, error) {
	known := b.open.of(account, open.day, open.flips)
	if known == nil || from.After(open.day.From) || until.Before(known.until) {
		return nil, nil
	}
	if over, err := b.overtaken(ctx, account, known); err != nil || over {
		return nil, err
	}
	return known, nil
}

// overtaken reports whether an entry came into a beginning after it was worked out. It looks at the commits since, of a
// minute or two.
func (b *Books) overtaken(ctx context.Context, account guid.ID, known *begun) (bool, error) {
	const late = `SELECT count(*) FROM (SELECT 1 FROM event AS t
		WHERE t.account_id = $1 AND t.position > $2 AND t.made_at < $3 AND t.body = '' LIMIT 1) AS late`
	n := 0
	args := []any{db.KeyOf(account), known.position, db.Micros(known.until)}
	if err := b.db.GetLong(ctx, late, args, &n); err != nil {
		return false, fmt.Errorf("looking for late entries of account %s: %w", account, err)
	}
	return n > 0, nil
}

// SumUp sums up some more of the beginning of an account's open day, and keeps the sums in memory: of what is dated
// well before an instant at which a position was noted, up to which all is committed by now. more reports whether there
// is more to sum up; an account with few entries has none, nor has a day that ended so long ago that it is closed soon.
// Where the clock of the account was set back, wrong is what it had said: ids go on from there. It is called by one
// goroutine at a time.
func (b *Books) SumUp(ctx context.Context, account *merchant.Account, noted time.Time, position int64,
	wrong time.Time) (more bool, err error) {
	day, ok, err := b.NextDay(ctx, account)
	if err != nil || !ok || !day.Until.After(noted.Add(-mostLag)) {
		return false, err
	}
	flips, err := b.flips(ctx, account.ID)
	if err != nil {
		return false, err
	}
	w, err := b.workOn(ctx, account, day, flips, noted, position, wrong)
	if err != nil || w == nil {
		return false, err
	}
	months, err := b.closedMonths(ctx, account.ID, flips)
	if err != nil {
		return false, err
	}
	some := w.left[:min(b.Step, len(w.left))]
	err = b.eachOf(ctx, account, append(slices.Clip(months), day), some, w.next.until, w.end,
		func(t *books.Terms, m *books.Movement) error { w.next.sums.Move(t, m); return nil })
	if err != nil {
		b.open.begin(account.ID, nil) // half of it may be in the sums
		return false, err
	}
	if w.left = w.left[len(some):]; len(w.left) > 0 {
		return true, nil
	}
	w.next.until, w.next.position = w.end, w.position
	b.open.begin(account.ID, nil)
	b.open.put(account.ID, w.next)
	return b.open.of(account.ID, day, flips) == w.next, nil
}

// workOn is the work that was begun, or else what follows the beginning that is known; nil: there is too little to do.
func (b *Books) workOn(ctx context.Context, account *merchant.Account, day books.Day, flips int64, noted time.Time,
	position int64, wrong time.Time) (*work, error) {
	if known := b.open.of(account.ID, day, flips); known != nil {
		if over, err := b.overtaken(ctx, account.ID, known); err != nil {
			return nil, err
		} else if over {
			b.open.overtaken(account.ID)
		}
	}
	if w := b.open.under(account.ID, day, flips); w != nil {
		return w, nil
	}
	next, lag := b.open.next(account.ID, day, flips)
	until := noted.Add(-lag)
	if until.After(day.Until) {
		until = day.Until
	}
	end, ok, err := b.stepFrom(ctx, account.ID, next.until, until, wrong)
	if err != nil || !ok {
		return nil, err
	}
	before := idsOf(end)
	if wrong.After(end) {
		before = idsOf(wrong)
	}
	w := &work{next: next, end: end, position: position}
	of := ids{openIDs(next.until).after, before}
	if w.left, err = b.touched(ctx, account.ID, next.until, end, of); err != nil {
		return nil, err
	}
	b.open.begin(account.ID, w)
	return w, nil
}

// stepFrom is the instant up to which there are at most mostWork steps of entries from an instant on; ok is false where
// there is too little before until. See SumUp of a wrong clock.
func (b *Books) stepFrom(ctx context.Context, account guid.ID, from, until, wrong time.Time) (end time.Time, ok bool,
	err error) {
	if !from.Before(until) {
		return end, false, nil
	}
	last := until
	if wrong.After(last) {
		last = wrong
	}
	const nth = `SELECT e.made_at FROM entry AS e
		WHERE e.account_id = $1 AND e.id >= $2 AND e.id < $3 AND e.made_at >= $4 ORDER BY e.id LIMIT 1 OFFSET $5`
	least := max(1, b.Step/worth)
	for _, entries := range []int{least, mostWork * b.Step} {
		args := []any{db.KeyOf(account), db.KeyOf(gift.FirstID(from)), db.KeyOf(gift.FirstID(last)), db.Micros(from),
			entries - 1}
		found, err := db.CollectLong(ctx, b.db, nil, nth, args,
			func(from db.Scanner) (at time.Time, err error) { return at, from.Scan(db.ScanTime(&at)) })
		if err != nil {
			return end, false, fmt.Errorf("reading the newest entries of account %s: %w", account, err)
		}
		if len(found) == 0 {
			return until, entries > least, nil
		}
		end = found[0]
	}
	if end.Before(from.Add(time.Second)) { // so that there is an end to it, whatever the ids say
		end = from.Add(time.Second)
	}
	if end.After(until) {
		end = until
	}
	return end, true, nil
}
