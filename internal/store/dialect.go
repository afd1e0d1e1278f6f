package store

import (
	"context"
	"database/sql"
	"time"

	"boon.example/internal/store/db"
)

// dialect holds the few words in which the databases differ. Every statement is written once, with $1 placeholders;
// what a dialect changes is named here, and nowhere is there an if on the database.
type dialect struct {
	name string // of its migrations: NUMBER_name.NAME.sql
	// writers is how many transactions of groups the database takes at once.
	writers int

	// prepared turns a statement into what is prepared by hand; nil where the driver does that by itself.
	prepared func(string) string
	// transact runs the batches of a group in a transaction and commits: each database has its own way to take sets of
	// rows.
	transact func(context.Context, *Store, func(db.Runner) error) error
	// lookUp looks up secrets, at most maxBatch together.
	maxBatch int
	lookUp   func(context.Context, *Store, []*pendingLookup) error
	// read runs batches that find rows by their keys, outside of a transaction.
	read func(context.Context, *Store, []db.Batch) error
	// hasTable asks whether table $1 exists.
	hasTable string
	// entryByID joins, as e, the entry of account $1 that an expression over the tables before it gives the id of.
	entryByID func(id string) string
	// noLockTimeout begins a transaction that may wait for locks as long as it takes; "": nothing has to be said.
	noLockTimeout string
	// lockRows and skipLocked end a SELECT whose rows are about to be written.
	lockRows, skipLocked string
	// snapshot begins a reading transaction in which all statements see the same state.
	snapshot *sql.TxOptions
	// timeout is how long a call may take, over all its tries; 0: as long as it takes. callerTimeout is how long a
	// caller should wait for all the calls that it needs, and for those that are served before it.
	timeout, callerTimeout time.Duration
	// retryable tells that a failed transaction did nothing, and may succeed on fresh state or another connection.
	retryable func(error) bool
	// beginCommit and doubtful are called on a connection before a commit and after one that succeeded: doubtful tells
	// that it may yet be lost.
	beginCommit func(*sql.Conn)
	doubtful    func(*sql.Conn) bool
	// confirm locks the rows of key $2 of account $1: where what can be read may yet be lost, a commit with a lock in
	// it is what tells, as it waits until everything before it is safe. "": what can be read is safe.
	confirm string
	// outcomeUnknown tells from the error of a commit that nobody knows whether it took effect.
	outcomeUnknown func(error) bool
	// rejected tells that a statement broke a constraint.
	rejected func(error) bool
	// integrity lists the checks of the database's own.
	integrity []string
	// risks selects the settings with which the database may lose what it has committed; "": there are none.
	risks string
	// holdStill lists the statements that keep others from writing until the transaction ends.
	holdStill []string
	// measure tells how large the database and its log are, in bytes.
	measure func(context.Context, *Store) (database, log int64, err error)
}
