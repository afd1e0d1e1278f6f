package reports

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"boon.example/internal/books/journal"
	"boon.example/internal/post/locale"
)

// TestReportFormsHaveWords: each report, each of its groups and each file that a journal can be has a name for people.
func TestReportFormsHaveWords(t *testing.T) {
	t.Parallel()
	in := locale.For(locale.ConsoleLanguages()[0]) // a test of the texts sees that all languages have the same
	for _, form := range reportForms {
		in.Text("console.report." + form.name) // panics where there is none
		in.Text("console.report.text." + form.name)
		for _, g := range form.groups {
			in.Text("console.group." + g)
		}
	}
	if len(journalFormats) != len(journal.Formats()) {
		t.Fatalf("a journal can be for %v, the page has %v", journal.Formats(), journalFormats)
	}
	for n, format := range journal.Formats() {
		in.Text("console.format." + string(format))
		if journalFormats[n] != string(format) {
			t.Errorf("the page lacks the format %s", format)
		}
	}
}

// TestActionsHaveWords: each action that an audit trail may tell has a name for people.
func TestActionsHaveWords(t *testing.T) {
	t.Parallel()
	declared := regexp.MustCompile(`EventType += +"([a-z_.]+)"`)
	found := 0
	for _, folder := range []string{"gift", "event"} {
		files, err := filepath.Glob("../../../" + folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, action := range declared.FindAllStringSubmatch(string(text), -1) {
				found++
				if known()[ofActions+strings.NewReplacer(".", "-", "_", "-").Replace(action[1])] == nil {
					t.Errorf("no text says what %s is", action[1])
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d actions are declared", found)
	}
}
