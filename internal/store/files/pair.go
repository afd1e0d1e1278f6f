// Package files knows the files of an embedded database: which write-ahead log belongs to which database file, and who
// has them open.
package files

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"boon.example/internal/base/durable"
)

// The embedded database and its write-ahead log are two files, and SQLite believes that they belong together: it would
// copy the log of one database into another that was put in its place, and damage it. So every boon serve gives the
// database file a new number, its id, and notes that in a third file. A log that lies beside a database with another id
// is refused, and so is a database whose service was killed and whose log has gone.

// IDSuffix is what is appended to a database's name for the name of that file; LogSuffix for that of its log.
const (
	IDSuffix  = "-id"
	LogSuffix = "-wal"
)

// Pairing is what the file holds.
type Pairing struct {
	IDs    []uint32 `json:"ids"`    // that the database file may have; two while it is being given another
	Serves bool     `json:"serves"` // a service has it open, and so there is a log
}

// Read reads what is noted of a database file; nil: nothing is.
func Read(file string) (*Pairing, error) {
	text, err := os.ReadFile(file + IDSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	p := new(Pairing)
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err != nil {
		return nil, fmt.Errorf("reading which log belongs to the database: %w", err)
	}
	return p, nil
}

// Write notes it, whole and on stable storage, or leaves what was noted before.
func (p *Pairing) Write(file string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return durable.Replace(file+IDSuffix, append(text, '\n'))
}

// ID is the id that a database file has, whatever its log says. SQLite reads it, since a file of our own that is
// opened and closed would take away the locks that this process has on it. Without its log, a file may be half copied,
// after a power cut even shorter than it says it is, which writable_schema has SQLite overlook, or without the start of
// its first page: then it has no id yet.
func ID(ctx context.Context, file string) (id uint32, err error) {
	dsn := url.URL{Scheme: "file", Path: file, RawQuery: "mode=ro&immutable=1&_pragma=writable_schema(1)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return 0, err
	}
	defer db.Close()
	id, err = ReadID(ctx, db)
	if e, ok := errors.AsType[*driver.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_NOTADB {
		return 0, nil
	}
	return id, err
}

// ReadID is the id of a database that is open.
func ReadID(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (uint32, error) {
	var id int32
	if err := q.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&id); err != nil {
		return 0, fmt.Errorf("reading the database: %w", err)
	}
	return uint32(id), nil
}

// idOffset is where a database file has its id.
const idOffset = 60

// ClearID takes the id from a database file that is not open: it belongs to no log.
func ClearID(f *os.File) error {
	_, err := f.WriteAt(make([]byte, 4), idOffset)
	return err
}

// Check refuses a database file and a log that do not belong together, before SQLite opens them.
func Check(ctx context.Context, file string) error {
	return LookAgain(func() (again bool, err error) { return mismatch(ctx, file) })
}

// LookAgain looks a few times, as another process may be giving the database an id.
func LookAgain(look func() (again bool, err error)) error {
	for try := 1; ; try++ {
		again, err := look()
		if err == nil || !again || try == 5 {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// mismatch tells what is wrong between a database file and its log, and whether it may look different in a moment.
func mismatch(ctx context.Context, file string) (again bool, err error) {
	p, err := Read(file)
	if err != nil || p == nil {
		return false, err
	}
	id, err := ID(ctx, file)
	if err != nil {
		return false, err
	}
	info, err := os.Stat(file + LogSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	there := err == nil
	switch known := slices.Contains(p.IDs, id); {
	case !known && there && info.Size() > 0:
		return true, fmt.Errorf("the database %s and its log %s do not belong together: another database was put in the "+
			"place of the one that the "+
			"log was written for. To put a backup there, run `boon restore FILE --data %s`; else put back the database that "+
			"was there",
			file, file+LogSuffix, filepath.Dir(file))
	case known && p.Serves && !there: // an empty one is what a disk left that had not synced it
		return true, fmt.Errorf("the log %s is missing: the boon serve that used it last did not end by itself, and the "+
			"newest redemptions were in that file. "+
			"Put it back. If it is lost, or another program has copied it into the database, remove %s, and run `boon "+
			"verify`, with --since "+
			"and the last checkpoint", file+LogSuffix, file+IDSuffix)
	}
	return false, nil
}

// LeaveUnserved is for what has only read a file: should nothing else have the database open, the log goes when it is
// closed.
func LeaveUnserved(file string) {
	if p, err := Read(file); err == nil && p != nil && p.Serves {
		p.Serves = false
		_ = p.Write(file) // as in leave
	}
}
