package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// each calls do with every file of the repository whose name ends so, its path from this folder and its text.
func each(t *testing.T, ending string, do func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (strings.HasPrefix(name, ".") || name == "bin"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ending):
			text, err := os.ReadFile(path)
			do(path, string(text))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocumentsAreShort counts the words of all documents together, as wc -w does. What a new page needs is taken from
// an old one.
func TestDocumentsAreShort(t *testing.T) {
	t.Parallel()
	const limit = 18_000
	total := 0
	each(t, ".md", func(_, text string) { total += len(strings.Fields(text)) })
	if total > limit {
		t.Errorf("the documents have %d words, the limit is %d", total, limit)
	}
}

// TestLinksLead follows every link from a document to a file of the repository, and to a heading in it.
func TestLinksLead(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)\s]*)?\)`)
	headings := regexp.MustCompile("(?m)^#+ (.*)$")
	dropped := regexp.MustCompile("[^a-z0-9 _-]")
	each(t, ".md", func(path, text string) {
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			to := path
			if link[1] != "" {
				to = filepath.Join(filepath.Dir(path), link[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s leads to %s, which is not there", path, link[1])
				continue
			}
			if link[2] == "" {
				continue
			}
			page, err := os.ReadFile(to)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, h := range headings.FindAllStringSubmatch(string(page), -1) {
				found = found || "#"+strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == link[2]
			}
			if !found {
				t.Errorf("%s leads to %s%s, and there is no such heading", path, link[1], link[2])
			}
		}
	})
}

// TestNamedTestsExist finds every test that a document names, or names the beginning of.
func TestNamedTestsExist(t *testing.T) {
	t.Parallel()
	var tests []string
	functions := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	each(t, "_test.go", func(_, text string) {
		for _, f := range functions.FindAllStringSubmatch(text, -1) {
			tests = append(tests, f[1])
		}
	})
	named := regexp.MustCompile(`\bTest[A-Z]\w+`)
	each(t, ".md", func(path, text string) {
		for _, name := range named.FindAllString(text, -1) {
			exists := false
			for _, f := range tests {
				exists = exists || strings.HasPrefix(f, name)
			}
			if !exists {
				t.Errorf("%s names %s, and there is no such test", path, name)
			}
		}
	})
}

func TestErrorsIsWhole(t *testing.T) {
	t.Parallel()
	page := string(Errors())
	for _, left := range []string{"**", "\n|", "\n- ", "<!-- raw"} {
		if strings.Contains(page, left) {
			t.Errorf("the page of errors holds %q, which was not rendered", left)
		}
	}
	// The service has the page alone, not the documents beside it.
	if link := regexp.MustCompile(`href="[^"#][^":]*"`).FindString(page); link != "" {
		t.Errorf("the page of errors leads to %s, which the service does not serve", link)
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
