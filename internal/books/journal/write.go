package journal

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/books"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Format is a form in which a journal is written.
type Format string

// The formats.
const (
	CSV        Format = "csv"
	DATEV      Format = "datev"
	Xero       Format = "xero"
	QuickBooks Format = "quickbooks"
	HLedger    Format = "hledger"
)

// Formats lists them all.
func Formats() []Format { return []Format{CSV, DATEV, Xero, QuickBooks, HLedger} }

// Journal is what is written: the entries of the days From to To, both included.
type Journal struct {
	From, To time.Time
	Entries  []Entry
	DATEV    merchant.DATEV
	Made     time.Time // when the journal is made; DATEV is told
}

// File is a written journal, or a part of one.
type File struct {
	Name, Media string
	Content     []byte
}

// Write writes a journal. It gives one file, of DATEV one for each month. What a format cannot hold is refused, each
// problem in a sentence.
func (j *Journal) Write(format Format) ([]File, error) {
	switch format {
	case CSV:
		return j.csv()
	case DATEV:
		return j.datev()
	case Xero:
		return j.xero()
	case QuickBooks:
		return j.quickBooks()
	case HLedger:
		return j.hledger()
	}
	return nil, fmt.Errorf("no format %q", format)
}

// Whole is a written journal as one file: the only one, or a ZIP archive of several.
func (j *Journal) Whole(files []File) (File, error) {
	if len(files) == 1 {
		return files[0], nil
	}
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, f := range files {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write(f.Content)
		}
		if err != nil {
			return File{}, fmt.Errorf("archive %s: %w", f.Name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return File{}, fmt.Errorf("archive the journal: %w", err)
	}
	return j.file(".zip", "application/zip", &b)[0], nil
}

// file is a journal that is one file.
func (j *Journal) file(extension, media string, content *bytes.Buffer) []File {
	return []File{{Name: "journal-" + j.From.Format(time.DateOnly) + "-" + j.To.Format(time.DateOnly) + extension,
		Media: media, Content: content.Bytes()}}
}

// problems are what is wrong with a journal for a format.
type problems struct{ refusal.Error }

func (p *problems) add(path string, text phrase.Text, values ...any) {
	p.Code = refusal.AccountMisconfigured
	p.Messages = append(p.Messages, refusal.MessageAt(path, text, values...))
}

// err is nil where nothing is wrong.
func (p *problems) err() error {
	if len(p.Messages) == 0 {
		return nil
	}
	return &p.Error
}

// fits checks the names of the accounts that the journal uses; problem tells what is wrong with one.
func (j *Journal) fits(p *problems, problem func(name string) *phrase.Phrase) {
	names := map[string]bool{}
	for _, e := range j.Entries {
		for _, posting := range e.Postings {
			names[posting.Debit], names[posting.Credit] = true, true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if text := problem(name); text != nil {
			p.add("books.accounts", "The account %q %s", name, text)
		}
	}
}

// oneCurrency refuses a journal with several currencies, or with another one than only, if that is said.
func (j *Journal) oneCurrency(p *problems, only string, sentence phrase.Text) {
	var others []string
	for _, e := range j.Entries {
		if only == "" {
			only = e.Currency.Code
		}
		if e.Currency.Code != only && !slices.Contains(others, e.Currency.Code) {
			others = append(others, e.Currency.Code)
		}
	}
	if len(others) > 0 {
		p.add("format", sentence, strings.Join(others, ", "))
	}
}

// says is what the postings of a line are, in English, and those that take back what it does.
var says = map[books.Line]struct{ done, undone string }{
	books.LineIssued:        {"gifts sold", "sales of gifts taken back"},
	books.LineActivated:     {"cards sold", "sales of cards taken back"},
	books.LineReloaded:      {"cards loaded", "loads of cards taken back"},
	books.LineImported:      {"gifts imported", "imports taken back"},
	books.LineAdjustedUp:    {"balances adjusted up", "adjustments up taken back"},
	books.LineAdjustedDown:  {"balances adjusted down", "adjustments down taken back"},
	books.LineRedeemed:      {"gifts redeemed", "redemptions taken back"},
	books.LineGivenBack:     {"redemptions given back", "redemptions taken again"},
	books.LineCashedOut:     {"cash paid out", "cash taken back"},
	books.LineCashGivenBack: {"cash given back", "cash paid out again"},
	books.LineCancelled:     {"gifts cancelled", "cancelled gifts reinstated"},
	books.LineExpired:       {"gifts expired", "expired gifts extended"},
	LineBreakage:            {"breakage", "breakage taken back"},
}

// says tells in English what a posting of an entry is.
func (e *Entry) says(p *Posting) string {
	text := says[e.Line].done
	if p.Undone {
		text = says[e.Line].undone
	}
	switch {
	case p.Promotional:
		text = "promotional " + text
	case p.Bonus:
		text = "bonus of " + text
	}
	return text
}
