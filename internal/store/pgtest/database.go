package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Variable names the environment variable with the URL of a server that tests may make databases on. Where it is not
// set, tests run on the embedded database only.
const Variable = "TEST_POSTGRES_URL"

// Only names the environment variable by which Main leaves the embedded database out: make check sets it, after make
// test has run the tests there.
const Only = "TEST_POSTGRES_ONLY"

// Template is the database that the tests' databases are copied from, where the server has it.
const Template = "boon_template"

// Available tells whether there is a server for tests.
func Available() bool { return os.Getenv(Variable) != "" }

// Need leaves a test out where there is no server.
func Need(t interface {
	Helper()
	Skip(...any)
}) {
	t.Helper()
	if !Available() {
		t.Skip("without " + Variable + " tests run on the embedded store only; make check sets it")
	}
}

// TB is what is asked of a test: a *testing.T, a *testing.B or a *rapid.T.
type TB interface {
	Helper()
	Name() string
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Fresh makes a database for a test and gives its URL; it is dropped when the test ends.
func Fresh(t TB) string {
	t.Helper()
	return fresh(t, Template)
}

// Empty is Fresh without the schema.
func Empty(t TB) string {
	t.Helper()
	return fresh(t, "template1")
}

func fresh(t TB, template string) string {
	t.Helper()
	database, drop, err := create(template)
	if err != nil {
		t.Fatalf("making a database: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("dropping a database: %v", err)
		}
	})
	return database
}

func create(template string) (database string, drop func() error, err error) {
	server, err := url.Parse(os.Getenv(Variable))
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", Variable, err)
	}
	name := "boon_" + strings.ToLower(rand.Text())
	err = run(server, `CREATE DATABASE `+name+` TEMPLATE `+template+` STRATEGY FILE_COPY`)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "3D000" { // a server without the template
		err = run(server, `CREATE DATABASE `+name)
	}
	its := *server
	its.Path = "/" + name
	return its.String(), func() error { return dropDatabase(server, name) }, err
}

// dropDatabase tries for a while where a superuser's session, or the server that tidies up (autovacuum), is in the
// database: our role may not end those, and they leave by themselves.
func dropDatabase(server *url.URL, name string) error {
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err := run(server, `DROP DATABASE `+name+` WITH (FORCE)`)
		e, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || e.Code != "42501" && e.Code != "55006" || time.Since(begun) > 20*time.Second { // not allowed, in use
			return err
		}
	}
}

func run(server *url.URL, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server.String())
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// second is set while Main runs tests for the second time.
var second atomic.Bool

// asked are the tests that asked for a database.
var asked sync.Map

// once are those of them that called Once.
var once sync.Map

// Once tells that a test looks at what is decided before a store is asked, or after, and alike over both: forms,
// permissions, pages, memory, programs in other languages. With -short, it does not run again on PostgreSQL.
func Once(t TB) {
	t.Helper()
	once.Store(t.Name(), true)
	if s, ok := t.(interface{ Skip(...any) }); ok && only() && short() {
		s.Skip("says nothing of a store, and runs on the embedded one")
	}
}

// LeaveToCheck leaves a test to make check, which runs everything again on PostgreSQL: make test does without it.
func LeaveToCheck(t TB, why string) {
	t.Helper()
	if s, ok := t.(interface{ Skip(...any) }); ok && short() && !only() {
		s.Skip("left to make check: " + why)
	}
}

// Whole tells that no test was left out for having called Once.
func Whole() bool { return !only() || !short() }

// Embedded tells whether tests that go through the databases by themselves run on the embedded one.
func Embedded() bool { return !only() }

// only tells that the environment has Only.
func only() bool { return Available() && os.Getenv(Only) != "" }

func short() bool { return flag.Lookup("test.short").Value.String() == "true" }

// Main runs a package's tests on the embedded database, and those that asked Database for one once more on PostgreSQL,
// where there is one: a TestMain hands its *testing.M to it, and the tests open what Database says. With -short, those
// that called Once are left out there. Where the environment has Only, all run on PostgreSQL alone. Tests by rapid
// draw a quarter there, unless asked for a number: each takes several times as long, and the rules are the same.
func Main(m interface{ Run() int }) int {
	debug.SetGCPercent(400) // the heap of a test is small: it would be collected all the time
	if only() {
		second.Store(true)
		drawLess()
		return m.Run()
	}
	code := m.Run()
	if !Available() {
		return code
	}
	var names []string
	for name := range asked.Range {
		if _, told := once.Load(name); !told || !short() {
			names = append(names, name.(string))
		}
	}
	if len(names) == 0 {
		return code
	}
	fmt.Println("=== once more, on PostgreSQL")
	second.Store(true)
	if run := flag.Lookup("test.run").Value; !strings.Contains(run.String(), "/") {
		before := run.String()
		defer func() { _ = run.Set(before) }() // what it was it may be
		if err := run.Set("^(" + strings.Join(names, "|") + ")$"); err != nil {
			panic(err)
		}
	}
	drawLess()
	return max(code, m.Run())
}

// drawLess makes tests by rapid draw a quarter, unless they were asked for a number.
func drawLess() {
	if checks := flag.Lookup("rapid.checks"); checks != nil && checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("25"); err != nil {
			panic(err)
		}
	}
}

// Runner makes Main a Run of its own, for what wraps a *testing.M.
type Runner struct{ M interface{ Run() int } }

// Run is Main.
func (r Runner) Run() int { return Main(r.M) }

// Database is the URL of a new database for a test, or "" while the tests run on the embedded one.
func Database(t TB) string {
	t.Helper()
	if !second.Load() {
		test, _, _ := strings.Cut(t.Name(), "/")
		asked.Store(test, true)
		return ""
	}
	return Fresh(t)
}

// Hold keeps everybody else from writing gifts and requests, until release is called; they can be read.
func Hold(t TB, database string) (release func()) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	if _, err = conn.Exec(ctx, `BEGIN; LOCK TABLE voucher, request, tally IN EXCLUSIVE MODE`); err != nil {
		t.Fatalf("locking: %v", err)
	}
	return func() {
		if err := conn.Close(ctx); err != nil {
			t.Errorf("releasing the lock: %v", err)
		}
	}
}

// Deadlocks is how many transactions of a database, "" for the embedded one, ever waited for each other in a circle:
// the server ends one of them, and the store repeats it, so that else nothing shows it. The database must have been
// closed: sessions report when they end.
func Deadlocks(t TB, database string) (n int) {
	t.Helper()
	if database == "" {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	defer conn.Close(ctx)
	const count = `SELECT deadlocks, (SELECT count(*) FROM pg_stat_activity AS a
			WHERE a.datname = d.datname AND a.backend_type = 'client backend')
		FROM pg_stat_database AS d WHERE d.datname = current_database()`
	for sessions := 0; sessions != 1; time.Sleep(10 * time.Millisecond) {
		if err := conn.QueryRow(ctx, count).Scan(&n, &sessions); err != nil {
			t.Fatalf("counting deadlocks: %v", err)
		}
	}
	return n
}

// OnPostgres tells whether the tests run on PostgreSQL now.
func OnPostgres() bool { return second.Load() }
