package docs

import (
	"os"
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
