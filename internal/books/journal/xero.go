package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"boon.example/internal/base/phrase"
)

// manualJournals is the body that Xero's ManualJournals take.
type manualJournals struct {
	ManualJournals []manualJournal
}

type manualJournal struct {
	Narration       string
	Date            string // YYYY-MM-DD
	Status          string // DRAFT: a person posts it
	LineAmountTypes string
	JournalLines    []journalLine
}

type journalLine struct {
	LineAmount  json.Number // above zero: a debit
	AccountCode string
	Description string
}

// xeroLongest is how long the code of an account may be in Xero.
const xeroLongest = 10

// xero writes the entries as drafts. A manual journal has no currency: it is in that of the organisation.
func (j *Journal) xero() ([]File, error) {
	var p problems
	j.oneCurrency(&p, "", "A manual journal of Xero is in the currency of the organisation. This journal has several: "+
		"also %s. Take another format.")
	j.fits(&p, func(name string) *phrase.Phrase {
		if n := utf8.RuneCountInString(name); n > xeroLongest || name != plain(name) {
			return phrase.New("is no code of an account in Xero. A code has at most %d characters.", xeroLongest)
		}
		return nil
	})
	if err := p.err(); err != nil {
		return nil, err
	}
	body := manualJournals{ManualJournals: []manualJournal{}}
	for n := range j.Entries {
		body.ManualJournals = append(body.ManualJournals, manualJournalOf(&j.Entries[n]))
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetIndent("", "  ")
	if err := out.Encode(body); err != nil {
		return nil, fmt.Errorf("write manual journals: %w", err)
	}
	return j.file(".json", "application/json", &b), nil
}

func manualJournalOf(e *Entry) manualJournal {
	out := manualJournal{Narration: "Boon " + e.Number + " (" + says[e.Line].done + ", " + e.Currency.Code + ")",
		Date: e.Day.Format(time.DateOnly), Status: "DRAFT", LineAmountTypes: "NoTax"}
	for _, p := range e.Postings {
		description := shorten(joined(", ", e.says(&p), plain(p.Program), plain(p.Place)), longestDescription)
		amount := e.Currency.Format(p.Amount)
		out.JournalLines = append(out.JournalLines, journalLine{json.Number(amount), p.Debit, description},
			journalLine{json.Number("-" + amount), p.Credit, description})
	}
	return out
}

// longestDescription is how long a description may be in Xero and in QuickBooks.
const longestDescription = 1_000
