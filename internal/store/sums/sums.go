// Package sums keeps the books of closed days: what moved in each, summed up, so that a report about years reads no
// entries of them. What package books works out of entries is the truth; the sums are only how fast it is told.
//
// # Invariants
//
//  1. The closed days of an account follow each other without a gap, from the day of its first entry.
//  2. A day and its sums are written in one transaction. Whoever closes a day that is closed changes nothing.
//  3. A day is closed only when no entry of it can follow: see package closing of jobs.
//  4. What moved in a closed day is told from its sums, in any other time from the entries, and both are the same.
package sums

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

// Books are the books of all accounts.
type Books struct{ db *db.DB }

// New gives those of a database.
func New(d *db.DB) *Books { return &Books{d} }

const selectDays = `SELECT d.day, d.starts_at, d.ends_at FROM book_day AS d WHERE d.account_id = $1 ORDER BY d.day`

// ClosedDays are the closed days of an account.
func (b *Books) ClosedDays(ctx context.Context, account guid.ID) (books.Days, error) {
	days, err := db.Collect(ctx, b.db, selectDays, []any{db.KeyOf(account)},
		func(from db.Scanner) (d books.Day, err error) {
			err = from.Scan(&d.Number, db.ScanTime(&d.From), db.ScanTime(&d.Until))
			return d, err
		})
	if err != nil {
		return nil, fmt.Errorf("reading the closed days of account %s: %w", account, err)
	}
	return days, nil
}

// early is how much earlier than the first entry, by its id, an entry may have been made.
const early = 10 * time.Minute

// NextDay is the first day of an account that is not closed; ok is false where the account has no entry yet.
func (b *Books) NextDay(ctx context.Context, account *merchant.Account) (day books.Day, ok bool, err error) {
	days, err := b.ClosedDays(ctx, account.ID)
	if err != nil {
		return day, false, err
	}
	if n := len(days); n > 0 {
		return days[n-1].Next(zoneOf(account)), true, nil
	}
	const first = `SELECT e.made_at FROM entry AS e WHERE e.account_id = $1 ORDER BY e.id LIMIT 1`
	found, err := db.Collect(ctx, b.db, first, []any{db.KeyOf(account.ID)},
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
	return books.DayOf(found[0].Add(-early), zoneOf(account)), true, nil
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
				place, key_id, month, vat, vat_rate, entries, pieces, money)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		Postgres: `INSERT INTO book_sum (account_id, cube, day, line, program_id, promotional, item, currency, decimals, sold,
				place, key_id, month, vat, vat_rate, entries, pieces, money)
			SELECT * FROM unnest($1::BYTEA[], $2::TEXT[], $3::BIGINT[], $4::TEXT[], $5::BYTEA[], $6::BOOLEAN[],
				$7::BOOLEAN[], $8::TEXT[], $9::BIGINT[], $10::BYTEA[], $11::BYTEA[], $12::BYTEA[], $13::BIGINT[],
				$14::TEXT[], $15::TEXT[], $16::BIGINT[], $17::BIGINT[], $18::BIGINT[])`}
	deleteSums = &db.Query{What: "deleting from book_sum",
		Each: `DELETE FROM book_sum
			WHERE account_id = $1 AND cube IN ('PLACES', 'MONTHS', 'KEYS', 'STOCK', 'IDLE') AND day = $2`}
	updateDay = &db.Query{What: "closing a day again", Exact: true,
		Each: `UPDATE book_day SET closed_at = $3 WHERE account_id = $1 AND day = $2`}
)

// Queries are the queries that write; they have to be prepared.
func Queries() []*db.Query { return []*db.Query{insertDay, insertSum, deleteSums, updateDay} }

