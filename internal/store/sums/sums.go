// Package sums keeps the books of closed days: what moved in each, summed up, so that a report about years reads no
// entries of them. What package books works out of entries is the truth; the sums are only how fast it is told.
//
// # Invariants
//
//  1. The closed days of an account follow each other without a gap, from the day of its first entry.
//  2. A day and its sums are written in one transaction. Whoever closes a day that is closed changes nothing.
//  3. A day is closed only when no entry of it can follow: see package closing of jobs.
//  4. An import that appears or disappears in the past opens the days from then on again: Reopen, in the transaction
//     that has it appear. A day that was worked out while one did is not closed, and is not held against its sums.
//  5. What moved in a closed day is told from its sums, in any other time from the entries, and both are the same. So
//     what moved in most of a closed day is told from its sums less the entries of its rest: eachPart. The beginning
//     of the open day of a busy account is summed up in memory, and told as long as no entry came into it since: SumUp.
//     What closed months come to is kept in memory, too: see eachTotal.
package sums

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

// Books are the books of all accounts.
type Books struct {
	db         *db.DB
	MostOfOld  int // entries that are read at most where days are closed late
	Step       int // entries that SumUp sums up at a time
	MostTotals int // sums of closed months that are kept in memory
	open       openDays
	months     knownMonths
	totals     knownTotals
}

// New gives those of a database.
func New(d *db.DB) *Books {
	return &Books{db: d, MostOfOld: mostOfOld, Step: step, MostTotals: mostTotals}
}

const (
	selectDays = `SELECT d.day, d.starts_at, d.ends_at FROM book_day AS d
		WHERE d.account_id = $1 AND d.day > $2 ORDER BY d.day`
	selectNewest = `SELECT d.day, d.starts_at, d.ends_at FROM book_day AS d
		WHERE d.account_id = $1 ORDER BY d.day DESC LIMIT 1`
)

// ClosedDays are the closed days of an account.
func (b *Books) ClosedDays(ctx context.Context, account guid.ID) (books.Days, error) {
	return b.daysAfter(ctx, account, 0)
}

// daysAfter are the closed days of an account after one.
func (b *Books) daysAfter(ctx context.Context, account guid.ID, day int) (books.Days, error) {
	return b.days(ctx, account, selectDays, db.KeyOf(account), day)
}

// newestDay is the newest closed day of an account, or none.
func (b *Books) newestDay(ctx context.Context, account guid.ID) (books.Days, error) {
	return b.days(ctx, account, selectNewest, db.KeyOf(account))
}

func (b *Books) days(ctx context.Context, account guid.ID, query string, args ...any) (books.Days, error) {
	days, err := db.CollectLong(ctx, b.db, nil, query, args, func(from db.Scanner) (d books.Day, err error) {
		err = from.Scan(&d.Number, db.ScanTime(&d.From), db.ScanTime(&d.Until))
		return d, err
	})
	if err != nil {
		return nil, daysUnread(account, err)
	}
	return days, nil
}

func daysUnread(account guid.ID, err error) error {
	return fmt.Errorf("reading the closed days of account %s: %w", account, err)
}

// NextDay is the first day of an account that is not closed; ok is false where the account has no entry yet.
func (b *Books) NextDay(ctx context.Context, account *merchant.Account) (day books.Day, ok bool, err error) {
	newest, err := b.newestDay(ctx, account.ID)
	if err != nil {
		return day, false, err
	}
	return b.openDay(ctx, account, newest)
}

func zoneOf(a *merchant.Account) *time.Location {
	if zone := a.TimeZone(); zone != nil {
		return zone
	}
	return time.UTC
}

