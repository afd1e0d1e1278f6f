package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf16"

	"golang.org/x/term"
)

// escape writes every rune that could command a terminal, or turn a line of text around, as \uXXXX. Characters in keep
// are left alone.
func escape(s, keep string) string {
	commands := func(r rune) bool {
		return (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) && !strings.ContainsRune(keep, r)
	}
	if !strings.ContainsFunc(s, commands) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !commands(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// Plain makes a text that came from elsewhere harmless to print. Line breaks and tabs stay, which
// errors of PostgreSQL have.
func Plain(s string) string { return escape(s, "\n\t") }

// Cell makes a text fit one cell of a table: harmless, on one line.
func Cell(s string) string { return escape(strings.Join(strings.Fields(s), " "), "") }

// HarmlessJSON makes a JSON text harmless to print; as such runes stand in strings only, it means the same as before.
func HarmlessJSON(b []byte) string { return escape(string(b), "\n\r\t") }

// Table prints rows under a heading in columns.
func Table(w io.Writer, heading []string, rows [][]string) {
	var b bytes.Buffer
	columns := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if heading != nil {
		rows = append([][]string{heading}, rows...)
	}
	for _, row := range rows {
		line := make([]string, len(row))
		for i, s := range row {
			line[i] = Cell(s)
		}
		fmt.Fprintln(columns, strings.Join(line, "\t"))
	}
	columns.Flush()
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

// Facts prints names and values below each other; empty values are left out.
func Facts(w io.Writer, pairs ...string) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(columns, "%s\t%s\n", pairs[i], Cell(pairs[i+1]))
		}
	}
	columns.Flush()
}

// OnTerminal reports whether a person reads w as it is written.
func OnTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
