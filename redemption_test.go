package boon_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheWayOfARedemptionIsTrue holds the functions that ARCHITECTURE.md names against the source.
func TestTheWayOfARedemptionIsTrue(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## One redemption")
	section, _, _ = strings.Cut(section, "\n## ")
	names := regexp.MustCompile("`([a-z]+)\\.(?:([A-Za-z]+)\\.)?([A-Za-z]+)`").FindAllStringSubmatch(section, -1)
	if len(names) < 20 {
		t.Fatalf("ARCHITECTURE.md names %d functions on the way of a redemption", len(names))
	}
	for _, name := range names {
		source := ""
		files, _ := filepath.Glob("internal/" + name[1] + "/*.go")
		nested, _ := filepath.Glob("internal/*/" + name[1] + "/*.go")
		deeper, _ := filepath.Glob("internal/*/*/" + name[1] + "/*.go")
		for _, file := range slices.Concat(files, nested, deeper) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source += string(code)
		}
		declared := `(?m)^(func|type) ` + name[3] + `\b`
		if name[2] != "" {
			declared = `(?m)^func \(\w+ \*?` + name[2] + `\) ` + name[3] + `\b`
		}
		if !regexp.MustCompile(declared).MatchString(source) {
			t.Errorf("ARCHITECTURE.md names %s, which internal/%s does not declare", name[0], name[1])
		}
	}
}
