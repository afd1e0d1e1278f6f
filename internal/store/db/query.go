package db

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"boon.example/internal/guid"
)

// Query is one statement for many rows, in the words of each database. Its texts are constants that can be pasted into
// psql and sqlite3. All of them read and write the same columns.
// See docs/adr/0031.
//
// A database takes the first of its texts that is there:
//
//   - SQLite: SQLite, else Each.
//   - PostgreSQL: Postgres, else Each.
//   - PostgreSQL that Citus spreads over machines: Citus, else Each, else Postgres.
//
// Rows that exist are found key by key, also where a set of keys goes in one statement. As a list to compare with, or
// in a join that the planner may turn around, they were seen to cost the reading of a whole account: before a table
// has figures, it seems to have a few rows for each. On PostgreSQL, OFFSET 0 is what keeps the planner from turning a
// join around; on SQLite, CROSS JOIN is.
type Query struct {
	What string // for errors: "writing into entry"
	// Each takes one row: its columns are $1 and so on; where Scoped, $1 is the account and they follow.
	Each string
	// SQLite takes all rows of a batch, which have one column, a key: as a JSON array of texts in hexadecimal, as JSON
	// has no bytes. A query that reads spends nearly all of its time on being called, one that writes does not.
	SQLite string
	// Postgres takes all rows: an array for each column, before them one of accounts where Scoped. An update divides by
	// zero unless each row hit one, as a COMMIT may be on its way already.
	Postgres string
	// Citus takes all rows of a batch, which have one column, a key, as an array. It names the account, by which Citus
	// finds the machine.
	Citus string

	Scoped bool // by an account
	Exact  bool // each row must hit one
}

// Batch is a query with its rows.
type Batch struct {
	*Query
	Account guid.ID
	Rows    [][]any
	Scan    func(Scanner) error // reads a row that comes back; nil: nothing does
	Shared  bool                // Scan reads those of the same query for other accounts, too
}

// Scanner is a row that came back.
type Scanner interface{ Scan(...any) error }

// Runner does several batches in order, within one transaction.
type Runner func(ctx context.Context, batches []Batch) error

// ErrMissed tells that a row that was to be changed is not there, or not as it was.
var ErrMissed = errors.New("a row that was to be changed is not there, or not as it was")

// checkHits refuses a batch that should have hit a row for each of its own, and did not.
func (w *Batch) checkHits(n int64) error {
	if w.Exact && n != int64(len(w.Rows)) {
		return fmt.Errorf("%s: %w: %d of %d rows", w.What, ErrMissed, n, len(w.Rows))
	}
	return nil
}

// scope begins the arguments of a batch.
func (w *Batch) scope() []any {
	if w.Scoped {
		return []any{w.Account[:]}
	}
	return nil
}

// keys are the rows of a batch as a JSON array of their keys in hexadecimal.
func (w *Batch) keys() string {
	list := []byte{'['}
	for i, row := range w.Rows {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, '"')
		switch key := row[0].(type) {
		case []byte:
			list = hex.AppendEncode(list, key)
		case string:
			list = hex.AppendEncode(list, []byte(key))
		default:
			panic(fmt.Sprintf("%s: a key is a %T", w.What, key)) // the program's own mistake
		}
		list = append(list, '"')
	}
	return string(append(list, ']'))
}

// Texts are all that queries say to this database.
func (d *DB) Texts(queries ...*Query) (texts []string) {
	for _, q := range queries {
		if text := d.Text(Text{SQLite: cmp.Or(q.SQLite, q.Each), Postgres: cmp.Or(q.Postgres, q.Each)}); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
