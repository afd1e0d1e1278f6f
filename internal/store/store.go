// Package store keeps everything in a database: gifts, their ledger, the set-up, idempotency records, jobs and the
// counts of wrong codes. It implements what ledger, api, delivery and setup ask of a database, and makes no decision
// of its own: which change is right is for package gift to say. Its constraints and triggers refuse what can never be
// right.
//
// It is written for two databases from one SQL text; see dialect. It knows no HTTP. Codes and tokens enter it in the
// clear and are sealed before they reach a file.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
)

// Options say where the data is.
type Options struct {
	// Dir is the data folder: the key file and, beside it, the embedded database. A new one gets both.
	Dir string
	// Database is the URL of a PostgreSQL database to be used in place of the embedded one; "": none. The key file
	// stays in Dir, and every instance needs a copy of the same one.
	Database string
	// MustExist refuses a place without a database, for programs that only look.
	MustExist bool
	// By is who changes the set-up, for its log: the operating system's user.
	By string
	// ShortTimeouts is for a service: a call learns within 2 seconds that a database on another machine is away or
	// busy. Without it, a call may take half a minute.
	ShortTimeouts bool
	// KeepSchema refuses, with ErrOldSchema, a schema that is to be brought up to date first.
	KeepSchema bool
	// Serves is for a service: the files of the embedded database are watched from then on, see CheckFiles.
	Serves bool
	// Migrated is told of each step of the schema that Open takes; nil: nobody is.
	Migrated func(number int64, name string)

	copying bool            // refuse what others have open
	tracer  pgx.QueryTracer // sees every statement, for a test of them
}

// Store is an open database. It is safe for concurrent use, also beside other processes that have the same folder open.
type Store struct {
	dialect dialect
	keys    *sealed.Keys
	keyFile string
	madeKey bool    // by this Open
	made    bool    // by this Open: there was no database
	spread  bool    // over machines, by Citus
	place   string  // where the database is, for people
	file    string  // of the embedded database
	writer  *sql.DB // every transaction that writes
	readers *sql.DB
	hot     map[string]*sql.Stmt // prepared on writer, by text
	lookUps map[string]*sql.Stmt // prepared on readers, by text
	kept    keptCounts
	used    usedRecords
	writers writers
	by      string                         // Options.By
	secrets lookupBatcher                  // look-ups by secret
	lists   chan struct{}                  // lists that are being read
	setup   atomic.Pointer[gift.Directory] // as last read

	checkpoints *checkpointer         // of the embedded database
	serves      bool                  // Options.Serves
	opened      openedFiles           // of the embedded database, when it is served
	broken      atomic.Pointer[error] // why nothing is written any more

	migrated func(number int64, name string) // Options.Migrated
}

// What Open refuses with MustExist and with KeepSchema; the error says more.
var (
	ErrNoStore   = errors.New("no database")
	ErrOldSchema = errors.New("the schema is not up to date")
)

// noStore is an ErrNoStore in words for the operator.
type noStore string

func (n noStore) Error() string      { return string(n) }
func (noStore) Is(target error) bool { return target == ErrNoStore }

// Made tells whether there was no database before this store was opened.
func (s *Store) Made() bool { return s.made }

// Place is where the database is, for people; no password is in it.
func (s *Store) Place() string { return s.place }

