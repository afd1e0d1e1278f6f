package db

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"boon.example/internal/base/nice"
	"boon.example/internal/store/pgtest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openForTest(t *testing.T, o Options) *DB {
	t.Helper()
	d, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// TestPragmasReachEveryConnection, and readers cannot write.
func TestPragmasReachEveryConnection(t *testing.T) {
	t.Parallel()
	s := openForTest(t, Options{Dir: t.TempDir()})
	var connections []*sql.Conn
	for range 3 {
		c, err := s.Readers.Conn(t.Context())
		must(t, err)
		defer c.Close()
		connections = append(connections, c)
	}
	writer, err := s.Writer.Conn(t.Context())
	must(t, err)
	defer writer.Close()
	for i, c := range append(connections, writer) {
		wait := "5000"
		if c == writer {
			wait = "0" // it waits by itself
		}
		for pragma, want := range map[string]string{"busy_timeout": wait, "journal_mode": "wal", "synchronous": "2",
			"foreign_keys":       "1",
			"recursive_triggers": "1"} {
			var got string
			must(t, c.QueryRowContext(t.Context(), `PRAGMA `+pragma).Scan(&got))
			if got != want {
				t.Errorf("connection %d: %s is %s, want %s", i, pragma, got, want)
			}
		}
		if _, err := c.ExecContext(t.Context(), `DELETE FROM outbox`); (err == nil) != (c == writer) {
			t.Errorf("connection %d: writing gave %v", i, err)
		}
	}
}

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	got, err := steps(fstest.MapFS{
		"migrations/0001_one.sqlite.sql": file("a"), "migrations/0001_one.postgres.sql": file("b"),
		"migrations/0002_two.sqlite.sql": file("-- Serves programs from schema 1.\n")}, "sqlite")
	must(t, err)
	want := []migration{{1, "one", "a", 1}, {2, "two", "-- Serves programs from schema 1.\n", 1}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := steps(fstest.MapFS{"migrations/0002_two.sqlite.sql": file("")}, "sqlite"); err == nil {
		t.Error("a gap was accepted")
	}
	if all, err := steps(Migrations, "sqlite"); err != nil || len(all) == 0 || all[0].name != "baseline" {
		t.Errorf("our own: %d steps, %v", len(all), err)
	}
}

func TestAFailedMigrationLeavesNothing(t *testing.T) {
	t.Parallel()
	places := map[string]Options{"sqlite": {Dir: t.TempDir()}}
	if pgtest.Available() {
		places["postgres"] = Options{Dir: t.TempDir(), Database: pgtest.Fresh(t)}
	}
	for name, place := range places {
		d := openForTest(t, place)
		at, err := d.SchemaVersion(t.Context())
		must(t, err)
		taken, err := steps(Migrations, d.backend.name())
		must(t, err)
		more := fstest.MapFS{}
		for n := range at + 1 {
			is := "broken"
			if int(n) < len(taken) {
				is = taken[n].name
			}
			more[fmt.Sprintf("migrations/%04d_%s.%s.sql", n+1, is, name)] = &fstest.MapFile{Data: []byte(
				"-- Serves programs from schema 1.\nCREATE TABLE half (x INTEGER); CREATE TABLE half (y INTEGER)")}
		}
		if err := d.Migrate(t.Context(), more); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s: %v, want the step's name", name, err)
		}
		left, err := d.hasTable(t.Context(), d.Readers, "half")
		if is, versionErr := d.SchemaVersion(t.Context()); left || err != nil || versionErr != nil || is != at {
			t.Errorf("%s: a table is left: %v, %v; at version %d, %v", name, left, err, is, versionErr)
		}
	}
}

// TestADatabaseFromBeforeTheFirstRelease: the schema of a program from before 0.1.0 is refused with a sentence that
// names both versions and the way, whether its steps had other names or its first step made another schema, and whether
// it is to be brought up to date or only looked at.
func TestADatabaseFromBeforeTheFirstRelease(t *testing.T) {
	t.Parallel()
	for what, statements := range map[string][]string{
		"more steps, of other names": {
			`UPDATE schema_version SET name = 'gifts' WHERE version = 1`,
			`INSERT INTO schema_version (version, name, serves, applied_at) VALUES (999, 'terms', 1, 0)`,
			`DROP TABLE webhook_lease`},
		"another second step": {`UPDATE schema_version SET name = 'request_age' WHERE version = 2`},
		"an earlier baseline": {
			`DELETE FROM schema_version WHERE version > 1`,
			`ALTER TABLE secret RENAME COLUMN replaced TO other`},
	} {
		places := map[string]Options{"sqlite": {Dir: t.TempDir()}}
		if pgtest.Available() {
			places["postgres"] = Options{Dir: t.TempDir(), Database: pgtest.Fresh(t)}
		}
		for name, place := range places {
			d := openForTest(t, place)
			for _, text := range statements {
				_, err := d.Writer.ExecContext(t.Context(), text)
				must(t, err)
			}
			must(t, d.Close())
			for _, keep := range []bool{false, true} {
				place.KeepSchema = keep
				refused, err := Open(t.Context(), place)
				if err == nil {
					_ = refused.Close()
					t.Fatalf("%s: %s opened", name, what)
				}
				for _, want := range []string{"before 0.1.0", "this program has schema", "begin with another --data folder"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%s: %s: %q does not say %q", name, what, err, want)
					}
				}
			}
		}
	}
}

// TestReadersRest: what is in no hurry looks between rows whether others need its core; in a transaction that writes it
// does not, as others may wait for that.
func TestReadersRest(t *testing.T) {
	t.Parallel()
	d := openForTest(t, Options{Dir: t.TempDir()})
	asked := 0
	ctx := nice.Background(t.Context(), func() bool { asked++; return false })
	const rows = `SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3`
	slow := func(*sql.Rows) error { time.Sleep(2 * time.Millisecond); return nil } // longer than a stretch
	for name, c := range map[string]struct {
		read   func() error
		pauses bool
	}{
		"a list": {func() error {
			_, err := Collect(ctx, d, rows, nil, func(Scanner) (int, error) { return 0, slow(nil) })
			return err
		}, true},
		"rows": {func() error { return Each(ctx, d.Readers, rows, nil, slow) }, true},
		"keys of which none is found": {func() (err error) {
			for begun := time.Now(); err == nil && time.Since(begun) < 2*time.Millisecond; {
				err = Each(ctx, d.Readers, `SELECT 1 WHERE 1 = 0`, nil, slow)
			}
			return err
		}, true},
		"a transaction": {func() error {
			return d.Write(ctx, func(tx *sql.Tx) error { return Each(ctx, tx, rows, nil, slow) })
		}, false},
	} {
		asked = 0
		if err := c.read(); err != nil || asked > 0 != c.pauses {
			t.Errorf("%s: asked %d times, %v", name, asked, err)
		}
	}
}
