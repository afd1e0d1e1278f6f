package imports

import (
	"cmp"
	"hash/maphash"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/merchant"
)

// spread is where the codes of one length lie, those of digits only and those with letters. Of cards with a PIN a code
// alone takes nothing: they are not in it.
type spread struct{ digits, letters []place36 }

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
	cut := max(0, len(code)-ending)
	at, _ := strconv.ParseUint(code[cut:], 36, 64) // a code has letters and digits, and nothing else
	place := place36{maphash.String(beginnings, strings.ToUpper(code[:cut])), at}
	if strings.Trim(code, digits) == "" {
		of.digits = append(of.digits, place)
	} else {
		of.letters = append(of.letters, place)
	}
}

// Guessed are cards without PINs, with codes of one length, of which one would be guessed within a year.
type Guessed struct {
	Length int // of the codes
	Cards  int
}

// Problem says what is wrong with the cards, as a sentence.
func (g Guessed) Problem() *phrase.Phrase {
	return phrase.New("%d cards with codes of %d characters have no PIN, and their codes lie so close together that one "+
		"of them would be guessed within a year. Give each card a PIN, or have these cards be taken at tills only.",
		g.Cards, g.Length)
}

// Guessable tells of each form of the account the cards without PINs of which one would be guessed within a year: by
// whoever tries any code of the form, or by whoever has one card and tries its neighbours. All that are shorter than
// merchant.ShortestAlone are among them.
func (s *Summary) Guessable(a *merchant.Account) (all []Guessed) {
	for _, form := range a.ImportedCodes {
		of := s.spreads[form.Length()]
		if of == nil {
			continue
		}
		cards := len(of.digits) + len(of.letters)
		if form.Length() < merchant.ShortestAlone || merchant.Guessable(form.Space(), int64(cards)) || of.dense() {
			all = append(all, Guessed{form.Length(), cards})
		}
	}
	return all
}

// series are how many codes lie within how many. The smaller a row is, the closer it has to be: among
// millions of codes drawn by lot a few lie close to each other, and nobody knows which.
var series = []struct {
	live   int
	within uint64
}{{5, 100}, {20, 10_000}, {300, 300 * uint64(merchant.GuessesInAYear)}}

// dense reports whether codes lie so close together that whoever has a card finds another. Whoever has a card of digits
// tries digits, whatever letters other cards have.
func (s *spread) dense() bool {
	numbers := slices.Clone(s.digits)
	for n := range numbers {
		numbers[n].at, _ = strconv.ParseUint(strconv.FormatUint(numbers[n].at, 36), 10, 64)
	}
	return dense(numbers) || len(s.letters) > 0 && dense(slices.Concat(s.digits, s.letters))
}

// dense sorts codes, and reports whether they lie close together: all of them, or a row anywhere among them. A single
// card has no neighbours.
func dense(codes []place36) bool {
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
