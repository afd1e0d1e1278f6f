package db

import (
	"context"
	"database/sql"
	"fmt"
)

// rowExecutor runs batches on SQLite, as prepared statements: what reads takes all keys at once, what writes a row at a
// time. Measured for groups of 256 redemptions, a statement that writes 16 rows takes as long as 16 that write one.
type rowExecutor struct {
	tx    *sql.Tx
	hot   map[string]*sql.Stmt
	bound map[string]*sql.Stmt // hot, bound to tx
}

func (s *sqlite) transact(ctx context.Context, fn func(Runner) error) error {
	return s.db.transactWithin(ctx, 0, func(tx *sql.Tx) error {
		return fn((&rowExecutor{tx, s.db.writes, map[string]*sql.Stmt{}}).execRows)
	})
}

// read implements backend.
func (s *sqlite) read(ctx context.Context, batches []Batch) error {
	for i := range batches {
		w := &batches[i]
		err := w.calls(func(text string, args []any) error {
			return s.db.each(ctx, text, args, func(rows *sql.Rows) error { return w.Scan(rows) })
		})
		if err != nil {
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

func (r *rowExecutor) execRows(ctx context.Context, batches []Batch) error {
	for i := range batches {
		w := &batches[i]
		var hits int64
		err := w.calls(func(text string, args []any) error {
			n, err := r.do(ctx, text, args, w.Scan)
			hits += n
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", w.What, err)
		}
		if err := w.checkHits(hits); err != nil {
			return err
		}
	}
	return nil
}

func (r *rowExecutor) do(ctx context.Context, text string, args []any, scan func(Scanner) error) (hits int64,
	err error) {
	stmt := r.stmt(ctx, text)
	if scan == nil {
		result, err := stmt.ExecContext(ctx, args...)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return 0, drain(rows, func(rows *sql.Rows) error { return scan(rows) })
}

// stmt is the prepared statement for a text.
func (r *rowExecutor) stmt(ctx context.Context, text string) *sql.Stmt {
	stmt := r.bound[text]
	if stmt == nil {
		stmt = r.tx.StmtContext(ctx, r.hot[text])
		r.bound[text] = stmt
	}
	return stmt
}
