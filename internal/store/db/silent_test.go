package db

import (
	"context"
	"net/url"
	"sync"
	"testing"
	"time"

	"boon.example/internal/store/pgtest"
)

// TestForgottenConnections: where a firewall has forgotten the idle connections of an instance, which nobody tells it,
// few calls are lost before it is well again, and not one for each connection.
func TestForgottenConnections(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	place, err := url.Parse(pgtest.Fresh(t))
	must(t, err)
	line := pgtest.NewLine(t, place.Host)
	place.Host = line.Address
	d, err := Open(t.Context(), Options{Dir: t.TempDir(), Database: place.String(), ShortTimeouts: true})
	must(t, err)
	t.Cleanup(func() { d.Close() })
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
