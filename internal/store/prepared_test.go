package store

import (
	"context"
	"database/sql"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"boon.example/internal/store/pgtest"
)

// statement is one of the source, with the databases that are to understand it.
type statement struct {
	at               token.Position
	text             string
	sqlite, postgres bool
	pair             token.Pos // of the db.Text or db.Query whose texts have the same columns; 0: it stands alone
}

// beginning is how a text begins that is a statement.
var beginning = regexp.MustCompile(`^(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s[^%]+$`)

// ofPostgres are words that SQLite does not know: a plain constant with one of them is PostgreSQL's alone.
var ofPostgres = regexp.MustCompile(`::|\bunnest\(|\bpg_|\bcitus_|\bset_config\(|\bFOR (NO KEY UPDATE|KEY SHARE|UPDATE)\b`)

// ofCitus are words that PostgreSQL knows only with that extension, which test/citus has.
var ofCitus = regexp.MustCompile(`\bcreate_(distributed|reference)_table\(|\bpg_dist_`)

// ofSQLite are words that PostgreSQL does not know.
var ofSQLite = regexp.MustCompile(`\bjson_each\(|\bpragma_|\bsqlite_|\?`)

// statementsOfSource finds every statement that stands in the source of this package and of those below it. What is put
// together at run time is none of them; docs/adr/0031 lists it.
func statementsOfSource(t *testing.T) (all []statement) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == "pgtest": // starts servers for tests
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		var within []ast.Node // from the file down to the node
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				within = within[:len(within)-1]
				return true
			}
			within = append(within, n)
			text, ok := textOf(n)
			if ok && beginning.MatchString(text) && !isPiece(within) && !ofCitus.MatchString(text) {
				s := statement{at: files.Position(n.Pos()), text: text, sqlite: !ofPostgres.MatchString(text),
					postgres: !ofSQLite.MatchString(text)}
				if member, of := memberOf(within); member != "" {
					s.sqlite, s.postgres, s.pair = member == "SQLite" || member == "Each", member != "SQLite", of
				}
				all = append(all, s)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func textOf(n ast.Node) (string, bool) {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

// isPiece reports whether a text is put together with others.
func isPiece(within []ast.Node) bool {
	sum, ok := within[len(within)-2].(*ast.BinaryExpr)
	return ok && sum.Op == token.ADD
}

// memberOf tells which member of a db.Text or db.Query a text is.
func memberOf(within []ast.Node) (string, token.Pos) {
	if len(within) < 3 {
		return "", 0
	}
	pair, ok := within[len(within)-2].(*ast.KeyValueExpr)
	if !ok {
		return "", 0
	}
	key, ok := pair.Key.(*ast.Ident)
	if !ok || !slices.Contains([]string{"SQLite", "Postgres", "Citus", "Each"}, key.Name) {
		return "", 0
	}
	return key.Name, within[len(within)-3].Pos()
}

// TestEveryStatementIsUnderstood: both databases prepare every statement of the source, with the schema of today, and
// the texts of a pair give the same columns. A statement that runs once a year is not met by its user first.
func TestEveryStatementIsUnderstood(t *testing.T) {
	t.Parallel()
	all := statementsOfSource(t)
	if len(all) < 300 {
		t.Fatalf("found only %d statements in the source", len(all))
	}
	t.Logf("%d statements", len(all))
	pairs := columnsOf{}
	t.Run("sqlite", func(t *testing.T) {
		s, _ := openSQLiteForTest(t)
		pairs.hold(t, all, func(s statement) bool { return s.sqlite }, func(text string) ([]string, error) {
			return columnsOnSQLite(t.Context(), s.db.Writer, text)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		pgtest.Need(t)
		s, _ := openPostgresForTest(t)
		conn, err := s.db.Readers.Conn(t.Context())
		must(t, err)
		defer conn.Close()
		pairs.hold(t, all, func(s statement) bool { return s.postgres }, func(text string) (columns []string, err error) {
			err = conn.Raw(func(c any) error {
				columns, err = columnsOnPostgres(t.Context(), c.(*stdlib.Conn).Conn(), text)
				return err
			})
			return columns, err
		})
	})
}

// columnsOf are the columns that the first text of each pair gives.
type columnsOf map[string][]string

// hold prepares the statements of a database, and compares the columns of those that belong to one pair.
func (c columnsOf) hold(t *testing.T, all []statement, own func(statement) bool,
	columns func(string) ([]string, error)) {
	t.Helper()
	for _, s := range all {
		if !own(s) {
			continue
		}
		got, err := columns(s.text)
		if err != nil {
			t.Errorf("%s: %v\n%s", s.at, err, s.text)
			continue
		}
		if s.pair == 0 || len(got) == 0 {
			continue
		}
		pair := fmt.Sprint(s.at.Filename, s.pair)
		if before, ok := c[pair]; ok && !slices.EqualFunc(before, got, sameColumn) {
			t.Errorf("%s gives the columns %q, its other texts give %q", s.at, got, before)
		}
		c[pair] = got
	}
}

// sameColumn compares two names of columns: a column that a database has no name for is called "".
func sameColumn(a, b string) bool { return a == b || a == "" || b == "" }

var isName = regexp.MustCompile(`^[a-z_]+$`)

func columnsOnSQLite(ctx context.Context, q *sql.DB, text string) (columns []string, err error) {
	tx, err := q.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	stmt, err := tx.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	if strings.HasPrefix(text, "INSERT") || !strings.HasPrefix(text, "SELECT") && !strings.HasPrefix(text, "WITH") &&
		!strings.Contains(text, "RETURNING") {
		return nil, nil // of a row that is made up, or none
	}
	args := make([]any, len(arguments(text))+strings.Count(text, "?"))
	for i := range args {
		args[i] = 0 // a LIMIT, too, takes it
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err = rows.Columns()
	for i, name := range columns {
		if !isName.MatchString(name) {
			columns[i] = "" // it is called by its words
		}
	}
	return columns, err
}

func columnsOnPostgres(ctx context.Context, conn *pgx.Conn, text string) (columns []string, err error) {
	prepared, err := conn.Prepare(ctx, "", text)
	if err != nil {
		return nil, err
	}
	for _, f := range prepared.Fields {
		switch f.Name {
		case "?column?", "coalesce", "count", "case", "max":
			columns = append(columns, "")
		default:
			columns = append(columns, f.Name)
		}
	}
	return columns, nil
}
