package boon_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheReadmeNamesTheTests: a newcomer finds the demo, the tests and the rest of them in the README.
func TestTheReadmeNamesTheTests(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"\nmake demo", "\nmake test", "`make check`"} {
		if !strings.Contains(string(readme), command) {
			t.Errorf("the README does not name %q", command)
		}
	}
}

// TestMakeRunsBothStores: make check runs the packages of EITHER on PostgreSQL. No other package of internal has a test
// that asks for it, so none is forgotten.
func TestMakeRunsBothStores(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^EITHER *= (.*)$`).FindSubmatch(makefile)
	if line == nil {
		t.Fatal("the Makefile has no EITHER")
	}
	either := strings.Fields(string(line[1]))
	asking := map[string]bool{}
	err = filepath.WalkDir("internal", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), `"boon.example/internal/store/pgtest"`) {
			asking["./"+filepath.Dir(path)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder := range asking {
		if !slices.Contains(either, folder) {
			t.Errorf("%s has tests that ask for PostgreSQL, and is not in EITHER of the Makefile", folder)
		}
	}
	for _, folder := range either {
		if !asking[folder] {
			t.Errorf("EITHER of the Makefile has %s, whose tests never ask for PostgreSQL", folder)
		}
	}
}