// querier is what can be asked: a database or a transaction.
type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// Open opens the store of a data folder or of a database server and brings its schema up to date. It refuses, with a
// sentence for the operator, a database without its key file, one whose key file is another's, and one that only a
// newer program understands.
func Open(ctx context.Context, o Options) (*Store, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the data folder: %w", err)
	}
	s := &Store{migrated: o.Migrated, by: o.By, keyFile: filepath.Join(dir, sealed.FileName), lists: make(chan struct{},
		2)}
	if o.Database != "" {
		err = s.openServer(ctx, o)
	} else {
		err = s.openFolder(ctx, dir, o)
	}
	if err == nil {
		err = s.begin(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.serves = o.Serves && s.file != ""; s.serves {
		_ = s.CheckFiles(ctx) // with a full disk, gifts can at least be looked at; it is tried again
	}
	return s, nil
}

// openFolder opens the embedded database.
func (s *Store) openFolder(ctx context.Context, dir string, o Options) (err error) {
	s.dialect, s.file = sqliteDialect, filepath.Join(dir, DatabaseName)
	s.place = s.file
	_, missing := os.Stat(s.file)
	s.made = errors.Is(missing, fs.ErrNotExist)
	if s.keys, err = folderKeys(dir, s.file, o.MustExist); err != nil {
		return err
	}
	if err := checkPair(ctx, s.file); err != nil {
		return err
	}
	if o.copying {
		if err := aloneOnSQLite(ctx, s.file); err != nil {
			return err
		}
	}
	if s.writer, s.readers, err = db.OpenSQLite(s.file); err != nil {
		return err
	}
	s.checkpoints, err = startCheckpointer(s.file, s.writer)
	return err
}

// openServer opens a PostgreSQL database. Its key file is made when neither has been used before.
func (s *Store) openServer(ctx context.Context, o Options) (err error) {
	s.dialect = postgresDialect
	if !o.ShortTimeouts {
		s.dialect.timeout, s.dialect.callerTimeout = db.BackgroundTimeout, 0
	}
	if s.writer, s.readers, s.place, err = db.OpenPostgres(o.Database, s.dialect.timeout, o.tracer); err != nil {
		return err
	}
	var used bool
	err = s.retry(ctx, func(ctx context.Context) error {
		version, err := s.schemaVersion(ctx, s.readers)
		used = version > 0
		return cmp.Or(err, s.readers.QueryRowContext(ctx,
			`SELECT to_regclass('pg_dist_partition') IS NOT NULL`).Scan(&s.spread))
	})
	switch {
	case err != nil:
		return fmt.Errorf("opening the database %s: %w", s.place, err)
	case o.copying && !s.alone(ctx):
		return fmt.Errorf("the database %s is in use; stop every boon serve, and whatever else has it open, first", s.place)
	case !used && o.MustExist:
		return noStore("there is nothing of boon in the database " + s.place +
			"; name the one that `boon serve` or `boon apply` made")
	}
	owned, err := s.hasOwner(ctx, used)
	if err != nil {
		return err
	}
	s.made = !owned
	s.keys, err = sealed.Load(s.keyFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if owned {
		return missingKeys(s.place, s.keyFile, s.copyKeys())
	}
	if err := os.MkdirAll(filepath.Dir(s.keyFile), 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	s.keys, s.madeKey, err = createKeys(s.keyFile)
	return err
}

// copyKeys tells how an instance comes by the key file that all share.
func (s *Store) copyKeys() string {
	return fmt.Sprintf("copy %s from the data folder of the instance that was first, or from its backup (it is kept "+
		"apart from the database's), to %s, "+
		"with mode 0600, and start again", sealed.FileName, s.keyFile)
}

// hasOwner tells whether a database that has a schema belongs to a key file already.
func (s *Store) hasOwner(ctx context.Context, schema bool) (owned bool, err error) {
	if !schema {
		return false, nil
	}
	err = s.retry(ctx, func(ctx context.Context) error {
		return s.readers.QueryRowContext(ctx, `SELECT count(*) > 0 FROM key_check`).Scan(&owned)
	})
	if err != nil {
		return false, fmt.Errorf("opening the database %s: %w", s.place, err)
	}
	return owned, nil
}

func missingKeys(place, file, remedy string) error {
	return fmt.Errorf("the database %s is there, but its key file %s is missing; without it no voucher code can be "+
		"read or found: %s", place, file, remedy)
}

func createKeys(file string) (keys *sealed.Keys, made bool, err error) {
	keys, err = sealed.Create(file)
	if errors.Is(err, fs.ErrExist) {
		keys, err = sealed.Load(file) // another process was first
		return keys, false, err
	}
	return keys, err == nil, err
}

// folderKeys gives the keys of a data folder. In a new one it makes the key file first and the database file after it:
// a database without its key file is therefore never one that is just being made.
func folderKeys(dir, database string, mustExist bool) (*sealed.Keys, error) {
	_, err := os.Stat(database)
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("opening the data folder: %w", err)
	case !exists && mustExist:
		return nil, noStore("there is no database in the data folder " + dir +
			"; name the folder that `boon serve` or `boon apply` made")
	case !exists:
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making the data folder: %w", err)
		}
	}
	file := filepath.Join(dir, sealed.FileName)
	keys, err := sealed.Load(file)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
	case exists:
		return nil, missingKeys(database, file,
			"restore it from its backup (it is kept apart from the database's), with mode 0600")
	default:
		keys, _, err = createKeys(file)
	}
	if err != nil {
		return nil, err
	}
	if !exists {
		if err := createFile(database); err != nil {
			return nil, fmt.Errorf("making the database: %w", err)
		}
	}
	return keys, nil
}

