package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"boon.example/internal/sealed"
)

// CopyReport tells what Copy did and how the two databases compare.
type CopyReport struct {
	Rows     int64 // copied by this call
	Resumed  bool  // an earlier call had begun
	Accounts []AccountTotals
	// Differences are sentences about what is not equal. While there are any, the destination cannot be served.
	Differences []string
}

// copyProgress is the table that a destination has while it is being copied into: how many rows of each table are there, and
// the key of the last. The table without a name stands for the copy itself: the source's mark, and how many rows it has.
const copyProgress = "copy_progress"

// copyBatch is how many rows go into one transaction of Copy.
const copyBatch = 2000

// Copy moves a whole installation into an empty database, row by row as it is: nothing is decrypted, and both use the same
// key file, which is copied into a new data folder. The source must not be in use; while Copy runs, nobody else can write to
// it. A call that was cut off at any moment is continued by the next. At the end every row of both is read and compared. Until
// they are equal, no other program opens the destination.
func Copy(ctx context.Context, from, to Options, progress func(doing string, done, total int64)) (CopyReport, error) {
	return copyInBatches(ctx, from, to, copyBatch, progress)
}

func copyInBatches(ctx context.Context, from, to Options, batch int, progress func(string, int64, int64)) (r CopyReport, err error) {
	if same(from, to) {
		return r, errors.New("source and destination are the same")
	}
	from.MustExist, from.copying, to.copying = true, true, true
	source, err := Open(ctx, from)
	if err != nil {
		return r, fmt.Errorf("the source: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := shareKeyFile(from.Dir, to.Dir); err != nil {
		return r, err
	}
	destination, err := Open(ctx, to)
	if err != nil {
		return r, fmt.Errorf("the destination: %w", err)
	}
	defer func() { err = errors.Join(err, destination.Close()) }()
	err = source.transactUnhurried(ctx, func(tx *sql.Tx) error {
		if err := source.holdStill(ctx, tx); err != nil {
			return err
		}
		c := copying{from: tx, to: destination, batch: batch, progress: progress, report: &r}
		return c.run(ctx)
	})
	return r, err
}

func same(from, to Options) bool {
	if from.Database != "" || to.Database != "" {
		return from.Database == to.Database
	}
	a, errA := os.Stat(from.Dir)
	b, errB := os.Stat(to.Dir)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// holdStill keeps others from writing until the transaction ends.
func (s *Store) holdStill(ctx context.Context, tx *sql.Tx) error {
	for _, statement := range s.dialect.holdStill {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("the source is being written to; stop every boon serve that uses it: %w", err)
		}
	}
	return nil
}

// shareKeyFile puts the key file of a data folder into another that has none. One with other keys is refused.
func shareKeyFile(from, to string) error {
	text, err := os.ReadFile(filepath.Join(from, sealed.FileName))
	if err != nil {
		return fmt.Errorf("reading the source's key file: %w", err)
	}
	there := filepath.Join(to, sealed.FileName)
	has, err := os.ReadFile(there)
	switch {
	case err == nil && bytes.Equal(has, text):
		return nil
	case err == nil:
		return fmt.Errorf("the destination has a key file of its own, %s, with which nothing of the source could be read; "+
			"name a new folder, or one with the source's key file", there)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reading the destination's key file: %w", err)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	f, err := os.CreateTemp(to, ".boon.key-*") // mode 0600
	if err != nil {
		return fmt.Errorf("copying the key file: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("copying the key file: %w", err)
	}
	if err := publish(f, there); err != nil {
		return fmt.Errorf("copying the key file: %w", err)
	}
	return nil
}

// copying is one call of Copy.
type copying struct {
	from     *sql.Tx
	to       *Store
	batch    int // rows in one transaction
	progress func(doing string, done, total int64)
	report   *CopyReport

	total, done int64 // rows
	key         byte  // that new secrets are made with in the source
}

func (c *copying) run(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	for i := range tables {
		if err := c.table(ctx, &tables[i]); err != nil {
			return fmt.Errorf("copying %s: %w", tables[i].name, err)
		}
	}
	if err := c.compare(ctx); err != nil || len(c.report.Differences) > 0 {
		return err
	}
	return c.to.transactUnhurried(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DROP TABLE `+copyProgress); err != nil {
			return err
		}
		return c.to.noteKey(ctx, tx, c.key)
	})
}

// begin finds out whether this is the beginning or goes on from one, and refuses what is neither.
func (c *copying) begin(ctx context.Context) error {
	mark, err := keyCheck(ctx, c.from)
	if err != nil {
		return err
	}
	c.key = mark[0]
	own, err := keyCheck(ctx, c.to.readers)
	if err != nil {
		return err
	}
	if bytes.Equal(mark, own) {
		return errors.New("source and destination are the same database")
	}
	if c.total, err = countRows(ctx, c.from); err != nil {
		return err
	}
	begun, err := c.to.hasTable(ctx, c.to.readers, copyProgress)
	if err != nil {
		return err
	}
	if !begun {
		if err := c.start(ctx, mark); err != nil {
			return err
		}
		return c.to.prepareCopy(ctx)
	}
	c.report.Resumed = true
	source, rows, err := readProgress(ctx, c.to.readers, "")
	switch {
	case err != nil:
		return err
	case !bytes.Equal(source, mark):
		return errors.New("the destination holds the beginning of a copy from another source; name an empty one")
	case rows != c.total:
		return fmt.Errorf("the source has changed since the copy into this destination began: it had %d rows and has %d; "+
			"make an empty destination and start again, with the source at rest", rows, c.total)
	}
	return c.to.prepareCopy(ctx)
}

// start makes the table of progress in a destination that must hold nothing.
func (c *copying) start(ctx context.Context, mark []byte) error {
	return c.to.transactUnhurried(ctx, func(tx *sql.Tx) error {
		// A new database has two rows that are not its own: the version of its empty set-up, and that nothing was done to it yet.
		for _, text := range []string{`DELETE FROM setup_version WHERE version = 0`, `DELETE FROM setup_change WHERE version = 0`} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("preparing the destination: %w", err)
			}
		}
		if n, err := countRows(ctx, tx); err != nil || n > 0 {
			return cmp.Or(err, errors.New("the destination holds data already; name an empty one"))
		}
		create := c.to.dialect.words.Replace(`CREATE TABLE ` + copyProgress + ` (name TEXT NOT NULL PRIMARY KEY, place BYTEA NOT NULL, copied BIGINT NOT NULL) {table}`)
		if _, err := tx.ExecContext(ctx, create); err != nil {
			return fmt.Errorf("preparing the destination: %w", err)
		}
		_, err := tx.ExecContext(ctx, noteProgress.one, "", mark, c.total)
		return err
	})
}

// table copies the rows of a table that are not there yet. One goroutine reads ahead of the other that writes.
func (c *copying) table(ctx context.Context, t *table) error {
	after, copied, err := readProgress(ctx, c.to.readers, t.name)
	if err != nil {
		return err
	}
	c.done += copied
	c.progress("copying", c.done, c.total)
	ctx, cancel := context.WithCancel(ctx)
	batches := make(chan [][]any, 2)
	var readErr error
	var reader sync.WaitGroup
	defer reader.Wait()
	defer cancel()
	reader.Go(func() {
		defer close(batches)
		readErr = c.read(ctx, t, after, batches)
	})
	for batch := range batches {
		copied += int64(len(batch))
		if err := c.write(ctx, t, batch, copied); err != nil {
			return err
		}
		c.report.Rows += int64(len(batch))
		c.done += int64(len(batch))
		c.progress("copying", c.done, c.total)
	}
	return readErr
}

// read hands out what follows a key, in batches.
func (c *copying) read(ctx context.Context, t *table, after []byte, batches chan<- [][]any) error {
	query, args := t.selectAll(), []any(nil)
	if after != nil {
		key, err := parseKey(after)
		if err != nil {
			return err
		}
		query, args = t.selectAfter(), key
	}
	var batch [][]any
	send := func() error {
		select {
		case batches <- batch:
			batch = nil
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := each(ctx, c.from, query, args, func(rows *sql.Rows) error {
		r, err := scanTuple(rows, t)
		if err != nil {
			return err
		}
		if batch = append(batch, r); len(batch) == c.batch {
			return send()
		}
		return nil
	})
	if err == nil && len(batch) > 0 {
		err = send()
	}
	return err
}

// write commits a batch together with how far the table has come.
func (c *copying) write(ctx context.Context, t *table, batch [][]any, copied int64) error {
	last, err := formatKey(batch[len(batch)-1][:len(t.key)])
	if err != nil {
		return err
	}
	return c.to.dialect.transact(ctx, c.to, func(run runner) error {
		return run(ctx, []work{{statement: t.insert, rows: batch}, {statement: noteProgress, rows: [][]any{{t.name, last, copied}}}})
	})
}

// compare reads every row on both sides.
func (c *copying) compare(ctx context.Context) error {
	var read atomic.Int64
	var telling sync.Mutex
	tell := func(rows int64) {
		done := read.Add(rows)
		telling.Lock()
		defer telling.Unlock()
		c.progress("comparing", done, 2*c.total)
	}
	seed := maphash.MakeSeed()
	for i := range tables {
		t := &tables[i]
		var there digest
		var thereErr error
		var other sync.WaitGroup
		other.Go(func() { there, thereErr = digestOf(ctx, c.to.readers, t, seed, tell) })
		here, err := digestOf(ctx, c.from, t, seed, tell)
		other.Wait()
		switch {
		case err != nil || thereErr != nil:
			return errors.Join(err, thereErr)
		case here.rows != there.rows:
			c.differ("the source has %d rows in %s, the destination has %d", here.rows, t.name, there.rows)
		case here.sum != there.sum:
			c.differ("rows of %s are not the same on both sides", t.name)
		}
	}
	from, err := readTotals(ctx, c.from)
	if err != nil {
		return err
	}
	to, err := readTotals(ctx, c.to.readers)
	if err != nil {
		return err
	}
	c.report.Accounts = sideBySide(from, to)
	for _, a := range c.report.Accounts {
		if a.From != a.To {
			c.differ("account %s does not add up to the same on both sides", a.Account)
		}
	}
	return nil
}

func (c *copying) differ(format string, args ...any) {
	c.report.Differences = append(c.report.Differences, fmt.Sprintf(format, args...))
}

// keyCheck is what tells one database from every other: it was sealed for it with a nonce of its own.
func keyCheck(ctx context.Context, q querier) (mark []byte, err error) {
	if err := q.QueryRowContext(ctx, `SELECT value FROM key_check WHERE one = 1`).Scan(&mark); err != nil {
		return nil, fmt.Errorf("telling the databases apart: %w", err)
	}
	return mark, nil
}

func countRows(ctx context.Context, q querier) (total int64, err error) {
	for _, t := range tables {
		var n int64
		if err := q.QueryRowContext(ctx, `SELECT count(*) FROM `+t.name).Scan(&n); err != nil {
			return 0, fmt.Errorf("counting the rows of %s: %w", t.name, err)
		}
		total += n
	}
	return total, nil
}

func (s *Store) hasTable(ctx context.Context, q querier, name string) (bool, error) {
	var n int
	if err := q.QueryRowContext(ctx, s.dialect.hasTable, name).Scan(&n); err != nil {
		return false, fmt.Errorf("looking for the table %s: %w", name, err)
	}
	return n > 0, nil
}

// readProgress is how far a table has come; nil: nothing of it is there.
func readProgress(ctx context.Context, q querier, name string) (place []byte, copied int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT place, copied FROM `+copyProgress+` WHERE name = $1`, name).Scan(&place, &copied)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, 0, fmt.Errorf("reading how far the copy had come: %w", err)
	}
	return place, copied, nil
}

// noteProgress writes how far a table has come.
var noteProgress = inserting(copyProgress, "name, place, copied", "TBN",
	` ON CONFLICT (name) DO UPDATE SET place = excluded.place, copied = excluded.copied`)

// prepareCopy prepares what a copy writes, where that is done by hand.
func (s *Store) prepareCopy(ctx context.Context) error {
	texts := []string{noteProgress.one, noteProgress.many}
	for _, t := range tables {
		texts = append(texts, t.insert.one, t.insert.many)
	}
	prepared, err := s.prepare(ctx, s.writer, texts)
	maps.Copy(s.hot, prepared)
	return err
}

// refuseHalfCopied keeps a program from working on what is not all there.
func (s *Store) refuseHalfCopied(ctx context.Context) error {
	var half bool
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		half, err = s.hasTable(ctx, s.readers, copyProgress)
		return err
	})
	if err == nil && half {
		err = errors.New("a boon copy into this database was begun and is not finished; give the same boon copy command again")
	}
	return err
}
