package card

import (
	"strings"
	"unicode"
)

// Line makes one line of a sender's text: control characters and line separators become spaces, runs of spaces become
// one, and the marks that reorder the text around them (bidirectional embeddings, overrides and isolates) are taken
// out. Names in scripts written from right to left need none of these. A text in which nothing can be seen becomes "".
func Line(s string) string {
	var b strings.Builder
	space, visible := false, false
	for _, r := range s {
		switch {
		case reorders(r):
			continue
		case unicode.IsSpace(r) || unicode.IsControl(r):
			space = b.Len() > 0
			continue
		case !unicode.Is(unicode.Cf, r) && !unicode.IsMark(r) && r != unicode.ReplacementChar:
			visible = true
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	if !visible {
		return ""
	}
	return b.String()
}

// reorders reports whether r opens or closes an embedding, override or isolate of the Unicode bidirectional algorithm
// (UAX #9).
func reorders(r rune) bool { return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' }

// Lines cuts a sender's text at its line breaks, of whatever kind, and makes each piece a Line; empty lines within it
// stay.
func Lines(s string) []string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Line(lines[i])
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	return lines
}

// Clip shortens a text to at most limit characters, three of them dots. It does not part a letter from its accents, and
// does not end in a colon, which with the dots behind it could be read as the scheme of an address.
func Clip(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	end := limit - 3
	for end > 0 && (unicode.IsMark(runes[end]) || unicode.Is(unicode.Cf, runes[end]) ||
		unicode.Is(unicode.Cf, runes[end-1])) {
		end--
	}
	return strings.TrimRight(string(runes[:end]), " :") + "..."
}
