// Package transfer moves whole stores: it copies one into another database and compares them, writes backups of an
// embedded one, and restores them.
package transfer

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"boon.example/internal/base/durable"
	"boon.example/internal/store/db"
	"boon.example/internal/store/setup"
	"boon.example/internal/store/tables"
)

// CopyReport tells what Copy did and how the two databases compare.
type CopyReport struct {
	Rows     int64
	Accounts []AccountTotals
	// Differences are sentences about what is not equal. While there are any, the destination cannot be served.
	Differences []string
}

// copyBatch is how many rows go into one transaction of Copy.
const copyBatch = 2000

// Copy copies a whole installation into an empty database, row by row as it is: nothing is decrypted, and both use the
// same key file, which is copied into a new data folder. The source must not be in use; while Copy runs, no one else
// can write to it. At the end every row of both is read and compared. A destination that is not complete, or not equal,
// cannot be opened.
func Copy(ctx context.Context, from, to db.Options, progress func(doing string, done, total int64)) (CopyReport,
	error) {
	return CopyInBatches(ctx, from, to, copyBatch, progress)
}

// CopyInBatches is Copy with so many rows in one transaction.
func CopyInBatches(
	ctx context.Context, from, to db.Options, batch int, progress func(string, int64, int64),
) (r CopyReport, err error) {
	if err := errors.Join(from.Locate(), to.Locate()); err != nil {
		return r, err
	}
	if same(from, to) {
		return r, errors.New("source and destination are the same")
	}
	from.MustExist, from.Alone, to.Alone = true, true, true
	to.Claimed = setup.LogBeginning
	source, err := db.Open(ctx, from)
	if err != nil {
		return r, fmt.Errorf("the source: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := shareKeyFile(from.KeyFile.Path, to.KeyFile.Path); err != nil {
		return r, err
	}
	destination, err := db.Open(ctx, to)
	if err != nil {
		return r, fmt.Errorf("the destination: %w", err)
	}
	defer func() { err = errors.Join(err, destination.Close()) }()
	err = source.WriteInBackground(ctx, func(tx *sql.Tx) error {
		if err := holdStill(ctx, source, tx); err != nil {
			return err
		}
		c := copying{from: tx, to: destination, batch: batch, progress: progress, report: &r}
		return c.run(ctx)
	})
	return r, err
}

func same(from, to db.Options) bool {
	if from.Database != "" || to.Database != "" {
		return from.Database == to.Database
	}
	a, errA := os.Stat(from.Dir)
	b, errB := os.Stat(to.Dir)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// holdStill keeps others from writing until the transaction ends.
func holdStill(ctx context.Context, source *db.DB, tx *sql.Tx) error {
	if source.File != "" {
		return nil // whoever has begun to write keeps all others out
	}
	statements := []string{`SET LOCAL idle_in_transaction_session_timeout = 0`}
	for _, t := range tables.Copied() {
		statements = append(statements, `LOCK TABLE `+t.Name+` IN SHARE MODE NOWAIT`)
	}
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("the source is being written to; stop every boon serve that uses it: %w", err)
		}
	}
	return nil
}

// shareKeyFile copies the source's key file to where the destination has none. One with other keys is refused.
func shareKeyFile(from, there string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("reading the source's key file: %w", err)
	}
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
	if err := os.MkdirAll(filepath.Dir(there), 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	if err := durable.Create(there, text); err != nil {
		return fmt.Errorf("copying the key file: %w", err)
	}
	return nil
}

// copying is one call of Copy.
type copying struct {
	from     *sql.Tx
	to       *db.DB
	batch    int // rows in one transaction
	progress func(doing string, done, total int64)
	report   *CopyReport

	tables []Table
	total  int64 // rows
	key    byte  // that new secrets are made with in the source
}

func (c *copying) run(ctx context.Context) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	for i := range c.tables {
		t := &c.tables[i]
		if err := c.copyTable(ctx, t); err != nil {
			return fmt.Errorf("copying %s: %w", t.Name, err)
		}
	}
	if err := c.compare(ctx); err != nil || len(c.report.Differences) > 0 {
		return err
	}
	return c.to.WriteInBackground(ctx, func(tx *sql.Tx) error { return c.to.NoteKey(ctx, tx, c.key) })
}

// eventsCopied has the next event come after those that were copied.
var eventsCopied = db.Text{Postgres: `SELECT setval('event_position', (SELECT coalesce(max(position), 1) FROM event))`}

