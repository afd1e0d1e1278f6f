package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/merchant"
)

// TestPermissionsThatPagesName: what pages call a permission is one, in sentences and in tables that have a column of
// permissions.
func TestPermissionsThatPagesName(t *testing.T) {
	t.Parallel()
	word := regexp.MustCompile("`([a-z-]+)`") // those of Saleor are in capitals
	sentence := regexp.MustCompile("permissions? (`[^`]+`)")
	known := merchant.PermissionNames()
	seen := 0
	each(t, ".md", func(path, text string) {
		if strings.HasPrefix(path, "../docs/adr/") {
			return // they tell what was
		}
		named := func(says string) {
			for _, m := range word.FindAllStringSubmatch(says, -1) {
				seen++
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s names the permission %s, and there is none of this name", path, m[1])
				}
			}
		}
		for _, m := range sentence.FindAllStringSubmatch(text, -1) {
			named(m[1])
		}
		column := -1 // of permissions, in the table that a line is in
		for line := range strings.Lines(text) {
			cells := strings.Split(line, "|")
			switch {
			case len(cells) == 1:
				column = -1
			case column < 0:
				column = slices.IndexFunc(cells, func(c string) bool {
					return strings.HasPrefix(strings.TrimSpace(c), "Permission")
				})
			case column < len(cells):
				named(cells[column])
			}
		}
	})
	if seen < 30 {
		t.Errorf("only %d names of permissions were found", seen)
	}
}
