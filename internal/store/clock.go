package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

// selectClocks tells how far the clocks of test accounts are ahead.
var selectClocks = &db.Query{What: "reading clocks",
	Each: `SELECT c.account_id, c.ahead FROM test_clock AS c WHERE c.account_id = $1`,
	SQLite: `SELECT c.account_id, c.ahead
		FROM json_each($1) AS w CROSS JOIN test_clock AS c
		WHERE c.account_id = unhex(w.value)`,
	Postgres: `SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL (
			SELECT c.account_id, c.ahead
			FROM test_clock AS c
			WHERE c.account_id = w.key OFFSET 0) AS found`}

// wantClocks wants to know how far clocks are ahead: after the vouchers were locked, so that no entry of a voucher is
// older than the one before.
func (g *group) wantClocks(wanted []guid.ID) []db.Batch {
	if len(wanted) == 0 {
		return nil
	}
	g.state.Clocks = make(map[guid.ID]time.Duration, 1)
	wanted = slices.Clone(wanted)
	slices.SortFunc(wanted, compareIDs)
	w := db.Batch{Query: selectClocks, Scan: func(from db.Scanner) error {
		var account guid.ID
		var ahead int64
		err := from.Scan(db.ScanID(&account), &ahead)
		g.state.Clocks[account] = time.Duration(ahead) * time.Microsecond
		return err
	}}
	for _, id := range slices.Compact(wanted) {
		w.Rows = append(w.Rows, []any{db.KeyOf(id)})
	}
	return []db.Batch{w}
}

func compareIDs(a, b guid.ID) int { return slices.Compare(a[:], b[:]) }

// TestJobs are the jobs of test accounts, each due by the clock of its account.
type TestJobs struct{ *Store }

// selectTestJobs gives those that are due, in turns by account, of each account the oldest first.
var selectTestJobs = db.Text{
	SQLite: `SELECT j.account_id, j.id, j.voucher_id, j.due, j.attempts, j.kind, j.doubts, j.method, j.contact, j.trace,
			j.about, j.language, j.order_id, c.ahead
		FROM (SELECT d.account_id, d.id, k.ahead, d.claimable_at - k.ahead AS since,
				row_number() OVER (PARTITION BY d.account_id ORDER BY d.claimable_at) AS turn
			FROM test_clock AS k
			JOIN job AS d ON d.test AND d.account_id = k.account_id AND d.claimable_at <= k.ahead + $1
			ORDER BY turn, since LIMIT $2) AS c
		JOIN job AS j ON j.account_id = c.account_id AND j.id = c.id AND j.claimable_at <= c.ahead + $1
		ORDER BY c.turn, c.since`,
	Postgres: `SELECT j.account_id, j.id, j.voucher_id, j.due, j.attempts, j.kind, j.doubts, j.method, j.contact, j.trace,
			j.about, j.language, j.order_id, c.ahead
		FROM (SELECT d.account_id, d.id, k.ahead, d.claimable_at - k.ahead AS since,
				row_number() OVER (PARTITION BY d.account_id ORDER BY d.claimable_at) AS turn
			FROM test_clock AS k
			JOIN job AS d ON d.test AND d.account_id = k.account_id AND d.claimable_at <= k.ahead + $1
			ORDER BY turn, since LIMIT $2) AS c
		JOIN job AS j ON j.account_id = c.account_id AND j.id = c.id AND j.claimable_at <= c.ahead + $1
		ORDER BY c.turn, c.since FOR UPDATE OF j SKIP LOCKED`,
}

// ClaimJobs leases at most n jobs that are due, by the clocks of their accounts, until the lease ends.
func (s TestJobs) ClaimJobs(ctx context.Context, now time.Time, lease time.Duration, n int) (jobs []ledger.Job,
	err error) {
	next, err := s.NextJob(ctx) // as most calls find nothing
	if err != nil || next.IsZero() || next.After(now) || n <= 0 {
		return nil, err
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		jobs = nil
		err := db.Each(ctx, tx, s.db.Text(selectTestJobs), []any{now.UnixMicro(), n}, func(rows *sql.Rows) error {
			j, ahead := ledger.Job{Test: true}, int64(0)
			err := rows.Scan(db.ScanID(&j.AccountID), db.ScanID(&j.ID), db.ScanID(&j.VoucherID), db.ScanTime(&j.Due),
				&j.Attempts, &j.Kind, &j.Doubts, &j.Method, &j.Contact, &j.Trace, scanAbout{&j}, &j.Language,
				scanOrder{&j}, &ahead)
			j.Ahead = time.Duration(ahead) * time.Microsecond
			j.Lease = now.Add(j.Ahead + lease).UTC().Truncate(time.Microsecond)
			jobs = append(jobs, j)
			return err
		})
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if _, err := tx.ExecContext(ctx, `UPDATE job SET claimable_at = $1 WHERE account_id = $2 AND id = $3`,
				j.Lease.UnixMicro(), db.KeyOf(j.AccountID), db.KeyOf(j.ID)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claiming jobs of test accounts: %w", err)
	}
	return jobs, nil
}

// NextJob is when the next job is due or its lease ends; zero: there is none.
func (s TestJobs) NextJob(ctx context.Context) (next time.Time, err error) {
	err = s.db.Get(ctx, `SELECT min((SELECT min(j.claimable_at) FROM job AS j WHERE j.test AND j.account_id = c.account_id)
		- c.ahead) FROM test_clock AS c`, nil, db.ScanTime(&next))
	if err != nil {
		return next, fmt.Errorf("looking for the next job of a test account: %w", err)
	}
	return next, nil
}

// DueHoldsOf gives vouchers of a test account, at most limit, that have a hold whose time was over at an instant by
// its clock.
func (s *Store) DueHoldsOf(ctx context.Context, account guid.ID, at time.Time, limit int) (due []ledger.Ref,
	err error) {
	const query = `SELECT v.id FROM voucher AS v WHERE v.account_id = $1 AND v.holds_end <= $2 ORDER BY v.holds_end LIMIT $3`
	due, err = db.Collect(ctx, s.db, query, []any{db.KeyOf(account), at.UnixMicro(), limit},
		func(from db.Scanner) (r ledger.Ref, err error) {
			r.AccountID = account
			err = from.Scan(db.ScanID(&r.ID))
			return r, err
		})
	if err != nil {
		return nil, fmt.Errorf("looking for holds of account %s that are over: %w", account, err)
	}
	return due, nil
}

// DueJobsOf counts the messages of a test account that were due at an instant by its clock, and are not done.
func (s *Store) DueJobsOf(ctx context.Context, account guid.ID, at time.Time) (n int, err error) {
	err = s.db.Get(ctx, `SELECT count(*) FROM job WHERE test AND account_id = $1 AND due <= $2`,
		[]any{db.KeyOf(account), at.UnixMicro()}, &n)
	if err != nil {
		return 0, fmt.Errorf("counting the due jobs of account %s: %w", account, err)
	}
	return n, nil
}
