package db

import (
	"context"
	"database/sql"
	"time"

	"boon.example/internal/chain"
)

// backend is what SQLite and PostgreSQL do each in its own way. Everything else is written once, in SQL that both
// understand, with $1 placeholders; where they do not, a Text or a Query has the words of each. See docs/adr/0031.
type backend interface {
	// open opens the pools of the database that o names, and its keys.
	open(ctx context.Context, o *Options) error
	// close is called before the pools are closed.
	close() error
	// name ends the names of its migrations: NUMBER_name.NAME.sql.
	name() string
	text(t Text) string

	// writers is how many transactions of groups the database takes at once; batch, how many keys one statement that
	// reads takes at best.
	writers() int
	batch() int
	// timeout is how long a call may take, over all its tries; 0: as long as it takes. callerTimeout is how long a
	// caller should wait for all the calls that it needs, and for those that are served before it.
	timeout() time.Duration
	callerTimeout() time.Duration
	// snapshot begins a reading transaction in which all statements see the same state.
	snapshot() *sql.TxOptions

	// transact runs the batches of a transaction and commits; read runs those that find rows by their keys, outside of
	// a transaction: each database has its own way to take sets of rows.
	transact(ctx context.Context, fn func(Runner) error) error
	// look runs batches that read in one snapshot. It takes no lock that a batch names.
	look(ctx context.Context, fn func(Runner) error) error
	read(ctx context.Context, batches []Batch) error
	// prepares tells that statements are prepared by hand, as the driver does not do it by itself. prepareWrites
	// prepares those of batches that write.
	prepares() bool
	prepareWrites(ctx context.Context, texts []string) error
	// writable fails when nothing is to be written any more.
	writable() error
	// begun is told that a transaction of the writer has begun on a connection.
	begun(conn *sql.Conn) error
	// commit ends a transaction on its connection. The error is ErrUnknownOutcome when it may or may not have taken
	// effect, or when it did and may yet be lost.
	commit(conn *sql.Conn, tx *sql.Tx) error
	// retryable tells that a failed transaction did nothing, and may succeed on fresh state or another connection;
	// rejected, that a statement broke a constraint.
	// full, that there was no room on the disk.
	retryable(err error) bool
	rejected(err error) bool
	full(err error) bool

	// commitTime is how long commits take of late where everybody waits for the one writer; 0: nobody does.
	commitTime() time.Duration
	// writesMuch tells that much is written for long, beside others who wait for the same disk.
	writesMuch()
	// noteHead notes how far the hash chains have come, beside the database, once that is committed.
	noteHead(h chain.Head)
	// checkFiles finds out whether the files that were opened are still there.
	checkFiles(ctx context.Context) error
	// integrity runs the database's own checks.
	integrity(ctx context.Context, found func(problem string)) error
	// risks are sentences about settings with which the database may lose what it has committed.
	risks(ctx context.Context) ([]string, error)
	// size is how large the database and its log are, in bytes.
	size(ctx context.Context) (database, log int64, err error)
}

// Text is a statement whose words differ between the databases. "" does nothing.
type Text struct {
	SQLite, Postgres string
	Citus            string // for PostgreSQL that Citus spreads over machines; "": Postgres is
}

// Text picks the words of this database.
func (d *DB) Text(t Text) string { return d.backend.text(t) }
