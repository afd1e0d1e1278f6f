// Package breakage keeps what people booked as breakage. What was booked never changes. It is written in one
// transaction with an entry of the set-up's log, which is chained and has every figure, and of the account's audit
// trail: so whoever changes it in the database is found out.
package breakage

import (
	"context"
	"database/sql"
	"fmt"

	"boon.example/internal/books"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
	"boon.example/internal/store/setup"
)

// Breakage keeps it in a database.
type Breakage struct {
	db    *db.DB
	setup *setup.Setup
}

// New works on an open database.
func New(d *db.DB, s *setup.Setup) *Breakage { return &Breakage{d, s} }

const (
	columns    = `b.month, b.program_id, b.currency, b.decimals, b.rate, b.amount, b.booked_at, b.key_id`
	selectOf   = `SELECT ` + columns + ` FROM breakage AS b WHERE b.account_id = $1 ORDER BY b.month, b.program_id, b.currency`
	selectAll  = `SELECT b.account_id, ` + columns + ` FROM breakage AS b ORDER BY b.account_id, b.month, b.program_id, b.currency`
	insertInto = `INSERT INTO breakage (account_id, month, program_id, currency, decimals, rate, amount, booked_at, key_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
)

func fields(b *books.Booked) []any {
	return []any{&b.Month, db.ScanID(&b.ProgramID), &b.Currency.Code, &b.Currency.Decimals, &b.Rate, &b.Amount,
		db.ScanTime(&b.At), db.ScanID(&b.KeyID)}
}

// Booked is all that was booked in an account, by month.
func (s *Breakage) Booked(ctx context.Context, account guid.ID) (all []books.Booked, err error) {
	err = s.db.RetryLong(ctx, func(ctx context.Context) error {
		all, err = read(ctx, s.db.Readers, account)
		return err
	})
	return all, err
}

func read(ctx context.Context, q db.Querier, account guid.ID) (all []books.Booked, err error) {
	err = db.Each(ctx, q, selectOf, []any{db.KeyOf(account)}, func(rows *sql.Rows) error {
		var b books.Booked
		err := rows.Scan(fields(&b)...)
		all = append(all, b)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the breakage of account %s: %w", account, err)
	}
	return all, nil
}

// Book books what decide says, alone among all that books in the same database: decide is given what was booked before,
// and its error is given back as it is. It may be asked again.
func (s *Breakage) Book(ctx context.Context, e event.TrailEntry,
	decide func(earlier []books.Booked) ([]books.Booked, error)) error {
	return s.setup.LogAfter(ctx, func(tx *sql.Tx) (string, error) {
		earlier, err := read(ctx, tx, e.AccountID)
		if err != nil {
			return "", err
		}
		all, err := decide(earlier)
		if err != nil || len(all) == 0 {
			return "", err
		}
		for _, b := range all {
			_, err := tx.ExecContext(ctx, insertInto, db.KeyOf(e.AccountID), b.Month, db.KeyOf(b.ProgramID), b.Currency.Code,
				b.Currency.Decimals, b.Rate, int64(b.Amount), db.Micros(b.At), db.KeyOf(b.KeyID))
			if err != nil {
				return "", fmt.Errorf("booking breakage: %w", err)
			}
		}
		e.Action, e.What = event.BreakageBooked, books.SayBooked(e.AccountID, all)
		return e.What, s.setup.AddTrailWithin(ctx, tx, e)
	})
}

// Said is what the log of the set-up has to say of all that was booked, in one sentence for each account and month.
// Rows of a month that were not booked at once, at one rate and by one key make sentences of their own, which the log
// does not have.
func Said(ctx context.Context, q db.Querier) (said map[string]bool, err error) {
	said = map[string]bool{}
	var account guid.ID
	var together []books.Booked
	finish := func() {
		if len(together) > 0 {
			said[books.SayBooked(account, together)] = true
		}
		together = nil
	}
	err = db.Each(ctx, q, selectAll, nil, func(rows *sql.Rows) error {
		var of guid.ID
		var b books.Booked
		if err := rows.Scan(append([]any{db.ScanID(&of)}, fields(&b)...)...); err != nil {
			return err
		}
		if len(together) > 0 && (of != account || !b.Together(&together[0])) {
			finish()
		}
		account, together = of, append(together, b)
		return nil
	})
	finish()
	if err != nil {
		return nil, fmt.Errorf("reading breakage: %w", err)
	}
	return said, nil
}
