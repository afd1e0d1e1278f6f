package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"boon.example/internal/store/pgtest"
)

// openForCalls opens a database as a service does, whose callers wait.
func openForCalls(t *testing.T, database string) *DB {
	t.Helper()
	d, err := Open(t.Context(), Options{Dir: t.TempDir(), Database: database, ShortTimeouts: true})
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// TestForgottenConnections: where a firewall has forgotten the idle connections of an instance, which nobody tells it,
// few calls are lost before it is well again, and not one for each connection.
func TestForgottenConnections(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	place, err := url.Parse(pgtest.Fresh(t))
	must(t, err)
	line := pgtest.NewLine(t, place.Host)
	place.Host = line.Address
	d := openForCalls(t, place.String())
	n := 0
	for d.Readers.Stats().Idle < connections/2 {
		var all sync.WaitGroup
		for range connections / 2 {
			all.Go(func() { _, _ = d.Readers.ExecContext(t.Context(), `SELECT pg_sleep(0.2)`) })
		}
		all.Wait()
	}
	time.Sleep(1100 * time.Millisecond) // until they count as idle
	line.Forget()
	lost := 0
	for range connections / 2 {
		ctx, cancel := context.WithTimeout(t.Context(), CallTimeout)
		if err := d.Get(ctx, `SELECT 1`, nil, &n); err != nil {
			lost++
		}
		cancel()
	}
	if lost > connections/8 {
		t.Errorf("%d of %d calls were lost", lost, connections/2)
	}
}

// TestATransactionOutOfTime: once a transaction has lasted too long, what it does next is told as a database that is
// away, and not as a mistake of ours, though the statement itself had time.
func TestATransactionOutOfTime(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	d := openForCalls(t, pgtest.Fresh(t))
	for name, next := range map[string]func(*sql.Tx) error{
		"a statement": func(tx *sql.Tx) error { _, err := tx.ExecContext(t.Context(), `SELECT 1`); return err },
		"its commit":  func(*sql.Tx) error { return nil },
	} {
		err := d.Write(t.Context(), func(tx *sql.Tx) error {
			for begun := time.Now(); time.Since(begun) < 2*CallTimeout; time.Sleep(10 * time.Millisecond) {
				if _, err := tx.ExecContext(t.Context(), `SELECT 1`); errors.Is(err, sql.ErrTxDone) {
					return next(tx)
				}
			}
			return errors.New("the transaction lasts")
		})
		if !d.Away(err) {
			t.Errorf("%s after its time: %v", name, err)
		}
	}
}

// TestWhatFollowsALostConnection: once a server has gone, all that is still asked of the connection fails as with a
// database that is away, whatever the driver says of it.
func TestWhatFollowsALostConnection(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	d := openForCalls(t, pgtest.Fresh(t))
	conn, err := d.Readers.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	must(t, conn.Raw(func(driverConn any) error {
		var b pgx.Batch
		b.Queue(`SELECT pg_terminate_backend(pg_backend_pid())`)
		b.Queue(`SELECT 1`)
		b.Queue(`SELECT 2`)
		results := driverConn.(*stdlib.Conn).Conn().SendBatch(t.Context(), &b)
		for n := range b.Len() {
			_, err := results.Exec()
			if !d.Away(err) {
				t.Errorf("statement %d: %v", n, err)
			}
		}
		if err := results.Close(); !d.Away(err) {
			t.Errorf("the end: %v", err)
		}
		return nil
	}))
	_, err = conn.ExecContext(t.Context(), `SELECT 1`)
	if !d.Away(err) {
		t.Errorf("what is asked next: %v", err)
	}
	if err := fmt.Errorf("a statement: %w", pgconn.ErrConnClosed); !d.Away(err) {
		t.Errorf("%v", err)
	}
}
