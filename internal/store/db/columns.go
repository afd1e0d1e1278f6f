package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/sealed"
)

// How Go values stand in columns. Arguments are made by OrNull, KeyOf and Micros; columns are read into ScanID, ScanMAC
// and ScanTime.

// OrNull is a column that may be NULL: the zero ID is.
func OrNull(v guid.ID) any {
	if v.IsZero() {
		return nil
	}
	return v[:]
}

// KeyOf is a column that is part of a key, where the zero ID is 16 zeros.
func KeyOf(v guid.ID) any { return v[:] }

// Micros is a time; the zero time is NULL.
func Micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// ScanID reads a column into an ID.
func ScanID(to *guid.ID) sql.Scanner { return scanID{to} }

type scanID struct{ to *guid.ID }

// Scan implements sql.Scanner.
func (s scanID) Scan(column any) error {
	switch v := column.(type) {
	case nil:
		*s.to = guid.ID{}
		return nil
	case []byte:
		if len(v) == len(s.to) {
			*s.to = guid.ID(v)
			return nil
		}
	}
	return fmt.Errorf("a column that should hold 16 bytes does not")
}

// ScanMAC reads a column into a MAC; what is none becomes the zero MAC, which fits nothing.
func ScanMAC(to *sealed.MAC) sql.Scanner { return scanMAC{to} }

type scanMAC struct{ to *sealed.MAC }

// Scan implements sql.Scanner.
func (s scanMAC) Scan(column any) error {
	*s.to = sealed.MAC{}
	if v, ok := column.([]byte); ok && len(v) == len(s.to) {
		*s.to = sealed.MAC(v)
	}
	return nil
}

// ScanTime reads a column into a time in UTC.
func ScanTime(to *time.Time) sql.Scanner { return scanTime{to} }

type scanTime struct{ to *time.Time }

// Scan implements sql.Scanner.
func (s scanTime) Scan(column any) error {
	switch v := column.(type) {
	case nil:
		*s.to = time.Time{}
		return nil
	case int64:
		*s.to = time.UnixMicro(v).UTC()
		return nil
	}
	return fmt.Errorf("a column that should hold microseconds does not")
}

// JoinIDs puts ids one after the other.
func JoinIDs(ids []guid.ID) []byte {
	joined := make([]byte, 0, len(ids)*len(guid.ID{}))
	for _, v := range ids {
		joined = append(joined, v[:]...)
	}
	return joined
}

// SplitIDs takes apart what JoinIDs made.
func SplitIDs(joined []byte) (ids []guid.ID) {
	for ; len(joined) >= len(guid.ID{}); joined = joined[len(guid.ID{}):] {
		ids = append(ids, guid.ID(joined[:len(guid.ID{})]))
	}
	return ids
}

// ScanTuple reads all columns of a row, n of them, as the database gives them: nil, int64, string, bool and []byte.
// SQLite has no type of its own for what is true or false: there it is an int64.
func ScanTuple(rows *sql.Rows, n int) ([]any, error) {
	tuple, to := make([]any, n), make([]any, n)
	for i := range tuple {
		to[i] = &tuple[i]
	}
	if err := rows.Scan(to...); err != nil {
		return nil, err
	}
	for i, column := range tuple {
		switch v := column.(type) {
		case nil, string, bool, int64:
		case []byte:
			if len(v) == 0 {
				tuple[i] = []byte{} // never a nil slice, which would be written as NULL
			}
		default:
			return nil, fmt.Errorf("column %d is a %T, which no column of ours is", i+1, v)
		}
	}
	return tuple, nil
}

// Column is a column of a table as the database itself describes it.
type Column struct {
	Name string
	Type string // in the database's words, in lower case
}

var selectColumns = Text{
	SQLite: `SELECT c.name, lower(c.type) AS type FROM pragma_table_info($1) AS c ORDER BY c.cid`,
	Postgres: `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type FROM pg_attribute AS a
		WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
}

// Columns are those of a table, in the order in which they were made.
func (d *DB) Columns(ctx context.Context, q Querier, table string) (all []Column, err error) {
	err = Each(ctx, q, d.Text(selectColumns), []any{table}, func(rows *sql.Rows) error {
		var c Column
		err := rows.Scan(&c.Name, &c.Type)
		all = append(all, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the columns of %s: %w", table, err)
	}
	return all, nil
}