var (
	insertDay = &db.Query{What: "writing into book_day",
		Each: `INSERT INTO book_day (account_id, day, starts_at, ends_at, closed_at) VALUES ($1, $2, $3, $4, $5)`}
	insertSum = &db.Query{What: "writing into book_sum",
		Each: `INSERT INTO book_sum (account_id, cube, day, line, program_id, promotional, item, currency, decimals, sold,
				place, key_id, month, vat, vat_rate, entries, pieces, money, bonus)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
		Postgres: `INSERT INTO book_sum (account_id, cube, day, line, program_id, promotional, item, currency, decimals, sold,
				place, key_id, month, vat, vat_rate, entries, pieces, money, bonus)
			SELECT * FROM unnest($1::BYTEA[], $2::TEXT[], $3::BIGINT[], $4::TEXT[], $5::BYTEA[], $6::BOOLEAN[],
				$7::BOOLEAN[], $8::TEXT[], $9::BIGINT[], $10::BYTEA[], $11::BYTEA[], $12::BYTEA[], $13::BIGINT[],
				$14::TEXT[], $15::TEXT[], $16::BIGINT[], $17::BIGINT[], $18::BIGINT[], $19::BIGINT[])`}
	deleteSums = &db.Query{What: "deleting from book_sum",
		Each: `DELETE FROM book_sum
			WHERE account_id = $1 AND cube IN ('PLACES', 'MONTHS', 'KEYS', 'STOCK', 'IDLE') AND day = $2`}
	updateDay = &db.Query{What: "closing a day again", Exact: true,
		Each: `UPDATE book_day SET closed_at = CASE WHEN closed_at < $3 THEN $3 ELSE closed_at + 1 END
			WHERE account_id = $1 AND day = $2`}
)

// Queries are the queries that write; they have to be prepared.
func Queries() []*db.Query {
	return []*db.Query{insertDay, insertSum, deleteSums, updateDay, selectFlips}
}

// CloseDay sums up what moved in a day of an account and closes the day. Where somebody else has closed it, or an
// import appeared or disappeared meanwhile, nothing changes: closed is false.
func (b *Books) CloseDay(ctx context.Context, account *merchant.Account, day books.Day, now time.Time) (closed bool,
	err error) {
	d, err := b.DraftDay(ctx, account, day)
	if err != nil {
		return false, err
	}
	return b.CloseDraft(ctx, d, now)
}

// Draft is what a day comes to, before it is closed.
type Draft struct {
	account guid.ID
	day     books.Day
	sums    books.Sums
	flips   int64 // of imports, before it was worked out
}

// DraftDay sums up what moved in a day of an account that is not closed.
func (b *Books) DraftDay(ctx context.Context, account *merchant.Account, day books.Day) (d Draft, err error) {
	return b.draft(ctx, account, day, idsOf(day.Until), b.closedMonths)
}

// draft sums up what moved in a day, by the entries whose ids are before one and by the closed days that list gives.
func (b *Books) draft(ctx context.Context, account *merchant.Account, day books.Day, before guid.ID,
	list func(ctx context.Context, account guid.ID, flips int64) (books.Days, error)) (d Draft, err error) {
	d.account, d.day = account.ID, day
	if d.flips, err = b.flips(ctx, account.ID); err != nil {
		return d, err
	}
	days, err := list(ctx, account.ID, d.flips)
	if err == nil {
		d.sums, err = b.workOut(ctx, account, days, day, before)
	}
	return d, err
}

// CloseDraft closes a day, unless an import appeared or disappeared since it was worked out, or it is closed.
func (b *Books) CloseDraft(ctx context.Context, d Draft, now time.Time) (closed bool, err error) {
	opened := []any{db.KeyOf(d.account), d.day.Number, db.Micros(d.day.From), db.Micros(d.day.Until), db.Micros(now)}
	err = b.write(ctx, d, db.Batch{Query: insertDay, Rows: [][]any{opened}})
	if errors.Is(err, db.ErrOvertaken) || err != nil && b.db.Rejected(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("closing day %d of account %s: %w", d.day.Number, d.account, err)
	}
	return true, nil
}

// write writes the sums of a day after what comes first. It fails with db.ErrOvertaken where an import appeared or
// disappeared since the day was worked out.
func (b *Books) write(ctx context.Context, d Draft, first ...db.Batch) error {
	return b.db.Transact(ctx, func(run db.Runner) error {
		var flips int64
		err := run(ctx, append(first[:len(first):len(first)], rowsOf(d.account, d.day, d.sums),
			db.Batch{Query: selectFlips, Rows: [][]any{{db.KeyOf(d.account)}}, Scan: func(from db.Scanner) error {
				return from.Scan(&flips)
			}}))
		if err == nil && flips != d.flips {
			err = db.ErrOvertaken
		}
		return err
	})
}

// selectFlips gives how often gifts of imports appeared or disappeared.
var selectFlips = &db.Query{What: "reading flips of imports",
	Each: `SELECT CAST(coalesce(sum(m.flips), 0) AS BIGINT) FROM gift_import AS m WHERE m.account_id = $1`}

func (b *Books) flips(ctx context.Context, account guid.ID) (n int64, err error) {
	if err = b.db.GetLong(ctx, selectFlips.Each, []any{db.KeyOf(account)}, &n); err != nil {
		return 0, fmt.Errorf("reading the imports of account %s: %w", account, err)
	}
	return n, nil
}

// Hold keeps days from being closed until the transaction ends. Those that are being closed are closed first.
func Hold(ctx context.Context, d *db.DB, tx *sql.Tx) error {
	if d.File != "" { // one writes at a time
		return nil
	}
	_, err := tx.ExecContext(ctx, `LOCK TABLE book_day IN SHARE ROW EXCLUSIVE MODE`)
	return err
}

// Reopen opens the days of an account again that end after an instant.
func Reopen(ctx context.Context, tx *sql.Tx, account guid.ID, from time.Time) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM book_sum WHERE account_id = $1 AND cube IN ('PLACES', 'MONTHS', 'KEYS', 'STOCK', 'IDLE')
		AND day IN (SELECT d.day FROM book_day AS d WHERE d.account_id = $1 AND d.ends_at > $2)`, db.KeyOf(account),
		db.Micros(from))
	if err == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM book_day WHERE account_id = $1 AND ends_at > $2`, db.KeyOf(account),
			db.Micros(from))
	}
	return err
}

// CloseDayAgain puts what its entries say in the place of the sums of a closed day, whatever ids they have.
func (b *Books) CloseDayAgain(ctx context.Context, account *merchant.Account, day books.Day, now time.Time) error {
	all := func(ctx context.Context, account guid.ID, _ int64) (books.Days, error) {
		return b.ClosedDays(ctx, account)
	}
	for {
		d, err := b.draft(ctx, account, day, lastID, all)
		if err == nil {
			err = b.CloseDraftAgain(ctx, d, now)
		}
		if !errors.Is(err, db.ErrOvertaken) {
			return err
		}
	}
}

// CloseDraftAgain puts a draft in the place of the sums of a closed day. It fails with db.ErrOvertaken where an import
// appeared or disappeared since the day was worked out.
func (b *Books) CloseDraftAgain(ctx context.Context, d Draft, now time.Time) error {
	of := []any{db.KeyOf(d.account), d.day.Number}
	err := b.write(ctx, d, db.Batch{Query: updateDay, Rows: [][]any{append(of[:2:2], db.Micros(now))}},
		db.Batch{Query: deleteSums, Rows: [][]any{of}})
	if err != nil {
		return fmt.Errorf("closing day %d of account %s again: %w", d.day.Number, d.account, err)
	}
	return nil
}

// workOut sums up what the entries whose ids are before one say of a day, where the closed days are known.
func (b *Books) workOut(ctx context.Context, account *merchant.Account, days books.Days, day books.Day,
	before guid.ID) (books.Sums, error) {
	for len(days) > 0 && !days[len(days)-1].From.Before(day.From) { // so that a day comes out as it did when it was open
		days = days[:len(days)-1]
	}
	sums := books.Sums{}
	of := ids{idsFrom(day.From), before}
	err := b.eachMovement(ctx, account, append(days[:len(days):len(days)], day), day.From, day.Until, of,
		func(t *books.Terms, m *books.Movement) error { sums.Move(t, m); return nil })
	return sums, err
}

// CheckDays works out the newest closed days of an account again, so many, and tells found of those that differ.
func (b *Books) CheckDays(ctx context.Context, account *merchant.Account, newest int,
	found func(problem string)) error {
	days, err := b.ClosedDays(ctx, account.ID)
	if err != nil {
		return err
	}
	all := days
	days = days[max(0, len(days)-newest):]
	late, err := b.late(ctx, account.ID, days)
	if err != nil {
		return err
	}
	for n, day := range days {
		if n > 0 && !day.From.Equal(days[n-1].Until) {
			found(fmt.Sprintf("account %s: closed day %d does not begin where day %d ended", account.ID, day.Number,
				days[n-1].Number))
		}
		before := idsOf(day.Until)
		if late[day.Number] {
			before = lastID
		}
		right, err := b.checkDay(ctx, account, all[:len(all)-len(days)+n], day, before)
		if err != nil {
			return err
		}
		if !right {
			found(fmt.Sprintf("account %s: the sums of closed day %d are not what its entries say", account.ID, day.Number))
		}
	}
	return nil
}

// late are the days that have an entry with an id after those that are looked at when a day is closed.
func (b *Books) late(ctx context.Context, account guid.ID, days books.Days) (late map[int]bool, err error) {
	if len(days) == 0 {
		return nil, nil
	}
	late = map[int]bool{}
	err = b.eachID(ctx, account, ids{gift.IDsFrom(days[0].From), lastID}, func(e *mark) {
		if day, ok := days.Of(e.at); ok {
			if end := idsOf(day.Until); bytes.Compare(e.id[:], end[:]) >= 0 {
				late[day.Number] = true
			}
		}
	})
	return late, err
}

// checkDay reports whether the sums of a day are what the entries whose ids are before one say of it. It looks again
// where the day was opened or closed meanwhile. A day that is open has no sums. The days before it are read again only
// where it looks again: they are many.
func (b *Books) checkDay(ctx context.Context, account *merchant.Account, days books.Days, day books.Day,
	before guid.ID) (right bool, err error) {
	if right, err := b.isRight(ctx, account, days, day, before); right || err != nil {
		return right, err
	}
	for {
		was, err := b.edition(ctx, account.ID, day)
		if err != nil || was == (edition{}) {
			return true, err
		}
		if days, err = b.ClosedDays(ctx, account.ID); err != nil {
			return false, err
		}
		if right, err := b.isRight(ctx, account, days, day, before); right || err != nil {
			return right, err
		}
		if after, err := b.edition(ctx, account.ID, day); err != nil || after == was {
			return false, err
		}
	}
}

// isRight compares the sums of a day with what the entries say, where the closed days are known.
func (b *Books) isRight(ctx context.Context, account *merchant.Account, days books.Days, day books.Day,
	before guid.ID) (bool, error) {
	is, err := b.workOut(ctx, account, days, day, before)
	if err != nil {
		return false, err
	}
	noted := books.Sums{}
	for _, cube := range books.Cubes() {
		err := b.eachSum(ctx, account.ID, cube, day.Number, day.Number,
			func(_ int, k books.Key, s books.Sum) error { noted[k] = s; return nil })
		if err != nil {
			return false, err
		}
	}
	return maps.Equal(is, noted), nil
}

// edition tells two closings of a day apart. The zero value: the day is not closed.
type edition struct{ closedAt, flips int64 }

const selectEdition = `SELECT d.closed_at,
		CAST((SELECT coalesce(sum(m.flips), 0) FROM gift_import AS m WHERE m.account_id = $1) AS BIGINT)
	FROM book_day AS d WHERE d.account_id = $1 AND d.day = $2`

func (b *Books) edition(ctx context.Context, account guid.ID, day books.Day) (e edition, err error) {
	err = b.db.GetLong(ctx, selectEdition, []any{db.KeyOf(account), day.Number}, &e.closedAt, &e.flips)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return e, fmt.Errorf("reading when day %d of account %s was closed: %w", day.Number, account, err)
	}
	return e, nil
}

func rowsOf(account guid.ID, day books.Day, sums books.Sums) db.Batch {
	w := db.Batch{Query: insertSum}
	for _, k := range sums.Sorted() {
		s := sums[k]
		w.Rows = append(w.Rows, []any{db.KeyOf(account), string(k.Cube), int64(day.Number), k.Line, db.KeyOf(k.ProgramID),
			k.Promotional, k.Item, k.Currency.Code, int64(k.Currency.Decimals), db.KeyOf(k.Sold), db.KeyOf(k.Place),
			db.KeyOf(k.KeyID), int64(k.Month), string(k.VAT.Treatment), string(k.VAT.Rate), s.Count,
			int64(s.Pieces), int64(s.Money), int64(s.Bonus)})
	}
	return w
}

// selectSums gives the sums of each day from $3 to $4.
const selectSums = `SELECT s.day, s.cube, s.line, s.program_id, s.promotional, s.item, s.currency, s.decimals, s.sold,
		s.place, s.key_id, s.month, s.vat, s.vat_rate, s.entries, s.pieces, s.money, s.bonus
	FROM book_sum AS s
	WHERE s.account_id = $1 AND s.cube = $2 AND s.day >= $3 AND s.day <= $4`

// eachSum tells of the sums of closed days, one after the other as they are read. Reading begins again when a
// connection is lost, as long as nothing was told.
func (b *Books) eachSum(ctx context.Context, account guid.ID, cube books.Cube, first, last int,
	tell func(day int, k books.Key, s books.Sum) error) error {
	var late error // once something was told
	err := b.db.RetryLong(ctx, func(ctx context.Context) error {
		told := false
		err := db.Each(ctx, b.db.Readers, selectSums, []any{db.KeyOf(account), string(cube), first, last},
			func(rows *sql.Rows) error {
				var day int
				var k books.Key
				var s books.Sum
				err := rows.Scan(&day, &k.Cube, &k.Line, db.ScanID(&k.ProgramID), &k.Promotional, &k.Item, &k.Currency.Code,
					&k.Currency.Decimals, db.ScanID(&k.Sold), db.ScanID(&k.Place), db.ScanID(&k.KeyID), &k.Month,
					&k.VAT.Treatment, &k.VAT.Rate, &s.Count, &s.Pieces, &s.Money,
					&s.Bonus)
				if err != nil {
					return err
				}
				told = true
				return tell(day, k, s)
			})
		if told {
			late, err = err, nil
		}
		return err
	})
	if err = errors.Join(err, late); err != nil {
		return fmt.Errorf("reading the sums of closed days of account %s: %w", account, err)
	}
	return nil
}

// EachMoved tells of what moved: of closed days by their sums, of what is before and after them by entries. The same
// key may be told of several times. An error of tell ends it. Where too much is not closed yet, the error is a
// books.Behind; likewise where gifts of an import appeared meanwhile.
func (b *Books) EachMoved(ctx context.Context, a *books.Asked,
	tell func(day int, k books.Key, s books.Sum) error) error {
	before, err := b.flips(ctx, a.Account.ID)
	if err != nil {
		return err
	}
	if err := b.eachMoved(ctx, a, before, tell); err != nil {
		return err
	}
	after, err := b.flips(ctx, a.Account.ID)
	if err == nil && after != before { // days that were closed are open again
		err = &books.Behind{}
	}
	return err
}

func (b *Books) eachMoved(ctx context.Context, a *books.Asked, flips int64,
	tell func(day int, k books.Key, s books.Sum) error) error {
	days, editions, err := b.closed(ctx, a.Account.ID, flips)
	if err != nil {
		return err
	}
	day, any, err := b.openDay(ctx, a.Account, days)
	if err != nil || !any || len(days) == 0 && !a.Until.After(day.From) { // nothing is before the first day
		return err
	}
	if err := b.checkBehind(ctx, a, days, day); err != nil {
		return err
	}
	from, until := a.From, a.Until
	if part, ok := days.Of(from); ok && from.After(part.From) {
		end := part.Until
		if until.Before(end) {
			end = until
		}
		if err := b.eachPart(ctx, a, days, part, from, end, tell); err != nil {
			return err
		}
		from = end
	}
	if part, ok := days.Of(until); ok && until.After(part.From) && until.After(from) { // from is not within it any more
		if err := b.checkMost(ctx, a, part.From, days); err != nil {
			return err
		}
		if err := b.eachPart(ctx, a, days, part, part.From, until, tell); err != nil {
			return err
		}
		until = part.From
	}
	return b.eachWhole(ctx, a, days, opened{day, flips, editions}, from, until, tell)
}

// eachWhole is eachMoved from an instant on and before another one, neither of which is within a closed day.
func (b *Books) eachWhole(ctx context.Context, a *books.Asked, days books.Days, open opened, from, until time.Time,
	tell func(day int, k books.Key, s books.Sum) error) error {
	whole := days.Within(from, until)
	if len(whole) == 0 {
		return b.eachOpen(ctx, a, days, open, from, until, tell)
	}
	for _, cube := range a.Cubes {
		var err error
		if a.ByDay {
			err = b.eachOfDays(ctx, a.Account.ID, cube, whole, tell)
		} else {
			err = b.eachTotal(ctx, a.Account.ID, open.editions, cube, whole, tell)
		}
		if err != nil {
			return err
		}
	}
	return b.eachOpen(ctx, a, days, open, whole[len(whole)-1].Until, until, tell)
}

// eachOfDays tells of what moved in closed days that follow each other, of a cube, day by day. It makes room for tills
// after each month.
func (b *Books) eachOfDays(ctx context.Context, account guid.ID, cube books.Cube, whole books.Days,
	tell func(day int, k books.Key, s books.Sum) error) error {
	for month := range whole.ByMonth() {
		begun := time.Now()
		err := b.eachSum(ctx, account, cube, month[0].Number, month[len(month)-1].Number, tell)
		if err != nil {
			return err
		}
		b.rest(ctx, time.Since(begun))
	}
	return nil
}

// eachPart tells of what moved in a part of a closed day: by its entries, or where the part is more than half of the
// day, by the sums of the day less the entries of the rest. So it reads the entries of half a day at most.
func (b *Books) eachPart(ctx context.Context, a *books.Asked, days books.Days, day books.Day, from, until time.Time,
	tell func(day int, k books.Key, s books.Sum) error) error {
	if until.Sub(from) <= day.Until.Sub(day.From)/2 {
		return b.eachEntry(ctx, a, days, from, until, tell)
	}
	left := books.Sums{} // what is of the rest alone comes to nothing, and is not told
	for _, cube := range a.Cubes {
		err := b.eachSum(ctx, a.Account.ID, cube, day.Number, day.Number,
			func(_ int, k books.Key, s books.Sum) error { left.Add(k, s); return nil })
		if err != nil {
			return err
		}
	}
	for _, rest := range [][2]time.Time{{day.From, from}, {until, day.Until}} {
		err := b.eachEntry(ctx, a, days, rest[0], rest[1], func(_ int, k books.Key, s books.Sum) error {
			left.Add(k, s.Minus())
			return nil
		})
		if err != nil {
			return err
		}
	}
	for k, s := range left {
		if err := tell(day.Number, k, s); err != nil {
			return err
		}
	}
	return nil
}

// eachEntry tells of what moved in a part of the time that is asked for, by entries.
func (b *Books) eachEntry(ctx context.Context, a *books.Asked, days books.Days, from, until time.Time,
	tell func(day int, k books.Key, s books.Sum) error) error {
	if !until.After(from) {
		return nil
	}
	of := idsIn(from, until)
	if n := len(days); n == 0 || until.After(days[n-1].Until) {
		of = openIDs(from)
	}
	zone := zoneOf(a.Account)
	byDay := map[int]books.Sums{}
	err := b.eachMovement(ctx, a.Account, days, from, until, of, func(t *books.Terms, m *books.Movement) error {
		day := days.Number(m.At, zone)
		if byDay[day] == nil {
			byDay[day] = books.Sums{}
		}
		byDay[day].MoveIn(a.Cubes, t, m)
		return nil
	})
	if err != nil {
		return err
	}
	for day, sums := range byDay {
		for k, s := range sums {
			if err := tell(day, k, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// Days are closed within some minutes after their end. When the newest closed day ended longer ago than onTime, as
// after an upgrade, so many entries are read at most.
const (
	onTime    = 48 * time.Hour
	mostOfOld = 200_000
)

// checkBehind refuses to read a long time by its entries that is not closed yet: it may be the whole history of an
// account.
func (b *Books) checkBehind(ctx context.Context, a *books.Asked, days books.Days, open books.Day) error {
	from, closed := a.From, 0
	if n := len(days); n > 0 {
		closed = days[n-1].Number
	}
	if from.Before(open.From) {
		from = open.From
	}
	if a.Until.Sub(from) <= onTime {
		return nil
	}
	return b.checkEntries(ctx, a, from, closed, b.MostOfOld)
}

// checkMost refuses to read more entries one by one from an instant on than whoever asks allows.
func (b *Books) checkMost(ctx context.Context, a *books.Asked, from time.Time, days books.Days) error {
	if a.Most == 0 {
		return nil
	}
	closed := 0
	if n := len(days); n > 0 {
		closed = days[n-1].Number
	}
	return b.checkEntries(ctx, a, from, closed, a.Most)
}

// checkEntries refuses where an account has more entries from an instant on than so many.
func (b *Books) checkEntries(ctx context.Context, a *books.Asked, from time.Time, closed, most int) error {
	const count = `SELECT count(*) FROM (SELECT 1 FROM entry AS e
		WHERE e.account_id = $1 AND e.id > $2 AND e.id < $3 LIMIT $4) AS open`
	n := 0
	args := []any{db.KeyOf(a.Account.ID), db.KeyOf(idsFrom(from)), db.KeyOf(gift.IDsBefore(a.Until)), most + 1}
	if err := b.db.GetLong(ctx, count, args, &n); err != nil {
		return fmt.Errorf("counting the entries of account %s that are not closed: %w", a.Account.ID, err)
	}
	if n > most {
		return &books.Behind{Closed: closed}
	}
	return nil
}
