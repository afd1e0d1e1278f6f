package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"boon.example/internal/gift"
)

// The list of operations is that of the index, word for word, so that the index is used. An older program kept records of validate-gift.
const (
	forgettable       = `account_id = $1 AND made_at < $2 AND operation IN ('send-gift', 'validate-gift', 'cancel-gift', 'reinstate-gift', 'resend-gift', 'reschedule-gift')`
	selectForgettable = `SELECT count(*) FROM (SELECT 1 FROM request WHERE ` + forgettable + ` LIMIT 1) AS one`
	deleteRequests    = `DELETE FROM request WHERE (account_id, key, operation) IN (
		SELECT account_id, key, operation FROM request WHERE ` + forgettable + ` ORDER BY made_at LIMIT $3)`
)

// ForgetRequests deletes at most limit idempotency records of an account that were made before an instant, and tells how
// many there were. Those of redemptions and reversals are part of the ledger: they are never deleted, here or elsewhere.
func (s *Store) ForgetRequests(ctx context.Context, account gift.ID, before time.Time, limit int) (n int64, err error) {
	ctx = within(ctx, account)
	// Most calls find nothing; they should not wait for the writer.
	err = s.ask(ctx, func(ctx context.Context) error {
		return s.readers.QueryRowContext(ctx, selectForgettable, bare(account), before.UnixMicro()).Scan(&n)
	})
	if err != nil || n == 0 {
		return 0, wrapForget(err)
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, deleteRequests, bare(account), before.UnixMicro(), limit)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, wrapForget(err)
}

func wrapForget(err error) error {
	if err != nil {
		return fmt.Errorf("forgetting old idempotency records: %w", err)
	}
	return nil
}
