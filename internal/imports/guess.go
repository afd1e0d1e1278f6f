package imports

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"boon.example/internal/merchant"
)

// spread is how far the codes of one length lie apart. Of cards with a PIN a code alone takes nothing: they are not in
// it.
type spread struct {
	live            int64
	letters         bool   // are in some of them
	lowest, highest string // in the order of digits and capitals
}

// spreadOut notes the code of a card without a PIN.
func (s *Summary) spreadOut(code string) {
	if s.spreads == nil {
		s.spreads = make(map[int]*spread)
	}
	code = strings.ToUpper(code)
	of := s.spreads[len(code)]
	if of == nil {
		of = &spread{lowest: code, highest: code}
		s.spreads[len(code)] = of
	}
	of.live++
	of.letters = of.letters || strings.Trim(code, digits) != ""
	of.lowest, of.highest = min(of.lowest, code), max(of.highest, code)
}

// Guessable tells of each form of the account whose cards need a PIN, since the code of one would be guessed within a
// year. What counts is in how large a space the codes lie: that of the form, or that between the lowest and the highest
// of them, as whoever has one card tries its neighbours.
func (s *Summary) Guessable(a *merchant.Account) (problems []Problem) {
	for _, form := range a.ImportedCodes {
		of := s.spreads[form.Length()]
		if of == nil || !merchant.Guessable(of.space(form), of.live) {
			continue
		}
		problems = append(problems, Problem{Text: fmt.Sprintf("%d cards with codes of %d characters have no PIN, and their "+
			"codes lie so close together that one of them would be guessed within a year. Give each card a PIN.",
			of.live, form.Length())})
	}
	return slices.Clip(problems)
}

// space is how many codes there are among which the cards lie. Where none has a letter, these are of digits. A single
// card has no neighbours.
func (s *spread) space(form merchant.CodeForm) *big.Int {
	if s.live == 1 {
		return form.Space()
	}
	base := 36
	if !s.letters {
		base = 10
	}
	low, _ := new(big.Int).SetString(s.lowest, base)
	high, _ := new(big.Int).SetString(s.highest, base)
	between := high.Sub(high, low)
	between.Add(between, big.NewInt(1))
	if whole := form.Space(); whole.Cmp(between) < 0 {
		return whole
	}
	return between
}
