package db

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"boon.example/internal/durable"
)

// The embedded database and its write-ahead log are two files, and SQLite believes that they belong together: it would
// copy the log of one database into another that was put in its place, and damage it. So every boon serve gives the
// database file a new number, its id, and notes that in a third file. A log that lies beside a database with another id
// is refused, and so is a database whose service was killed and whose log has gone.

// IDName is what is appended to a database's name for the name of that file; LogName for that of its log.
const (
	IDName  = "-id"
	LogName = "-wal"
)

// pairing is what the file holds.
type pairing struct {
	IDs    []uint32 `json:"ids"`    // that the database file may have; two while it is being given another
	Serves bool     `json:"serves"` // a service has it open, and so there is a log
}

// readPairing reads what is noted of a database file; nil: nothing is.
func readPairing(file string) (*pairing, error) {
	text, err := os.ReadFile(file + IDName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	p := new(pairing)
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err != nil {
		return nil, fmt.Errorf("reading which log belongs to the database: %w", err)
	}
	return p, nil
}

// write notes it, whole and on stable storage, or leaves what was noted before.
func (p *pairing) write(file string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return durable.Replace(file+IDName, append(text, '\n'))
}

// fileID is the id that a database file has, whatever its log says. SQLite reads it, since a file of our own that is
// opened and closed would take away the locks that this process has on it. Without its log, a file may be half copied,
// after a power cut even shorter than it says it is, which writable_schema has SQLite overlook, or without the start of
// its first page: then it has no id yet.
func fileID(ctx context.Context, file string) (id uint32, err error) {
	dsn := url.URL{Scheme: "file", Path: file, RawQuery: "mode=ro&immutable=1&_pragma=writable_schema(1)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return 0, err
	}
	defer db.Close()
	id, err = readID(ctx, db)
	if sqliteCode(err) == sqlite3.SQLITE_NOTADB {
		return 0, nil
	}
	return id, err
}

func readID(ctx context.Context, q Querier) (uint32, error) {
	var id int32
	if err := q.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&id); err != nil {
		return 0, fmt.Errorf("reading the database: %w", err)
	}
	return uint32(id), nil
}

// idOffset is where a database file has its id.
const idOffset = 60

// ClearID takes the id from a database file that nobody has open: it belongs to no log.
func ClearID(f *os.File) error {
	_, err := f.WriteAt(make([]byte, 4), idOffset)
	return err
}

// CheckPair refuses a database file and a log that do not belong together, before SQLite opens them.
func CheckPair(ctx context.Context, file string) error {
	return lookAgain(func() (again bool, err error) { return mismatch(ctx, file) })
}

// lookAgain looks a few times, as another process may be giving the database an id.
func lookAgain(look func() (again bool, err error)) error {
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
	p, err := readPairing(file)
	if err != nil || p == nil {
		return false, err
	}
	id, err := fileID(ctx, file)
	if err != nil {
		return false, err
	}
	info, err := os.Stat(file + LogName)
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
			file, file+LogName, filepath.Dir(file))
	case known && p.Serves && !there: // an empty one is what a disk left that had not synced it
		return true, fmt.Errorf("the log %s is missing: the boon serve that used it last did not end by itself, and the "+
			"newest redemptions were in that file. "+
			"Put it back. If it is lost, or another program has copied it into the database, remove %s, and run `boon "+
			"verify`, with --since "+
			"and the last checkpoint", file+LogName, file+IDName)
	}
	return false, nil
}

// notePair notes which ids the database file may have, within a transaction, so that no other process does so at the
// same time. One that is to be given is noted before the database has it. What was noted before stays, unless the file
// can have none of it any more.
func (s *sqlite) notePair(ctx context.Context, tx *sql.Tx, serves, synced bool, more ...uint32) error {
	ids := more
	if p, err := readPairing(s.db.File); err == nil && p != nil && !synced {
		ids = append(ids, p.IDs...)
	}
	inFile, err := fileID(ctx, s.db.File)
	if err != nil {
		return err
	}
	now, err := readID(ctx, tx)
	if err != nil {
		return err
	}
	ids = append(ids, inFile, now)
	slices.Sort(ids)
	p := pairing{IDs: slices.Compact(ids), Serves: serves}
	return p.write(s.db.File)
}

// pair gives the database file a new id, and notes that a service has it open.
func (s *sqlite) pair(ctx context.Context) error {
	var random [4]byte
	rand.Read(random[:]) // never fails
	id := max(1, binary.BigEndian.Uint32(random[:]))
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		if err := s.notePair(ctx, tx, false, false, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, int32(id)))
		return err
	})
	if err == nil {
		err = s.noteServing(ctx)
	}
	if err != nil {
		return fmt.Errorf("noting which log belongs to the database: %w", err)
	}
	for _, f := range []struct {
		name string
		info *fs.FileInfo
	}{{s.db.File, &s.opened.database}, {s.db.File + LogName, &s.opened.log}} {
		if *f.info, err = os.Stat(f.name); err != nil {
			return fmt.Errorf("opening the database: %w", err)
		}
	}
	return nil
}

