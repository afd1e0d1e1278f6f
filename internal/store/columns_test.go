package store

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// columnLists are the lists of columns that rows are read by, in the order of the columns: of a voucher, of a card with
// its terms, of an entry. Each is found by its first columns and ends with its last one; a statement may read more.
var columnLists = map[string]*regexp.Regexp{
	"voucher": regexp.MustCompile(`v\.account_id, v\.id, v\.order_id, .*? AS rare\b`),
	"card":    regexp.MustCompile(`c\.secrets, c\.label, .*?, c\.vat_rate, NULLIF\(c\.price \|\| c\.attachment, '0'\) AS bought, c\.sealed_message`),
	"entry":   regexp.MustCompile(`e\.account_id, e\.id, e\.voucher_id, e\.seq, .*?, e\.till\b`),
}

// betweenLists is what a statement reads of a whole gift between its voucher and its card.
var betweenLists = regexp.MustCompile(` AS rare, (.*?)c\.secrets, c\.label`)

// scoped names the account of an order's terms, or of a list of items, by its parameter, where the database is to see
// that one node has all.
var scoped = regexp.MustCompile(`\b([io])\.account_id = \$\d`)

// TestColumnListsAreOne: every statement of either database that reads vouchers, cards or entries whole has the same
// columns in the same order. They stand written out in each statement, and the reader takes them by their order.
func TestColumnListsAreOne(t *testing.T) {
	t.Parallel()
	type place struct{ list, at string }
	found := map[string][]place{}
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			text = strings.Join(strings.Fields(text), " ")
			text = scoped.ReplaceAllString(text, "$1.account_id = v.account_id")
			if between := betweenLists.FindStringSubmatch(text); between != nil && between[1] != "" {
				t.Errorf("%s: reads %sof each gift, which nothing takes", files.Position(literal.Pos()), between[1])
			}
			for name, list := range columnLists {
				for _, columns := range list.FindAllString(text, -1) {
					found[name] = append(found[name], place{columns, files.Position(literal.Pos()).String()})
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range columnLists {
		all := found[name]
		if len(all) < 5 {
			t.Errorf("%d statements read a whole %s", len(all), name)
			continue
		}
		for _, p := range all {
			if p.list != all[0].list {
				t.Errorf("%s reads of each %s\n%s\nand %s reads\n%s", p.at, name, p.list, all[0].at, all[0].list)
			}
		}
	}
}
