package docs

import (
	"regexp"
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ markdown, html string }{
		"a paragraph":            {"One\ntwo.\n\nThree.\n", "<p>One\ntwo.\n</p>\n<p>Three.\n</p>\n"},
		"a heading":              {"# Errors\n", "<h1>Errors</h1>\n"},
		"a code has its anchor":  {"## `NOT_FOUND`\n", "<h2 id=\"NOT_FOUND\"><code>NOT_FOUND</code></h2>\n"},
		"one word can be a code": {"## UNAVAILABLE\n", "<h2 id=\"UNAVAILABLE\">UNAVAILABLE</h2>\n"},
		"a list":                 {"- a\n  b\n- c\n", "<ul><li>a\nb\n<li>c\n</ul>\n"},
		"steps":                  {"1. a\n2. b\n", "<ol><li>a\n<li>b\n</ol>\n"},
		"marks":                  {"**b** `c **d**` [e](/f#G)\n", "<p><strong>b</strong> <code>c **d**</code> <a href=\"/f#G\">e</a>\n</p>\n"},
		"a fence":                {"```json\n{\"a\": \"<b>\"}\n\n# x\n```\n", "<pre>{&#34;a&#34;: &#34;&lt;b&gt;&#34;}\n\n# x\n</pre>\n"},
		"a table":                {"| A | B |\n|---|---|\n| 1 | `2` |\n", "<table><tr><th>A<th>B\n<tr><td>1<td><code>2</code>\n</table>\n"},
		"markup is text":         {"<script>x</script>\n", "<p>&lt;script&gt;x&lt;/script&gt;\n</p>\n"},
		"no scripts in links":    {"[x](javascript:alert)\n", "<p>[x](javascript:alert)\n</p>\n"},
	} {
		if got := string(render(c.markdown)); got != c.html {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.html)
		}
	}
}

func TestErrorsIsWhole(t *testing.T) {
	t.Parallel()
	page := string(Errors())
	if !strings.HasPrefix(page, "<h1>Errors</h1>") || strings.Contains(page, "**") || strings.Contains(page, "`") {
		t.Errorf("the page of errors holds what was not rendered: %.300s", page)
	}
}

var (
	anyTag = regexp.MustCompile(`<[^>]*>?`)
	ourTag = regexp.MustCompile(`^</?(p|ul|ol|li|table|tr|th|td|pre|code|strong|a|h[1-4])( id="[A-Z_]+"| href="[^"<>]+")?>$`)
)

func FuzzRender(f *testing.F) {
	f.Add("# A\n\n- **b** `c`\n\n| d |\n|---|\n")
	f.Add("```\n<script>")
	f.Add("[x](#y\"onclick=)")
	f.Fuzz(func(t *testing.T, markdown string) {
		for _, tag := range anyTag.FindAllString(string(render(markdown)), -1) {
			if !ourTag.MatchString(tag) {
				t.Errorf("%q came through", tag)
			}
		}
	})
}
