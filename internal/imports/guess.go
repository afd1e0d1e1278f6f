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
type spread struct{ digits, letters []position }

// position is where a code lies among those with the same beginning: those of digits in the order of numbers, those
// with letters in the order of digits and capitals.
type position struct{ beginning, at uint64 }

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
	base, those := 36, &of.letters
	if strings.Trim(code, digits) == "" {
		base, those = 10, &of.digits
	}
	at, _ := strconv.ParseUint(code[cut:], base, 64) // a code has letters and digits, and nothing else
	*those = append(*those, position{maphash.String(beginnings, strings.ToUpper(code[:cut])), at})
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
// merchant.ShortestAlone are among them. It calls rest again and again.
func (s *Summary) Guessable(a *merchant.Account, rest func()) (all []Guessed) {
	for _, form := range a.ImportedCodes {
		of := s.spreads[form.Length()]
		if of == nil {
			continue
		}
		cards := len(of.digits) + len(of.letters)
		if form.Length() < merchant.ShortestAlone || merchant.Guessable(form.Space(), int64(cards)) || of.dense(rest) {
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
func (s *spread) dense(rest func()) bool {
	return dense(s.digits, rest) || len(s.letters) > 0 && dense(s.all(rest), rest)
}

// all are the codes with letters, and among them those of digits.
func (s *spread) all(rest func()) []position {
	all := slices.Concat(s.letters, s.digits)
	for n := range s.digits {
		if n%pausesAfter == 0 {
			rest()
		}
		p := &all[len(s.letters)+n]
		p.at, _ = strconv.ParseUint(strconv.FormatUint(p.at, 10), 36, 64) // 12 digits are few enough
	}
	return all
}

// pausesAfter is how many codes are looked at before others may need the core: some 20 microseconds.
const pausesAfter = 1 << 10

// dense sorts codes, and reports whether they lie close together: all of them, or a row anywhere among them. A single
// card has no neighbours.
func dense(codes []position, rest func()) bool {
	compared := 0
	slices.SortFunc(codes, func(a, b position) int {
		if compared++; compared%pausesAfter == 0 {
			rest()
		}
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
			if n%pausesAfter == 0 {
				rest()
			}
			first := codes[n-row.live+1]
			if first.beginning == codes[n].beginning && codes[n].at-first.at < row.within {
				return true
			}
		}
	}
	return false
}
