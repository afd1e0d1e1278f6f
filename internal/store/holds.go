package store

import (
	"context"
	"fmt"
	"time"

	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

// selectHoldEnds gives all entries that name a hold: the newest tells what became of it. The open holds of a voucher
// are in its row: they are decided upon under its lock, and cost nothing to read where there are none.
var selectHoldEnds = &db.Query{What: "reading ends of holds", Scoped: true,
	SQLite: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
			e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
			e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM json_each($2) AS w CROSS JOIN entry AS e
		WHERE e.account_id = $1 AND e.hold_id = unhex(w.value)`,
	Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
			SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
				e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
				e.reason, e.request_id, e.details, e.held_after, e.address, e.till
			FROM entry AS e
			WHERE e.account_id = w.account_id AND e.hold_id = w.key OFFSET 0) AS found`,
	Citus: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
			e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
			e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM entry AS e
		WHERE e.account_id = $1 AND e.hold_id = ANY($2::BYTEA[])`}

// DueHolds gives vouchers, at most limit after the first skip, that have a hold whose time was over at an instant, and
// not yet an entry that says so.
func (s *Store) DueHolds(ctx context.Context, at time.Time, limit, skip int) (due []ledger.Ref, err error) {
	const query = `SELECT v.account_id, v.id FROM voucher AS v WHERE v.holds_end <= $1
		ORDER BY v.holds_end, v.account_id, v.id LIMIT $2 OFFSET $3`
	due, err = db.Collect(ctx, s.db, query, []any{at.UnixMicro(), limit, skip}, func(from db.Scanner) (r ledger.Ref,
		err error) {
		err = from.Scan(db.ScanID(&r.AccountID), db.ScanID(&r.ID))
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for holds that are over: %w", err)
	}
	return due, nil
}
