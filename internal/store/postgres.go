package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

// postgresDialect is a database for many instances: READ COMMITTED with row locks that are always taken in one order.
var postgresDialect = dialect{
	name:     "postgres",
	writers:  4,
	transact: transactPostgres,
	maxBatch: 64,
	lookUp:   lookUpByArray,
	// OFFSET 0 keeps the planner from reading the whole account: see db.SelectByKeys.
	entryByID: func(id string) string {
		return `CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1 AND e.id = ` + id + ` OFFSET 0) AS e`
	},
	read:          readPostgres,
	hasTable:      `SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = $1`,
	noLockTimeout: `SET LOCAL lock_timeout = 0`,
	lockRows:      db.LockRows,
	confirm:       `SELECT 1 FROM request WHERE account_id = $1 AND key = $2 FOR KEY SHARE`,
	skipLocked:    ` FOR UPDATE SKIP LOCKED`,
	holdStill: []string{
		`SET LOCAL idle_in_transaction_session_timeout = 0`,
		`LOCK TABLE ` + tableNames() + ` IN SHARE MODE NOWAIT`,
	},
	risks:          `SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY 1`,
	snapshot:       &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
	timeout:        db.CallTimeout,
	callerTimeout:  db.CallerTimeout,
	retryable:      func(err error) bool { return db.Conflict(err) || db.Lost(err) || errors.Is(err, errOvertaken) },
	outcomeUnknown: db.PostgresUnknownOutcome,
	rejected:       db.PostgresRejected,
	beginCommit:    func(c *sql.Conn) { db.OnConn(c, db.ForgetNotices) },
	doubtful: func(c *sql.Conn) (doubtful bool) {
		db.OnConn(c, func(conn *pgx.Conn) { doubtful = db.Noticed(conn) })
		return doubtful
	},
	measure: func(ctx context.Context, s *Store) (size, log int64, err error) {
		err = s.readers.QueryRowContext(ctx, `SELECT pg_database_size(current_database())`).Scan(&size)
		return size, 0, err
	},
}

// Risks are sentences for the operator about what Boon cannot override: settings of the database with which it may
// lose or damage what it has committed.
func (s *Store) Risks(ctx context.Context) (risks []string, err error) {
	if s.dialect.risks == "" {
		return nil, nil
	}
	err = s.retry(ctx, func(ctx context.Context) error {
		risks = nil
		return each(ctx, s.readers, s.dialect.risks, nil, func(rows *sql.Rows) error {
			var setting string
			err := rows.Scan(&setting)
			risks = append(risks, fmt.Sprintf("The database %s has %s=off: when its machine loses power, redemptions that "+
				"were answered may be lost, or the "+
				"whole database damaged. Turn %s on.", s.place, setting, setting))
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading the database's settings: %w", err)
	}
	return risks, nil
}

// alone tells that no other client has the database open. A server of ours always has: it asks for the set-up twice a
// second. What was killed a moment ago may take a moment to be gone.
func (s *Store) alone(ctx context.Context) (alone bool) {
	const others = `SELECT count(*) = 0 FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
	for range 20 {
		if err := s.readers.QueryRowContext(ctx, others).Scan(&alone); err != nil || alone {
			return err == nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

// transactPostgres runs fn in a transaction and commits.
func transactPostgres(ctx context.Context, s *Store, fn func(db.Runner) error) error {
	err := db.ExecBatch(ctx, s.writer, s.spread, max(db.CommitTimeout, s.dialect.timeout), fn)
	if errors.Is(err, db.ErrUnknownOutcome) {
		return fmt.Errorf("%w: %w", ledger.ErrUnknown, err)
	}
	return err
}

// readPostgres runs fn without a transaction: each of its steps sees what was committed before it.
func (s *Store) readPostgres(ctx context.Context, fn func(db.Runner) error) error {
	return db.ReadBatch(ctx, s.readers, s.spread, fn)
}
