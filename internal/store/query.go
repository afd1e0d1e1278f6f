package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"boon.example/internal/gift"
)

// rowsPerQuery is how many rows a query takes where rows are written out as placeholders. What is left over goes row
// by row, so that each query has two texts only, both prepared.
const rowsPerQuery = 16

// query is one statement for many rows. It is written once, and has texts for both databases: on SQLite with
// placeholders for a row or for rowsPerQuery of them, on PostgreSQL with an array for each column.
type query struct {
	what      string // for errors: "writing into entry"
	one, many string // SQLite; many is "" when rows go one by one
	arrays    string // PostgreSQL: all rows, each column an array; "": they go one by one
	scoped    bool   // $1 is the account; what follows are the columns of a row
	exact     bool   // each row must hit one
}

// batch is a query with its rows.
type batch struct {
	*query
	account gift.ID
	rows    [][]any
	scan    func(scanner) error // reads a row that comes back; nil: nothing does
}

// scanner is a row that came back.
type scanner interface{ Scan(...any) error }

// runner does several batches in order, within one transaction.
type runner func(ctx context.Context, batches []batch) error

// insertRows writes rows into a table. columns is a list such as "v.id, v.status", in the order in which a row gives
// them; types has a letter for each: B for BYTEA, N for BIGINT, T for TEXT, F for BOOLEAN. rest follows the rows.
func insertRows(table, columns, types, rest string) *query {
	names := columnNames(columns)
	into := fmt.Sprintf("INSERT INTO %s (%s) ", table, strings.Join(names, ", "))
	text := func(rows int) string {
		groups := make([]string, rows)
		for i := range groups {
			groups[i] = "(" + placeholders(i*len(names)+1, len(names)) + ")"
		}
		return into + "VALUES " + strings.Join(groups, ", ") + rest
	}
	return &query{what: "writing into " + table, one: text(1), many: text(rowsPerQuery),
		arrays: into + "SELECT * FROM unnest(" + arrays(1, types) + ")" + rest}
}

// columnNames takes the names out of a list such as "v.id, v.status".
func columnNames(columns string) []string {
	names := strings.Split(columns, ", ")
	for i, n := range names {
		names[i] = n[strings.Index(n, ".")+1:]
	}
	return names
}

// Rows that exist are found key by key, also where a set of keys goes in one statement. As a list to compare with, or
// in a join that the planner may turn around, they were seen to cost the reading of a whole account: before a table
// has figures, it seems to have a few rows for each. OFFSET 0 is what keeps the planner from turning a join around.

// updateByKeys changes a row of an account, $1, for each of its rows, whose columns, of types as in insertRows, are $2
// and so on in its text. That has one WHERE, which compares all of the key. Each must hit one. On PostgreSQL, where a
// COMMIT may be on its way already, the statement itself sees to that: it divides by zero.
func updateByKeys(what, types, text string) *query {
	set, where, _ := strings.Cut(strings.ReplaceAll(text, "$", "w.c"), " WHERE ")
	return &query{what: what, one: text, scoped: true, exact: true,
		arrays: "WITH hit AS (" + set + " FROM " + keyTable(types) + " WHERE " + where + " RETURNING 1)" +
			" SELECT 1 / (count(*) = cardinality(" + arrays(2, types[:1]) + "))::INT FROM hit"}
}

// errMissed tells that a row that was to be changed is not there, or not as it was.
var errMissed = errors.New("a row that was to be changed is not there, or not as it was")

// keyTable is a table w of the account as c1 and of columns of these types as c2 and so on, each of an array. Were the
// account a constant there, the planner could begin with all rows of it.
func keyTable(types string) string {
	columns := make([]string, len(types))
	for i := range columns {
		columns[i] = fmt.Sprint("c", i+2)
	}
	return "(SELECT $1::BYTEA AS c1, r.* FROM unnest(" + arrays(2, types) + ") AS r (" + strings.Join(columns, ", ") + ") OFFSET 0) AS w"
}

// deleteByKeys takes out rows of an account from a table by a column of their key, a BYTEA.
func deleteByKeys(what, table, column string) *query {
	from := "DELETE FROM " + table + " AS t"
	one, many := byKeys(from+" WHERE t.account_id = $1 AND t."+column+" {keys}", 2)
	return &query{what: what, one: one, many: many, arrays: from + " USING " + keyTable("B") + " WHERE t.account_id = w.c1 AND t." + column + " = w.c2",
		scoped: true}
}

// selectByKeys selects rows by a column of their key, of a type as in insertRows: in its text the column is followed
// by {keys}. When scoped, the account is $1. {lock} stands where rows are locked that are about to be written; they
// are, in the order of the keys.
func selectByKeys(what, text, of string, scoped bool) *query {
	from := 1
	if scoped {
		from = 2
	}
	one, many := byKeys(strings.Replace(text, " {lock}", "", 1), from)
	each := strings.NewReplacer("{keys}", "= wanted.k", " {lock}", lockRows).Replace(text)
	return &query{what: what, one: one, many: many, scoped: scoped,
		arrays: "SELECT found.* FROM unnest(" + arrays(from, of) + ") AS wanted (k) CROSS JOIN LATERAL (" + each + " OFFSET 0) AS found"}
}

// selectEach selects rows of an account, $1, for each row of its batch, which says more: $2 and so on.
func selectEach(what, text string) *query {
	return &query{what: "reading " + what, one: text, scoped: true}
}

// byKeys says a text for one key and for rowsPerQuery of them, the first of which is $from.
func byKeys(text string, from int) (one, many string) {
	return strings.Replace(text, "{keys}", "= "+placeholders(from, 1), 1),
		strings.Replace(text, "{keys}", "IN ("+placeholders(from, rowsPerQuery)+")", 1)
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

// checkHits refuses a batch that should have hit a row for each of its own, and did not.
func (w *batch) checkHits(n int64) error {
	if w.exact && n != int64(len(w.rows)) {
		return fmt.Errorf("%s: %w: %d of %d rows", w.what, errMissed, n, len(w.rows))
	}
	return nil
}

// scope begins the arguments of a batch.
func (w *batch) scope() []any {
	if w.scoped {
		return []any{keyOf(w.account)}
	}
	return nil
}
