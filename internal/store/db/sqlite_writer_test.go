package db

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"boon.example/internal/guid"
)

var (
	insertChild  = &Query{What: "writing into child", Each: `INSERT INTO child (of) VALUES ($1)`}
	selectColumn = &Query{What: "reading a column", Each: `SELECT $1 AS c`}
)

// openWithChild opens a database in which a child must have a parent when its transaction is committed.
func openWithChild(t *testing.T, dir string) *DB {
	t.Helper()
	d := openForTest(t, Options{Dir: dir, GiftCache: 1 << 20})
	_, err := d.Writer.Exec(`CREATE TABLE parent (id INTEGER PRIMARY KEY);
		CREATE TABLE child (of INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)`)
	must(t, err)
	return d
}

// addChild writes a child, which has no parent unless it is nil.
func addChild(t *testing.T, d *DB, of any) error {
	return d.Transact(t.Context(), func(run Runner) error {
		return run(t.Context(), []Batch{{Query: insertChild, Rows: [][]any{{of}}}})
	})
}

// TestAFailedCommitEndsItsTransaction, so that the writer goes on.
func TestAFailedCommitEndsItsTransaction(t *testing.T) {
	t.Parallel()
	d := openWithChild(t, t.TempDir())
	if err := addChild(t, d, 7); !d.Rejected(err) {
		t.Fatalf("a child without a parent: %v", err)
	}
	must(t, addChild(t, d, nil))
	var children int
	must(t, d.Get(t.Context(), `SELECT count(*) FROM child`, nil, &children))
	if children != 1 {
		t.Errorf("%d children, want the one without a parent to name", children)
	}
}

// TestAPanicEndsItsTransaction, so that others can write.
func TestAPanicEndsItsTransaction(t *testing.T) {
	t.Parallel()
	d := openWithChild(t, t.TempDir())
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = d.Transact(t.Context(), func(run Runner) error {
			must(t, run(t.Context(), []Batch{{Query: insertChild, Rows: [][]any{{nil}}}}))
			panic("on purpose")
		})
	}()
	must(t, addChild(t, d, nil))
	var children int
	must(t, d.Get(t.Context(), `SELECT count(*) FROM child`, nil, &children))
	if children != 1 {
		t.Errorf("%d children, want that of the second transaction", children)
	}
}

// TestALeftTransactionStopsNobody: a connection on which a transaction is still open is given up, and its changes with
// it.
func TestALeftTransactionStopsNobody(t *testing.T) {
	t.Parallel()
	d := openWithChild(t, t.TempDir())
	conn, err := d.Writer.Conn(t.Context())
	must(t, err)
	must(t, conn.Raw(func(c any) error { return c.(*writerConn).run(t.Context(), `BEGIN IMMEDIATE`) }))
	_, err = conn.ExecContext(t.Context(), `INSERT INTO child (of) VALUES (NULL)`)
	must(t, err)
	must(t, conn.Close())
	if err := addChild(t, d, nil); err != nil {
		must(t, addChild(t, d, nil))
	}
	var children int
	must(t, d.Get(t.Context(), `SELECT count(*) FROM child`, nil, &children))
	if children != 1 {
		t.Errorf("%d children, want that of the transaction that was committed", children)
	}
}

// TestCloseClosesTheFiles: a statement that stays open keeps its connection, and the files with it.
func TestCloseClosesTheFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openWithChild(t, dir)
	must(t, addChild(t, d, nil))
	must(t, d.Close())
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(links) == 0 {
		t.Skip("this system does not tell which files are open")
	}
	for _, link := range links {
		if file, err := os.Readlink(link); err == nil && strings.HasPrefix(file, dir) {
			t.Errorf("%s is open still", file)
		}
	}
}

type (
	small int8
	name  string
)

