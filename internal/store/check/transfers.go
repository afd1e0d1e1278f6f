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
const selectTransfers = `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status, e.made_at,
		e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference, e.reason,
		e.request_id, e.details, e.held_after, e.address, e.till
	FROM entry AS e
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
