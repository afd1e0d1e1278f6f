// Package normalize gives what has several spellings in Unicode one form: texts, composed as Normalization Form C says,
// and the domains of e-mail addresses.
package normalize

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Address gives the NFC of an e-mail address, and its domain the form in which people read it, however it was spelled
// (UTS 46): in wide letters, in capitals, or in ASCII as xn--. What is no domain, or no address, is only composed.
func Address(s string) string {
	s = String(s)
	at := strings.LastIndexByte(s, '@') + 1
	if at == 0 || !utf8.ValidString(s) {
		return s
	}
	domain, err := idna.Lookup.ToUnicode(s[at:])
	if err != nil {
		return s
	}
	return s[:at] + domain
}

// joiner is what package norm puts into a run of more than 30 combining marks (Unicode's Stream-Safe Text Format). No
// sender wrote it there.
const joiner = "\u034f"

// String gives the NFC of s. What is not UTF-8 stays as it is.
func String(s string) string {
	if !utf8.ValidString(s) {
		return s
	}
	composed := norm.NFC.String(s)
	if strings.Count(composed, joiner) == strings.Count(s, joiner) {
		return composed
	}
	return slow(s)
}

// letter is one code point of a decomposed text.
type letter struct {
	rune  rune
	class uint8 // canonical combining class; 0: a starter
	joins bool  // whether it can join one before it
}

// slow composes a text of any runs of marks, in the three steps of the Unicode Standard, section 3.11: decompose,
// order, compose.
func slow(s string) string {
	letters := decompose(s)
	for from := 0; from < len(letters); {
		to := from + 1
		for letters[from].class != 0 && to < len(letters) && letters[to].class != 0 {
			to++
		}
		slices.SortStableFunc(letters[from:to], func(a, b letter) int { return int(a.class) - int(b.class) })
		from = to
	}
	var b strings.Builder
	for _, l := range compose(letters) {
		b.WriteRune(l.rune)
	}
	return b.String()
}

func decompose(s string) []letter {
	letters := make([]letter, 0, len(s))
	for n, r := range s {
		decomposed := string(norm.NFD.PropertiesString(s[n:]).Decomposition())
		if r >= '\uac00' && r <= '\ud7a3' { // Hangul syllables, which are in no table
			decomposed = norm.NFD.String(string(r))
		}
		if decomposed == "" {
			decomposed = s[n : n+utf8.RuneLen(r)]
		}
		for m, part := range decomposed {
			p := norm.NFC.PropertiesString(decomposed[m:])
			letters = append(letters, letter{part, p.CCC(), !p.BoundaryBefore()})
		}
	}
	return letters
}

// compose joins what follows a starter to it, unless a mark of the same or a higher class stands between them.
func compose(ordered []letter) []letter {
	composed, starter := ordered[:0], -1
	for _, l := range ordered {
		last := len(composed) - 1
		near := starter >= 0 && (last == starter || composed[last].class != 0 && composed[last].class < l.class)
		if near && l.joins {
			if pair := []rune(norm.NFC.String(string([]rune{composed[starter].rune, l.rune}))); len(pair) == 1 {
				composed[starter].rune = pair[0]
				continue
			}
		}
		composed = append(composed, l)
		if l.class == 0 {
			starter = len(composed) - 1
		}
	}
	return composed
}
