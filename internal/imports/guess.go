package imports

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"boon.example/internal/merchant"
)

// spread is where the codes of one length lie. Of cards with a PIN a code alone takes nothing: they are not in it.
type spread struct {
	letters bool // are in some of them
	codes   []place36
}

// place36 is where a code lies: among those with the same beginning, in the order of digits and capitals.
type place36 struct{ beginning, at uint64 }

// ending is how many of the last characters of a code count as a number of base 36 that an integer has room for.
const ending = 12

var beginnings = maphash.MakeSeed()

// spreadOut notes the code of a card without a PIN.
func (s *Summary) spreadOut(code string) {
	if s.spreads == nil {
		s.spreads = make(map[int]*spread)
	}
	of := s.spreads[len(code)]
	if of == nil {
		of = &spread{}
		s.spreads[len(code)] = of
	}
	of.letters = of.letters || strings.Trim(code, digits) != ""
	cut := max(0, len(code)-ending)
	at, _ := strconv.ParseUint(code[cut:], 36, 64) // a code has letters and digits, and nothing else
	of.codes = append(of.codes, place36{maphash.String(beginnings, strings.ToUpper(code[:cut])), at})
}

// Guessable tells of each form of the account whose cards need a PIN, since the code of one would be guessed within a
// year: by whoever tries any code of the form, or by whoever has one card and tries its neighbours.
func (s *Summary) Guessable(a *merchant.Account) (problems []Problem) {
	for _, form := range a.ImportedCodes {
		of := s.spreads[form.Length()]
		if of == nil || !merchant.Guessable(form.Space(), int64(len(of.codes))) && !of.dense() {
			continue
		}
		problems = append(problems, Problem{Text: fmt.Sprintf("%d cards with codes of %d characters have no PIN, and their "+
			"codes lie so close together that one of them would be guessed within a year. Give each card a PIN.",
			len(of.codes), form.Length())})
	}
	return slices.Clip(problems)
}

// series are how many codes lie within how many. The smaller a row is, the closer it has to be: among
// millions of codes drawn by lot a few lie close to each other, and nobody knows which.
var series = []struct {
	live   int
	within uint64
}{{5, 100}, {20, 10_000}, {300, 300 * uint64(merchant.GuessesInAYear)}}

// dense reports whether codes lie so close together that whoever has a card finds another: all of them, or a row
// anywhere among them. Where none has a letter, what lies between them is of digits. A single card has no neighbours.
func (s *spread) dense() bool {
	codes := slices.Clone(s.codes)
	if !s.letters {
		for n := range codes {
			codes[n].at, _ = strconv.ParseUint(strconv.FormatUint(codes[n].at, 36), 10, 64)
		}
	}
	slices.SortFunc(codes, func(a, b place36) int {
		if a.beginning != b.beginning {
			return cmp.Compare(a.beginning, b.beginning)
		}
		return cmp.Compare(a.at, b.at)
	})
	last := len(codes) - 1
	if last > 0 && codes[0].beginning == codes[last].beginning &&
		merchant.Guessable(new(big.Int).SetUint64(codes[last].at-codes[0].at+1), int64(len(codes))) {
		return true
	}
	for _, row := range series {
		for n := row.live - 1; n <= last; n++ {
			first := codes[n-row.live+1]
			if first.beginning == codes[n].beginning && codes[n].at-first.at < row.within {
				return true
			}
		}
	}
	return false
}
