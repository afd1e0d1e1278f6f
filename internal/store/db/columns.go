package db

import (
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

// ScanTuple reads all columns of a row as all databases give them: nil, int64, string, bool and []byte. types has a
// letter for each column, as in InsertRows.
func ScanTuple(rows *sql.Rows, types string) ([]any, error) {
	tuple, to := make([]any, len(types)), make([]any, len(types))
	for i := range tuple {
		to[i] = &tuple[i]
	}
	if err := rows.Scan(to...); err != nil {
		return nil, err
	}
	for i, column := range tuple {
		switch v := column.(type) {
		case nil, string, bool:
		case int64:
			if types[i] == 'F' {
				tuple[i] = v != 0
			}
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
