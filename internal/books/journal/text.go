package journal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"boon.example/internal/base/spreadsheet"
)

// plain is a text in one line: what breaks lines, turns the direction of writing or cannot be seen becomes a space,
// spaces in a row become one. Names come from people, and end up in files whose lines mean something.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsSpace(r) || unicode.In(r, unicode.C, unicode.Z) {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// cell is a text in one line that no spreadsheet takes for a formula.
func cell(text string) string {
	return spreadsheet.Text(plain(text))
}

// shorten cuts a text to so many characters.
func shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return strings.TrimSpace(string(runes[:most]))
	}
	return text
}

// joined are the texts that are not empty, with something between them.
func joined(between string, texts ...string) string {
	var some []string
	for _, text := range texts {
		if text != "" {
			some = append(some, text)
		}
	}
	return strings.Join(some, between)
}

// first is the first byte of a text, if it has one.
func first(text string) string { return text[:min(len(text), 1)] }
