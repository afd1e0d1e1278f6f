package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// transact implements backend: it goes past database/sql, see writerConn.
func (s *sqlite) transact(ctx context.Context, fn func(Runner) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.onWriter(ctx, func(ctx context.Context, c *writerConn) error { return s.transactOn(ctx, c, fn) })
}

// onWriter waits for the writer's turn, and has do use its connection, however long that takes.
func (s *sqlite) onWriter(ctx context.Context, do func(context.Context, *writerConn) error) error {
	conn, err := s.db.Writer.Conn(ctx)
	if err != nil {
		return fmt.Errorf("waiting to write: %w", err)
	}
	defer conn.Close()
	ctx = context.WithoutCancel(ctx)
	return conn.Raw(func(c any) error { return do(ctx, c.(*writerConn)) })
}

func (s *sqlite) transactOn(ctx context.Context, c *writerConn, fn func(Runner) error) error {
	if err := c.waits(ctx, func() error { return c.run(ctx, `BEGIN IMMEDIATE`) }); err != nil {
		if sqliteCode(err) == sqlite3.SQLITE_ERROR { // a transaction is open that could not be ended: invariant 2
			err = errors.Join(err, driver.ErrBadConn) // the pool closes the connection, which ends it
		}
		return fmt.Errorf("beginning to write: %w", err)
	}
	open := true
	defer func() {
		if open {
			c.rollBack(ctx)
		}
	}()
	s.begunOn(c)
	if err := cmp.Or(s.db.serving(), s.writable()); err != nil {
		return err
	}
	if err := fn(c.execRows); err != nil {
		return err
	}
	open = false
	if err := s.commitOn(c, func() error { return c.commit(ctx) }); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// prepareWrites implements backend.
func (s *sqlite) prepareWrites(ctx context.Context, texts []string) error {
	return s.onWriter(ctx, func(ctx context.Context, c *writerConn) error {
		for _, text := range texts {
			if _, err := c.prepared(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// look implements backend.
func (s *sqlite) look(ctx context.Context, fn func(Runner) error) error {
	return s.db.Snapshot(ctx, func(tx *sql.Tx) error {
		return fn(func(ctx context.Context, batches []Batch) error {
			return eachBatch(batches, func(w *Batch, text string, args []any) error {
				return s.db.EachWithin(ctx, tx, text, args, func(rows *sql.Rows) error { return w.Scan(rows) })
			})
		})
	})
}

// read implements backend.
func (s *sqlite) read(ctx context.Context, batches []Batch) error {
	return eachBatch(batches, func(w *Batch, text string, args []any) error {
		return s.db.each(ctx, text, args, func(rows *sql.Rows) error { return w.Scan(rows) })
	})
}

// eachBatch makes the calls of batches.
func eachBatch(batches []Batch, do func(w *Batch, text string, args []any) error) error {
	for i := range batches {
		w := &batches[i]
		if err := w.calls(func(text string, args []any) error { return do(w, text, args) }); err != nil {
			return fmt.Errorf("%s: %w", w.What, err)
		}
	}
	return nil
}

// calls makes the calls of a batch: one for all of its keys, or one for each row.
func (w *Batch) calls(do func(text string, args []any) error) error {
	if w.SQLite != "" && len(w.Rows) > 0 {
		return do(w.SQLite, append(w.scope(), w.keys()))
	}
	for _, row := range w.Rows {
		if err := do(w.Each, append(w.scope(), row...)); err != nil {
			return err
		}
	}
	return nil
}
