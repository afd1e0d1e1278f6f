// Package db opens SQLite and PostgreSQL, with the keys that seal what is in a database, and runs queries on either: it
// brings the schema up to date, retries, commits, tells errors apart, and executes batches, queries with many rows, in
// the way that is fastest on each. What differs between the two is behind one interface, backend. Of the tables it
// knows the two that belong to a database itself: schema_version and key_check.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/chain"
	"boon.example/internal/sealed"
)

// Options say where the data is.
type Options struct {
	// Dir is the data folder: the key file and, beside it, the embedded database. A new one gets both.
	Dir string
	// KeyFile is where the key file is instead; the zero value: in Dir.
	KeyFile sealed.Place
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
	// GiftCache is how many bytes of gifts that were looked up are remembered on the embedded database; 0: none are.
	GiftCache int64
	// Migrated is told of each step of the schema that Open takes; nil: nothing is.
	Migrated func(number int64, name string)

	// Alone refuses a database that others have open.
	Alone bool
	// Claimed runs in the transaction in which a new database notes whose keys it is sealed with.
	Claimed func(ctx context.Context, d *DB, tx *sql.Tx) error
	// Tracer sees every statement on PostgreSQL, for a test of them.
	Tracer pgx.QueryTracer
}

// DB is an open database. It is safe for concurrent use, also beside other processes that have the same one open.
type DB struct {
	Options
	Keys    *sealed.Keys
	Writer  *sql.DB // for every transaction that writes
	Readers *sql.DB
	Place   string // where the database is, for people; without a password
	File    string // of the embedded database; "": it is on a server
	Made    bool   // by this Open: there was no database
	Spread  bool   // over machines, by Citus

	// opened counts the connections that were opened for writing; hidden tells that one may lead to another server
	// unnoticed: see Epoch.
	opened atomic.Int64
	hidden atomic.Bool

	backend backend
	madeKey bool // by this Open
	// why nothing is asked of the database any more, see CheckSchema; nil: its schema serves this program
	unserved atomic.Pointer[error]
	reads    map[string]*sql.Stmt // prepared on Readers, by text
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

func emptyStore(place string) error {
	return noStore("there is nothing of boon in the database " + place + ": it is new, or what was in it is lost; then " +
		"restore a backup")
}

// Open opens the database of a data folder or of a server and brings its schema up to date. It refuses, with a sentence
// for the operator, a database without its key file, one whose key file is another's, and one that only a newer program
// understands.
func Open(ctx context.Context, o Options) (*DB, error) {
	if err := cmp.Or(o.Locate(), o.checkKeyFile()); err != nil {
		return nil, err
	}
	d := &DB{Options: o}
	if d.backend = (&sqlite{db: d}); o.Database != "" {
		d.backend = &postgres{db: d, shortTimeouts: o.ShortTimeouts}
	}
	err := d.backend.open(ctx, &o)
	if err == nil {
		err = d.begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	_ = d.CheckFiles(ctx) // with a full disk, gifts can at least be looked at; it is tried again
	return d, nil
}

// Locate fills in where the key file is, and makes both places absolute.
func (o *Options) Locate() (err error) {
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return fmt.Errorf("opening the data folder: %w", err)
	}
	o.KeyFile.Path = cmp.Or(o.KeyFile.Path, filepath.Join(o.Dir, sealed.FileName))
	if o.KeyFile.Path, err = filepath.Abs(o.KeyFile.Path); err != nil {
		return fmt.Errorf("opening the key file: %w", err)
	}
	return nil
}

// checkKeyFile refuses a key file that can neither be read nor made, before a data folder is made that nothing would
// come into.
func (o *Options) checkKeyFile() error {
	if _, err := os.Stat(o.Dir); o.MustExist || !errors.Is(err, fs.ErrNotExist) {
		return nil // no folder is made
	}
	_, err := o.KeyFile.Load()
	folder := filepath.Dir(o.KeyFile.Path)
	within, outside := filepath.Rel(folder, o.Dir)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case o.KeyFile.Credential:
		return fmt.Errorf("the credential %s is not there, and none is made", o.KeyFile.Path)
	case outside == nil && filepath.IsLocal(within): // it is made with the data folder
		return nil
	}
	if _, err = os.Stat(folder); err != nil {
		return fmt.Errorf("the key file is to be made in the folder %s (--key-file): make that folder first, or name "+
			"another file: %w", folder, err)
	}
	return nil
}

// begin makes an opened database ready: schema and keys.
func (d *DB) begin(ctx context.Context) (err error) {
	if d.MustExist {
		if at, err := d.SchemaVersion(ctx); err != nil || at == 0 {
			return cmp.Or(err, emptyStore(d.Place))
		}
	}
	if d.KeepSchema {
		err = d.checkSchema(ctx)
	} else {
		err = d.Migrate(ctx, Migrations)
	}
	if err != nil {
		return err
	}
	return d.checkKeys(ctx)
}

// Close closes the database. What uses it must have stopped.
func (d *DB) Close() error {
	if err := d.backend.close(); err != nil {
		return fmt.Errorf("closing the database: %w", err)
	}
	for _, pool := range []*sql.DB{d.Readers, d.Writer} {
		if pool == nil {
			continue // it never opened
		}
		if err := pool.Close(); err != nil { // with its statements
			return fmt.Errorf("closing the database: %w", err)
		}
	}
	return nil
}

