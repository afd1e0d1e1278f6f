// Package spreadsheet writes texts so that people can open a CSV file in a spreadsheet: no text is run as a formula,
// and no number loses its digits. Pure.
package spreadsheet

import (
	"strings"
	"unicode/utf8"
)

// Text is a text that no spreadsheet takes for a formula (OWASP, CSV Injection). An apostrophe comes before what
// could be one; Original takes it away again.
//
// A spreadsheet of a country that writes 1,50 begins a cell behind each semicolon, also in a file whose cells are
// parted by commas. It knows no quotation marks in the middle of a cell then, and a new line begins a row. So what
// stands there is looked at as well.
func Text(text string) string {
	return cellByCell(text, func(cell string, first bool) string {
		if isFormula(cell, first) {
			return "'" + cell
		}
		return cell
	})
}

// Original is the text that Text was given. A text that Text never writes is its own.
func Original(text string) string {
	return cellByCell(text, func(cell string, first bool) string {
		if rest, has := strings.CutPrefix(cell, "'"); has && isFormula(rest, first) {
			return rest
		}
		return cell
	})
}

// breaks are what may begin another cell or row.
const breaks = ";\r\n"

// cellByCell has each part of a text be changed that some spreadsheet takes for a cell.
func cellByCell(text string, change func(cell string, first bool) string) string {
	if !strings.ContainsAny(text, breaks) {
		return change(text, true)
	}
	var b strings.Builder
	for first := true; text != ""; first = false {
		end := strings.IndexAny(text, breaks) + 1
		if end == 0 {
			end = len(text)
		}
		b.WriteString(change(text[:end], first))
		text = text[end:]
	}
	return b.String()
}

// isFormula reports whether a spreadsheet might run a cell. In the middle of a text, people write a smiley behind a
// semicolon, and lists with dashes: there, a formula also calls a function, names a sheet, or asks another program.
func isFormula(cell string, first bool) bool {
	return commands(strings.TrimLeft(cell, "'")) && (first || strings.ContainsAny(cell, "(|!"))
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
