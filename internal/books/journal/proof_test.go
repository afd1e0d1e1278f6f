package journal_test

import (
	"bytes"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/books/journal"
)

// TestSame: a journal that is made again is the same in every format, also if it proves something else and is made
// later; one of which a byte was changed is another one.
func TestSame(t *testing.T) {
	t.Parallel()
	for _, format := range journal.Formats() {
		for _, until := range []time.Time{day(9, 30), day(10, 31)} { // for DATEV a file, and an archive
			write := func(made time.Time, proof string) []byte {
				rows := append(september(), journal.Row{Day: until, Line: books.LineIssued, Currency: eur, Amount: 1})
				entries, err := journal.Entries(rows, named[format])
				if err != nil {
					t.Fatal(err)
				}
				j := &journal.Journal{From: day(9, 1), To: until, Entries: entries, DATEV: datev, Made: made}
				files, err := j.Write(format)
				if err != nil {
					t.Fatal(format, err)
				}
				file, err := j.Whole(files)
				if err != nil {
					t.Fatal(format, err)
				}
				return journal.WithProof(format, file.Content, []byte(proof))
			}
			one, other := write(day(11, 1), "{1}"), write(day(11, 2), "{2}")
			if !journal.Same(format, one, other) {
				t.Errorf("%s: made again, the journal is another one:\n%s\n%s", format, one, other)
			}
			content, proof := journal.Proof(one)
			if has := format == journal.HLedger; has != (string(proof) == "{1}") || has == bytes.Equal(content, one) ||
				!bytes.HasPrefix(one, content) {
				t.Errorf("%s is parted into %q and %q", format, content, proof)
			}
			changed := bytes.Clone(one)
			changed[len(content)/2]++
			if journal.Same(format, one, changed) {
				t.Errorf("%s: a journal with another byte is said to be the same", format)
			}
		}
	}
	if journal.Same(journal.DATEV, []byte("PK"), []byte("PK")) {
		t.Error("what is no archive is said to be the same")
	}
}