// begin makes an opened database ready: schema, keys, prepared statements.
func (s *Store) begin(ctx context.Context, o Options) error {
	steps, err := migrations(migrationFiles, &s.dialect)
	if err != nil {
		return err
	}
	if o.KeepSchema {
		err = s.checkSchema(ctx, int64(len(steps)))
	} else {
		err = s.migrate(ctx, steps)
	}
	if err != nil {
		return err
	}
	if err := s.checkKeys(ctx); err != nil {
		return err
	}
	if s.hot, err = s.prepare(ctx, s.writer, hotTexts()); err != nil {
		return err
	}
	s.lookUps, err = s.prepare(ctx, s.readers, lookUpTexts)
	return err
}

// prepare prepares statements by hand, where that is faster.
func (s *Store) prepare(ctx context.Context, db *sql.DB, texts []string) (map[string]*sql.Stmt, error) {
	if s.dialect.prepared == nil {
		return nil, nil
	}
	prepared := make(map[string]*sql.Stmt, len(texts))
	for _, text := range texts {
		err := s.retry(ctx, func(ctx context.Context) (err error) {
			prepared[text], err = db.PrepareContext(ctx, s.dialect.prepared(text))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("preparing a query: %w", err)
		}
	}
	return prepared, nil
}

// checkKeys refuses keys that are not this database's. A new database notes whose it is.
func (s *Store) checkKeys(ctx context.Context) error {
	var noted []byte
	const query = `SELECT value FROM key_check WHERE one = 1`
	err := s.retry(ctx, func(ctx context.Context) error { return s.readers.QueryRowContext(ctx, query).Scan(&noted) })
	if errors.Is(err, sql.ErrNoRows) {
		err = s.write(ctx, func(tx *sql.Tx) (err error) {
			noted, err = s.claim(ctx, tx)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("checking the keys: %w", err)
	}
	if err = s.follow(noted); err != nil && s.madeKey {
		return errors.Join(fmt.Errorf("another instance was first to use the database %s, with a key file of its own, and "+
			"all need the same one: %s",
			s.place, s.copyKeys()), sealed.Discard(s.keyFile, s.keys))
	}
	return err
}

// bound is what a sealed value is bound to: its purpose and its record.
func bound(purpose string, record gift.ID) []byte {
	return append([]byte(purpose+"\x00"), record[:]...)
}

// Close closes the database. Whoever uses the store must have stopped.
func (s *Store) Close() error {
	if s.writer != nil && s.file != "" {
		_ = s.leave(context.Background())
	}
	if s.checkpoints != nil {
		if err := s.checkpoints.close(); err != nil {
			return fmt.Errorf("closing the database: %w", err)
		}
	}
	for _, db := range []*sql.DB{s.readers, s.writer} {
		if db == nil {
			continue // it never opened
		}
		if err := db.Close(); err != nil { // with its statements
			return fmt.Errorf("closing the database: %w", err)
		}
	}
	return nil
}

// Writers is how many groups may be under way at once: one where every writer waits for the same lock, several where
// rows are locked; of these no more than cores to fill them, since the same calls in fewer groups take less time, and
// at least two, as one may meet a lock.
func (s *Store) Writers() int { return min(s.dialect.writers, max(2, runtime.GOMAXPROCS(0))) }

// CallerTimeout is how long a caller should wait for this store before it is told that the store is away; 0: as long
// as it takes, as the store is in this process.
func (s *Store) CallerTimeout() time.Duration { return s.dialect.callerTimeout }

// Away tells from an error that the database could not be reached in time, or that this instance lacks a key for what
// is in it.
func (s *Store) Away(err error) bool {
	return errors.Is(err, sealed.ErrUnknownKey) || s.dialect.timeout > 0 && s.dialect.retryable(err)
}

// Keys are the keys that seal the store's secrets, for the fingerprints of requests.
func (s *Store) Keys() *sealed.Keys { return s.keys }

// Ping tells whether the database can be reached and has the schema that this program needs, and whether the key file
// has the key that new secrets are made with.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.intact(); err != nil {
		return err
	}
	return s.retry(ctx, func(ctx context.Context) error {
		_, err := s.schemaVersion(ctx, s.readers)
		return cmp.Or(err, s.followKeysOf(ctx, s.readers))
	})
}

// Sizes are figures of the store that cost next to nothing to read.
type Sizes struct {
	Vouchers int64
	Database int64 // bytes
	Log      int64 // bytes of the write-ahead log
}

// Sizes reads them.
func (s *Store) Sizes(ctx context.Context) (z Sizes, err error) {
	if z.Vouchers, err = s.CountVouchers(ctx); err != nil {
		return z, err
	}
	if z.Database, z.Log, err = s.dialect.measure(ctx, s); err != nil {
		return z, fmt.Errorf("measuring the database: %w", err)
	}
	return z, nil
}

// CountVouchers is the number of all vouchers.
func (s *Store) CountVouchers(ctx context.Context) (n int64, err error) {
	err = s.retry(ctx, func(ctx context.Context) error {
		return s.readers.QueryRowContext(ctx, `SELECT CAST(coalesce(sum(vouchers), 0) AS BIGINT) FROM tally`).Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("counting vouchers: %w", err)
	}
	return n, nil
}

// write runs fn in a transaction and commits. What fn reads with lockRows stays as it is until then. fn may run again,
// on fresh state, when another transaction was in the way. A caller that gives up while waiting for its turn is let
// go; once the transaction has begun, it is seen through.
func (s *Store) write(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.retry(ctx, func(ctx context.Context) error { return s.transact(ctx, fn) })
}

// transactInBackground is transact for what may take minutes.
func (s *Store) transactInBackground(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.transactWithin(ctx, 0, func(tx *sql.Tx) error {
		if s.dialect.noLockTimeout != "" {
			if _, err := tx.ExecContext(ctx, s.dialect.noLockTimeout); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}

// How often, and for how long, what failed for a passing reason is tried again.
const (
	tries    = 6
	retryFor = time.Second
)

// retry runs fn, which may run again, until it succeeds or fails for good, a bounded number of times and within the
// dialect's timeout.
func (s *Store) retry(ctx context.Context, fn func(context.Context) error) error {
	if s.dialect.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.dialect.timeout)
		defer cancel()
	}
	begun := time.Now()
	for try := 1; ; try++ {
		err := fn(ctx)
		if err == nil || try == tries || time.Since(begun) > max(retryFor, s.dialect.timeout/2) ||
			errors.Is(err, ledger.ErrUnknown) || !s.dialect.retryable(err) {
			return err
		}
		// apart from who was in the way
		pause := time.NewTimer(time.Millisecond + rand.N(time.Duration(try)*10*time.Millisecond))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// transact runs fn once, in a transaction.
func (s *Store) transact(ctx context.Context, fn func(*sql.Tx) error) error {
	return s.transactWithin(ctx, s.dialect.timeout, fn)
}

// transactWithin runs fn in a transaction that may take this long from when it begins, and no longer than ctx has; 0:
// as long as it takes.
func (s *Store) transactWithin(ctx context.Context, timeout time.Duration, fn func(*sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return fmt.Errorf("waiting to write: %w", err)
	}
	defer conn.Close()
	deadline, limited := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if timeout > 0 {
		if latest := time.Now().Add(timeout); !limited || latest.Before(deadline) {
			deadline = latest
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning to write: %w", err)
	}
	defer tx.Rollback() // does nothing after a commit
	if err := s.intact(); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err
	}
	s.dialect.beginCommit(conn)
	err = tx.Commit()
	switch {
	case err == nil && s.dialect.doubtful(conn):
		return fmt.Errorf("committing: %w: the database warned that it may yet be lost", ledger.ErrUnknown)
	case err != nil && s.dialect.outcomeUnknown(err):
		return fmt.Errorf("committing: %w: %w", ledger.ErrUnknown, err)
	case err != nil:
		return fmt.Errorf("committing: %w", err)
	}
	if s.checkpoints != nil {
		s.checkpoints.committed()
	}
	return nil
}

// read runs fn in a transaction in which everything is seen as it is at one moment.
func (s *Store) read(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.readers.BeginTx(ctx, s.dialect.snapshot)
	if err != nil {
		return fmt.Errorf("beginning to read: %w", err)
	}
	defer tx.Rollback()
	return fn(tx)
}
