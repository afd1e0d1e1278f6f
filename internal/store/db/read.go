package db

import (
	"context"
	"database/sql"
	"time"

	"boon.example/internal/base/nice"
)

// Querier is what can be asked: a database or a transaction.
type Querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// Get reads one row.
func (d *DB) Get(ctx context.Context, query string, args []any, to ...any) error {
	return d.Retry(ctx, func(ctx context.Context) error {
		return d.Readers.QueryRowContext(ctx, query, args...).Scan(to...)
	})
}

// GetLong is Get with LongTimeout: see CollectLong.
func (d *DB) GetLong(ctx context.Context, query string, args []any, to ...any) error {
	return d.RetryLong(ctx, func(ctx context.Context) error {
		return d.Readers.QueryRowContext(ctx, query, args...).Scan(to...)
	})
}

// Late begins to measure the time that a caller has, and tells when half of it is over. Without a deadline there is
// time for ever.
func Late(ctx context.Context) func() bool {
	end, limited := ctx.Deadline()
	half := time.Now().Add(time.Until(end) / 2)
	return func() bool { return limited && time.Now().After(half) }
}

// Read runs batches that find rows by their keys, outside of a transaction: each sees what was committed before it.
func (d *DB) Read(ctx context.Context, batches []Batch) error { return d.backend.read(ctx, batches) }

// Collect runs a query on a reader and makes a list of what scan makes of each row.
func Collect[T any](
	ctx context.Context, d *DB, query string, args []any, scan func(Scanner) (T, error),
) (list []T, err error) {
	return collect(ctx, d, d.Retry, nil, query, args, scan)
}

// CollectLong is Collect with LongTimeout, where the database has a timeout: for what reads much, and nobody waits
// for at a counter. The list takes the memory of another one, which is used no more; nil: it gets its own.
func CollectLong[T any](
	ctx context.Context, d *DB, into []T, query string, args []any, scan func(Scanner) (T, error),
) (list []T, err error) {
	return collect(ctx, d, d.RetryLong, into, query, args, scan)
}

func collect[T any](
	ctx context.Context, d *DB, retry func(context.Context, func(context.Context) error) error, into []T, query string,
	args []any, scan func(Scanner) (T, error),
) (list []T, err error) {
	err = retry(ctx, func(ctx context.Context) error {
		list = into[:0] // it may be the second try
		return d.each(ctx, query, args, func(rows *sql.Rows) error {
			item, err := scan(rows)
			list = append(list, item)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// each is Each on a reader, by a statement that is prepared, if it is.
func (d *DB) each(ctx context.Context, query string, args []any, fn func(*sql.Rows) error) error {
	if stmt := d.reads[query]; stmt != nil {
		return eachOf(ctx, stmt, args, fn)
	}
	return Each(ctx, d.Readers, query, args, fn)
}

// EachWithin is Each in a Snapshot, by a statement that is prepared, if it is.
func (d *DB) EachWithin(ctx context.Context, tx *sql.Tx, query string, args []any, fn func(*sql.Rows) error) error {
	if stmt := d.reads[query]; stmt != nil {
		return eachOf(ctx, tx.StmtContext(ctx, stmt), args, fn)
	}
	return Each(ctx, tx, query, args, fn)
}

func eachOf(ctx context.Context, stmt *sql.Stmt, args []any, fn func(*sql.Rows) error) error {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	return drain(rows, nice.Resting(ctx), fn)
}

// Each runs a query and hands every row to fn. In a transaction it does not rest, as that may keep others waiting.
func Each(ctx context.Context, q Querier, query string, args []any, fn func(*sql.Rows) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	rest := func() {}
	if _, pool := q.(*sql.DB); pool {
		rest = nice.Resting(ctx)
	}
	return drain(rows, rest, fn)
}

// drain hands each row to fn and closes them. Between rows it may rest, and behind the last: whoever looks up a
// thousand keys one by one may find none.
func drain(rows *sql.Rows, rest func(), fn func(*sql.Rows) error) error {
	defer rest()
	defer rows.Close()
	for rows.Next() {
		rest()
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
