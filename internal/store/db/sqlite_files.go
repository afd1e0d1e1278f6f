package db

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"boon.example/internal/base/durable"
	"boon.example/internal/store/files"
)

// notePair notes which ids the database file may have, within a transaction, so that no other process does so at the
// same time. One that is to be given is noted before the database has it. What was noted before stays, unless the file
// can have none of it any more.
func (s *sqlite) notePair(ctx context.Context, tx *sql.Tx, serves, synced bool, more ...uint32) error {
	ids := more
	if p, err := files.Read(s.db.File); err == nil && p != nil && !synced {
		ids = append(ids, p.IDs...)
	}
	inFile, err := files.ID(ctx, s.db.File)
	if err != nil {
		return err
	}
	now, err := files.ReadID(ctx, tx)
	if err != nil {
		return err
	}
	ids = append(ids, inFile, now)
	slices.Sort(ids)
	p := files.Pairing{IDs: slices.Compact(ids), Serves: serves}
	return p.Write(s.db.File)
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
	}{{s.db.File, &s.opened.database}, {s.db.File + files.LogSuffix, &s.opened.log}} {
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
	id, err := files.ReadID(ctx, s.db.Writer)
	if err != nil {
		return err
	}
	log, left, err := s.checkpoints.pages(ctx, s.db.Writer, "PASSIVE")
	if err != nil {
		return err
	}
	synced := log >= 0 && left == 0 // less than 0: it was another's turn
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		now, err := files.ReadID(ctx, tx)
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
	p, err := files.Read(s.db.File)
	if err != nil || p == nil || !p.Serves || s.broken.Load() != nil {
		return err
	}
	if err = s.db.Write(ctx, func(tx *sql.Tx) error { return s.notePair(ctx, tx, false, false) }); err == nil {
		return nil
	}
	return errors.Join(err, os.Remove(s.db.File+files.IDSuffix), durable.SyncFolder(filepath.Dir(s.db.File)))
}

// openedFiles are the files that were opened, to be told from others of their names.
type openedFiles struct{ database, log fs.FileInfo }

func (s *sqlite) checkFiles(ctx context.Context) error {
	if s.watch != nil {
		s.watch.Current() // so that what boon erase took away is in memory no longer than this
	}
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
	if p, err := files.Read(s.db.File); err == nil && p != nil && p.Serves && len(p.IDs) == 1 {
		return nil
	}
	return s.noteServing(ctx) // another process has closed it, or the id was not copied yet
}

func (s *sqlite) checkDatabaseFile(ctx context.Context) error {
	errReplaced := fmt.Errorf("the database %s was replaced or removed while it is in use; nothing more is written. "+
		"Stop boon serve, and put back "+
		"what was there, or a backup with `boon restore`", s.db.File)
	err := files.LookAgain(func() (again bool, err error) {
		info, err := os.Stat(s.db.File)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, s.opened.database) {
			return false, errReplaced
		}
		p, err := files.Read(s.db.File)
		if err != nil || p == nil {
			return false, err
		}
		id, err := files.ID(ctx, s.db.File)
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
	info, err := os.Stat(s.db.File + files.LogSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && os.SameFile(info, s.opened.log) {
		return nil
	}
	gone := fmt.Errorf("the log %s was deleted or replaced while it is in use; nothing more is written",
		s.db.File+files.LogSuffix)
	_ = s.breakOff(gone) // what it returns is told below
	// Who was writing then is done when the writer's connection is free.
	if _, left, err := s.checkpoints.pages(ctx, s.db.Writer, "FULL"); err != nil || left > 0 {
		return s.breakOff(fmt.Errorf("%w, and what was in it could not be copied into the database (%d pages, %v): do not "+
			"stop boon serve before "+
			"you have a backup made by `boon backup`", gone, left, err))
	}
	if p, err := files.Read(s.db.File); err == nil && p != nil {
		p.Serves = false
		if err := p.Write(s.db.File); err != nil {
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
