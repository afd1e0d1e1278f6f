package sums

import (
	"context"
	"sync"
	"time"

	"boon.example/internal/base/nice"
	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// What a report says of years comes from the sums of hundreds of closed days. Whoever asks for one asks for others, and
// again tomorrow. So what a month comes to is kept in memory, and a report reads only what is not kept. This spares
// tills more than it spares whoever reads the report: to sum up the days of a year within the embedded database takes
// a tenth of a second, in which a core is taken from them without a pause.
//
//  1. What is kept of a month is what its closed days came to in one edition. It is told only while the edition is the
//     same.
//  2. The edition is read before the sums are. So sums of after a change may be kept under the edition of before it.
//     Nobody else is told them: the next report finds another edition, and reads them once more. Sums of before are
//     never kept under the edition of after.
//  3. Every change of the sums of closed days changes the edition: a day that is closed is one more; a day that is
//     closed again has a later closed_at; an import that opens days again is one more flip.
//  4. A month of which not all closed days are asked for is not told from memory, nor kept.

// monthEdition says which closing of the days of a month its sums are of.
type monthEdition struct {
	flips    int64 // of imports
	days     int   // that are closed
	last     int   // of them
	closedAt int64 // all of them added up: a day that is closed again has a later one
}

// closedDay is a closed day, and when it was closed last.
type closedDay struct {
	books.Day
	closedAt int64
}

const selectClosed = `SELECT d.day, d.starts_at, d.ends_at, d.closed_at FROM book_day AS d
	WHERE d.account_id = $1 ORDER BY d.day`

// closed are the closed days of an account, and the editions of its months by their numbers, as 202611.
func (b *Books) closed(ctx context.Context, account guid.ID, flips int64) (books.Days, map[int]monthEdition, error) {
	all, err := db.CollectLong(ctx, b.db, nil, selectClosed, []any{db.KeyOf(account)},
		func(from db.Scanner) (d closedDay, err error) {
			return d, from.Scan(&d.Number, db.ScanTime(&d.From), db.ScanTime(&d.Until), &d.closedAt)
		})
	if err != nil {
		return nil, nil, daysUnread(account, err)
	}
	days, editions := make(books.Days, len(all)), map[int]monthEdition{}
	for n, d := range all {
		days[n] = d.Day
		e := editions[d.Number/100]
		editions[d.Number/100] = monthEdition{flips, e.days + 1, d.Number, e.closedAt + d.closedAt}
	}
	return days, editions, nil
}

// keyed is a sum with its key.
type keyed struct {
	books.Key
	books.Sum
}

// monthCube is a cube of a month.
type monthCube struct {
	month int
	cube  books.Cube
}

// total is what is kept of a cube of a month.
type total struct {
	edition monthEdition
	sums    []keyed
}

// accountTotals are the totals of an account.
type accountTotals struct {
	totals map[monthCube]total
	size   int // sums in them
	used   time.Time
}

// knownTotals are the totals that are known, by account.
type knownTotals struct {
	mu    sync.Mutex
	all   map[guid.ID]*accountTotals
	size  int // sums of all accounts
	epoch int // how often all were forgotten: nothing of before is kept that is being read meanwhile
}

// mostTotals is how many sums are kept of all accounts, in some 30 MB. No account has more than half of them.
const (
	mostTotals  = 100_000
	partOfMonth = 20 // of them are the most of one cube of a month: an account with more would not have a year kept
)

// of is what is kept of a cube of a month, in an edition.
func (k *knownTotals) of(account guid.ID, c monthCube, e monthEdition) (sums []keyed, ok bool, epoch int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.all[account]
	if a == nil {
		return nil, false, k.epoch
	}
	a.used = time.Now()
	t, ok := a.totals[c]
	if !ok || t.edition != e {
		return nil, false, k.epoch
	}
	return t.sums, true, k.epoch
}

// put keeps a cube of a month, of an epoch. What was used least lately makes room.
func (k *knownTotals) put(account guid.ID, c monthCube, t total, most, epoch int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if epoch != k.epoch {
		return
	}
	a := k.all[account]
	if a == nil {
		a = &accountTotals{totals: map[monthCube]total{}}
	}
	more := len(t.sums) - len(a.totals[c].sums)
	if a.size+more > most/2 {
		return
	}
	if k.all == nil {
		k.all = map[guid.ID]*accountTotals{}
	}
	k.all[account] = a
	a.totals[c], a.used = t, time.Now()
	a.size, k.size = a.size+more, k.size+more
	for k.size > most {
		var oldest guid.ID
		for id, other := range k.all {
			if id != account && (oldest == guid.ID{} || other.used.Before(k.all[oldest].used)) {
				oldest = id
			}
		}
		k.size -= k.all[oldest].size
		delete(k.all, oldest)
	}
}

func (k *knownTotals) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all, k.size = nil, 0
	k.epoch++
}

// eachTotal tells of what moved in closed days that follow each other, of a cube, without saying on which day.
func (b *Books) eachTotal(ctx context.Context, account guid.ID, editions map[int]monthEdition, cube books.Cube,
	whole books.Days, tell func(day int, k books.Key, s books.Sum) error) error {
	for days := range whole.ByMonth() {
		month, first, last := days[0].Number/100, days[0].Number, days[len(days)-1].Number
		var err error
		if e := editions[month]; len(days) == e.days {
			err = b.eachOfMonth(ctx, account, monthCube{month, cube}, e, first, tell)
		} else {
			err = b.eachSum(ctx, account, cube, first, last,
				func(_ int, k books.Key, s books.Sum) error { return tell(0, k, s) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachOfMonth tells of what moved in the closed days of a month: from memory, or else of what is read and then kept.
func (b *Books) eachOfMonth(ctx context.Context, account guid.ID, c monthCube, e monthEdition, first int,
	tell func(day int, k books.Key, s books.Sum) error) error {
	sums, known, epoch := b.totals.of(account, c, e)
	if !known {
		read, err := b.readMonth(ctx, account, c.cube, first, e.last, tell)
		if err != nil || read == nil {
			return err
		}
		sums = make([]keyed, 0, len(read))
		for k, s := range read {
			sums = append(sums, keyed{k, s})
		}
		b.totals.put(account, c, total{e, sums}, b.MostTotals, epoch)
	}
	rest := nice.Resting(ctx)
	for n := range sums {
		rest()
		if err := tell(0, sums[n].Key, sums[n].Sum); err != nil {
			return err
		}
	}
	return nil
}

// readMonth adds up the days of a month. A month of more sums than are kept takes no memory: it is told at once, and
// the answer is nil.
func (b *Books) readMonth(ctx context.Context, account guid.ID, cube books.Cube, first, last int,
	tell func(day int, k books.Key, s books.Sum) error) (books.Sums, error) {
	read := books.Sums{}
	err := b.eachSum(ctx, account, cube, first, last, func(_ int, k books.Key, s books.Sum) error {
		if read == nil {
			return tell(0, k, s)
		}
		read.Add(k, s)
		if len(read) <= b.MostTotals/partOfMonth {
			return nil
		}
		for k, s := range read {
			if err := tell(0, k, s); err != nil {
				return err
			}
		}
		read = nil
		return nil
	})
	return read, err
}
