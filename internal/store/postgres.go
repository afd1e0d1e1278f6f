package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// How long things may take on a database that others use as well and that may be away.
const (
	connectTimeout = 1500 * time.Millisecond
	callTimeout    = 1800 * time.Millisecond
	callerTimeout  = 1900 * time.Millisecond // so that a caller learns within 2 s that the database is away
	commitTimeout  = 2 * time.Second
	lockTimeout    = 1500 * time.Millisecond
	idleTimeout    = 3 * time.Second // after which the database takes the locks of an instance that vanished

	// backgroundTimeout is how long all these may take where no guest is waiting.
	backgroundTimeout = 30 * time.Second
)

// connections is how many an instance opens at most, unless the URL's pool_max_conns says otherwise. Half of them are
// for writing, so that readers can never keep a redemption waiting.
const connections = 16

const lockRows = ` FOR NO KEY UPDATE`

// postgresDialect is a database for many instances: READ COMMITTED with row locks that are always taken in one order.
var postgresDialect = dialect{
	name:     "postgres",
	writers:  4,
	transact: transactPostgres,
	maxBatch: 64,
	lookUp:   lookUpByArray,
	// OFFSET 0 keeps the planner from reading the whole account: see selectByKeys.
	entryByID: func(id string) string {
		return `CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1 AND e.id = ` + id + ` OFFSET 0) AS e`
	},
	read:          readPostgres,
	hasTable:      `SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = $1`,
	noLockTimeout: `SET LOCAL lock_timeout = 0`,
	lockRows:      lockRows,
	confirm:       `SELECT 1 FROM request WHERE account_id = $1 AND key = $2 FOR KEY SHARE`,
	skipLocked:    ` FOR UPDATE SKIP LOCKED`,
	holdStill: []string{
		`SET LOCAL idle_in_transaction_session_timeout = 0`,
		`LOCK TABLE ` + tableNames() + ` IN SHARE MODE NOWAIT`,
	},
	risks:          `SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY 1`,
	snapshot:       &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
	timeout:        callTimeout,
	callerTimeout:  callerTimeout,
	retryable:      func(err error) bool { return conflict(err) || lost(err) || errors.Is(err, errOvertaken) },
	outcomeUnknown: unknownOutcome,
	rejected:       postgresRejected,
	beginCommit:    func(c *sql.Conn) { onConn(c, forgetNotices) },
	doubtful: func(c *sql.Conn) (doubtful bool) {
		onConn(c, func(conn *pgx.Conn) { doubtful = noticed(conn) })
		return doubtful
	},
	measure: func(ctx context.Context, s *Store) (size, log int64, err error) {
		err = s.readers.QueryRowContext(ctx, `SELECT pg_database_size(current_database())`).Scan(&size)
		return size, 0, err
	},
}

// divisionByZero is the server's code of one.
const divisionByZero = "22012"

// sqlState is the server's code of an error, "" when the error is not the server's.
func sqlState(err error) string {
	e, _ := errors.AsType[*pgconn.PgError](err)
	if e == nil {
		return ""
	}
	return e.Code
}

// conflict tells that another transaction was in the way: a serialization failure, a deadlock, a lock that was not
// given in time, a row that somebody else was first to write, or a statement that was prepared for an older schema.
func conflict(err error) bool {
	return slices.Contains([]string{"40001", "40P01", "55P03", "23505", "0A000", "26000"}, sqlState(err))
}

// lost tells that the database went away or cannot serve now.
func lost(err error) bool {
	if code := sqlState(err); code != "" {
		return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P0") || code == "25006" || code == "25P03"
	}
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) || pgconn.SafeToRetry(err)
}

// postgresRejected knows constraints and triggers by their class, and values that no column takes.
func postgresRejected(err error) bool {
	code := sqlState(err)
	return strings.HasPrefix(code, "23") || strings.HasPrefix(code, "22")
}

// unknownOutcome: the server's own word that it did not commit is the only one to be trusted. The driver's is not:
// when the answer to a commit that it sent is lost, it says that the connection was closed and that nothing was sent
// (pgconn.SafeToRetry).
func unknownOutcome(err error) bool {
	return !conflict(err) && !postgresRejected(err) && !errors.Is(err, pgx.ErrTxCommitRollback)
}

// A commit whose wait for the standby was broken off succeeds with a warning: it is done here, and a failover may lose
// it. So a connection notes that it was warned.
const warned = "warned"

func noteNotice(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warned] = true
	}
}

func forgetNotices(c *pgx.Conn) { delete(c.PgConn().CustomData(), warned) }

func noticed(c *pgx.Conn) bool { return c.PgConn().CustomData()[warned] != nil }

func onConn(c *sql.Conn, fn func(*pgx.Conn)) {
	_ = c.Raw(func(driverConn any) error { // fails when the connection is gone, and then there is nothing to ask
		fn(driverConn.(*stdlib.Conn).Conn())
		return nil
	})
}

// openPostgres opens the pools of a database, without connecting yet. place names it for people, without the password.
func openPostgres(url string, timeout time.Duration, tracer pgx.QueryTracer) (writer, readers *sql.DB, place string, err error) {
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, nil, "", fmt.Errorf("the database's URL is not understood; it reads postgres://USER:PASSWORD@HOST:PORT/DATABASE: %w", err)
	}
	size := int(pool.MaxConns)
	if !strings.Contains(url, "pool_max_conns") {
		size = connections
	}
	config := pool.ConnConfig
	config.Tracer = tracer
	config.ConnectTimeout = max(connectTimeout, timeout/2)
	config.OnNotice = noteNotice
	if config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite // never a standby
	}
	set := func(name, value string) {
		if _, said := config.RuntimeParams[name]; !said {
			config.RuntimeParams[name] = value
		}
	}
	// There is no statement_timeout: it would break off a commit's wait for its standby.
	set("application_name", "boon")
	set("jit", "off") // what is compiled here runs once, for a few rows, and where sequential scans are off a cost says nothing
	set("lock_timeout", milliseconds(lockTimeout))
	set("idle_in_transaction_session_timeout", milliseconds(max(idleTimeout, timeout)))
	// A plan that was made while a table was small is kept while it grows, and before a table has figures it looks
	// small. What is asked here finds its rows by key, always.
	for _, plan := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin"} {
		set(plan, "off")
	}
	open := func() *sql.DB {
		db := sql.OpenDB(stdlib.GetConnector(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, durably)
			return err
		})))
		db.SetMaxOpenConns(max(2, size/2))
		db.SetMaxIdleConns(max(2, size/2))
		db.SetConnMaxIdleTime(5 * time.Minute)
		return db
	}
	return open(), open(), config.Database + " on " + config.Host, nil
}

// durably makes a session wait for its commits, whatever server, database or role have as their default, now or later:
// what is weaker than "on" is not on the standby's disk, or not even on the primary's, when the caller is told. What
// is stronger stays.
const durably = `SELECT set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
	THEN 'on' ELSE current_setting('synchronous_commit') END, false)`

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
			risks = append(risks, fmt.Sprintf("The database %s has %s=off: when its machine loses power, redemptions that were answered may be lost, or the "+
				"whole database damaged. Turn %s on.", s.place, setting, setting))
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading the database's settings: %w", err)
	}
	return risks, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

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
