package main

import (
	"os"
	"testing"
	"time"

	"boon.example/internal/store/pgtest"
)

// TestPooler: two instances by way of a PgBouncer whose server makes commits that wait for nothing, unless told so.
// Under load the server is killed, and so is PgBouncer; what was answered is there, once.
func TestPooler(t *testing.T) {
	if os.Getenv("PGBOUNCER") == "" {
		t.Skip("test/pgbouncer/run runs it")
	}
	for _, mode := range []string{"session", "transaction"} {
		t.Run(mode, func(t *testing.T) {
			server, err := pgtest.Start("synchronous_commit=off", "wal_writer_delay=10s", "full_page_writes=off")
			check(t, err)
			t.Cleanup(func() { check(t, server.Close()) })
			bouncer, err := server.Bounce(mode)
			check(t, err)
			t.Cleanup(func() { check(t, bouncer.Kill()) })
			boon := install(t, bouncer.URL)
			l := busyTills(t, boon, 16, serve(t, boon), serve(t, boon))
			for range 3 {
				time.Sleep(time.Second)
				check(t, server.Kill())
				check(t, server.Run())
				time.Sleep(time.Second)
				check(t, bouncer.Kill())
				check(t, bouncer.Run())
			}
			time.Sleep(2 * time.Second)
			l.end("three kills of the server and of PgBouncer")
		})
	}
}
