package store

import (
	"context"
	"fmt"

	"boon.example/internal/gift"
)

const entryColumns = `e.account_id, e.voucher_id, e.seq, e.id, e.kind, e.delta, e.balance, e.status, e.made_at, e.key_id, ` +
	`e.location_id, e.reverses, e.reference, e.reason, e.request_id`

func entryFields(e *gift.Entry) []any {
	return []any{
		scanID{&e.AccountID}, scanID{&e.VoucherID}, &e.Seq, scanID{&e.ID}, &e.Kind, &e.Delta, &e.Balance, &e.Status, scanTime{&e.At},
		scanID{&e.Actor.KeyID}, scanID{&e.Actor.LocationID}, scanID{&e.Reverses}, &e.Reference, &e.Reason, &e.RequestID,
	}
}

var insertEntry = inserting("entry", entryColumns, "BBNBTNNNNBBBTTT", "")

func entryRow(e *gift.Entry) []any {
	return []any{
		bare(e.AccountID), bare(e.VoucherID), e.Seq, bare(e.ID), string(e.Kind), int64(e.Delta), int64(e.Balance), int64(e.Status), micros(e.At),
		id(e.Actor.KeyID), id(e.Actor.LocationID), id(e.Reverses), e.Reference, e.Reason, e.RequestID,
	}
}

// History gives at most limit entries of a voucher after the one numbered seq, the oldest first.
func (s *Store) History(ctx context.Context, account, voucher gift.ID, seq, limit int) (entries []gift.Entry, err error) {
	const query = `SELECT ` + entryColumns + ` FROM entry AS e WHERE e.account_id = $1 AND e.voucher_id = $2 AND e.seq > $3 ORDER BY e.seq LIMIT $4`
	entries, err = collect(ctx, s, query, []any{bare(account), bare(voucher), seq, limit}, func(from scanner) (e gift.Entry, err error) {
		err = from.Scan(entryFields(&e)...)
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the history of gift %s: %w", voucher, err)
	}
	return entries, nil
}
