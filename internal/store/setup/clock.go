package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

const selectClock = `SELECT ahead, target, key FROM test_clock WHERE account_id = $1`

var selectClockLocked = db.Text{
	SQLite:   `SELECT ahead, target, key FROM test_clock WHERE account_id = $1`,
	Postgres: `SELECT ahead, target, key FROM test_clock WHERE account_id = $1 FOR NO KEY UPDATE`,
}

func scanClock(row interface{ Scan(...any) error }) (c merchant.Clock, err error) {
	var ahead int64
	err = row.Scan(&ahead, db.ScanTime(&c.Target), &c.Key)
	c.Ahead = time.Duration(ahead) * time.Microsecond
	if errors.Is(err, sql.ErrNoRows) {
		err = nil // one that was never advanced
	}
	return c, err
}

// Clock reads the clock of a test account.
func (s *Setup) Clock(ctx context.Context, account guid.ID) (c merchant.Clock, err error) {
	err = s.db.Retry(ctx, func(ctx context.Context) error {
		c, err = scanClock(s.db.Readers.QueryRowContext(ctx, selectClock, db.KeyOf(account)))
		return err
	})
	if err != nil {
		return c, fmt.Errorf("reading the clock of account %s: %w", account, err)
	}
	return c, nil
}

// AdvanceClock moves the clock of a test account to where move says, and writes into the audit trail who did. The error
// of move is given back as it is, and then nothing is changed, as when the clock stays where it was.
func (s *Setup) AdvanceClock(ctx context.Context, account guid.ID,
	move func(merchant.Clock) (merchant.Clock, event.TrailEntry, error)) (c merchant.Clock, err error) {
	var refused error
	var e event.TrailEntry
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		refused = nil
		was, err := scanClock(tx.QueryRowContext(ctx, s.db.Text(selectClockLocked), db.KeyOf(account)))
		if err != nil {
			return err
		}
		if c, e, refused = move(was); refused != nil || c == was {
			return nil
		}
		_, err = tx.ExecContext(ctx, `UPDATE test_clock SET ahead = $1, target = $2, key = $3 WHERE account_id = $4`,
			c.Ahead.Microseconds(), db.Micros(c.Target), c.Key, db.KeyOf(account))
		if err != nil {
			return err
		}
		return s.addTrail(ctx, tx, &e)
	})
	if err != nil {
		return c, fmt.Errorf("advancing the clock of account %s: %w", account, err)
	}
	return c, refused
}
