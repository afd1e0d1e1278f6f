// Package spreadsheet writes texts so that people can open a CSV file in a spreadsheet: no text is run as a formula,
// and no number loses its digits. Pure.
package spreadsheet

import (
	"strings"
	"unicode/utf8"
)

// Text is a text that no spreadsheet takes for a formula (OWASP, CSV Injection). An apostrophe comes before one that
// could be; Original takes it away again.
func Text(text string) string {
	if commands(strings.TrimLeft(text, "'")) {
		return "'" + text
	}
	return text
}

// Original is the text that Text was given. A text that Text never writes is its own.
func Original(text string) string {
	if rest, has := strings.CutPrefix(text, "'"); has && commands(strings.TrimLeft(rest, "'")) {
		return rest
	}
	return text
}

// commands reports whether a text begins like a formula. Spreadsheets of East Asian languages know the wide signs.
func commands(text string) bool {
	first, size := utf8.DecodeRuneInString(text)
	return size > 0 && strings.ContainsRune("=+-@\t\r＝＋－＠", first)
}

// Digits parts the digits of a card with dashes, into groups of a quarter of them each. Of plain digits a spreadsheet
// makes a number: 4.83E+11, or one without its zeros in front. Three dashes are in no number and in no date.
func Digits(digits string) string {
	n := len(digits) / 4
	if n == 0 {
		return digits
	}
	return digits[:n] + "-" + digits[n:2*n] + "-" + digits[2*n:3*n] + "-" + digits[3*n:]
}
