package operation

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/gift"
)

// TestTheTableIsWhole: each operation that has a name in Go has its row, and only one; no column of a row is empty that
// must say something.
func TestTheTableIsWhole(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "operation.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var named, rows []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Name" {
				named = append(named, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
			}
		}
		return true
	})
	for _, r := range operations {
		rows = append(rows, string(r.operation))
		v := reflect.ValueOf(r)
		for n := range v.NumField() {
			name := v.Type().Field(n).Name
			if v.Field(n).IsZero() && !slices.Contains([]string{"system", "undoneBy", "idle"}, name) {
				t.Errorf("%+v says nothing of %s", r, name)
			}
		}
		if !slices.Contains(gift.Kinds(), r.makes) || r.undoneBy != "" && r.undoneBy.row().operation == "" {
			t.Errorf("%s makes a %s and is undone by %s: one of them does not exist", r.operation, r.makes, r.undoneBy)
		}
	}
	slices.Sort(rows)
	slices.Sort(named)
	if len(rows) == 0 || !slices.Equal(rows, named) {
		t.Errorf("rows: %q\nnames: %q", rows, named)
	}
}

// TestUndoneByTheSame: what undoes an operation makes the entry that undoes its entry.
func TestUndoneByTheSame(t *testing.T) {
	t.Parallel()
	for _, o := range All() {
		if by := o.UndoneBy(); by != "" && by.Makes() != o.Makes().UndoneBy() {
			t.Errorf("%s is undone by %s, which makes a %s; a %s is undone by a %s", o, by, by.Makes(), o.Makes(),
				o.Makes().UndoneBy())
		}
	}
}
