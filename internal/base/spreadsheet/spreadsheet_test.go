package spreadsheet_test

import (
	"strings"
	"testing"

	"boon.example/internal/base/spreadsheet"
)

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":               "",
		"Ana":            "Ana",
		"O'Neill":        "O'Neill",
		"'quoted'":       "'quoted'",
		"=1+1":           "'=1+1",
		"+49 30 1234567": "'+49 30 1234567",
		"-":              "'-",
		"@SUM(A1)":       "'@SUM(A1)",
		"＝1":             "'＝1",
		"\t=1":           "'\t=1",
		"'=1":            "''=1",
		"''=1":           "'''=1",
		// another cell or row, to a spreadsheet that parts cells by semicolons
		"Ana;=A(1);":                      "Ana;'=A(1);",
		"Ana;'=A(1)":                      "Ana;''=A(1)",
		"=1;+B(2)":                        "'=1;'+B(2)",
		"Hi\r\n=cmd|' /C calc'!A0\r\nBye": "Hi\r\n'=cmd|' /C calc'!A0\r\nBye",
		"Thanks ;-)":                      "Thanks ;-)",
		"Hi\n- Bob\n- Ann":                "Hi\n- Bob\n- Ann",
		"a, =B(1)":                        "a, =B(1)",
	} {
		if got := spreadsheet.Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestDigits(t *testing.T) {
	t.Parallel()
	for digits, want := range map[string]string{
		"":                 "",
		"123":              "123",
		"1234":             "1-2-3-4",
		"482913375026":     "482-913-375-026",
		"0012345678901234": "0012-3456-7890-1234",
		"1234567890":       "12-34-56-7890",
	} {
		got := spreadsheet.Digits(digits)
		if got != want {
			t.Errorf("Digits(%q) = %q, want %q", digits, got, want)
		}
		if strings.ReplaceAll(got, "-", "") != digits {
			t.Errorf("Digits(%q) = %q loses digits", digits, got)
		}
	}
}

// FuzzText: whatever a text is, it comes back, and what is written is no formula.
func FuzzText(f *testing.F) {
	for _, text := range []string{"", "=", "'=", "''", "'a", "+1", "＝", "a;=A(1)", "a;'=A(1)\n'-(", "\r=A(", ";"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written := spreadsheet.Text(text)
		if strings.HasPrefix(written, "=") || strings.HasPrefix(written, "+") || strings.HasPrefix(written, "-") ||
			strings.HasPrefix(written, "@") || strings.HasPrefix(written, "\t") || strings.HasPrefix(written, "\r") {
			t.Errorf("Text(%q) = %q begins a formula", text, written)
		}
		if got := spreadsheet.Original(written); got != text {
			t.Errorf("Original(Text(%q)) = %q", text, got)
		}
	})
}
