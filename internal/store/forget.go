package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"boon.example/internal/gift"
)

// ForgetRequests deletes at most limit idempotency records of an account that were made before an instant, and tells how
// many there were. Those of redemptions and reversals are part of the ledger: they are never deleted, here or elsewhere.
func (s *Store) ForgetRequests(ctx context.Context, account gift.ID, before time.Time, limit int) (n int64, err error) {
	// The list of operations is that of the index, word for word, so that the index is used.
	const (
		old  = `account_id = $1 AND made_at < $2 AND operation IN ('send-gift', 'validate-gift', 'cancel-gift', 'resend-gift', 'reschedule-gift')`
		any  = `SELECT count(*) FROM (SELECT 1 FROM request WHERE ` + old + ` LIMIT 1) AS one`
		some = `DELETE FROM request WHERE account_id = $1 AND (key, operation) IN (
			SELECT key, operation FROM request WHERE ` + old + ` ORDER BY made_at LIMIT $3)`
	)
	ctx = within(ctx, account)
	// Most calls find nothing; they should not wait for the writer.
	err = s.ask(ctx, func(ctx context.Context) error {
		return s.readers.QueryRowContext(ctx, any, bare(account), before.UnixMicro()).Scan(&n)
	})
	if err != nil || n == 0 {
		return 0, wrapForget(err)
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, some, bare(account), before.UnixMicro(), limit)
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
