// Package lease has each account be served by one process at a time: leases that end by themselves, in a table of the
// purpose.
package lease

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// Claim is the query that takes leases in a table. The clocks of processes may be 600 seconds apart: a lease that was
// taken further in the future is nobody's, as that clock was wrong, and the lease ends as late.
func Claim(table string) *db.Query {
	end := ` ON CONFLICT (account_id) DO UPDATE SET owner = excluded.owner, claimed_at = excluded.claimed_at,
			until = excluded.until
		WHERE ` + table + `.owner = excluded.owner OR ` + table + `.until <= excluded.claimed_at
			OR ` + table + `.claimed_at > excluded.claimed_at + 600000000`
	insert := `INSERT INTO ` + table + ` (account_id, owner, claimed_at, until) `
	return &db.Query{What: "writing into " + table,
		Each:     insert + `VALUES ($1, $2, $3, $4)` + end,
		Postgres: insert + `SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BIGINT[], $4::BIGINT[])` + end}
}

// Leases are those of one purpose.
type Leases struct {
	db            *db.DB
	claim         *db.Query
	held, release string
}

// New works with a table of an open database, whose leases are taken by what Claim made.
func New(d *db.DB, table string, claim *db.Query) *Leases {
	return &Leases{db: d, claim: claim,
		held:    `SELECT account_id FROM ` + table + ` WHERE owner = $1 AND until > $2`,
		release: `DELETE FROM ` + table + ` WHERE owner = $1`}
}

// Claim takes the leases of accounts that nobody has at now, keeps those that the owner has, until a time, and gives
// all of these accounts that it has then.
func (l *Leases) Claim(ctx context.Context, owner guid.ID, accounts []guid.ID,
	now, until time.Time) (owned []guid.ID, err error) {
	// In one order, so that instances wait for each other and never in a circle.
	accounts = slices.SortedFunc(slices.Values(accounts), func(a, b guid.ID) int { return slices.Compare(a[:], b[:]) })
	batch := db.Batch{Query: l.claim}
	for _, a := range accounts {
		batch.Rows = append(batch.Rows, []any{db.KeyOf(a), db.KeyOf(owner), now.UnixMicro(), until.UnixMicro()})
	}
	if len(accounts) > 0 {
		if err := Write(ctx, l.db, batch); err != nil {
			return nil, fmt.Errorf("claiming leases: %w", err)
		}
	}
	owned, err = db.Collect(ctx, l.db, l.held, []any{db.KeyOf(owner), now.UnixMicro()},
		func(from db.Scanner) (id guid.ID, err error) {
			err = from.Scan(db.ScanID(&id))
			return id, err
		})
	if err != nil {
		return nil, fmt.Errorf("reading leases: %w", err)
	}
	return slices.DeleteFunc(owned, func(id guid.ID) bool { return !slices.Contains(accounts, id) }), nil
}

// Release gives all leases of an owner back.
func (l *Leases) Release(ctx context.Context, owner guid.ID) error {
	err := l.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, l.release, db.KeyOf(owner))
		return err
	})
	if err != nil {
		return fmt.Errorf("giving leases back: %w", err)
	}
	return nil
}

// Write runs batches that write in a transaction of their own. They may run again.
func Write(ctx context.Context, d *db.DB, batches ...db.Batch) error {
	batches = slices.DeleteFunc(batches, func(b db.Batch) bool { return len(b.Rows) == 0 })
	if len(batches) == 0 {
		return nil
	}
	return d.Retry(ctx, func(ctx context.Context) error {
		return d.Transact(ctx, func(run db.Runner) error { return run(ctx, batches) })
	})
}
