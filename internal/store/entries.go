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
		db.ScanID(&e.AccountID), db.ScanID(&e.ID), db.ScanID(&e.VoucherID), &e.Seq, db.ScanID(&e.Previous), &e.Kind, &e.Delta,
		&e.Balance, &e.Status, db.ScanTime(&e.At),
		db.ScanID(&e.Actor.KeyID), db.ScanID(&e.Actor.LocationID), db.ScanID(&e.Reverses), &e.Reference, &e.Reason,
		&e.RequestID,
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
		db.KeyOf(e.AccountID), db.KeyOf(e.ID), db.KeyOf(e.VoucherID), e.Seq, db.OrNull(e.Previous), string(e.Kind),
		int64(e.Delta), int64(e.Balance), int64(e.Status), db.Micros(e.At),
		db.OrNull(e.Actor.KeyID), db.OrNull(e.Actor.LocationID), db.OrNull(e.Reverses), e.Reference, e.Reason, e.RequestID,
		db.KeyOf(at.Writer), at.N,
	}
}

const selectEntry = `SELECT ` + entryColumns + ` FROM entry AS e WHERE e.account_id = $1 AND e.id = $2`

// Entry finds an entry of an account; gift.NotFound when there is none.
func (s *Store) Entry(ctx context.Context, account, entry gift.ID) (gift.Entry, error) {
	found, err := db.Collect(ctx, s.db, selectEntry, []any{db.KeyOf(account), db.KeyOf(entry)},
		func(from db.Scanner) (e gift.Entry, err error) {
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
// these. LIMIT 1, CROSS JOIN and OFFSET 0 keep the planners from turning the joins around (ADR 14). Each table names
// its account: where accounts are spread over machines, Citus refuses a recursion that does not.
var selectHistory = db.Text{
	SQLite: `WITH RECURSIVE e AS (
		SELECT ` + entryColumns + ` FROM (SELECT coalesce((SELECT m.id FROM entry AS m WHERE m.account_id = $1 AND m.voucher_id = $2
				AND m.seq = $3 AND m.seq % 64 = 0), v.last) AS id FROM voucher AS v WHERE v.account_id = $1 AND v.id = $2 LIMIT 1) AS l
			CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = l.id
		UNION ALL
		SELECT ` + entryColumns + ` FROM e AS n CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = n.previous
		WHERE n.seq > $4 + 1
	) SELECT ` + entryColumns + ` FROM e WHERE e.seq > $4 ORDER BY e.seq LIMIT $5`,
	Postgres: `WITH RECURSIVE e AS (
		SELECT ` + entryColumns + ` FROM (SELECT coalesce((SELECT m.id FROM entry AS m WHERE m.account_id = $1 AND m.voucher_id = $2
				AND m.seq = $3 AND m.seq % 64 = 0), v.last) AS id FROM voucher AS v WHERE v.account_id = $1 AND v.id = $2 LIMIT 1) AS l
			CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1 AND e.id = l.id OFFSET 0) AS e
		UNION ALL
		SELECT ` + entryColumns + ` FROM e AS n
			CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1 AND e.id = n.previous OFFSET 0) AS e
		WHERE n.seq > $4 + 1
	) SELECT ` + entryColumns + ` FROM e WHERE e.seq > $4 ORDER BY e.seq LIMIT $5`,
}

// History gives at most limit entries of a voucher after the one numbered seq, the oldest first.
func (s *Store) History(ctx context.Context, account, voucher gift.ID, seq, limit int) (entries []gift.Entry,
	err error) {
	from := (seq + limit + milestone - 1) / milestone * milestone
	entries, err = db.Collect(ctx, s.db, s.db.Text(selectHistory), []any{db.KeyOf(account), db.KeyOf(voucher), from, seq,
		limit}, func(from db.Scanner) (e gift.Entry, err error) {
		err = from.Scan(entryFields(&e)...)
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the history of gift %s: %w", voucher, err)
	}
	return entries, nil
}
