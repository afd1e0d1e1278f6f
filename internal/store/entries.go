package store

import (
	"context"
	"fmt"

	"boon.example/internal/chain"
	"boon.example/internal/gift"
	"boon.example/internal/store/db"
)

const entryColumns = `e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status, e.made_at, e.key_id, ` +
	`e.location_id, e.reverses, e.reference, e.reason, e.request_id`

func entryFields(e *gift.Entry) []any {
	return []any{
		scanID{&e.AccountID}, scanID{&e.ID}, scanID{&e.VoucherID}, &e.Seq, scanID{&e.Previous}, &e.Kind, &e.Delta, &e.Balance,
		&e.Status, scanTime{&e.At},
		scanID{&e.Actor.KeyID}, scanID{&e.Actor.LocationID}, scanID{&e.Reverses}, &e.Reference, &e.Reason, &e.RequestID,
	}
}

// placedColumns are entryColumns and the entry's place in its hash chain.
const placedColumns = entryColumns + `, e.writer, e.n`

var insertEntry = db.InsertRows("entry", placedColumns, "BBBNBTNNNNBBBTTTBN", "")

func entryRows(entries []gift.Entry, first chain.Place) db.Batch {
	w := db.Batch{Query: insertEntry, Rows: make([][]any, len(entries))}
	for i := range entries {
		w.Rows[i] = entryRow(&entries[i], chain.Place{Writer: first.Writer, N: first.N + int64(i)})
	}
	return w
}

func entryRow(e *gift.Entry, at chain.Place) []any {
	return []any{
		keyOf(e.AccountID), keyOf(e.ID), keyOf(e.VoucherID), e.Seq, id(e.Previous), string(e.Kind), int64(e.Delta),
		int64(e.Balance), int64(e.Status), micros(e.At),
		id(e.Actor.KeyID), id(e.Actor.LocationID), id(e.Reverses), e.Reference, e.Reason, e.RequestID,
		keyOf(at.Writer), at.N,
	}
}

const selectEntry = `SELECT ` + entryColumns + ` FROM entry AS e WHERE e.account_id = $1 AND e.id = $2`

// Entry finds an entry of an account; gift.NotFound when there is none.
func (s *Store) Entry(ctx context.Context, account, entry gift.ID) (gift.Entry, error) {
	found, err := collect(ctx, s, selectEntry, []any{keyOf(account), keyOf(entry)}, func(from db.Scanner) (e gift.Entry,
		err error) {
		err = from.Scan(entryFields(&e)...)
		return e, err
	})
	if err == nil && len(found) == 0 {
		err = gift.NotFound
	}
	if err != nil {
		return gift.Entry{}, fmt.Errorf("reading entry %s: %w", entry, err)
	}
	return found[0], nil
}

// milestone is how far apart the entries of a history are from which it can be read backwards. It stands in the index
// entry_milestone.
const milestone = 64

// selectHistory follows the history of gift $2 of account $1 backwards, from its entry numbered $3 if that is a
// milestone that exists, else from the last, down to what follows the entry numbered $4, and gives the oldest $5 of
// these. LIMIT 1 keeps the planner from turning the join around (ADR 14). Each table names its account: see
// selectPageHistories.
func (d *dialect) selectHistory() string {
	return `WITH RECURSIVE e AS (
	SELECT ` + entryColumns + ` FROM (SELECT coalesce((SELECT m.id FROM entry AS m WHERE m.account_id = $1 AND m.voucher_id = $2
			AND m.seq = $3 AND m.seq % 64 = 0), v.last) AS id FROM voucher AS v WHERE v.account_id = $1 AND v.id = $2 LIMIT 1) AS l
		` + d.entryByID("l.id") + `
	UNION ALL
	SELECT ` + entryColumns + ` FROM e AS n ` + d.entryByID("n.previous") + ` WHERE n.seq > $4 + 1
) SELECT ` + entryColumns + ` FROM e WHERE e.seq > $4 ORDER BY e.seq LIMIT $5`
}

// History gives at most limit entries of a voucher after the one numbered seq, the oldest first.
func (s *Store) History(ctx context.Context, account, voucher gift.ID, seq, limit int) (entries []gift.Entry,
	err error) {
	from := (seq + limit + milestone - 1) / milestone * milestone
	entries, err = collect(ctx, s, s.dialect.selectHistory(), []any{keyOf(account), keyOf(voucher), from, seq, limit},
		func(from db.Scanner) (e gift.Entry, err error) {
			err = from.Scan(entryFields(&e)...)
			return e, err
		})
	if err != nil {
		return nil, fmt.Errorf("reading the history of gift %s: %w", voucher, err)
	}
	return entries, nil
}
