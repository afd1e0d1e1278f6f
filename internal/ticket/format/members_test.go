package format

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// otherFields are members whose fields have another name: their own is a word of Go, or two members of one set would
// have the same field.
var otherFields = map[string]string{"return": "returned", "type": "kind", "line_items": "lines restLines",
	"draft_order": "restDraft"}

// TestMembersStandInTheirFields: what reads the members of an object names them, and the fields that they go to, in the
// same order. The source is read, so a new set is held to it as well.
func TestMembersStandInTheirFields(t *testing.T) {
	t.Parallel()
	names, graph, checked := map[string][]string{}, map[string][]string{}, 0
	files := sources(t)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if n.Names[0].Name == "graphNames" { // those of restNames are the fields' names
					ast.Inspect(n, func(n ast.Node) bool {
						if pair, ok := n.(*ast.KeyValueExpr); ok {
							addNames(graph, pair.Key.(*ast.Ident).Name, pair.Value)
						}
						return true
					})
					return false
				}
				if len(n.Values) == 1 {
					addNames(names, n.Names[0].Name, n.Values[0])
				}
			case *ast.KeyValueExpr:
				addNames(names, n.Key.(*ast.Ident).Name, n.Value)
			}
			return true
		})
	}
	for _, f := range files {
		for _, d := range f.Decls {
			read, ok := d.(*ast.FuncDecl)
			if !ok || read.Name.Name != "read" {
				continue
			}
			of, fields := picked(read)
			set, known := names[of]
			if !known { // it is given from outside
				continue
			}
			checked++
			if len(set) != len(fields) {
				t.Errorf("%s has %d names for %d fields", of, len(set), len(fields))
				continue
			}
			for i, name := range set {
				same := strings.EqualFold(strings.ReplaceAll(name, "_", ""), fields[i])
				if !same && !slices.Contains(strings.Fields(otherFields[name]), fields[i]) {
					t.Errorf("%s: %q goes to the field %s", of, name, fields[i])
				}
			}
		}
	}
	if checked < 45 {
		t.Errorf("%d sets were found", checked)
	}
	checkPairs(t, names, graph)
}

// graphCalls are names of the Admin REST API that the Admin GraphQL API has in other words.
var graphCalls = map[string]string{"draft subtotal_price": "subtotalPriceSet", "draft total_tax": "totalTaxSet",
	"draft total_price": "totalPriceSet", "applied amount": "amountSet", "shipping price_set": "originalPriceSet",
	"order financial_status": "displayFinancialStatus", "order total_outstanding": "totalOutstandingSet",
	"order total_tip_received": "totalTipReceivedSet", "line variant_id": "variant", "line product_id": "product",
	"line price": "originalUnitPrice", "line price_set": "originalUnitPriceSet", "line gift_card": "isGiftCard",
	"allocation amount": "allocatedAmount", "allocation amount_set": "allocatedAmountSet",
	"refund line_item_id": "lineItem"}

// checkPairs holds the names of Shopify's two interfaces to each other, pair by pair: they go to the same fields.
func checkPairs(t *testing.T, rest, graph map[string][]string) {
	t.Helper()
	if len(graph) < 11 {
		t.Errorf("%d sets of graphNames were found", len(graph))
	}
	for of, names := range graph {
		if len(names) != len(rest[of]) {
			t.Errorf("%s has %d names of the one interface and %d of the other", of, len(rest[of]), len(names))
			continue
		}
		for n, name := range names {
			like := rest[of][n]
			if !strings.EqualFold(strings.ReplaceAll(like, "_", ""), name) && graphCalls[of+" "+like] != name {
				t.Errorf("%s: %q is taken for %q", of, name, like)
			}
		}
	}
}

// sources are the files of this package that are no tests.
func sources(t *testing.T) (files []*ast.File) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// addNames notes the names that jsontape.NewNames is called with.
func addNames(names map[string][]string, of string, value ast.Expr) {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return
	}
	if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "NewNames" {
		return
	}
	for _, a := range call.Args {
		name, err := strconv.Unquote(a.(*ast.BasicLit).Value)
		if err != nil {
			panic(err)
		}
		names[of] = append(names[of], name)
	}
}

// picked are the set of names that a function looks up, and the fields that they go to, in its order.
func picked(read *ast.FuncDecl) (set string, fields []string) {
	ast.Inspect(read.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, a := range n.Args {
				switch a := a.(type) {
				case *ast.Ident:
					if strings.HasSuffix(a.Name, "Names") {
						set = a.Name
					}
				case *ast.SelectorExpr: // s.names.order
					set = a.Sel.Name
				}
			}
		case *ast.UnaryExpr:
			fields = append(fields, n.X.(*ast.SelectorExpr).Sel.Name)
		}
		return true
	})
	return set, fields
}
