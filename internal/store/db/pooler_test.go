package db

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/store/pgtest"
)

// behind opens a database by way of PgBouncer, whose clients share the server's sessions transaction by transaction.
func behind(t *testing.T) (d *DB, server *pgtest.Server) {
	t.Helper()
	pgtest.Need(t)
	server, err := pgtest.Start("fsync=off", "full_page_writes=off")
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	bouncer, err := server.Bounce("transaction")
	if errors.Is(err, pgtest.ErrNoBouncer) {
		t.Skip("LEFT OUT: ", err)
	}
	must(t, err)
	t.Cleanup(func() { must(t, bouncer.Kill()) })
	d, err = Open(t.Context(), Options{Dir: t.TempDir(), Database: bouncer.URL, ShortTimeouts: true})
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d, server
}

// administer is a session of the superuser's, past the pooler, which begins with some statements.
func administer(t *testing.T, s *pgtest.Server, statements ...string) *pgx.Conn {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), s.Admin)
	must(t, err)
	t.Cleanup(func() { admin.Close(context.Background()) }) // which may have been killed with its server
	for _, s := range statements {
		_, err := admin.Exec(t.Context(), s)
		must(t, err)
	}
	return admin
}

// insert is a batch that nothing comes back from.
func insert(n int) []Batch {
	return []Batch{{Query: &Query{What: "writing", Each: `INSERT INTO written VALUES ($1)`}, Rows: [][]any{{n}}}}
}

// TestPooledCommitsAreWaitedFor: behind a pooler, which gives each transaction another session, each commit waits for
// the disk whatever the server's default. A trigger that fires at the commit has seen what it waits for.
func TestPooledCommitsAreWaitedFor(t *testing.T) {
	t.Parallel()
	d, server := behind(t)
	admin := administer(t, server, `CREATE TABLE written (n INT)`, `CREATE TABLE seen (setting TEXT, session INT)`,
		`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit'), pg_backend_pid()); RETURN NULL; END $$`,
		`CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON written DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()`,
		`GRANT ALL ON ALL TABLES IN SCHEMA public TO boon`, `ALTER ROLE boon RESET ALL`, `ALTER ROLE boon SET synchronous_commit = off`,
		// the sessions that PgBouncer opened before have what they had
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'boon'`)
	var all sync.WaitGroup
	for n := range 12 {
		all.Go(func() {
			write := func(tx *sql.Tx) error {
				_, err := tx.Exec(`INSERT INTO written SELECT $1 FROM pg_sleep(0.05)`, n)
				return err
			}
			group := func(ctx context.Context) error {
				return d.Transact(ctx, func(run Runner) error { return run(ctx, insert(n)) })
			}
			if err := errors.Join(d.Write(t.Context(), write), d.Retry(t.Context(), group)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	rows, err := admin.Query(t.Context(), `SELECT setting, count(DISTINCT session), count(*) FROM seen GROUP BY 1`)
	must(t, err)
	type seen struct {
		Setting          string
		Sessions, Writes int
	}
	got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[seen])
	must(t, err)
	if len(got) != 1 || got[0].Setting != "on" || got[0].Sessions < 3 || got[0].Writes != 24 {
		t.Errorf("commits waited so: %+v; want 24 that waited for the disk, on several sessions", got)
	}
	risks, err := d.Risks(t.Context())
	if said := strings.Join(risks, "\n"); err != nil || !strings.Contains(said, " lock_timeout=0") ||
		!strings.Contains(said, "idle_in_transaction_session_timeout=0") {
		t.Errorf("the operator is told %q, %v; want of what the pooler did not pass on", risks, err)
	}
}

// TestPoolerLosesTheAnswer: what PgBouncer says when it has lost the server during a commit is not taken for the
// server's word that nothing was committed.
func TestPoolerLosesTheAnswer(t *testing.T) {
	t.Parallel()
	d, server := behind(t)
	admin := administer(t, server, `CREATE TABLE written (n INT)`, `GRANT ALL ON written TO boon`,
		`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`, `SELECT pg_reload_conf()`) // commits wait from now on
	begun := 0
	ended := make(chan error, 1)
	go func() { // until one waits: a server takes a moment to heed what it is told
		for {
			begun++
			err := d.Transact(context.Background(), func(run Runner) error { return run(context.Background(), insert(begun)) })
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	waiting := 0
	for end := time.Now().Add(time.Minute); waiting == 0; {
		must(t, admin.QueryRow(t.Context(), `SELECT coalesce(max(pid), 0) FROM pg_stat_activity
			WHERE usename = 'boon' AND wait_event = 'SyncRep'`).Scan(&waiting))
		if time.Now().After(end) {
			t.Fatal("nothing waits for the standby")
		}
	}
	must(t, syscall.Kill(waiting, syscall.SIGKILL)) // before it has said a word; its server begins anew
	if err := <-ended; !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("the commit ended with %v; its outcome is not known", err)
	}
	must(t, server.Kill())
	must(t, server.Run())
	var n int
	must(t, administer(t, server).QueryRow(t.Context(), `SELECT count(*) FROM written`).Scan(&n))
	if n != begun {
		t.Errorf("%d of %d rows were committed; the last one was, too", n, begun)
	}
}
