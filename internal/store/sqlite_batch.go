package store

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

// transactSQLite runs fn in a transaction and commits.
func transactSQLite(ctx context.Context, s *Store, fn func(runner) error) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		return fn((&rowExecutor{tx, s.hot, map[string]*sql.Stmt{}}).execRows)
	})
}

func (r *rowExecutor) execRows(ctx context.Context, batches []batch) error {
	for i := range batches {
		w := &batches[i]
		var hits int64
		for done := 0; done < len(w.rows); {
			text, size := w.many, rowsPerQuery
			if text == "" || len(w.rows)-done < size {
				text, size = w.one, 1
			}
			args := slices.Grow(w.scope(), size*len(w.rows[done]))
			for _, row := range w.rows[done : done+size] {
				args = append(args, row...)
			}
			n, err := r.do(ctx, text, args, w.scan)
			if err != nil {
				return fmt.Errorf("%s: %w", w.what, err)
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

func (r *rowExecutor) do(ctx context.Context, text string, args []any, scan func(scanner) error) (hits int64, err error) {
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
