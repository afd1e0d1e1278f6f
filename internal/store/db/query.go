package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"boon.example/internal/guid"
)

// rowsPerQuery is how many rows a query takes where rows are written out as placeholders. What is left over goes row
// by row, so that each query has two texts only, both prepared.
const rowsPerQuery = 16

// lockRows ends a SELECT on PostgreSQL whose rows are about to be written.
const lockRows = ` FOR NO KEY UPDATE`

// Query is one statement for many rows. It is written once, and has texts for both databases: on SQLite with
// placeholders for a row or for rowsPerQuery of them, on PostgreSQL with an array for each column.
type Query struct {
	What      string // for errors: "writing into entry"
	One, Many string // SQLite; many is "" when rows go one by one
	Arrays    string // PostgreSQL: all rows, each column an array, accounts first where Scoped; "": they go one by one
	Spread    string // Citus, where rows go one by one; "": One
	Together  string // Citus: all rows of an account, whose columns are one key, as an array; "": they go one by one
	Lock      string // Citus: locks a row before Spread reads it; "": none is
	Scoped    bool   // $1 is the account, or an array of those of the rows; what follows are the columns of a row
	Exact     bool   // each row must hit one
}

// Batch is a query with its rows.
type Batch struct {
	*Query
	Account guid.ID
	Rows    [][]any
	Scan    func(Scanner) error // reads a row that comes back; nil: nothing does
	Shared  bool                // Scan reads those of the same query for other accounts, too
}

// Scanner is a row that came back.
type Scanner interface{ Scan(...any) error }

// Runner does several batches in order, within one transaction.
type Runner func(ctx context.Context, batches []Batch) error

// InsertRows writes rows into a table. columns is a list such as "v.id, v.status", in the order in which a row gives
// them; types has a letter for each: B for BYTEA, N for BIGINT, T for TEXT, F for BOOLEAN. rest follows the rows.
func InsertRows(table, columns, types, rest string) *Query {
	names := ColumnNames(columns)
	into := fmt.Sprintf("INSERT INTO %s (%s) ", table, strings.Join(names, ", "))
	text := func(rows int) string {
		groups := make([]string, rows)
		for i := range groups {
			groups[i] = "(" + placeholders(i*len(names)+1, len(names)) + ")"
		}
		return into + "VALUES " + strings.Join(groups, ", ") + rest
	}
	return &Query{What: "writing into " + table, One: text(1), Many: text(rowsPerQuery),
		Arrays: into + "SELECT * FROM unnest(" + ArrayPlaceholders(1, types) + ")" + rest}
}

// ColumnNames takes the names out of a list such as "v.id, v.status".
func ColumnNames(columns string) []string {
	names := strings.Split(columns, ", ")
	for i, n := range names {
		names[i] = n[strings.Index(n, ".")+1:]
	}
	return names
}

// Rows that exist are found key by key, also where a set of keys goes in one statement. As a list to compare with, or
// in a join that the planner may turn around, they were seen to cost the reading of a whole account: before a table
// has figures, it seems to have a few rows for each. OFFSET 0 is what keeps the planner from turning a join around.

// UpdateByKeys changes a row of an account, $1, for each of its rows, whose columns, of types as in InsertRows, are $2
// and so on in its text. That has one WHERE, which compares all of the key. Each must hit one. On PostgreSQL, where a
// COMMIT may be on its way already, the statement itself sees to that: it divides by zero.
func UpdateByKeys(what, types, text string) *Query {
	set, where, _ := strings.Cut(strings.ReplaceAll(text, "$", "w.c"), " WHERE ")
	return &Query{What: what, One: text, Scoped: true, Exact: true,
		Arrays: "WITH hit AS (" + set + " FROM " + keyTable(types) + " WHERE " + where + " RETURNING 1)" +
			" SELECT 1 / (count(*) = cardinality(" + ArrayPlaceholders(2, types[:1]) + "))::INT FROM hit"}
}

// ErrMissed tells that a row that was to be changed is not there, or not as it was.
var ErrMissed = errors.New("a row that was to be changed is not there, or not as it was")