// CloseDay sums up what moved in a day of an account and closes the day. Where it is closed, nothing changes.
func (b *Books) CloseDay(ctx context.Context, account *merchant.Account, day books.Day, now time.Time) error {
	sums, err := b.workOut(ctx, account, day)
	if err != nil {
		return err
	}
	opened := []any{db.KeyOf(account.ID), day.Number, db.Micros(day.From), db.Micros(day.Until), db.Micros(now)}
	err = b.db.Transact(ctx, func(run db.Runner) error {
		return run(ctx, []db.Batch{{Query: insertDay, Rows: [][]any{opened}}, rowsOf(account.ID, day, sums)})
	})
	if err != nil && !b.db.Rejected(err) { // else somebody else has closed it
		return fmt.Errorf("closing day %d of account %s: %w", day.Number, account.ID, err)
	}
	return nil
}

// CloseDayAgain puts what its entries say in the place of the sums of a closed day.
func (b *Books) CloseDayAgain(ctx context.Context, account *merchant.Account, day books.Day, now time.Time) error {
	sums, err := b.workOut(ctx, account, day)
	if err != nil {
		return err
	}
	of := []any{db.KeyOf(account.ID), day.Number}
	err = b.db.Transact(ctx, func(run db.Runner) error {
		return run(ctx, []db.Batch{{Query: updateDay, Rows: [][]any{append(of[:2:2], db.Micros(now))}},
			{Query: deleteSums, Rows: [][]any{of}}, rowsOf(account.ID, day, sums)})
	})
	if err != nil {
		return fmt.Errorf("closing day %d of account %s again: %w", day.Number, account.ID, err)
	}
	return nil
}

