package api_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"boon.example/internal/contact"
)

// TestNeededTextsShowSomething: where the document needs a text, its pattern takes the texts that the service takes: it
// wants one character that shows something. Beyond U+FFFF patterns differ between languages, and the service decides.
func TestNeededTextsShowSomething(t *testing.T) {
	t.Parallel()
	needed := map[string]int{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if p, ok := v["pattern"].(string); ok && strings.HasPrefix(p, "[^ \u00a0") {
				needed[p]++
			}
			for _, m := range v {
				walk(m)
			}
		case []any:
			for _, m := range v {
				walk(m)
			}
		}
	}
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	walk(document)
	if len(needed) != 1 {
		t.Fatalf("%d patterns say that a text is needed, want one", len(needed))
	}
	for p, times := range needed {
		pattern := regexp.MustCompile(p)
		for r := rune(0); r <= 0xFFFF; r++ {
			if unicode.IsControl(r) || unicode.Is(unicode.Cs, r) || r == '\u2028' || r == '\u2029' { // refused anywhere
				continue
			}
			if s := string(r); pattern.MatchString(s) == contact.Blank(s) {
				t.Errorf("U+%04X: the document takes it: %v, the service: %v", r, pattern.MatchString(s), !contact.Blank(s))
			}
		}
		if times < 10 {
			t.Errorf("only %d texts are needed", times)
		}
	}
}
