package erase

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"boon.example/internal/store/files"
)

// How long readers may keep the write-ahead log from being emptied.
const (
	emptyWithin = 10 * time.Second
	emptyPause  = 50 * time.Millisecond
)

// Clean empties the write-ahead log of the embedded database, where what was erased still stands; with whole, it also
// writes the whole file anew, as SQLite leaves copies of rows behind where it has moved them, and keeps every writer
// waiting meanwhile. A database on a server looks after itself.
//
// A checkpoint copies the log into the file and truncates it, which it can do only when nobody reads what is older.
// So it is tried until no reader is in the way, and who asked is told if that took too long: then the words are still
// in a file.
func (e *Eraser) Clean(ctx context.Context, whole bool) error {
	if e.db.File == "" {
		return nil
	}
	if whole {
		if _, err := e.db.Writer.ExecContext(ctx, `VACUUM`); err != nil {
			return fmt.Errorf("writing the database anew: %w", err)
		}
	}
	for begun := time.Now(); ; {
		var busy, log, done int
		err := e.db.Writer.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &done)
		if err == nil && busy == 0 {
			return nil
		}
		if time.Since(begun) > emptyWithin {
			return errors.Join(errors.New("the write-ahead log is in use and still holds what was erased, until it is written "+
				"over"), err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(emptyPause):
		}
	}
}

// Remains counts how often a text, in the letter case that it has, still stands in the files of the embedded
// database. It reads the bytes and not the tables, as who copies a disk would: what no statement can reach counts,
// too.
func (e *Eraser) Remains(text string) (n int, err error) {
	if e.db.File == "" || text == "" {
		return 0, nil
	}
	for _, name := range []string{e.db.File, e.db.File + files.LogSuffix} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return n, fmt.Errorf("searching the database: %w", err)
		}
		in, err := countIn(f, []byte(text))
		if n += in; errors.Join(err, f.Close()) != nil {
			return n, fmt.Errorf("searching the database: %w", err)
		}
	}
	return n, nil
}

// countIn counts a text, piece by piece.
func countIn(from io.Reader, text []byte) (n int, err error) {
	const piece = 1 << 20
	r := bufio.NewReaderSize(from, piece)
	kept := make([]byte, 0, piece+len(text))
	for {
		m, err := io.ReadFull(r, kept[len(kept):len(kept)+piece])
		kept = kept[:len(kept)+m]
		n += bytes.Count(kept, text)
		if err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = nil
			}
			return n, err
		}
		kept = kept[:copy(kept, kept[len(kept)-len(text)+1:])] // a text may go on in the next piece
	}
}
