package store

import (
	"context"
	"fmt"
	"strings"

	"boon.example/internal/gift"
)

// perStatement is how many rows one statement carries where rows are written out as placeholders; what is left over goes one
// by one, so that each has two texts only, both prepared.
const perStatement = 16

// statement is what a group of commands does to many rows at once. It is written once, and said in two ways: rowwise with
// placeholders for a row or for perStatement of them, and pipelined, where rows go as one array for each column.
type statement struct {
	what      string // for errors: "writing into entry"
	one, many string // rowwise; many is "" when rows go one by one
	piped     string // pipelined: for all rows, a column an array, if arrays; else for each
	arrays    bool
	scoped    bool // $1 is the account; what follows are the columns of a row
	exact     bool // each row must hit one
}

// work is a statement with its rows.
type work struct {
	*statement
	account gift.ID
	rows    [][]any
	take    func(scanner) error // is handed what comes back; nil: nothing does
}

// scanner is a row that came back.
type scanner interface{ Scan(...any) error }

// runner does several works in order, within one transaction.
type runner func(ctx context.Context, works []work) error

// inserting writes rows into a table. columns is a list such as "v.id, v.status", in the order in which a row gives them; types
// has a letter for each: B for BYTEA, N for BIGINT, T for TEXT, F for BOOLEAN. rest follows the rows.
func inserting(table, columns, types, rest string) *statement {
	names := columnNames(columns)
	into := fmt.Sprintf("INSERT INTO %s (%s) ", table, strings.Join(names, ", "))
	text := func(rows int) string {
		groups := make([]string, rows)
		for i := range groups {
			groups[i] = "(" + placeholders(i*len(names)+1, len(names)) + ")"
		}
		return into + "VALUES " + strings.Join(groups, ", ") + rest
	}
	return &statement{what: "writing into " + table, one: text(1), many: text(perStatement),
		arrays: true, piped: into + "SELECT * FROM unnest(" + arrays(1, types) + ")" + rest}
}

// columnNames takes the names out of a list such as "v.id, v.status".
func columnNames(columns string) []string {
	names := strings.Split(columns, ", ")
	for i, n := range names {
		names[i] = n[strings.Index(n, ".")+1:]
	}
	return names
}

// Rows that exist are named by a list of their keys, also where a join would do to find them. On tables that have grown faster than the
// database took note of it, joins alone were seen to read whole accounts.

// updating changes a row of an account for each of its rows, one by one. Its text compares the account with $1 and uses the columns of a
// row as $2 and so on. Each must hit one.
func updating(what, text string) *statement {
	return &statement{what: what, one: text, piped: text, scoped: true, exact: true}
}

// replacing changes rows of an account: a row gives the new values of the columns set, and then those that the columns of key have until
// now, the one by which it is found first. types has a letter for each, as in inserting. Each must hit one.
func replacing(table, set, key, types string) *statement {
	sets, keys := strings.Split(set, ", "), strings.Split(key, ", ")
	first := 2 + len(sets)
	one, piped := "UPDATE "+table+" AS t SET ", "UPDATE "+table+" AS t SET "
	for i, column := range sets {
		if i > 0 {
			one, piped = one+", ", piped+", "
		}
		one, piped = one+fmt.Sprintf("%s = $%d", column, 2+i), piped+fmt.Sprintf("%s = n.c%d", column, 2+i)
	}
	one += " WHERE t.account_id = $1"
	piped += " FROM unnest(" + arrays(2, types) + ") AS n ("
	for i := range types {
		piped += strings.Repeat(", ", min(i, 1)) + fmt.Sprintf("c%d", 2+i)
	}
	piped += fmt.Sprintf(") WHERE t.account_id = $1 AND t.%s = ANY($%d)", keys[0], first)
	for i, column := range keys {
		one, piped = one+fmt.Sprintf(" AND t.%s = $%d", column, first+i), piped+fmt.Sprintf(" AND t.%s = n.c%d", column, first+i)
	}
	return &statement{what: "writing " + table, one: one, piped: piped, arrays: true, scoped: true, exact: true}
}

// finding selects or deletes rows by a column of their key, of a type as in inserting: in its text the column is followed by {keys}. When
// scoped, the account is $1. {lock} stands where rows are locked that are about to be written.
func finding(what, text, of string, scoped bool) *statement {
	from := 1
	if scoped {
		from = 2
	}
	say := func(keys, lock string) string {
		return strings.NewReplacer("{keys}", keys, " {lock}", lock).Replace(text)
	}
	return &statement{what: what, scoped: scoped,
		one:    say("= "+placeholders(from, 1), ""),
		many:   say("IN ("+placeholders(from, perStatement)+")", ""),
		arrays: true, piped: say("= ANY("+arrays(from, of)+")", lockRows),
	}
}

// arrays lists array placeholders of these types, beginning with $from.
func arrays(from int, types string) string {
	names := map[rune]string{'B': "BYTEA", 'N': "BIGINT", 'T': "TEXT", 'F': "BOOLEAN"}
	list := make([]string, 0, len(types))
	for _, t := range types {
		list = append(list, fmt.Sprintf("$%d::%s[]", from+len(list), names[t]))
	}
	return strings.Join(list, ", ")
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

// checkHits refuses a work that should have hit a row for each of its own, and did not.
func (w *work) checkHits(n int64) error {
	if w.exact && n != int64(len(w.rows)) {
		return fmt.Errorf("%s: %d rows were hit, not %d", w.what, n, len(w.rows))
	}
	return nil
}

// scope begins the arguments of a work.
func (w *work) scope() []any {
	if w.scoped {
		return []any{bare(w.account)}
	}
	return nil
}