// copyTable copies a table, without what guards have written into it while others came.
func (c *copying) copyTable(ctx context.Context, t *Table) error {
	if t.Guarded {
		if err := c.tell(ctx, `DELETE FROM `+t.Name); err != nil {
			return err
		}
	}
	if err := c.table(ctx, t); err != nil || t.Name != "event" {
		return err
	}
	return c.tell(ctx, c.to.Text(eventsCopied))
}

// tell tells the destination something; "" is nothing.
func (c *copying) tell(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	return c.to.WriteInBackground(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, text)
		return err
	})
}

// begin marks the destination, which must hold nothing, as unfinished.
func (c *copying) begin(ctx context.Context) error {
	mark, err := db.KeyCheck(ctx, c.from)
	if err != nil {
		return err
	}
	c.key = mark[0]
	own, err := db.KeyCheck(ctx, c.to.Readers)
	if err != nil {
		return err
	}
	if bytes.Equal(mark, own) {
		return errors.New("source and destination are the same database")
	}
	if c.tables, err = describe(ctx, c.to); err != nil {
		return err
	}
	if c.total, err = countRows(ctx, c.from); err != nil {
		return err
	}
	err = c.to.WriteInBackground(ctx, func(tx *sql.Tx) error {
		// A new database has two rows that are not its own: the version of its empty set-up, and that it was made.
		for _, text := range []string{
			`DELETE FROM setup_version WHERE version = 0`, `DELETE FROM setup_change WHERE version = 0`,
		} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("preparing the destination: %w", err)
			}
		}
		if n, err := countRows(ctx, tx); err != nil || n > 0 {
			return cmp.Or(err, errors.New("the destination holds data already; name an empty one"))
		}
		return db.SetKeyCheck(ctx, tx, db.UnfinishedCopy)
	})
	if err != nil {
		return err
	}
	var texts []string
	for _, t := range c.tables {
		texts = append(texts, t.Insert.Each)
	}
	return c.to.PrepareWrites(ctx, texts)
}

// table copies the rows of a table. One goroutine reads ahead of the other that writes.
func (c *copying) table(ctx context.Context, t *Table) error {
	c.progress("copying", c.report.Rows, c.total)
	ctx, cancel := context.WithCancel(ctx)
	batches := make(chan [][]any, 2)
	var readErr error
	var reader sync.WaitGroup
	defer reader.Wait()
	defer cancel()
	reader.Go(func() {
		defer close(batches)
		readErr = c.read(ctx, t, batches)
	})
	for rows := range batches {
		err := c.to.Transact(ctx, func(run db.Runner) error {
			return run(ctx, []db.Batch{{Query: t.Insert, Rows: rows}})
		})
		if err != nil {
			return err
		}
		c.report.Rows += int64(len(rows))
		c.progress("copying", c.report.Rows, c.total)
	}
	return readErr
}

// read hands out the rows of a table in batches.
func (c *copying) read(ctx context.Context, t *Table, batches chan<- [][]any) error {
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
	err := db.Each(ctx, c.from, t.SelectAll, nil, func(rows *sql.Rows) error {
		r, err := db.ScanTuple(rows, len(t.Columns))
		if err != nil {
			return err
		}
		t.convert(r)
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
	for i := range c.tables {
		t := &c.tables[i]
		var there digest
		var thereErr error
		var other sync.WaitGroup
		other.Go(func() { there, thereErr = digestOf(ctx, c.to.Readers, t, seed, tell) })
		here, err := digestOf(ctx, c.from, t, seed, tell)
		other.Wait()
		switch {
		case err != nil || thereErr != nil:
			return errors.Join(err, thereErr)
		case here.rows != there.rows:
			c.differ("the source has %d rows in %s, the destination has %d", here.rows, t.Name, there.rows)
		case here.sum != there.sum:
			c.differ("rows of %s are not the same on both sides", t.Name)
		}
	}
	from, err := readTotals(ctx, c.from)
	if err != nil {
		return err
	}
	to, err := readTotals(ctx, c.to.Readers)
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

func countRows(ctx context.Context, q db.Querier) (total int64, err error) {
	for _, t := range tables.Copied() {
		var n int64
		if err := q.QueryRowContext(ctx, `SELECT count(*) FROM `+t.Name).Scan(&n); err != nil {
			return 0, fmt.Errorf("counting the rows of %s: %w", t.Name, err)
		}
		total += n
	}
	return total, nil
}
