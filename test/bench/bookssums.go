package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
)

// told is a gift of a history as it was written: see historyOf.
type told struct {
	terms   books.Terms
	entries [entriesOfGift]gift.Entry
}

// tell fills in gift g of n, whose history was written at an instant.
func (t *told) tell(g, n int, written time.Time) {
	now := written.UnixMilli()
	span := (booksDays * 24 * time.Hour).Milliseconds()
	issued := now - span + int64(g)*span/int64(n)
	shop := func(by int) (id guid.ID) {
		id = mustParse("0199b000-0000-7000-8000-000000000100")
		id[15] = byte(by % booksShops)
		return id
	}
	t.terms = books.Terms{ID: guid.ID{1}, ProgramID: mustParse("22222222-2222-2222-2222-222222222222"),
		Promotional: g%10 == 0, Currency: money.Currency{Code: "EUR", Decimals: 2}, Worth: gift.ItemWorth{Pieces: 2500}}
	for k := range t.entries {
		e := &t.entries[k]
		*e = gift.Entry{ID: guid.ID{byte(k + 1)}, VoucherID: t.terms.ID, Seq: k + 1, Kind: gift.Redemption,
			Delta: -500, Balance: money.Amount(2500 - 500*k),
			At: time.UnixMilli(issued + (now-issued)*int64(3*k)/10).UTC()}
		e.Actor.KeyID, e.Actor.LocationID = shop(g), shop(7*g+k)
		if k == 0 {
			e.Kind, e.Delta, e.Actor.LocationID = gift.Issued, 0, guid.ID{}
			if g%5 > 0 {
				e.Actor.LocationID = shop(g)
			}
		}
	}
}

// sumUp closes the days of the account whose gifts were written, past the service: to close them one by one takes as
// long as to read the history of each gift once for each of its entries. Each gift is looked at once instead.
func (p *place) sumUp(ctx context.Context, account *merchant.Account, n int) error {
	d, err := p.sql()
	if err != nil {
		return err
	}
	defer d.Close()
	var first int64
	err = d.QueryRowContext(ctx, `SELECT created_at FROM voucher WHERE account_id = $1 ORDER BY id LIMIT 1`,
		account.ID[:]).Scan(&first)
	if err != nil {
		return err
	}
	begun := time.UnixMicro(first).UTC()
	written := begun.Add(booksDays * 24 * time.Hour)
	var days books.Days
	for day := books.DayOf(begun.Add(-books.Skew), account.TimeZone()); !day.Until.After(written); {
		days = append(days, day)
		day = day.Next(account.TimeZone())
	}
	var closed int
	err = d.QueryRowContext(ctx, `SELECT count(*) FROM book_day WHERE account_id = $1`, account.ID[:]).Scan(&closed)
	if err != nil || closed >= len(days) {
		return err
	}
	for _, table := range []string{"book_sum", "book_day"} { // an earlier run may have been ended on the way
		if _, err := d.ExecContext(ctx, `DELETE FROM `+table+` WHERE account_id = $1`, account.ID[:]); err != nil {
			return err
		}
	}
	all, err := sumsOf(days, account.TimeZone(), n, written)
	if err != nil {
		return err
	}
	return p.writeSums(ctx, d, account.ID, days, all)
}

// sumsOf are the sums of days, of n gifts whose history was written at an instant.
func sumsOf(days books.Days, zone *time.Location, n int, written time.Time) (map[int]books.Sums, error) {
	all := map[int]books.Sums{}
	for _, day := range days {
		all[day.Number] = books.Sums{}
	}
	until := days[len(days)-1].Until
	f := &books.Folder{Month: func(at time.Time) int { return days.Month(at, zone) }}
	var t told
	for g := range n {
		if g%500_000 == 0 {
			progress("%d gifts summed up", g)
		}
		t.tell(g, n, written)
		err := f.Fold(&t.terms, t.entries[:], until, func(m books.Movement) {
			if m.At.Before(until) {
				all[days.Number(m.At, zone)].Move(&t.terms, &m)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// columnsOfSums are those of book_sum.
const columnsOfSums = `account_id, cube, day, line, program_id, promotional, item, currency, decimals, sold, place,
	key_id, month, vat, vat_rate, entries, pieces, money, bonus`

// writeSums writes the sums of days.
func (p *place) writeSums(ctx context.Context, d *sql.DB, account guid.ID, days books.Days,
	all map[int]books.Sums) error {
	if p.server == nil {
		if _, err := d.ExecContext(ctx, `BEGIN`); err != nil {
			return err
		}
	}
	opened, err := d.PrepareContext(ctx, `INSERT INTO book_day (account_id, day, starts_at, ends_at, closed_at)
		VALUES ($1, $2, $3, $4, $5)`)
	if err != nil {
		return err
	}
	defer opened.Close()
	insert, err := d.PrepareContext(ctx, `INSERT INTO book_sum (`+columnsOfSums+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, day := range days {
		sums := all[day.Number]
		rows := make([][]any, 0, len(sums))
		for _, k := range sums.Sorted() {
			s := sums[k]
			rows = append(rows, []any{account[:], string(k.Cube), int64(day.Number), k.Line, k.ProgramID[:], k.Promotional,
				k.Item, k.Currency.Code, int64(k.Currency.Decimals), k.Sold[:], k.Place[:], k.KeyID[:], int64(k.Month),
				string(k.VAT.Treatment), string(k.VAT.Rate), s.Count, int64(s.Pieces), int64(s.Money), int64(s.Bonus)})
		}
		if err := p.writeRows(ctx, insert, rows); err != nil {
			return fmt.Errorf("day %d: %w", day.Number, err)
		}
		if _, err := opened.ExecContext(ctx, account[:], day.Number, db.Micros(day.From), db.Micros(day.Until),
			db.Micros(day.Until)); err != nil {
			return err
		}
	}
	if p.server != nil {
		_, err = d.ExecContext(ctx, `ANALYZE book_sum, book_day`)
	} else {
		_, err = d.ExecContext(ctx, `COMMIT`)
	}
	return err
}

// writeRows writes rows of book_sum: with insert on the embedded database, and on PostgreSQL with COPY, which is faster
// there.
func (p *place) writeRows(ctx context.Context, insert *sql.Stmt, rows [][]any) error {
	if p.server == nil {
		for _, row := range rows {
			if _, err := insert.ExecContext(ctx, row...); err != nil {
				return err
			}
		}
		return nil
	}
	columns := strings.FieldsFunc(columnsOfSums, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	conn, err := pgx.Connect(ctx, p.server.Admin)
	if err != nil {
		return err
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"book_sum"}, columns, pgx.CopyFromRows(rows))
	return errors.Join(err, conn.Close(ctx))
}
