package lookup

import (
	"context"
	"fmt"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

const selectEntry = `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status, e.made_at,
		e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference, e.reason,
		e.request_id, e.details, e.held_after, e.address, e.till
	FROM entry AS e
	WHERE e.account_id = $1 AND e.id = $2`

// Entry finds an entry of an account; refusal.NotFound when there is none.
func (r *Reader) Entry(ctx context.Context, account, entry guid.ID) (gift.Entry, error) {
	found, err := db.Collect(ctx, r.db, selectEntry, []any{db.KeyOf(account), db.KeyOf(entry)},
		func(from db.Scanner) (e gift.Entry, err error) {
			err = from.Scan(record.EntryFields(&e)...)
			return e, err
		})
	if err == nil && len(found) == 0 {
		err = refusal.NotFound
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
		SELECT e.* FROM (SELECT coalesce((SELECT m.id FROM entry AS m WHERE m.account_id = $1 AND m.voucher_id = $2
				AND m.seq = $3 AND m.seq % 64 = 0), v.last) AS id FROM voucher AS v WHERE v.account_id = $1
					AND v.id = $2 LIMIT 1) AS l
			CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = l.id
		UNION ALL
		SELECT e.* FROM e AS n CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = n.previous
		WHERE n.seq > $4 + 1
	) SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status, e.made_at,
		e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference, e.reason, e.request_id,
		e.details, e.held_after, e.address, e.till FROM e WHERE e.seq > $4 ORDER BY e.seq LIMIT $5`,
	Postgres: `WITH RECURSIVE e AS (
		SELECT e.* FROM (SELECT coalesce((SELECT m.id FROM entry AS m WHERE m.account_id = $1 AND m.voucher_id = $2
				AND m.seq = $3 AND m.seq % 64 = 0), v.last) AS id FROM voucher AS v WHERE v.account_id = $1
					AND v.id = $2 LIMIT 1) AS l
			CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1 AND e.id = l.id OFFSET 0) AS e
		UNION ALL
		SELECT e.* FROM e AS n
			CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1
				AND e.id = n.previous OFFSET 0) AS e
		WHERE n.seq > $4 + 1
	) SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status, e.made_at,
		e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference, e.reason, e.request_id,
		e.details, e.held_after, e.address, e.till FROM e WHERE e.seq > $4 ORDER BY e.seq LIMIT $5`,
}

// History gives at most limit entries of a voucher after the one numbered seq, the oldest first.
func (r *Reader) History(ctx context.Context, account, voucher guid.ID, seq, limit int) (entries []gift.Entry,
	err error) {
	from := (seq + limit + milestone - 1) / milestone * milestone
	entries, err = db.Collect(ctx, r.db, r.db.Text(selectHistory), []any{db.KeyOf(account), db.KeyOf(voucher), from, seq,
		limit}, func(from db.Scanner) (e gift.Entry, err error) {
		err = from.Scan(record.EntryFields(&e)...)
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the history of gift %s: %w", voucher, err)
	}
	return entries, nil
}

// selectParts gives entry $2 of account $1, what stands under it as a hold, and what takes it or one of those back.
var selectParts = db.Text{
	SQLite: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
			e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
			e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM entry AS e
		WHERE e.account_id = $1 AND e.id = $2
		UNION ALL SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance,
			e.status, e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until,
			e.reference, e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM entry AS e
		WHERE e.account_id = $1 AND e.hold_id = $2
		UNION ALL SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance,
			e.status, e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until,
			e.reference, e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM entry AS e
		WHERE e.account_id = $1 AND e.reverses = $2
		UNION ALL SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance,
			e.status, e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until,
			e.reference, e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM entry AS c CROSS JOIN entry AS e ON e.account_id = $1 AND e.reverses = c.id
		WHERE c.account_id = $1 AND c.hold_id = $2`,
	Postgres: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
			e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
			e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM entry AS e
		WHERE e.account_id = $1 AND e.id = $2
		UNION ALL SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance,
			e.status, e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until,
			e.reference, e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM entry AS e
		WHERE e.account_id = $1 AND e.hold_id = $2
		UNION ALL SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance,
			e.status, e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until,
			e.reference, e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM entry AS e
		WHERE e.account_id = $1 AND e.reverses = $2
		UNION ALL SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance,
			e.status, e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until,
			e.reference, e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM entry AS c
		CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1 AND e.reverses = c.id OFFSET 0) AS e
		WHERE c.account_id = $1 AND c.hold_id = $2`,
}

// Parts gives an entry of an account, what was captured or released of it if it is a hold, and what took any of these
// back: the oldest first, however long the history of the gift is; none where there is no such entry.
func (r *Reader) Parts(ctx context.Context, account, entry guid.ID) (parts []gift.Entry, err error) {
	parts, err = db.Collect(ctx, r.db, r.db.Text(selectParts), []any{db.KeyOf(account), db.KeyOf(entry)},
		func(from db.Scanner) (e gift.Entry, err error) {
			err = from.Scan(record.EntryFields(&e)...)
			return e, err
		})
	if err != nil {
		return nil, fmt.Errorf("reading what became of entry %s: %w", entry, err)
	}
	slices.SortFunc(parts, func(a, b gift.Entry) int { return a.Seq - b.Seq })
	return parts, nil
}
