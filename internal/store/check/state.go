package check

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"boon.example/internal/ledger/verify"
	"boon.example/internal/store/db"
)

// State is what is known of a database that was restored before it was verified. The zero value: nothing is to be
// verified.
type State struct {
	Pending  bool      // it is still to be verified
	Since    time.Time // it was restored, or found to be wrong
	Problems int64     // that were found; 0: none, or it is pending
	First    string    // some of them
}

// String says it for people; "" for the zero value.
func (s State) String() string {
	switch {
	case s.Pending:
		return "the database was restored at " + s.Since.Format(time.RFC3339) + " and is not yet verified"
	case s.Problems > 0:
		return fmt.Sprintf("the database that was restored does not hold: problems (%d) were found at %s; run boon verify",
			s.Problems, s.Since.Format(time.RFC3339))
	}
	return ""
}

// Verification reads what is known of a database that was restored before it was verified.
func (v Verifier) Verification(ctx context.Context) (s State, err error) {
	var state string
	const query = `SELECT t.state, t.since, t.problems, t.first FROM verification AS t WHERE t.one = 1`
	err = v.db.Get(ctx, query, nil, &state, db.ScanTime(&s.Since), &s.Problems, &s.First)
	if errors.Is(err, sql.ErrNoRows) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("reading whether the database is verified: %w", err)
	}
	s.Pending = state == pending
	return s, nil
}

const (
	pending = "pending"
	failed  = "failed"
)

// NotePending notes that a database was restored and is to be verified.
func (v Verifier) NotePending(ctx context.Context, now time.Time) error {
	return v.note(ctx, pending, now, 0, "")
}

// NoteVerified notes what came of it: nothing is left to be noted where everything holds.
func (v Verifier) NoteVerified(ctx context.Context, r *verify.Report, now time.Time) error {
	n := int64(len(r.Problems)) + r.More
	if n == 0 {
		return v.note(ctx, "", now, 0, "")
	}
	return v.note(ctx, failed, now, n, strings.Join(r.Problems[:min(3, len(r.Problems))], "; "))
}

func (v Verifier) note(ctx context.Context, state string, now time.Time, problems int64, first string) error {
	err := v.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM verification`); err != nil || state == "" {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO verification (one, state, since, problems, first)
			VALUES (1, $1, $2, $3, $4)`, state, db.Micros(now), problems, first)
		return err
	})
	if err != nil {
		return fmt.Errorf("noting whether the database is verified: %w", err)
	}
	return nil
}
