package setup_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/guid"
	"boon.example/internal/setup"
)

// counted makes ids that are counted.
func counted() func() guid.ID {
	n := byte(0)
	return func() guid.ID {
		n++
		return guid.ID{0xb0, 6: 0x40, 8: 0x80, 15: n}
	}
}

// TestWithIDs: ids are written where they are missing, in blocks and in braces, and nothing else changes.
func TestWithIDs(t *testing.T) {
	t.Parallel()
	const file = "# Tea\naccounts:\n  - name: Té # the shop\n    locations:\n    -   name: Shop\n        # open\n" +
		"        jurisdiction: DE\n    storefronts: [{name: Web}, { id: 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21, name: App}]\n" +
		"    voucherDesigns:\n    - name: Plain"
	const a, b, c, d = "b0000000-0000-4000-8000-000000000004", "b0000000-0000-4000-8000-000000000003",
		"b0000000-0000-4000-8000-000000000002", "b0000000-0000-4000-8000-000000000001"
	want := "# Tea\naccounts:\n  - id: " + a + "\n    name: Té # the shop\n    locations:\n    -   id: " + b +
		"\n        name: Shop\n        # open\n        jurisdiction: DE\n    storefronts: [{id: " + c +
		", name: Web}, { id: 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21, name: App}]\n    voucherDesigns:\n    - id: " + d +
		"\n      name: Plain"
	paths := []string{"accounts[0]", "accounts[0].locations[0]", "accounts[0].storefronts[0]",
		"accounts[0].voucherDesigns[0]"}
	for _, ending := range []string{"\n", "\r\n"} {
		text := strings.ReplaceAll(file, "\n", ending)
		got, made, err := setup.WithIDs("tea.yaml", []byte(text), counted())
		whole := strings.ReplaceAll(want, "\n", ending)
		if ending == "\r\n" { // the last line has no end to be like
			whole = strings.Replace(whole, d+ending, d+"\n", 1)
		}
		if err != nil || string(got) != whole || !slices.Equal(made, paths) {
			t.Errorf("%v %q:\n%q", err, made, got)
		}
		again, made, err := setup.WithIDs("tea.yaml", got, counted())
		if err != nil || len(made) > 0 || string(again) != string(got) {
			t.Errorf("a second time: %v %q\n%s", err, made, again)
		}
	}
	for _, broken := range []string{"", "a: [", "--- \n---\n"} {
		if _, _, err := setup.WithIDs("tea.yaml", []byte(broken), counted()); err == nil {
			t.Errorf("%q is given ids", broken)
		}
	}
}

// TestWithIDsOfExamples: the example files lose their ids, line by line, and get others that are taken.
func TestWithIDsOfExamples(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]byte{"harbor": examples.HarborCoffee(), "asagao": examples.AsagaoTea()} {
		lines := regexp.MustCompile(`(?m)^( *)- id: [0-9a-f-]{36}.*\n +`)
		bare := lines.ReplaceAll(text, []byte("${1}- "))
		if string(bare) == string(text) {
			t.Fatalf("%s: no id was taken away", name)
		}
		got, made, err := setup.WithIDs(name, bare, counted())
		if err != nil || len(made) == 0 {
			t.Fatalf("%s: %v, %q", name, err, made)
		}
		if _, err := setup.ParseDemo(name, got); err != nil && strings.Contains(err.Error(), "This field is required") {
			t.Errorf("%s: %v", name, err)
		}
		if n := strings.Count(fmt.Sprint(string(got)), "id: b0000000-"); n != len(made) {
			t.Errorf("%s: %d ids for %d records", name, n, len(made))
		}
	}
}
