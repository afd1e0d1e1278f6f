package store

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/store/check"
	"boon.example/internal/store/tables"
)

// TestTablesAreAll holds the table of tables against the schema: no table is forgotten, and each has its key.
func TestTablesAreAll(t *testing.T) {
	t.Parallel()
	s, _ := openSQLiteForTest(t)
	want, got := map[string][]string{}, map[string][]string{}
	eachPair(t, s, `SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND c.pk > 0 ORDER BY m.name, c.pk`,
		func(table, column string) { want[table] = append(want[table], column) })
	want["event"] = []string{"account_id", "position"} // a unique index; SQLite's position alone is the place of a row
	for _, table := range tables.All {
		got[table.Name] = table.Key
	}
	diff(t, got, want)
	if len(got) != len(tables.All) {
		t.Error("a table has two rows")
	}
}

// TestPlacesOfTables: a table that is distributed has the column in its key, as Citus demands.
func TestPlacesOfTables(t *testing.T) {
	t.Parallel()
	for _, table := range tables.All {
		if by := table.Place.By; by != "" && (table.Place.Reference || !slices.Contains(table.Key, by)) {
			t.Errorf("%s is distributed by %s, which is not in its key, or it has two places", table.Name, by)
		}
	}
	if first := inOrderOfPlaces()[0].Name; first != "voucher" {
		t.Errorf("%s is placed first, and all others lie beside voucher", first)
	}
}

// TestVerifiedTables: each table is read by a part of verify that there is, or says why not.
func TestVerifiedTables(t *testing.T) {
	t.Parallel()
	parts := []string{tables.Histories, tables.Chains}
	for _, p := range new(check.Check).Parts() {
		parts = append(parts, p.Name)
	}
	for _, table := range tables.All {
		switch {
		case (table.Verified == "") == (table.Unverified == ""):
			t.Errorf("%s says both or none of what verifies it and why nothing does", table.Name)
		case table.Verified != "" && !slices.Contains(parts, table.Verified):
			t.Errorf("%s is verified by %q, which is no part of verify", table.Name, table.Verified)
		}
	}
}

var inserts, changes = regexp.MustCompile(`\bINSERT INTO (\w+)`), regexp.MustCompile(`\b(?:UPDATE|DELETE FROM) (\w+)`)

// statedIn gives what a pattern finds in the source of packages of the store, by package.
func statedIn(t *testing.T, packages string, pattern *regexp.Regexp) map[string]map[string]bool {
	t.Helper()
	found := map[string]map[string]bool{}
	files, err := filepath.Glob(packages)
	must(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		must(t, err)
		for _, m := range pattern.FindAllSubmatch(text, -1) {
			of := filepath.ToSlash(filepath.Join("store", filepath.Dir(file)))
			if found[string(m[1])] == nil {
				found[string(m[1])] = map[string]bool{}
			}
			found[string(m[1])][of] = true
		}
	}
	return found
}

// TestOwnersOfTables: rows of a table are inserted by the statements of one package.
func TestOwnersOfTables(t *testing.T) {
	t.Parallel()
	by := statedIn(t, "*/*.go", inserts)
	for table, packages := range statedIn(t, "*.go", inserts) {
		if by[table] == nil {
			by[table] = packages
		} else {
			by[table]["store"] = true
		}
	}
	for _, table := range tables.All {
		for name := range by[table.Name] {
			if name != table.Owner {
				t.Errorf("%s inserts into %s, which is owned by %s", name, table.Name, table.Owner)
			}
		}
	}
}

// TestErasedTables: a table that tells of people is one that erasing changes, and no other is, but its own log.
func TestErasedTables(t *testing.T) {
	t.Parallel()
	changed := statedIn(t, "erase/*.go", changes)
	for _, table := range tables.All {
		if is := changed[table.Name] != nil; is != (table.People != "") {
			t.Errorf("erasing changes %s: %t, and of people it tells %q", table.Name, is, table.People)
		}
	}
}
