package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestErrorsIsWhole(t *testing.T) {
	t.Parallel()
	page := string(Errors())
	for _, left := range []string{"**", "\n|", "\n- ", "<!-- raw"} {
		if strings.Contains(page, left) {
			t.Errorf("the page of errors holds %q, which was not rendered", left)
		}
	}
	source, err := os.ReadFile("errors.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := regexp.MustCompile("(?m)^##+ `?([A-Z_]{2,})`?$").FindAllSubmatch(source, -1)
	if len(headings) < 20 {
		t.Fatalf("%d headings of errors.md are codes", len(headings))
	}
	for _, h := range headings {
		if !strings.Contains(page, ` id="`+string(h[1])+`"`) {
			t.Errorf("%s has no anchor", h[1])
		}
	}
}

// TestDocumentsAreShort counts the words of all documents together, as wc -w does. What a new page needs is taken from an old one.
func TestDocumentsAreShort(t *testing.T) {
	t.Parallel()
	const limit = 35_500 // on its way to 18,000
	total := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (strings.HasPrefix(name, ".") || name == "bin"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".md"):
			text, err := os.ReadFile(path)
			total += len(strings.Fields(string(text)))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > limit {
		t.Errorf("the documents have %d words, the limit is %d", total, limit)
	}
}
