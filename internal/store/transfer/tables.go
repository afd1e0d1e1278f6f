package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"boon.example/internal/store/db"
	"boon.example/internal/store/tables"
)

// Table is a table with its columns, as a database has them. What moves all of a table, whatever its columns are, is
// said in statements that are made here, of the names in the catalog: no other statement is made at run time.
type Table struct {
	tables.Table
	Columns   []string  // those of the key first
	Types     []string  // of the columns, in the words of the database
	SelectAll string    // reads all rows, in the order of the key
	Insert    *db.Query // writes rows
}

// Describe reads the columns of a table from a database.
func Describe(ctx context.Context, d *db.DB, of tables.Table) (t Table, err error) {
	columns, err := d.Columns(ctx, d.Readers, of.Name)
	if err != nil {
		return t, err
	}
	slices.SortStableFunc(columns, func(a, b db.Column) int { return inKey(of, a.Name) - inKey(of, b.Name) })
	t = Table{Table: of}
	for _, c := range columns {
		t.Columns, t.Types = append(t.Columns, c.Name), append(t.Types, c.Type)
	}
	names := strings.Join(t.Columns, ", ")
	t.SelectAll = fmt.Sprintf(`SELECT %s FROM %s ORDER BY %s`, names, t.Name, strings.Join(t.Key, ", "))
	each, arrays := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		each[i], arrays[i] = fmt.Sprintf("$%d", i+1), fmt.Sprintf("$%d::%s[]", i+1, c.Type)
	}
	t.Insert = &db.Query{What: "writing into " + t.Name,
		Each:     fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, t.Name, names, strings.Join(each, ", ")),
		Postgres: fmt.Sprintf(`INSERT INTO %s (%s) SELECT * FROM unnest(%s)`, t.Name, names, strings.Join(arrays, ", "))}
	return t, nil
}

// inKey is the place of a column in the key; those that are not in it come after.
func inKey(t tables.Table, column string) int {
	if n := slices.Index(t.Key, column); n >= 0 {
		return n
	}
	return len(t.Key)
}

// describe reads the columns of all tables that are copied.
func describe(ctx context.Context, d *db.DB) (all []Table, err error) {
	for _, of := range tables.Copied() {
		t, err := Describe(ctx, d, of)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// convert makes a row of the source one for the destination: what is true or false has a type on PostgreSQL only.
func (t *Table) convert(row []any) {
	for i, column := range row {
		switch v := column.(type) {
		case int64:
			if t.Types[i] == "boolean" {
				row[i] = v != 0
			}
		case bool:
			if t.Types[i] != "boolean" {
				row[i] = int64(0)
				if v {
					row[i] = int64(1)
				}
			}
		}
	}
}
