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

// ExecRows runs batches in a transaction, by statements that were prepared outside of it.
func ExecRows(tx *sql.Tx, prepared map[string]*sql.Stmt) Runner {
	return (&rowExecutor{tx, prepared, map[string]*sql.Stmt{}}).execRows
}

func (r *rowExecutor) execRows(ctx context.Context, batches []Batch) error {
	for i := range batches {
		w := &batches[i]
		var hits int64
		for done := 0; done < len(w.Rows); {
			text, size := w.Many, RowsPerQuery
			if text == "" || len(w.Rows)-done < size {
				text, size = w.One, 1
			}
			args := slices.Grow(w.Scope(), size*len(w.Rows[done]))
			for _, row := range w.Rows[done : done+size] {
				args = append(args, row...)
			}
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
	return 0, Drain(rows, func(rows *sql.Rows) error { return scan(rows) })
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

// Drain hands each row to fn and closes them.
func Drain(rows *sql.Rows, fn func(*sql.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
