package db

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/store/pgtest"
)

// TestCommitsAreWaitedFor: a default of the server that lets commits be answered before they are safe does not reach
// our sessions, not even one that is set while they are open; a stronger one does.
func TestCommitsAreWaitedFor(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database has no such setting from outside: see TestPragmasReachEveryConnection
	server, err := pgtest.Start("fsync=off", "full_page_writes=off")
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	admin, err := pgx.Connect(t.Context(), server.Admin)
	must(t, err)
	t.Cleanup(func() { must(t, admin.Close(context.Background())) })
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Database: server.URL, ShortTimeouts: true})
	must(t, err)
	t.Cleanup(func() { s.Close() })

	setting := func(pool *sql.DB) (value string) {
		t.Helper()
		must(t, pool.QueryRowContext(t.Context(), `SHOW synchronous_commit`).Scan(&value))
		return value
	}
	for inherited, want := range map[string]string{"off": "on", "local": "on", "remote_write": "on", "on": "on",
		"remote_apply": "remote_apply"} {
		for _, of := range []string{`DATABASE postgres`, `ROLE boon`} {
			_, err := admin.Exec(t.Context(), `ALTER `+of+` SET synchronous_commit = `+inherited)
			must(t, err)
			writer, readers, _, err := openPostgres(server.URL, BackgroundTimeout, nil, func(bool) {})
			must(t, err)
			for name, pool := range map[string]*sql.DB{"writer": writer, "reader": readers} {
				if got := setting(pool); got != want {
					t.Errorf("%s has %s: a %s's session has %s, want %s", of, inherited, name, got, want)
				}
				must(t, pool.Close())
			}
			_, err = admin.Exec(t.Context(), `ALTER `+of+` RESET synchronous_commit`)
			must(t, err)
		}
	}

	_, err = admin.Exec(t.Context(), `ALTER SYSTEM SET synchronous_commit = off`)
	must(t, err)
	_, err = admin.Exec(t.Context(), `SELECT pg_reload_conf()`)
	must(t, err)
	for heeded := ""; heeded != "off"; {
		must(t, admin.QueryRow(t.Context(), `SHOW synchronous_commit`).Scan(&heeded))
	}
	if got := setting(s.Writer); got != "on" {
		t.Errorf("a session that was open when the server was told otherwise has %s, want on", got)
	}
	risks, err := s.Risks(t.Context())
	if all := strings.Join(risks, "\n"); err != nil || len(risks) != 2 || !strings.Contains(all, "fsync=off") ||
		!strings.Contains(all, "full_page_writes=off") {
		t.Errorf("the operator is told %q, %v; want a sentence on fsync and one on full_page_writes", risks, err)
	}
}