// noteServing copies the id into the database file, where it may still be in the log only, and notes that a service has
// it open. There is a log then, synced with its name when the id was committed. SQLite syncs the database file only
// when it has copied all of the log: until then, a power cut may give back an id that the file had before.
func (s *sqlite) noteServing(ctx context.Context) error {
	id, err := readID(ctx, s.db.Writer)
	if err != nil {
		return err
	}
	log, left, err := s.checkpoints.pages(ctx, s.db.Writer, "PASSIVE")
	if err != nil {
		return err
	}
	synced := log >= 0 && left == 0 // less than 0: it was another's turn
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		now, err := readID(ctx, tx)
		if err != nil {
			return err
		}
		return s.notePair(ctx, tx, true, synced && now == id)
	})
}

// leave notes that the files may be closed, after which there need not be a log. Another service that has them open
// notes that it has. Where that cannot be noted, on a full disk, nothing stays noted: the next start must not ask for a
// log that an orderly end took away.
func (s *sqlite) leave(ctx context.Context) error {
	p, err := readPairing(s.db.File)
	if err != nil || p == nil || !p.Serves || s.broken.Load() != nil {
		return err
	}
	if err = s.db.Write(ctx, func(tx *sql.Tx) error { return s.notePair(ctx, tx, false, false) }); err == nil {
		return nil
	}
	return errors.Join(err, os.Remove(s.db.File+IDName), durable.SyncFolder(filepath.Dir(s.db.File)))
}

// LeaveUnserved is for what has only read a file: should nothing else have the database open, the log goes when it is
// closed.
func LeaveUnserved(file string) {
	if p, err := readPairing(file); err == nil && p != nil && p.Serves {
		p.Serves = false
		_ = p.write(file) // as in leave
	}
}

// openedFiles are the files that were opened, to be told from others of their names.
type openedFiles struct{ database, log fs.FileInfo }

func (s *sqlite) checkFiles(ctx context.Context) error {
	if s.opened.log == nil {
		return s.pair(ctx)
	}
	err := s.writable()
	if err == nil {
		err = s.checkDatabaseFile(ctx)
	}
	if err == nil {
		err = s.checkLogFile(ctx)
	}
	if err != nil {
		return err
	}
	if p, err := readPairing(s.db.File); err == nil && p != nil && p.Serves && len(p.IDs) == 1 {
		return nil
	}
	return s.noteServing(ctx) // another process has closed it, or the id was not copied yet
}

func (s *sqlite) checkDatabaseFile(ctx context.Context) error {
	errReplaced := fmt.Errorf("the database %s was replaced or removed while it is in use; nothing more is written. "+
		"Stop boon serve, and put back "+
		"what was there, or a backup with `boon restore`", s.db.File)
	err := lookAgain(func() (again bool, err error) {
		info, err := os.Stat(s.db.File)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, s.opened.database) {
			return false, errReplaced
		}
		p, err := readPairing(s.db.File)
		if err != nil || p == nil {
			return false, err
		}
		id, err := fileID(ctx, s.db.File)
		if err == nil && !slices.Contains(p.IDs, id) {
			err = errReplaced
		}
		return true, err
	})
	if errors.Is(err, errReplaced) {
		return s.breakOff(err)
	}
	return err
}

func (s *sqlite) checkLogFile(ctx context.Context) error {
	info, err := os.Stat(s.db.File + LogName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && os.SameFile(info, s.opened.log) {
		return nil
	}
	gone := fmt.Errorf("the log %s was deleted or replaced while it is in use; nothing more is written", s.db.File+LogName)
	_ = s.breakOff(gone) // what it returns is told below
	// Who was writing then is done when the writer's connection is free.
	if _, left, err := s.checkpoints.pages(ctx, s.db.Writer, "FULL"); err != nil || left > 0 {
		return s.breakOff(fmt.Errorf("%w, and what was in it could not be copied into the database (%d pages, %v): do not "+
			"stop boon serve before "+
			"you have a backup made by `boon backup`", gone, left, err))
	}
	if p, err := readPairing(s.db.File); err == nil && p != nil {
		p.Serves = false
		if err := p.write(s.db.File); err != nil {
			return err
		}
	}
	return s.breakOff(fmt.Errorf("%w. What was in it was copied into the database: start boon serve again", gone))
}

// breakOff ends all writing, for a reason.
func (s *sqlite) breakOff(reason error) error {
	s.broken.Store(&reason)
	return reason
}

// writable fails when nothing is to be written any more.
func (s *sqlite) writable() error {
	if broken := s.broken.Load(); broken != nil {
		return *broken
	}
	return nil
}
