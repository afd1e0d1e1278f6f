package check

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"boon.example/internal/guid"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// checkActivations opens every activation code, and compares it with what its card is sold by.
func (c *Check) checkActivations(ctx context.Context, found func(string)) error {
	const query = `SELECT t.account_id, t.voucher_id, t.hash, t.sealed FROM activation_code AS t
		WHERE (t.account_id, t.hash) > ($1, $2) ORDER BY t.account_id, t.hash LIMIT $3`
	const size = 500
	var last guid.ID
	hash := []byte{}
	for n := size; n == size; {
		n = 0
		err := db.Each(ctx, c.db.Readers, query, []any{db.KeyOf(last), hash, size}, func(rows *sql.Rows) error {
			n++
			var voucher guid.ID
			var sealed []byte
			if err := rows.Scan(db.ScanID(&last), db.ScanID(&voucher), &hash, &sealed); err != nil {
				return err
			}
			code, err := record.OpenActivation(c.db.Keys, last, voucher, sealed)
			if err != nil {
				found(fmt.Sprintf("gift %s: its activation code: %s", voucher, err))
			} else if !slices.ContainsFunc(c.db.Keys.ActivationHashes(last, code), func(right []byte) bool {
				return bytes.Equal(right, hash)
			}) {
				found(fmt.Sprintf("the activation code of gift %s is not found by what it is", voucher))
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("checking activation codes: %w", err)
		}
	}
	return nil
}
