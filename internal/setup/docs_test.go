package setup_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/setup"
)

// What docs/reference/setup.md shows is what happens.
func TestTheDocumentationIsTrue(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/setup.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := make(map[string][]string)
	for _, b := range regexp.MustCompile("(?s)```(yaml refused|yaml|text)\n(.*?)```\n").FindAllStringSubmatch(string(text),
		-1) {
		blocks[b[1]] = append(blocks[b[1]], b[2])
	}
	if len(blocks["yaml"]) != 1 || len(blocks["yaml refused"]) != 1 || len(blocks["text"]) != 3 {
		t.Fatalf("the blocks are %q", blocks)
	}
	key := regexp.MustCompile(`boon_live_acct_[0-9A-Za-z]{51}`)
	same := func(what, shown string, report *setup.Report) {
		var out bytes.Buffer
		if err := report.Print(&out); err != nil {
			t.Fatal(err)
		}
		if got, want := key.ReplaceAllString(out.String(), "KEY"), key.ReplaceAllString(shown, "KEY"); got != want {
			t.Errorf("%s: prints\n%s\nthe page shows\n%s", what, got, want)
		}
	}
	w, file := open(t), blocks["yaml"][0]
	same("the first application", blocks["text"][0], apply(t, w, file))
	same("the second", "Nothing to change: everything is as setup.yaml says.\n", apply(t, w, file))
	if _, err := setup.RevokeKey(t.Context(), w, "till", noon); err != nil {
		t.Fatal(err)
	}
	same("after the key was revoked", blocks["text"][2], apply(t, w, file))

	_, err = setup.Parse("setup.yaml", []byte(blocks["yaml refused"][0]))
	if err == nil || err.Error() != strings.TrimSpace(blocks["text"][1]) {
		t.Errorf("the refused file: got\n%v\nthe page shows\n%s", err, blocks["text"][1])
	}
}

// TestRolesAndPermissionsAreListed: the page tells every role and every permission.
func TestRolesAndPermissionsAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/setup.md")
	if err != nil {
		t.Fatal(err)
	}
	_, keys, _ := strings.Cut(string(text), "\n### Keys\n")
	permissions, roles, _ := strings.Cut(keys, "\nRole | May\n")
	roles, _, _ = strings.Cut(roles, "\n## ")
	for table, names := range map[string][]string{permissions: merchant.PermissionNames(), roles: merchant.RoleNames()} {
		for _, name := range names {
			if !regexp.MustCompile("(?m)^(`[a-z-]+`, )*`" + name + "`.* \\| ").MatchString(table) {
				t.Errorf("no row of docs/reference/setup.md is about %s", name)
			}
		}
	}
}