// workOut sums up what the entries say of a day.
func (b *Books) workOut(ctx context.Context, account *merchant.Account, day books.Day) (books.Sums, error) {
	days, err := b.ClosedDays(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	for len(days) > 0 && !days[len(days)-1].From.Before(day.From) { // so that a day comes out as it did when it was open
		days = days[:len(days)-1]
	}
	sums := books.Sums{}
	err = b.eachMovement(ctx, account, append(days, day), day.From, day.Until, sums.Move)
	return sums, err
}

// CheckDays works out each closed day of an account again and tells found of those that differ.
func (b *Books) CheckDays(ctx context.Context, account *merchant.Account, found func(problem string)) error {
	days, err := b.ClosedDays(ctx, account.ID)
	if err != nil {
		return err
	}
	for n, day := range days {
		if n > 0 && !day.From.Equal(days[n-1].Until) {
			found(fmt.Sprintf("account %s: closed day %d does not begin where day %d ended", account.ID, day.Number,
				days[n-1].Number))
		}
		is, err := b.workOut(ctx, account, day)
		if err != nil {
			return err
		}
		noted := books.Sums{}
		for _, cube := range books.Cubes() {
			err := b.eachSum(ctx, selectSums, account.ID, cube, day.Number, day.Number,
				func(_ int, k books.Key, s books.Sum) { noted[k] = s })
			if err != nil {
				return err
			}
		}
		if !maps.Equal(is, noted) {
			found(fmt.Sprintf("account %s: the sums of closed day %d are not what its entries say", account.ID, day.Number))
		}
	}
	return nil
}

func rowsOf(account guid.ID, day books.Day, sums books.Sums) db.Batch {
	w := db.Batch{Query: insertSum}
	for _, k := range sums.Sorted() {
		s := sums[k]
		w.Rows = append(w.Rows, []any{db.KeyOf(account), string(k.Cube), int64(day.Number), k.Line, db.KeyOf(k.ProgramID),
			k.Promotional, k.Item, k.Currency.Code, int64(k.Currency.Decimals), db.KeyOf(k.Sold), db.KeyOf(k.Place),
			db.KeyOf(k.KeyID), int64(k.Month), string(k.VAT.Treatment), string(k.VAT.Rate), s.Count,
			int64(s.Pieces), int64(s.Money)})
	}
	return w
}

// The sums of days from $3 to $4: of each day by itself, and of all together.
const (
	selectSums = `SELECT s.day, s.cube, s.line, s.program_id, s.promotional, s.item, s.currency, s.decimals, s.sold,
			s.place, s.key_id, s.month, s.vat, s.vat_rate, s.entries, s.pieces, s.money
		FROM book_sum AS s
		WHERE s.account_id = $1 AND s.cube = $2 AND s.day >= $3 AND s.day <= $4`
	selectTotals = `SELECT 0, s.cube, s.line, s.program_id, s.promotional, s.item, s.currency, s.decimals, s.sold,
			s.place, s.key_id, s.month, s.vat, s.vat_rate, CAST(sum(s.entries) AS BIGINT),
			CAST(sum(s.pieces) AS BIGINT), CAST(sum(s.money) AS BIGINT)
		FROM book_sum AS s
		WHERE s.account_id = $1 AND s.cube = $2 AND s.day >= $3 AND s.day <= $4
		GROUP BY s.cube, s.line, s.program_id, s.promotional, s.item, s.currency, s.decimals, s.sold, s.place, s.key_id,
			s.month, s.vat, s.vat_rate`
)

// eachSum tells of the sums of closed days; of selectTotals, the day is 0.
func (b *Books) eachSum(ctx context.Context, query string, account guid.ID, cube books.Cube, first, last int,
	tell func(day int, k books.Key, s books.Sum)) error {
	type row struct {
		day int
		k   books.Key
		s   books.Sum
	}
	rows, err := db.Collect(ctx, b.db, query, []any{db.KeyOf(account), string(cube), first, last},
		func(from db.Scanner) (r row, err error) {
			k := &r.k
			err = from.Scan(&r.day, &k.Cube, &k.Line, db.ScanID(&k.ProgramID), &k.Promotional, &k.Item, &k.Currency.Code,
				&k.Currency.Decimals, db.ScanID(&k.Sold), db.ScanID(&k.Place), db.ScanID(&k.KeyID), &k.Month, &k.VAT.Treatment,
				&k.VAT.Rate, &r.s.Count, &r.s.Pieces, &r.s.Money)
			return r, err
		})
	if err != nil {
		return fmt.Errorf("reading the sums of closed days of account %s: %w", account, err)
	}
	for _, r := range rows {
		tell(r.day, r.k, r.s)
	}
	return nil
}

// Moved sums up in some cubes what moved in an account from an instant on and before another one; from the zero time,
// since its first entry.
func (b *Books) Moved(ctx context.Context, account *merchant.Account, from, until time.Time, cubes ...books.Cube) (
	books.Sums, error) {
	sums := books.Sums{}
	err := b.read(ctx, account, cubes, from, until, selectTotals,
		func(_ int, k books.Key, s books.Sum) { sums.Add(k, s) })
	return sums, err
}

// MovedByDay is Moved for each day, by its number.
func (b *Books) MovedByDay(ctx context.Context, account *merchant.Account, from, until time.Time,
	cubes ...books.Cube) (map[int]books.Sums, error) {
	days := map[int]books.Sums{}
	err := b.read(ctx, account, cubes, from, until, selectSums, func(day int, k books.Key, s books.Sum) {
		if days[day] == nil {
			days[day] = books.Sums{}
		}
		days[day].Add(k, s)
	})
	return days, err
}

// read tells of what moved: of closed days by their sums, of what is before and after them by entries.
func (b *Books) read(ctx context.Context, account *merchant.Account, cubes []books.Cube, from, until time.Time,
	query string, tell func(day int, k books.Key, s books.Sum)) error {
	days, err := b.ClosedDays(ctx, account.ID)
	if err != nil {
		return err
	}
	entries := func(from, until time.Time) error {
		if !until.After(from) {
			return nil
		}
		return b.eachMovement(ctx, account, days, from, until, func(t *books.Terms, m *books.Movement) {
			one := books.Sums{}
			one.Move(t, m)
			for k, s := range one {
				if slices.Contains(cubes, k.Cube) {
					tell(days.Number(m.At, zoneOf(account)), k, s)
				}
			}
		})
	}
	whole := days.Within(from, until)
	if len(whole) == 0 {
		return entries(from, until)
	}
	first, last := whole[0], whole[len(whole)-1]
	for _, cube := range cubes {
		if err := b.eachSum(ctx, query, account.ID, cube, first.Number, last.Number, tell); err != nil {
			return err
		}
	}
	if !from.IsZero() {
		if err := entries(from, first.From); err != nil {
			return err
		}
	}
	return entries(last.Until, until)
}