// keyTable is a table w of accounts as c1 and of columns of these types as c2 and so on, each of an array.
func keyTable(types string) string {
	columns := make([]string, 1+len(types))
	for i := range columns {
		columns[i] = fmt.Sprint("c", i+1)
	}
	return "(SELECT * FROM unnest(" + ArrayPlaceholders(1, "B"+types) + ") AS r (" + strings.Join(columns, ", ") +
		") OFFSET 0) AS w"
}

// DeleteByKeys takes out rows of an account from a table by a column of their key, a BYTEA; those only that a condition
// such as " AND t.kind = 1" allows.
func DeleteByKeys(what, table, column, condition string) *Query {
	from := "DELETE FROM " + table + " AS t"
	one, many := ByKeys(from+" WHERE t.account_id = $1 AND t."+column+" {keys}"+condition, 2)
	return &Query{What: what, One: one, Many: many, Arrays: from + " USING " + keyTable("B") +
		" WHERE t.account_id = w.c1 AND t." + column + " = w.c2" + condition,
		Scoped: true}
}

// SelectByKeys selects rows by a column of their key, of a type as in InsertRows: in its text the column is followed
// by {keys}. When scoped, the account is $1. {lock} stands where rows are locked that are about to be written; they
// are, in the order of the keys.
func SelectByKeys(what, text, of string, scoped bool) *Query {
	from := 1
	if scoped {
		from = 2
	}
	one, many := ByKeys(strings.Replace(text, " {lock}", "", 1), from)
	spread, together := "", ""
	if scoped { // Citus finds the node of a sub-select by an account that is named, not by one that is compared
		spread = strings.NewReplacer("account_id = v.account_id", "account_id = $1", "account_id = c.account_id",
			"account_id = $1").Replace(one)
		if !strings.Contains(text, " {lock}") {
			together = strings.Replace(spread, "= $2", "= ANY("+ArrayPlaceholders(2, of)+")", 1)
		}
	}
	lock := ""
	if read, locks := strings.CutSuffix(text, " {lock}"); locks { // Citus locks no row of a query with a sub-select
		lock, _ = ByKeys("SELECT 1 "+read[strings.LastIndex(read, "FROM "):]+lockRows, from)
	}
	each, columns := strings.NewReplacer("{keys}", "= wanted.k", " {lock}", lockRows).Replace(text), "k"
	if scoped {
		each, columns, of = strings.ReplaceAll(each, "$1", "wanted.a"), "a, k", "B"+of
	}
	return &Query{What: what, One: one, Many: many, Spread: spread, Together: together, Lock: lock, Scoped: scoped,
		Arrays: "SELECT found.* FROM unnest(" + ArrayPlaceholders(1, of) + ") AS wanted (" + columns +
			") CROSS JOIN LATERAL (" + each + " OFFSET 0) AS found"}
}

// SelectEach selects rows of an account, $1, for each row of its batch, which says more: $2 and so on.
func SelectEach(what, text string) *Query {
	return &Query{What: "reading " + what, One: text, Scoped: true}
}

// ByKeys says a text for one key and for rowsPerQuery of them, the first of which is $from.
func ByKeys(text string, from int) (One, Many string) {
	return strings.Replace(text, "{keys}", "= "+placeholders(from, 1), 1),
		strings.Replace(text, "{keys}", "IN ("+placeholders(from, rowsPerQuery)+")", 1)
}

// ArrayPlaceholders lists array placeholders of these types, beginning with $from.
func ArrayPlaceholders(from int, types string) string {
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
func (w *Batch) checkHits(n int64) error {
	if w.Exact && n != int64(len(w.Rows)) {
		return fmt.Errorf("%s: %w: %d of %d rows", w.What, ErrMissed, n, len(w.Rows))
	}
	return nil
}

// scope begins the arguments of a batch.
func (w *Batch) scope() []any {
	if w.Scoped {
		return []any{w.Account[:]}
	}
	return nil
}

// Texts are all that queries say to this database.
func (d *DB) Texts(queries ...*Query) (texts []string) {
	for _, q := range queries {
		for _, t := range []Text{{q.One, cmp.Or(q.Arrays, q.One)}, {SQLite: q.Many}} {
			if text := d.Text(t); text != "" {
				texts = append(texts, text)
			}
		}
	}
	return texts
}
