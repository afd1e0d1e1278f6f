package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/books"
	"boon.example/internal/books/journal"
	"boon.example/internal/calendar"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// entryMemory is about what a sum of a day takes until its entries are written, beside the sum itself.
const entryMemory = 2_000

// MaxJournal is how many sums of days a journal is made of at most. They are less than the memory that one account
// finds in a service without other large requests.
const MaxJournal = 9_000

func longJournal() error {
	return refusal.New(refusal.ValidationFailure, "This journal has too many postings for one file. Ask for fewer days. "+
		"If one day alone is too much, ask with keys that are limited to some locations each.")
}

// MakeJournal makes the entries of whole days for the merchant's ledger, as a file.
func MakeJournal(c *Call) (ledger.Answer, error) {
	j, format, err := c.readJournal()
	if err != nil {
		return ledger.Answer{}, err
	}
	done, err := c.start()
	if err != nil {
		return ledger.Answer{}, err
	}
	defer done()
	from, until := calendarDay(c, j.From), calendarDay(c, j.To.AddDate(0, 0, 1))
	days, err := c.movedByDay(from, until, MaxJournal, longJournal,
		func(k *books.Key) bool { return c.sees(bookedAt(*k)) }, books.Places)
	if err != nil {
		return ledger.Answer{}, err
	}
	sums := 0
	for _, of := range days {
		sums += len(of)
	}
	if err := c.TakeMemory(sums * entryMemory); err != nil {
		return ledger.Answer{}, err
	}
	names := c.journalNames()
	booked, err := c.bookedRows(from, until, names.Program)
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.writeJournal(j, format, append(journal.Rows(days, names), booked...))
}

// writeJournal writes the entries of rows.
func (c *Call) writeJournal(j *journal.Journal, format journal.Format, rows []journal.Row) (ledger.Answer, error) {
	var err error
	j.Entries, err = journal.Entries(rows, c.Account.Books.Accounts)
	if refused, is := errors.AsType[*refusal.Error](err); is {
		_, more := j.Write(format) // what else the set-up lacks, so that nobody is sent there twice
		err = refusal.Join(refused, more)
	}
	if err != nil {
		return ledger.Answer{}, err
	}
	files, err := j.Write(format)
	if err != nil {
		return ledger.Answer{}, err
	}
	file, err := j.Whole(files)
	if err != nil {
		return ledger.Answer{}, err
	}
	proof, err := c.proveJournal(j, format, file.Content)
	if err != nil {
		return ledger.Answer{}, err
	}
	c.Writer.Header().Set("Boon-Proof", string(proof))
	return c.File(file.Name, file.Media, journal.WithProof(format, file.Content, proof)), nil
}

// proveJournal gives what proves a journal, in JSON: of which days it is, its id, the SHA-256 of the file and the heads
// of the chains.
func (c *Call) proveJournal(j *journal.Journal, format journal.Format, content []byte) ([]byte, error) {
	heads, err := c.Heads(c.Context())
	if err != nil {
		return nil, service.Stored(err)
	}
	sum := sha256.Sum256(content)
	p := proof{guid.ID(uuid.Must(uuid.NewV7())), hex.EncodeToString(sum[:]), heads}
	w := wire.NewWriter(1_024)
	w.Open()
	w.Text("name", "journal")
	w.ID("accountID", c.Account.ID)
	w.Text("from", j.From.Format(time.DateOnly))
	w.Text("to", j.To.Format(time.DateOnly))
	w.Text("format", string(format))
	w.Texts("organizationIDs", c.locations())
	p.write(&w)
	w.Close()
	return w.Bytes(), nil
}

const notOver = "A journal has only days that are over. Its last day is yesterday at the latest."

// readJournal reads of which days and for which program a journal is. Days that are over have the same entries
// whenever the journal is made; of today more will come.
func (c *Call) readJournal() (*journal.Journal, journal.Format, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	format := journal.Format(q.Text("format"))
	if format == "" {
		format = journal.CSV
	}
	if !slices.Contains(journal.Formats(), format) {
		q.Add("format", "The formats are %s.", strings.Join(names(journal.Formats()), ", "))
	}
	y, m, d := c.Now.In(c.Account.Zone).Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	j := &journal.Journal{DATEV: c.Account.Books.DATEV, Made: c.Now, From: readDay(q, "from"), To: readDay(q, "to")}
	switch {
	case q.Text("from") == "":
		q.Add("from", "Name the first day of the journal, such as %s.", today.AddDate(0, -1, 1-d).Format(time.DateOnly))
	case !j.From.IsZero() && !j.From.Before(today):
		q.Add("from", notOver)
	}
	switch {
	case q.Text("to") == "":
		j.To = today.AddDate(0, 0, -1)
	case !j.To.IsZero() && !j.To.Before(today):
		q.Add("to", notOver)
	case !j.From.IsZero() && j.To.Before(j.From) && !j.To.IsZero():
		q.Add("from", "The journal ends before it begins: from must not be after to.")
	}
	return j, format, q.Err()
}

// readDay reads a day. What is wrong with it is told; it is zero then, and where it is absent.
func readDay(q *wire.Query, name string) time.Time {
	text := q.Text(name)
	if text == "" {
		return time.Time{}
	}
	day, err := time.Parse(time.DateOnly, text)
	switch {
	case err != nil:
		q.Add(name, "A journal is of whole days. Write the day as a date that exists, such as 2026-09-30.")
		return time.Time{}
	case day.Year() < 1970:
		q.Add(name, "The year must be from 1970.")
		return time.Time{}
	}
	return day
}

// calendarDay is when a day of the account begins.
func calendarDay(c *Call, day time.Time) time.Time {
	return calendar.FromWall(day, c.Account.Zone).UTC()
}

// bookedAt is where a sum of the books happened: where the value was sold, if it happened at no location.
func bookedAt(k books.Key) guid.ID {
	if k.Place.IsZero() {
		return k.Sold
	}
	return k.Place
}

// journalNames are what people call what the ids in the books stand for. A location that is in the set-up no more has
// its id.
func (c *Call) journalNames() *journal.Names {
	return &journal.Names{
		Program: func(id guid.ID) string {
			program, _ := merchant.ProgramByID(id)
			return program.Name
		},
		Place: func(id guid.ID) string {
			if id.IsZero() {
				return "online"
			}
			if !c.sees(id) { // value that was sold there was used where the key may see it
				return "elsewhere"
			}
			if at := c.Account.Location(id); at != nil {
				return at.Name
			}
			return id.String()
		},
	}
}
