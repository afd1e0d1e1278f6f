package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// BeginShift ends all sign-ins at a till, and gives until when one lasts that begins now: until, or a second longer
// than the ones before.
func (s *Setup) BeginShift(ctx context.Context, account, till guid.ID, until time.Time) (time.Time, error) {
	const begin = `INSERT INTO till_shift (account_id, key_id, until) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, key_id) DO UPDATE SET until = CASE
			WHEN excluded.until > till_shift.until THEN excluded.until ELSE till_shift.until + 1 END RETURNING until`
	var seconds int64
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, begin, db.KeyOf(account), db.KeyOf(till), until.Unix()).Scan(&seconds)
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("beginning a shift: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// Shift is until when sign-ins last that hold at a till; those that end before it are over. Zero: none has ended.
func (s *Setup) Shift(ctx context.Context, account, till guid.ID) (time.Time, error) {
	var seconds int64
	err := s.db.Get(ctx, `SELECT until FROM till_shift WHERE account_id = $1 AND key_id = $2`,
		[]any{db.KeyOf(account), db.KeyOf(till)}, &seconds)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("reading a shift: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
