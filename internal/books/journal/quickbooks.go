package journal

import (
	"bytes"
	"encoding/csv"
	"strings"

	"boon.example/internal/base/phrase"
)

// quickBooksHead names the columns that the import of journal entries into QuickBooks Online knows by name.
var quickBooksHead = []string{"JournalNo", "JournalDate", "AccountName", "Debits", "Credits", "Description"}

// quickBooks writes two lines for each posting, its debit and its credit.
func (j *Journal) quickBooks() ([]File, error) {
	var p problems
	j.oneCurrency(&p, "", "A file for QuickBooks is in one currency. This journal has several: also %s. Take another "+
		"format.")
	j.fits(&p, quickBooksProblem)
	if err := p.err(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	_ = w.Write(quickBooksHead) // a buffer takes everything
	for n := range j.Entries {
		e := &j.Entries[n]
		for _, p := range e.Postings {
			description := shorten(joined(", ", e.says(&p), plain(p.Program), plain(p.Place)), longestDescription)
			amount, day := e.Currency.Format(p.Amount), e.Day.Format("01/02/2006")
			_ = w.Write([]string{e.Number, day, p.Debit, amount, "", description})
			_ = w.Write([]string{e.Number, day, p.Credit, "", amount, description})
		}
	}
	w.Flush()
	return j.file(".csv", "text/csv; charset=utf-8", &b), nil
}

// quickBooksProblem tells why QuickBooks finds no account by a name. The cell has to hold the name as it is, so that
// what a spreadsheet would take for a formula cannot be made harmless.
func quickBooksProblem(name string) *phrase.Phrase {
	switch {
	case strings.Trim(name, "0123456789") == "":
		return phrase.New("is a number. QuickBooks finds accounts by name. Write the name, with that of its parent account " +
			"before a colon, as in Liabilities:Gift cards.")
	case name != cell(name):
		return phrase.New("is no name of an account in QuickBooks. A name is one line, and begins with none of = + - @.")
	}
	return nil
}
