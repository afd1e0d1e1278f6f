package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// The operations whose records are deleted after a while are those that are kept operation.ForAMonth. They are listed
// as the index lists them, word for word, so that SQLite uses it. With IN it would make a table of their names for
// every record that it writes.
const (
	selectOldest = `SELECT made_at FROM request
		WHERE account_id = $1 AND (operation = 'send-gift' OR operation = 'cancel-gift' OR operation = 'reinstate-gift'
			OR operation = 'resend-gift' OR operation = 'reschedule-gift' OR operation = 'create-stock'
			OR operation = 'block-gift' OR operation = 'unblock-gift' OR operation = 'extend-gift'
			OR operation = 'replace-gift')
		ORDER BY made_at LIMIT 1`
	selectNewest      = `SELECT made_at FROM entry WHERE account_id = $1 ORDER BY id DESC LIMIT 1`
	selectOldestEvent = `SELECT made_at FROM event WHERE account_id = $1 ORDER BY position LIMIT 1`
	selectForgettable = `SELECT count(*) FROM (SELECT 1 FROM request
		WHERE account_id = $1 AND made_at < $2 AND (operation = 'send-gift' OR operation = 'cancel-gift' OR operation = 'reinstate-gift'
			OR operation = 'resend-gift' OR operation = 'reschedule-gift' OR operation = 'create-stock'
			OR operation = 'block-gift' OR operation = 'unblock-gift' OR operation = 'extend-gift'
			OR operation = 'replace-gift')
		LIMIT 1) AS one`
	deleteRequests = `DELETE FROM request WHERE (account_id, key, operation) IN (
		SELECT account_id, key, operation FROM request
		WHERE account_id = $1 AND made_at < $2 AND (operation = 'send-gift' OR operation = 'cancel-gift' OR operation = 'reinstate-gift'
			OR operation = 'resend-gift' OR operation = 'reschedule-gift' OR operation = 'create-stock'
			OR operation = 'block-gift' OR operation = 'unblock-gift' OR operation = 'extend-gift'
			OR operation = 'replace-gift')
		ORDER BY made_at LIMIT $3)`
)

// ForgetRequests deletes at most limit idempotency records of an account that were made before an instant, and tells
// how many there were. Those of calls that move or hold value are part of the ledger: they are never deleted, here or
// elsewhere.
func (s *Store) ForgetRequests(ctx context.Context, account guid.ID, before time.Time, limit int) (n int64, err error) {
	n, err = s.db.Delete(ctx, selectForgettable, []any{db.KeyOf(account), before.UnixMicro()},
		deleteRequests, db.KeyOf(account), before.UnixMicro(), limit)
	return n, wrapForget(err)
}

// Ages are the times of an account's newest entry, of its oldest record that ForgetRequests could delete, and of its
// oldest event; zero: there is none.
type Ages struct{ Entry, Record, Event time.Time }

// Ages looks for them.
func (s *Store) Ages(ctx context.Context, account guid.ID) (a Ages, err error) {
	for text, to := range map[string]*time.Time{selectNewest: &a.Entry, selectOldest: &a.Record,
		selectOldestEvent: &a.Event} {
		err := s.db.Get(ctx, text, []any{db.KeyOf(account)}, db.ScanTime(to))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return a, wrapForget(err)
		}
	}
	return a, nil
}

var selectForgotten = db.Text{
	SQLite:   `SELECT before, at FROM forgotten WHERE one = 1`,
	Postgres: `SELECT before, at FROM forgotten WHERE one = 1 FOR NO KEY UPDATE`,
}

// MoveForgotten moves the instant before which records are forgotten to where move says, but no further than latest
// and never back. move is told where it is and when it last moved; zero: it is nowhere yet.
func (s *Store) MoveForgotten(ctx context.Context, move func(before, moved time.Time) time.Time, latest,
	now time.Time) (before time.Time, err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		var at, moved time.Time
		err := tx.QueryRowContext(ctx, s.db.Text(selectForgotten)).Scan(db.ScanTime(&at), db.ScanTime(&moved))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if before = move(at, moved); before.After(latest) {
			before = latest
		}
		if !at.IsZero() && before.Before(at) {
			before = at
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO forgotten (one, before, at) VALUES (1, $1, $2)
			ON CONFLICT (one) DO UPDATE SET before = excluded.before, at = excluded.at`, before.UnixMicro(), now.UnixMicro())
		return err
	})
	return before, wrapForget(err)
}

func wrapForget(err error) error {
	if err != nil {
		return fmt.Errorf("forgetting old idempotency records: %w", err)
	}
	return nil
}
