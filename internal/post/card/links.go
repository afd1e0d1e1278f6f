package card

import (
	"regexp"
	"strings"
	"unicode"
)

// Mail clients, phones and browsers make links of what looks like an address, whoever wrote it: a sender's words would
// lead a guest from a merchant's message to the sender's page. So a space is put where an address needs none: after a
// dot with a letter behind it, and after the colon of a scheme. It is seen, copied and read aloud as a space. An
// invisible character would not do: browsers drop those from names of hosts. In what looks like a telephone number,
// where a space changes nothing, the digits are kept apart by word joiners.

// unlinked takes from a sender's line whatever programs make links of.
func unlinked(line string) string {
	runes := []rune(line)
	var b strings.Builder
	for i, r := range runes {
		b.WriteRune(r)
		if !isDot(r) && r != ':' {
			continue
		}
		before, after := visibleBefore(runes, i), visibleAfter(runes, i)
		switch {
		case before == 0 || after == 0:
		case r == ':' && unicode.IsLetter(before) && (unicode.IsLetter(after) || unicode.IsDigit(after) || after == '/' ||
			after == '+'),
			r != ':' && ofHost(before) && unicode.IsLetter(after) && (r == '.' || !unicode.In(after, ideographs...)),
			r != ':' && unicode.IsLetter(before) && unicode.IsDigit(after):
			b.WriteByte(' ')
		}
	}
	text := hostNumber.ReplaceAllStringFunc(b.String(), func(s string) string { return strings.ReplaceAll(s, ".", ". ") })
	return telephone.ReplaceAllStringFunc(text, keptApart)
}

func unlinkedLines(lines []string) []string {
	for i := range lines {
		lines[i] = unlinked(lines[i])
	}
	return lines
}

// isDot reports whether browsers take r for the dot in the name of a host (UTS #46).
func isDot(r rune) bool { return strings.ContainsRune(".\u3002\uff0e\uff61\u2024\ufe52", r) }

// ideographs are the scripts whose sentences end in one of the other dots.
var ideographs = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}

// ofHost reports whether a part of a host's name can end in r.
func ofHost(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '-' || r == '_' }

// visibleBefore and visibleAfter give the neighbour of a character, past what is invisible; 0: a space, or none.
func visibleBefore(runes []rune, at int) rune {
	for at--; at >= 0; at-- {
		if !ignored(runes[at]) {
			return orZero(runes[at])
		}
	}
	return 0
}

func visibleAfter(runes []rune, at int) rune {
	for at++; at < len(runes); at++ {
		if !ignored(runes[at]) {
			return orZero(runes[at])
		}
	}
	return 0
}

func ignored(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.IsMark(r) || unicode.Is(unicode.Variation_Selector, r)
}

func orZero(r rune) rune {
	if unicode.IsSpace(r) {
		return 0
	}
	return r
}

var (
	// hostNumber is the number of a host, such as 192.0.2.1.
	hostNumber = regexp.MustCompile(`\d{1,3}(?:\.\d{1,3}){3}`)
	// telephone is seven digits or more, one by one or in groups.
	telephone = regexp.MustCompile(`\d(?:[ \x{a0}().\-\x{2010}-\x{2015}/]{0,2}\d){6,}`)
)

// keptApart puts word joiners between digits.
func keptApart(number string) string {
	var b strings.Builder
	for i, r := range number {
		if i > 0 {
			b.WriteRune('\u2060')
		}
		b.WriteRune(r)
	}
	return b.String()
}
