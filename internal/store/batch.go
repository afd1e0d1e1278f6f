package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"boon.example/internal/gift"
)

// perStatement is how many rows one statement carries when a set of them is loaded or saved; what is left over goes one by
// one, so that each has two texts only, both prepared.
const perStatement = 16

// insertion writes rows into a table.
type insertion struct {
	table     string
	one, many string // the statements for one row and for perStatement of them
	columns   int
}

// insertInto makes an insertion; columns is a list such as "v.id, v.status", in the order in which a row gives them.
func insertInto(table, columns string) insertion {
	names := columnNames(columns)
	text := func(rows int) string {
		groups := make([]string, rows)
		for i := range groups {
			groups[i] = "(" + placeholders(i*len(names)+1, len(names)) + ")"
		}
		return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", table, strings.Join(names, ", "), strings.Join(groups, ", "))
	}
	return insertion{table, text(1), text(perStatement), len(names)}
}

// selection reads rows of one account by a column of their key.
type selection struct{ one, many string }

// selectByKey makes a selection. query ends where the values of the key are compared: "… WHERE account_id = $1 AND id"; the
// values follow, and then rest.
func selectByKey(query, rest string) selection {
	return selection{query + " IN ($2) " + rest, query + " IN (" + placeholders(2, perStatement) + ") " + rest}
}

// placeholders lists n of them, beginning with $from.
func placeholders(from, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", from+i)
	}
	return b.String()
}

// batcher runs prepared statements within one transaction.
type batcher struct {
	tx    *sql.Tx
	hot   map[string]*sql.Stmt
	bound map[string]*sql.Stmt // hot, bound to tx
}

func (s *Store) batcher(tx *sql.Tx) *batcher {
	return &batcher{tx: tx, hot: s.hot, bound: map[string]*sql.Stmt{}}
}

// stmt is the prepared statement for a text, or nil when there is none.
func (b *batcher) stmt(ctx context.Context, text string) *sql.Stmt {
	if stmt, ok := b.bound[text]; ok {
		return stmt
	}
	stmt := b.hot[text]
	if stmt != nil {
		stmt = b.tx.StmtContext(ctx, stmt)
	}
	b.bound[text] = stmt
	return stmt
}

func (b *batcher) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if stmt := b.stmt(ctx, text); stmt != nil {
		return stmt.ExecContext(ctx, args...)
	}
	return b.tx.ExecContext(ctx, text, args...)
}

// execOne is exec for a statement that must hit one row.
func (b *batcher) execOne(ctx context.Context, text string, args ...any) error {
	result, err := b.exec(ctx, text, args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n != 1 {
		err = fmt.Errorf("it hit %d rows, not one", n)
	}
	return err
}

func (b *batcher) each(ctx context.Context, text string, args []any, fn func(*sql.Rows) error) error {
	stmt := b.stmt(ctx, text)
	if stmt == nil {
		return each(ctx, b.tx, text, args, fn)
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	return drain(rows, fn)
}

// insert writes n rows.
func (b *batcher) insert(ctx context.Context, to insertion, n int, row func(int) []any) error {
	for done := 0; done < n; {
		text, size := to.many, perStatement
		if n-done < size {
			text, size = to.one, 1
		}
		args := make([]any, 0, size*to.columns)
		for i := range size {
			args = append(args, row(done+i)...)
		}
		if _, err := b.exec(ctx, text, args...); err != nil {
			return fmt.Errorf("writing into %s: %w", to.table, err)
		}
		done += size
	}
	return nil
}

// selectKeys reads the rows of an account that have these keys.
func (b *batcher) selectKeys(ctx context.Context, from selection, account gift.ID, keys []any, fn func(*sql.Rows) error) error {
	for len(keys) > 0 {
		text, size := from.many, perStatement
		if len(keys) < size {
			text, size = from.one, 1
		}
		args := append(append(make([]any, 0, size+1), bare(account)), keys[:size]...)
		if err := b.each(ctx, text, args, fn); err != nil {
			return err
		}
		keys = keys[size:]
	}
	return nil
}
