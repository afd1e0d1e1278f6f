package db

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// rowExecutor runs batches on SQLite, as prepared statements of a few rows each: the database is in this process,
// where a call costs nothing and binding is what takes time.
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
		for done := 0; done < len(w.Rows); {
			text, args, size := w.next(done)
			if err := s.db.each(ctx, text, args, func(rows *sql.Rows) error { return w.Scan(rows) }); err != nil {
				return fmt.Errorf("%s: %w", w.What, err)
			}
			done += size
		}
	}
	return nil
}

// next is the text that takes the rows of a batch from one on, with its arguments, and how many rows it takes. A query
// that reads many keys gets the last one several times rather than fewer: nearly all of a statement's time is its call.
func (w *Batch) next(from int) (text string, args []any, size int) {
	text, size = w.Many, rowsPerQuery
	if left := len(w.Rows) - from; text == "" || left == 1 || left < size && w.Scan == nil {
		text, size = w.One, 1
	}
	args = slices.Grow(w.scope(), size*len(w.Rows[from]))
	for n := range size {
		args = append(args, w.Rows[min(from+n, len(w.Rows)-1)]...)
	}
	return text, args, size
}

func (r *rowExecutor) execRows(ctx context.Context, batches []Batch) error {
	for i := range batches {
		w := &batches[i]
		var hits int64
		for done := 0; done < len(w.Rows); {
			text, args, size := w.next(done)
			n, err := r.do(ctx, text, args, w.Scan)
			if err != nil {
				return fmt.Errorf("%s: %w", w.What, err)
			}
			hits += n
			done += size
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
