package check

import (
	"context"
	"database/sql"
	"fmt"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// selectTransfers gives both entries of a transfer close to each other: they were made at the same time.
const selectTransfers = `SELECT ` + record.EntryColumns + ` FROM entry AS e
	WHERE e.kind IN ('TRANSFER_OUT', 'TRANSFER_IN') ORDER BY e.account_id, e.id`

// checkTransfers looks for entries of transfers that do not name each other, or do not say the same.
func (c *Check) checkTransfers(ctx context.Context, found func(string)) error {
	unpaired := map[ledger.Ref]gift.Entry{}
	err := db.Each(ctx, c.db.Readers, selectTransfers, nil, func(rows *sql.Rows) error {
		var e gift.Entry
		if err := rows.Scan(record.EntryFields(&e)...); err != nil {
			return err
		}
		other := ledger.Ref{AccountID: e.AccountID, ID: e.Counterpart}
		if match, ok := unpaired[other]; ok && gift.OneTransfer(match, e) {
			delete(unpaired, other)
		} else {
			unpaired[ledger.Ref{AccountID: e.AccountID, ID: e.ID}] = e
		}
		return nil
	})
	for _, e := range unpaired {
		found(fmt.Sprintf("gift %s: entry %d and the one that it names are not one transfer", e.VoucherID, e.Seq))
	}
	return err
}