// PrepareWrites prepares statements of batches that write, by hand where that is faster.
func (d *DB) PrepareWrites(ctx context.Context, texts []string) error {
	err := d.Retry(ctx, func(ctx context.Context) error { return d.backend.prepareWrites(ctx, texts) })
	if err != nil {
		return fmt.Errorf("preparing a query: %w", err)
	}
	return nil
}

// PrepareReads prepares statements that read.
func (d *DB) PrepareReads(ctx context.Context, texts []string) error {
	d.reads = make(map[string]*sql.Stmt, len(texts))
	if !d.backend.prepares() {
		return nil
	}
	for _, text := range texts {
		err := d.Retry(ctx, func(ctx context.Context) (err error) {
			d.reads[text], err = d.Readers.PrepareContext(ctx, text)
			return err
		})
		if err != nil {
			return fmt.Errorf("preparing a query: %w", err)
		}
	}
	return nil
}

// Writers is how many groups may be under way at once: one where every writer waits for the same lock, several where
// rows are locked; of these no more than cores to fill them, since the same calls in fewer groups take less time, and
// at least two, as one may meet a lock.
func (d *DB) Writers() int { return min(d.backend.writers(), max(2, runtime.GOMAXPROCS(0))) }

// BatchSize is how many keys one statement that reads takes at best.
func (d *DB) BatchSize() int { return d.backend.batch() }

// Timeout is how long a call may take, over all its tries; 0: as long as it takes.
func (d *DB) Timeout() time.Duration { return d.backend.timeout() }

// CallerTimeout is how long a caller should wait for this database before it is told that it is away; 0: as long as it
// takes, as the database is in this process.
func (d *DB) CallerTimeout() time.Duration { return d.backend.callerTimeout() }

// Away tells from an error that the database could not be reached in time, that its schema does not serve this program
// any more, or that this instance lacks a key for what is in it.
func (d *DB) Away(err error) bool {
	return errors.Is(err, ErrUnserved) || errors.Is(err, sealed.ErrUnknownKey) || d.Timeout() > 0 && d.Passing(err)
}

// Passing tells that what failed did nothing and may succeed later: another transaction was in the way, or the database
// was away.
func (d *DB) Passing(err error) bool { return d.backend.retryable(err) }

// Full tells that there was no room on the disk.
func (d *DB) Full(err error) bool { return d.backend.full(err) }

// Rejected tells that a statement broke a constraint.
func (d *DB) Rejected(err error) bool { return d.backend.rejected(err) }

// CommitTime is how long commits take of late where everybody waits for the one writer; 0: nobody waits for another.
func (d *DB) CommitTime() time.Duration { return d.backend.commitTime() }

// WritesMuch tells, before each of its transactions, that the caller writes much for long: for a second from then on,
// what others commit meanwhile waits less for the disk, and what is written costs more.
func (d *DB) WritesMuch() { d.backend.writesMuch() }

// NoteHead notes, beside an embedded database, the newest row of a hash chain, once that is committed: a database that
// lacks it is refused when it is opened.
func (d *DB) NoteHead(h chain.Head) { d.backend.noteHead(h) }

// CheckFiles finds out whether the files of the embedded database are still the ones that a service opened. Once they
// are not, nothing is written any more, for it would be lost: a log that was deleted, or whose database was replaced,
// is found by nothing after this process. What a deleted log held is copied into the database first, so that nothing
// that was answered is lost.
func (d *DB) CheckFiles(ctx context.Context) error {
	if !d.Serves {
		return nil
	}
	return d.backend.checkFiles(ctx)
}

// Epoch is a number that grows at least whenever the database may have gone back to an earlier state since it was asked
// for last: a server that does has ended its connections. What a process knows of the database is to be compared with
// it then. Within a transaction, it is that of its connection or a later one. The embedded database, whose files are
// watched, does not go back; behind a pooler and over machines, every call gives another number.
func (d *DB) Epoch() int64 {
	if d.hidden.Load() || d.Spread {
		return d.opened.Add(1)
	}
	return d.opened.Load()
}

// CheckIntegrity runs the database's own checks, and tells found what they find.
func (d *DB) CheckIntegrity(ctx context.Context, found func(problem string)) error {
	return d.backend.integrity(ctx, found)
}

// Ping tells whether the database can be reached and has the schema that this program needs, and whether the key file
// has the key that new secrets are made with.
func (d *DB) Ping(ctx context.Context) error {
	if err := d.backend.writable(); err != nil {
		return err
	}
	if err := d.CheckSchema(ctx); err != nil {
		return err
	}
	return d.Retry(ctx, func(ctx context.Context) error { return d.FollowKeys(ctx, d.Readers) })
}

// Risks are sentences for the operator about what Boon cannot override: settings of the database with which it may
// lose or damage what it has committed.
func (d *DB) Risks(ctx context.Context) (risks []string, err error) {
	err = d.Retry(ctx, func(ctx context.Context) (err error) {
		risks, err = d.backend.risks(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the database's settings: %w", err)
	}
	return risks, nil
}

// Size is how large the database and its write-ahead log are, in bytes.
func (d *DB) Size(ctx context.Context) (database, log int64, err error) {
	if database, log, err = d.backend.size(ctx); err != nil {
		return 0, 0, fmt.Errorf("measuring the database: %w", err)
	}
	return database, log, nil
}
