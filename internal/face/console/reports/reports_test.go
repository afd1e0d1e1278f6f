package reports

import (
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
