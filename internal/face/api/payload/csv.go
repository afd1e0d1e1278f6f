package payload

import "strings"

// Harmless is a text that no spreadsheet takes for a formula.
func Harmless(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}
