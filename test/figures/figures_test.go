package main

import (
	"strings"
	"testing"
)

// TestHardPartsAreFound: each hard part has files in the tree as it is. Whoever moves one of them tells the program.
func TestHardPartsAreFound(t *testing.T) {
	t.Parallel()
	files, err := sources("../..")
	if err != nil {
		t.Fatal(err)
	}
	share := said(files)
	for _, h := range hard {
		if _, found := share[h.part]; !found {
			t.Errorf("no file matches %s: %s", h.part, h.files)
		}
	}
	for _, f := range files {
		if strings.HasPrefix(f.name, "test/") || strings.HasSuffix(f.name, "_test.go") {
			t.Errorf("%s is counted", f.name)
		}
	}
}

// TestTheWayIsFound: the functions of the way of a redemption are found by their names, methods included.
func TestTheWayIsFound(t *testing.T) {
	t.Parallel()
	files, err := sources("../..")
	if err != nil {
		t.Fatal(err)
	}
	w, err := walkOf("../..", files)
	if err != nil || w.functions < 20 || w.files < 10 || w.packages < 5 || w.files > w.functions || w.packages > w.files {
		t.Errorf("%+v, %v", w, err)
	}
}

// TestLinesAreCounted: blank lines are neither code nor comments, and a comment behind code is code.
func TestLinesAreCounted(t *testing.T) {
	t.Parallel()
	const text = "// Package a is one.\npackage a\n\nimport \"fmt\"\n\n\t// b\n\tfmt.Println() // c\n \t \n"
	want := size{"a.go", 3, 2}
	if got := measured("a.go", text); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	packages := byPackage([]size{{"x/a.go", 3, 2}, {"y/a.go", 1, 1}, {"y/b.go", 4, 0}})
	if len(packages) != 2 || packages[0] != (size{"y", 5, 1}) || packages[1] != (size{"x", 3, 2}) {
		t.Errorf("%+v", packages)
	}
	if got := thousands(999) + " " + thousands(2_804) + " " + thousands(12_034); got != "999 2,804 12,034" {
		t.Error(got)
	}
}
