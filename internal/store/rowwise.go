package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// rowwise runs the works of a group as prepared statements of a few rows each: the way of a database that is in this process,
// where a call costs nothing and binding is what takes time.
type rowwise struct {
	tx    *sql.Tx
	hot   map[string]*sql.Stmt
	bound map[string]*sql.Stmt // hot, bound to tx
}

// transactRowwise runs fn in a transaction and commits.
func transactRowwise(ctx context.Context, s *Store, fn func(runner) error) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		return fn((&rowwise{tx, s.hot, map[string]*sql.Stmt{}}).run)
	})
}

func (r *rowwise) run(ctx context.Context, works []work) error {
	for i := range works {
		w := &works[i]
		var hits int64
		for done := 0; done < len(w.rows); {
			text, size := w.many, perStatement
			if text == "" || len(w.rows)-done < size {
				text, size = w.one, 1
			}
			args := slices.Grow(w.scope(), size*len(w.rows[done]))
			for _, row := range w.rows[done : done+size] {
				args = append(args, row...)
			}
			n, err := r.do(ctx, text, args, w.take)
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

func (r *rowwise) do(ctx context.Context, text string, args []any, take func(scanner) error) (hits int64, err error) {
	stmt := r.stmt(ctx, text)
	if take == nil {
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
	return 0, drain(rows, func(rows *sql.Rows) error { return take(rows) })
}

// stmt is the prepared statement for a text.
func (r *rowwise) stmt(ctx context.Context, text string) *sql.Stmt {
	stmt := r.bound[text]
	if stmt == nil {
		stmt = r.tx.StmtContext(ctx, r.hot[text])
		r.bound[text] = stmt
	}
	return stmt
}
