package db

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
	CallTimeout    = 1800 * time.Millisecond
	CallerTimeout  = 1900 * time.Millisecond // so that a caller learns within 2 s that the database is away
	CommitTimeout  = 2 * time.Second
	lockTimeout    = 1500 * time.Millisecond
	idleTimeout    = 3 * time.Second // after which the database takes the locks of an instance that vanished

	// BackgroundTimeout is how long all these may take where no guest is waiting.
	BackgroundTimeout = 30 * time.Second
)

// connections is how many an instance opens at most, unless the URL's pool_max_conns says otherwise. Half of them are
// for writing, so that readers can never keep a redemption waiting.
const connections = 16

// ErrUnknownOutcome tells that a COMMIT was sent and may or may not have taken effect.
var ErrUnknownOutcome = errors.New("the outcome of the commit is unknown")

// divisionByZero is the server's code of one.
const divisionByZero = "22012"

// SQLState is the server's code of an error, "" when the error is not the server's.
func SQLState(err error) string {
	e, _ := errors.AsType[*pgconn.PgError](err)
	if e == nil {
		return ""
	}
	return e.Code
}

// Conflict tells that another transaction was in the way: a serialization failure, a deadlock, a lock that was not
// given in time, a row that somebody else was first to write, or a statement that was prepared for an older schema.
func Conflict(err error) bool {
	return slices.Contains([]string{"40001", "40P01", "55P03", "23505", "0A000", "26000"}, SQLState(err))
}

// Lost tells that the database went away or cannot serve now.
func Lost(err error) bool {
	if code := SQLState(err); code != "" {
		return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P0") ||
			code == "25006" || code == "25P03"
	}
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) ||
		pgconn.SafeToRetry(err)
}

// PostgresRejected knows constraints and triggers by their class, and values that no column takes.
func PostgresRejected(err error) bool {
	code := SQLState(err)
	return strings.HasPrefix(code, "23") || strings.HasPrefix(code, "22")
}

// PostgresUnknownOutcome: the server's own word that it did not commit is the only one to be trusted. The driver's is
// not: when the answer to a commit that it sent is lost, it says that the connection was closed and that nothing was
// sent (pgconn.SafeToRetry).
func PostgresUnknownOutcome(err error) bool {
	return !Conflict(err) && !PostgresRejected(err) && !errors.Is(err, pgx.ErrTxCommitRollback)
}

// A commit whose wait for the standby was broken off succeeds with a warning: it is done here, and a failover may lose
// it. So a connection notes that it was warned.
const warned = "warned"

func noteNotice(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warned] = true
	}
}

func ForgetNotices(c *pgx.Conn) { delete(c.PgConn().CustomData(), warned) }

func Noticed(c *pgx.Conn) bool { return c.PgConn().CustomData()[warned] != nil }

func OnConn(c *sql.Conn, fn func(*pgx.Conn)) {
	_ = c.Raw(func(driverConn any) error { // fails when the connection is gone, and then there is nothing to ask
		fn(driverConn.(*stdlib.Conn).Conn())
		return nil
	})
}

// OpenPostgres opens the pools of a database, without connecting yet. place names it for people, without the password.
func OpenPostgres(url string, timeout time.Duration, tracer pgx.QueryTracer) (writer, readers *sql.DB, place string,
	err error) {
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, nil, "", fmt.Errorf("the database's URL is not understood; it reads "+
			"postgres://USER:PASSWORD@HOST:PORT/DATABASE: %w", err)
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
	// what is compiled here runs once, for a few rows, and where sequential scans are off a cost says nothing
	set("jit", "off")
	set("lock_timeout", milliseconds(lockTimeout))
	set("idle_in_transaction_session_timeout", milliseconds(max(idleTimeout, timeout)))
	// A plan that was made while a table was small is kept while it grows, and before a table has figures it looks
	// small. What is asked here finds its rows by key, always.
	for _, plan := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin"} {
		set(plan, "off")
	}
	open := func() *sql.DB {
		db := sql.OpenDB(stdlib.GetConnector(*config, stdlib.OptionAfterConnect(func(ctx context.Context,
			conn *pgx.Conn) error {
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

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
