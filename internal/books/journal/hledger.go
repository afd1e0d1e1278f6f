package journal

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
)

// hledger writes the entries as plain text. Programs and places are tags, by which hledger sorts and sums.
func (j *Journal) hledger() ([]File, error) {
	var p problems
	j.fits(&p, func(name string) *phrase.Phrase {
		if name != plain(name) || strings.ContainsAny(name, ";\"") || strings.ContainsAny(first(name), "([*!=~&%#|") {
			return phrase.New("is no name of an account in hledger. A name is one line, begins with a letter or a digit, " +
				"and has none of ; \".")
		}
		return nil
	})
	if err := p.err(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "; Journal of Boon from %s to %s\ndecimal-mark .\n", j.From.Format(time.DateOnly),
		j.To.Format(time.DateOnly))
	for n := range j.Entries {
		e := &j.Entries[n]
		fmt.Fprintf(&b, "\n%s (%s) %s\n", e.Day.Format(time.DateOnly), e.Number, says[e.Line].done)
		for _, p := range e.Postings {
			tags := "; " + e.says(&p) + ", count:" + strconv.FormatInt(p.Count, 10)
			if p.Program != "" {
				tags += ", program:" + tag(p.Program)
			}
			if p.Sold != "" {
				tags += ", sold:" + tag(p.Sold)
			}
			if p.Place != "" {
				tags += ", place:" + tag(p.Place)
			}
			amount := e.Currency.Format(p.Amount) + " " + e.Currency.Code
			fmt.Fprintf(&b, "    %s  %s  %s\n    %s  -%s  %s\n", p.Debit, amount, tags, p.Credit, amount, tags)
		}
	}
	return j.file(".journal", "text/plain; charset=utf-8", &b), nil
}

// tag is a text as the value of a tag: a comma ends a value, a colon makes a tag, and a tag "date" or a date in
// brackets would move the posting to another day.
func tag(text string) string {
	return plain(strings.NewReplacer(",", " ", ":", " ", "[", "(", "]", ")").Replace(text))
}
