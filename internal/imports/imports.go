// Package imports reads the files in which other systems list the gifts that they gave out. It knows the columns and
// the habits of their exports, and says of every line that it cannot take what is wrong with it. It is pure: nothing is
// stored, and whether a code is in use already is for others to say.
package imports

import (
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Line is a gift as a line of a file describes it.
type Line struct {
	Number     int // of the line of the file, the first one is 1
	Code       codes.VoucherCode
	Item       bool         // of pieces, else of money
	Balance    money.Amount // what is left: in the account's currency, or pieces
	Label      string       // of an item gift
	ProgramID  guid.ID
	LocationID guid.ID   // zero: good at all locations
	ValidFrom  time.Time // zero: from the start
	ValidUntil time.Time // the first instant at which it is not valid any more; zero: it does not expire
	IssuedAt   time.Time // zero: not told
	Recipient  string
	Contact    string // an e-mail address or a telephone number, in its one form
	Reference  string
	Customer   string // "": it is linked to none
	PIN        string // "": it has none
	TillsOnly  bool   // whatever its code is, it is taken at tills only
}

// Problem is why a line is not taken.
type Problem struct {
	Line   int            // of the file; 0: it is about the whole file
	Column string         // as the file names it; "": the whole line
	Said   *phrase.Phrase // a sentence. It never quotes a code or a PIN
}

// Reader reads a file line by line. What it holds in memory is a line, and 16 bytes of each code that was read.
type Reader struct {
	account *merchant.Account
	format  Format
	now     time.Time

	table *Table
	at    map[Field]int
	minor bool      // balances count the smallest unit of the currency
	dates DateOrder // in which dates are read
	shown orders    // by the dates that were read
	among bool      // gifts stand among discounts
	seed  maphash.Seed
	seen  map[uint64]int32 // the lines of codes, by a hash of what finds them
	marks map[string]bool  // what stands beside amounts: whether it is a mark of the account's currency

	line     Line
	fields   []string
	problems []Problem
}

// NewReader begins with a file of a system's gifts, for an account, at some time. The error is a sentence about the
// whole file, or what reading it failed with.
func NewReader(file io.Reader, a *merchant.Account, from merchant.System, now time.Time) (*Reader, error) {
	format, err := FormatOf(from)
	if err != nil {
		return nil, err
	}
	table, first, err := openTable(file)
	if err != nil {
		return nil, err
	}
	r := &Reader{account: a, format: format, dates: format.Dates, now: now, table: table, seed: maphash.MakeSeed(),
		seen: make(map[uint64]int32), marks: make(map[string]bool)}
	if err := r.begin(first); err != nil {
		return nil, err
	}
	return r, nil
}

// begin takes the names of the columns from the first line, or has it read as a gift.
func (r *Reader) begin(first record) error {
	err := r.table.name(first)
	if err == nil {
		r.at, err = r.format.columns(r.table.Names)
	}
	switch {
	case err == nil:
		if balance, is := r.at[Balance]; is {
			r.minor = isOf(r.format.Minor, r.table.Names[balance])
			r.among = isOf(r.format.Among, r.table.Names[balance])
		}
	case r.format.Order != nil && first.bad == nil:
		r.at, r.table.Names = r.format.ordered(), nil
		for _, field := range r.format.Order {
			r.table.Names = append(r.table.Names, string(field))
		}
		r.table.unread(first)
		return nil
	}
	return err
}

// maxUnread is how many columns are named that are not read.
const maxUnread = 100

// Unread names the columns of which nothing is read, so that whoever brings the file in sees what is lost.
func (r *Reader) Unread() (names []string) {
	read := make(map[int]bool, len(r.at))
	for _, at := range r.at {
		read[at] = true
	}
	for n, name := range r.table.Names {
		if !read[n] && name != "" && len(names) < maxUnread {
			names = append(names, name)
		}
	}
	return names
}

// Next gives the next line, and what is wrong with it; with a problem, it is not to be taken. The error is io.EOF at
// the end of the file.
func (r *Reader) Next() (Line, []Problem, error) {
	next, err := r.table.Next()
	if err != nil {
		return Line{}, nil, err
	}
	r.line, r.problems, r.fields = Line{Number: next.Number}, nil, next.Fields
	if next.Wrong != nil {
		r.wrong("", "%s", next.Wrong)
	} else {
		r.read()
	}
	return r.line, r.problems, nil
}

// wrong notes what is wrong with a field of the line; "": with the whole line.
func (r *Reader) wrong(field Field, text phrase.Text, args ...any) {
	p := Problem{Line: r.line.Number, Said: phrase.New(text, args...)}
	if at, ok := r.at[field]; ok && at < len(r.table.Names) {
		p.Column = r.table.Names[at]
	}
	r.problems = append(r.problems, p)
}

// text is what the line has in the column of a field; "": nothing.
func (r *Reader) text(field Field) string {
	at, ok := r.at[field]
	if !ok || at >= len(r.fields) {
		return ""
	}
	return strings.TrimSpace(r.fields[at])
}

// MaxProblems is how many problems are shown.
const MaxProblems = 1_000

// Summary is what a file holds.
type Summary struct {
	Read, Taken, Refused int
	Total                money.Amount // of the gifts of money that are taken
	Pieces               money.Amount // of the item gifts
	Problems             []Problem    // the first MaxProblems

	tillsOnly   map[int]int     // by the length of codes: cards that their lines have taken at tills only
	spreads     map[int]*spread // by the length of codes
	long, round int             // codes of more digits than a spreadsheet keeps; those that end in zeros instead
}

// Add counts a line.
func (s *Summary) Add(line Line, problems []Problem) {
	s.Read++
	s.Problems = append(s.Problems, problems[:min(len(problems), MaxProblems-len(s.Problems))]...)
	if len(problems) > 0 {
		s.Refused++
		return
	}
	s.Taken++
	if line.Item {
		s.Pieces += line.Balance
	} else {
		s.Total += line.Balance
	}
	code := line.Code.Reveal()
	if line.PIN == "" {
		s.spreadOut(code)
	}
	if line.TillsOnly {
		if s.tillsOnly == nil {
			s.tillsOnly = make(map[int]int)
		}
		s.tillsOnly[len(code)]++
	}
	if len(code) > spreadsheetDigits && strings.Trim(code, digits) == "" {
		s.long++
		if strings.Trim(code[spreadsheetDigits:], "0") == "" {
			s.round++
		}
	}
}

const (
	digits = "0123456789"
	// how many digits of a number a spreadsheet keeps
	spreadsheetDigits = 15
	// as many codes do not end in 0 by chance
	manyCodes = 12
)

// TillsOnly is how many cards are taken at tills only: those that their lines say, and all that would be guessed, where
// these are taken so.
func (s *Summary) TillsOnly(guessed []Guessed) (n int) {
	for _, g := range guessed { // also those among them that their lines say
		n += g.Cards
	}
	for length, cards := range s.tillsOnly {
		if !slices.ContainsFunc(guessed, func(g Guessed) bool { return g.Length == length }) {
			n += cards
		}
	}
	return n
}

// Forget gives back the memory that is needed to tell whether codes would be guessed, and nothing else.
func (s *Summary) Forget() { s.spreads = nil }

// Damaged is a problem of the whole file that shows only at its end; nil: there is none.
func (s *Summary) Damaged() *Problem {
	if s.long < manyCodes || s.round < s.long {
		return nil
	}
	return &Problem{Said: phrase.New("All %d codes of more than %d digits end in 0: a spreadsheet has rounded them. "+
		"Take the file from the old system again, and do not open it in a spreadsheet.", s.long, spreadsheetDigits)}
}
