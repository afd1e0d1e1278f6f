package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	"boon.example/internal/chain"
)

// How long things may take on a database that others use as well and that may be away.
const (
	connectTimeout = 1500 * time.Millisecond
	CallTimeout    = 1800 * time.Millisecond
	CallerTimeout  = 1900 * time.Millisecond // so that a caller learns within 2 s that the database is away
	CommitTimeout  = 2 * time.Second
	LongTimeout    = 12 * time.Second // a call and its commit, of thousands of rows: its caller waits 15 s
	lockTimeout    = 1500 * time.Millisecond
	pingTimeout    = 500 * time.Millisecond
	idleTimeout    = 3 * time.Second // after which the database takes the locks of an instance that vanished

	// BackgroundTimeout is how long all these may take where no guest is waiting.
	BackgroundTimeout = 30 * time.Second
)

// connections is how many an instance opens at most, unless the URL's pool_max_conns says otherwise. Half of them are
// for writing, so that readers can never keep a redemption waiting.
const connections = 16

// postgres is a database for many instances: READ COMMITTED with row locks that are always taken in one order.
type postgres struct {
	db            *DB
	shortTimeouts bool
}

// open does not make a key file where one has been used before.
func (p *postgres) open(ctx context.Context, o *Options) (err error) {
	d := p.db
	if d.Writer, d.Readers, d.Place, err = openPostgres(o.Database, p.timeout(), o.Tracer, p.connected); err != nil {
		return err
	}
	var used bool
	err = d.Retry(ctx, func(ctx context.Context) error {
		version, err := d.schemaVersion(ctx, d.Readers)
		used = version > 0
		const spread = `SELECT to_regclass('pg_dist_partition') IS NOT NULL`
		return cmp.Or(err, d.Readers.QueryRowContext(ctx, spread).Scan(&d.Spread))
	})
	switch {
	case err != nil:
		return fmt.Errorf("opening the database %s: %w", d.Place, err)
	case o.Alone && !p.alone(ctx):
		return fmt.Errorf("the database %s is in use; stop every boon serve, and whatever else has it open, first", d.Place)
	case !used && o.MustExist:
		return noStore("there is nothing of boon in the database " + d.Place +
			"; name the one that `boon serve` or `boon apply` made")
	}
	owned, err := d.hasOwner(ctx, used)
	if err != nil {
		return err
	}
	d.Made = !owned
	d.Keys, err = d.KeyFile.Load()
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if owned {
		return missingKeys(d.Place, d.KeyFile.Path, d.copyKeys())
	}
	if err := os.MkdirAll(d.Dir, 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	d.Keys, d.madeKey, err = createKeys(d.KeyFile)
	return err
}

// alone tells that no other client has the database open. A server of ours always has: it asks for the set-up twice a
// second. What was killed a moment ago may take a moment to be gone.
func (p *postgres) alone(ctx context.Context) (alone bool) {
	const others = `SELECT count(*) = 0 FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
	for range 20 {
		if err := p.db.Readers.QueryRowContext(ctx, others).Scan(&alone); err != nil || alone {
			return err == nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func (p *postgres) close() error                                  { return nil }
func (p *postgres) name() string                                  { return "postgres" }
func (p *postgres) writers() int                                  { return 4 }
func (p *postgres) batch() int                                    { return 64 }
func (p *postgres) begun(*sql.Conn) error                         { return nil }
func (p *postgres) prepares() bool                                { return false } // the driver does
func (p *postgres) prepareWrites(context.Context, []string) error { return nil }

func (p *postgres) writable() error                  { return nil }
func (p *postgres) noteHead(chain.Head)              {} // the server's log is the server's
func (p *postgres) checkFiles(context.Context) error { return nil }

func (p *postgres) text(t Text) string {
	if p.db.Spread && t.Citus != "" {
		return t.Citus
	}
	return t.Postgres
}

// commitTime implements backend: every transaction has a connection of its own.
func (p *postgres) commitTime() time.Duration { return 0 }

// writesMuch implements backend: the server spreads its checkpoints over minutes.
func (p *postgres) writesMuch() {}

func (p *postgres) timeout() time.Duration {
	if p.shortTimeouts {
		return CallTimeout
	}
	return BackgroundTimeout
}

func (p *postgres) callerTimeout() time.Duration {
	if p.shortTimeouts {
		return CallerTimeout
	}
	return 0
}

func (p *postgres) snapshot() *sql.TxOptions {
	return &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
}

func (p *postgres) commit(conn *sql.Conn, tx *sql.Tx) error {
	behind := false
	onConn(conn, func(c *pgx.Conn) {
		forgetNotices(c)
		behind = pooled(c)
	})
	if behind {
		if _, err := tx.Exec(durablyNow); err != nil {
			return err
		}
	}
	err := tx.Commit()
	warned := false
	onConn(conn, func(c *pgx.Conn) { warned = noticed(c) })
	switch {
	case err == nil && warned:
		return fmt.Errorf("%w: the database warned that it may yet be lost", ErrUnknownOutcome)
	case err != nil && unknownOutcome(err):
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	}
	return err
}

func (p *postgres) retryable(err error) bool {
	return conflict(err) || lost(err) || errors.Is(err, ErrOvertaken)
}

func (p *postgres) integrity(context.Context, func(string)) error { return nil }

func (p *postgres) risks(ctx context.Context) (risks []string, err error) {
	const off = `SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off' ORDER BY 1`
	err = Each(ctx, p.db.Readers, off, nil, func(rows *sql.Rows) error {
		var setting string
		err := rows.Scan(&setting)
		risks = append(risks, fmt.Sprintf("The database %s has %s=off: when its machine loses power, redemptions that were "+
			"answered may be lost, or the whole database damaged. Turn %s on.", p.db.Place, setting, setting))
		return err
	})
	if err != nil {
		return nil, err
	}
	const unlimited = `SELECT name FROM pg_settings
		WHERE name IN ('lock_timeout', 'idle_in_transaction_session_timeout') AND setting = '0' ORDER BY 1`
	err = Each(ctx, p.db.Readers, unlimited, nil, func(rows *sql.Rows) error {
		var setting string
		err := rows.Scan(&setting)
		risks = append(risks, fmt.Sprintf("Our sessions on %s have %s=0, which a pooler does not pass on: gifts that an "+
			"instance had locked when it vanished stay locked. Set it for the role (docs/operating/scale.md, PgBouncer).",
			p.db.Place, setting))
		return err
	})
	return risks, err
}

func (p *postgres) size(ctx context.Context) (database, log int64, err error) {
	err = p.db.Readers.QueryRowContext(ctx, `SELECT pg_database_size(current_database())`).Scan(&database)
	return database, 0, err
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
// given in time, a row that another transaction was first to write, or a statement that was prepared for an older
// schema.
func conflict(err error) bool {
	return slices.Contains([]string{"40001", "40P01", "55P03", "23505", "0A000", "26000"}, sqlState(err))
}

// lost tells that the database went away or cannot serve now.
func lost(err error) bool {
	if code := sqlState(err); code != "" {
		return strings.HasPrefix(code, "08") || strings.HasPrefix(code, "53") || strings.HasPrefix(code, "57P0") ||
			code == "25006" || code == "25P03"
	}
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}

func (p *postgres) full(err error) bool { return sqlState(err) == "53100" }

// rejected knows constraints and triggers by their class, and values that no column takes.
func (p *postgres) rejected(err error) bool { return rejected(err) }

func rejected(err error) bool {
	code := sqlState(err)
	return strings.HasPrefix(code, "23") || strings.HasPrefix(code, "22")
}

// unknownOutcome: the server's own word that it did not commit is the only one to be trusted. The driver's is not:
// when the answer to a commit that it sent is lost, it says that the connection was closed and that nothing was sent
// (pgconn.SafeToRetry).
func unknownOutcome(err error) bool {
	return !conflict(err) && !rejected(err) && !errors.Is(err, pgx.ErrTxCommitRollback)
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

// connected is told of each connection for writing: see DB.Epoch.
func (p *postgres) connected(pooled bool) {
	p.db.opened.Add(1)
	if pooled {
		p.db.hidden.Store(true)
	}
}

// openPostgres opens the pools of a database, without connecting yet. place names it for people, without the password.
// connected is told of each connection for writing, and whether a pooler stands before the server.
func openPostgres(url string, timeout time.Duration, tracer pgx.QueryTracer, connected func(pooled bool)) (
	writer, readers *sql.DB, place string, err error) {
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
	open := func(connected func(pooled bool)) *sql.DB {
		db := sql.OpenDB(stdlib.GetConnector(*config, stdlib.OptionAfterConnect(func(ctx context.Context,
			conn *pgx.Conn) error {
			var process uint32
			err := conn.QueryRow(ctx, durably, pgx.QueryExecModeSimpleProtocol).Scan(nil, &process)
			// A pooler makes up the number that it tells at the start, as no process is ours alone.
			behind := process != conn.PgConn().PID()
			conn.PgConn().CustomData()[behindPooler] = behind
			connected(behind)
			return err
		}), stdlib.OptionShouldPing(func(context.Context, stdlib.ShouldPingParams) bool { return false }), // lives does
			stdlib.OptionResetSession(lives)))
		db.SetMaxOpenConns(max(2, size/2))
		db.SetMaxIdleConns(max(2, size/2))
		db.SetConnMaxIdleTime(5 * time.Minute)
		return db
	}
	return open(connected), open(func(bool) {}), config.Database + " on " + config.Host, nil
}

// lives tells whether a connection still leads to the server, before it is used after a rest. The driver would wait for
// that for as long as the whole call may take: where a firewall has forgotten all idle connections without a word, as
// many calls would be lost as there are connections.
func lives(ctx context.Context, conn *pgx.Conn) error {
	const paused = time.Second
	used, now := conn.PgConn().CustomData(), time.Now()
	last, _ := used[lastUsed].(time.Time)
	used[lastUsed] = now
	if now.Sub(last) < paused {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := conn.Ping(ctx); err != nil {
		return driver.ErrBadConn // the pool takes another
	}
	return nil
}

// lastUsed is when a connection was last taken from its pool.
const lastUsed = "last used"

// durably makes a session wait for its commits, whatever server, database or role have as their default, now or later:
// what is weaker than "on" is not on the standby's disk, or not even on the primary's, when the caller is told. What
// is stronger stays. A pooler may give each transaction another session, so that there each waits by itself.
const (
	durably = `SELECT set_config('synchronous_commit', CASE
			WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN 'on'
			ELSE current_setting('synchronous_commit') END, false), pg_backend_pid()`
	durablyNow = `SELECT set_config('synchronous_commit', CASE
			WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN 'on'
			ELSE current_setting('synchronous_commit') END, true)`
)

// A connection knows whether a pooler, such as PgBouncer, stands between it and the server.
const behindPooler = "behind a pooler"

func pooled(c *pgx.Conn) bool { return c.PgConn().CustomData()[behindPooler] == true }

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