// TestColumnsAreReadAsTheyAre: what does not fit is refused, and what fits is not changed.
func TestColumnsAreReadAsTheyAre(t *testing.T) {
	t.Parallel()
	d := openWithChild(t, t.TempDir())
	read := func(column, to any) error {
		return d.Transact(t.Context(), func(run Runner) error {
			return run(t.Context(), []Batch{{Query: selectColumn, Rows: [][]any{{column}},
				Scan: func(from Scanner) error { return from.Scan(to) }}})
		})
	}
	var (
		number  small
		count   uint8
		text    name
		is      bool
		bytes   []byte
		whole   any
		perhaps sql.NullInt64
	)
	for _, c := range []struct{ column, to any }{{-7, &number}, {200, &count}, {"x", &text}, {true, &is},
		{[]byte{1}, &bytes}, {nil, &bytes}, {"y", &whole}, {nil, &perhaps}, {name("z"), &text}} {
		if err := read(c.column, c.to); err != nil {
			t.Errorf("%v into %T: %v", c.column, c.to, err)
		}
	}
	if number != -7 || count != 200 || text != "z" || !is || bytes != nil || whole != "y" || perhaps.Valid {
		t.Error(number, count, text, is, bytes, whole, perhaps)
	}
	for _, c := range []struct{ column, to any }{{128, &number}, {-1, &count}, {256, &count}, {nil, &text}, {2, &is},
		{"x", &bytes}, {"7", &number}, {7, &text}, {nil, &number}} {
		if err := read(c.column, c.to); err == nil {
			t.Errorf("%v was read into %T", c.column, c.to)
		}
	}
	if err := d.Transact(t.Context(), func(run Runner) error {
		return run(t.Context(), []Batch{{Query: selectColumn, Rows: [][]any{{1}},
			Scan: func(from Scanner) error { return from.Scan(&number, &count) }}})
	}); err == nil {
		t.Error("one column was read as two")
	}
}

// TestParametersGoWhereTheyAreNamed: also where a text names them out of order or twice, and with the account as the
// first of them.
func TestParametersGoWhereTheyAreNamed(t *testing.T) {
	t.Parallel()
	d := openWithChild(t, t.TempDir())
	for _, c := range []struct {
		query Query
		row   []any
		want  string
	}{
		{Query{Each: `SELECT $1 || $2 || $3`}, []any{"a", "b", "c"}, "abc"},
		{Query{Each: `SELECT $3 || $1 || $2 || $1`}, []any{"a", "b", "c"}, "caba"},
		{Query{Each: `SELECT $12 || $1 || $2 || $3 || $4 || $5 || $6 || $7 || $8 || $9 || $10 || $11`},
			[]any{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}, "labcdefghijk"},
		{Query{Each: `SELECT $2 || hex($1) || $3`, Scoped: true}, []any{"a", "b"}, "a" + strings.Repeat("07", 16) + "b"},
	} {
		account := guid.ID(bytes.Repeat([]byte{7}, 16))
		for range 2 { // the second time with the statement of the first
			var got string
			err := d.Transact(t.Context(), func(run Runner) error {
				return run(t.Context(), []Batch{{Query: &c.query, Account: account, Rows: [][]any{c.row},
					Scan: func(from Scanner) error { return from.Scan(&got) }}})
			})
			if err != nil || got != c.want {
				t.Errorf("%s with %v: %q, %v; want %q", c.query.Each, c.row, got, err, c.want)
			}
		}
	}
	if err := d.Transact(t.Context(), func(run Runner) error {
		return run(t.Context(), []Batch{{Query: selectColumn, Rows: [][]any{{}},
			Scan: func(from Scanner) error { return nil }}})
	}); err == nil {
		t.Error("a row lacked a column, and nobody noticed")
	}
}

// TestWriterWaitsForAnotherProcess: while another process writes, a transaction waits, whichever way it begins.
func TestWriterWaitsForAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, other := openForTest(t, Options{Dir: dir}), openForTest(t, Options{Dir: dir})
	for name, write := range map[string]func(context.Context) error{
		"group": func(ctx context.Context) error { return s.Transact(ctx, func(Runner) error { return nil }) },
		"write": func(ctx context.Context) error { return s.Write(ctx, func(*sql.Tx) error { return nil }) },
	} {
		tx, err := other.Writer.BeginTx(t.Context(), nil)
		must(t, err)
		done := make(chan error, 1)
		go func() { done <- write(t.Context()) }()
		select {
		case err := <-done:
			t.Errorf("%s: did not wait: %v", name, err)
		case <-time.After(50 * time.Millisecond):
		}
		must(t, tx.Rollback())
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
