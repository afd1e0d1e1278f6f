package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

var (
	// ErrUnknownOutcome tells that a COMMIT was sent and may or may not have taken effect.
	ErrUnknownOutcome = errors.New("the outcome of the commit is unknown")
	// ErrOvertaken is for a transaction to fail with that is to run again, as what it has read is not so any more.
	ErrOvertaken = errors.New("what was read is overtaken")
)

// How often, and for how long, what failed for a passing reason is tried again.
const (
	tries    = 6
	retryFor = time.Second
)

// Retry runs fn, which may run again, until it succeeds or fails for good, a bounded number of times and within the
// database's timeout. It does not begin while the schema does not serve this program: see CheckSchema.
func (d *DB) Retry(ctx context.Context, fn func(context.Context) error) error {
	if err := d.serving(); err != nil {
		return err
	}
	return d.retry(ctx, d.Timeout(), fn)
}

// RetryLong is Retry with LongTimeout, where the database has a timeout.
func (d *DB) RetryLong(ctx context.Context, fn func(context.Context) error) error {
	if err := d.serving(); err != nil {
		return err
	}
	timeout := d.Timeout()
	if timeout > 0 {
		timeout = max(timeout, LongTimeout)
	}
	return d.retry(ctx, timeout, fn)
}

func (d *DB) retry(ctx context.Context, timeout time.Duration, fn func(context.Context) error) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	begun := time.Now()
	for try := 1; ; try++ {
		err := fn(ctx)
		if err == nil || try == tries || time.Since(begun) > max(retryFor, timeout/2) ||
			errors.Is(err, ErrUnknownOutcome) || !d.backend.retryable(err) {
			return err
		}
		// apart from what was in the way
		pause := time.NewTimer(time.Millisecond + rand.N(time.Duration(try)*10*time.Millisecond))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// Transact runs fn once, in a transaction, and commits. fn does all that it does by batches.
func (d *DB) Transact(ctx context.Context, fn func(Runner) error) error {
	return d.backend.transact(ctx, fn)
}

// Look runs fn once, in a transaction in which its batches see everything as it is at one moment. They lock nothing,
// though they may be those that a transaction of Transact locks rows by.
func (d *DB) Look(ctx context.Context, fn func(Runner) error) error { return d.backend.look(ctx, fn) }

// Write runs fn in a transaction and commits. What fn reads to write it stays locked until then. fn may run again, on
// fresh state, when another transaction was in the way. A caller that gives up while waiting for its turn is let go;
// once the transaction has begun, it is seen through.
func (d *DB) Write(ctx context.Context, fn func(*sql.Tx) error) error {
	return d.Retry(ctx, func(ctx context.Context) error { return d.transactWithin(ctx, d.Timeout(), fn) })
}

// Delete runs a statement that deletes where another one counts something to delete, and tells how many rows it
// deleted. Most rounds of a job find nothing: they do not wait for the writer.
func (d *DB) Delete(ctx context.Context, count string, of []any, statement string, args ...any) (n int64, err error) {
	if err = d.Get(ctx, count, of, &n); err != nil || n == 0 {
		return 0, err
	}
	err = d.Write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

var noLockTimeout = Text{Postgres: `SET LOCAL lock_timeout = 0`}

// WriteInBackground runs fn once, in a transaction that may take minutes, and commits.
func (d *DB) WriteInBackground(ctx context.Context, fn func(*sql.Tx) error) error {
	return d.transactWithin(ctx, 0, func(tx *sql.Tx) error {
		if text := d.Text(noLockTimeout); text != "" {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}

// transactWithin runs fn in a transaction that may take this long from when it begins, and no longer than ctx has; 0:
// as long as it takes.
func (d *DB) transactWithin(ctx context.Context, timeout time.Duration, fn func(*sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	conn, err := d.Writer.Conn(ctx)
	if err != nil {
		return fmt.Errorf("waiting to write: %w", err)
	}
	defer conn.Close()
	deadline, limited := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if timeout > 0 {
		if latest := time.Now().Add(timeout); !limited || latest.Before(deadline) {
			deadline = latest
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning to write: %w", err)
	}
	defer tx.Rollback() // does nothing after a commit
	if err := cmp.Or(d.backend.begun(conn), d.serving(), d.backend.writable()); err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return outOfTime(ctx, err)
	}
	if err := d.backend.commit(conn, tx); err != nil {
		return fmt.Errorf("committing: %w", outOfTime(ctx, err))
	}
	return nil
}

// outOfTime says why a transaction is over already. Once its time is up, it is rolled back from beside; what is done in
// it after that is told only that it has ended, and a caller would take a database that is slow for a mistake of ours.
func outOfTime(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return err
}

// Snapshot runs fn in a transaction in which everything is seen as it is at one moment.
func (d *DB) Snapshot(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := d.Readers.BeginTx(ctx, d.backend.snapshot())
	if err != nil {
		return fmt.Errorf("beginning to read: %w", err)
	}
	defer tx.Rollback()
	return fn(tx)
}
