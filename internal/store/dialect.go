package store

import (
	"context"
	"database/sql"
	"strings"
)

// dialect holds the few words in which the databases differ. Every statement is written once, with $1 placeholders; what
// a dialect changes is named here, and nowhere is there an if on the database.
type dialect struct {
	name string // of its own migrations: NUMBER_name.NAME.sql

	// words are replaced in the migrations: the types, and how a table is stored.
	words *strings.Replacer
	// prepared turns a statement into what is prepared, where that is faster.
	prepared func(string) string
	// hasTable asks whether table $1 exists.
	hasTable string
	// lockRows and skipLocked end a SELECT whose rows are about to be written.
	lockRows, skipLocked string
	// snapshot begins a reading transaction in which all statements see the same state.
	snapshot *sql.TxOptions
	// outcomeUnknown tells from the error of a commit that nobody knows whether it took effect.
	outcomeUnknown func(error) bool
	// rejected tells that a statement broke a constraint.
	rejected func(error) bool
	// integrity lists the checks of the database's own.
	integrity []string
	// holdStill lists the statements that keep others from writing until the transaction ends.
	holdStill []string
	// bulkInsert writes many rows of a table at once.
	bulkInsert func(context.Context, *sql.Tx, *table, []row) error
}
