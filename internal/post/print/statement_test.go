package print

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"boon.example/internal/racetest"
)

// TestStatement: all that it says can be read from the file, however long it is, and it is the same each time.
func TestStatement(t *testing.T) {
	racetest.Skip(t, "it reads a file with another program")
	t.Parallel()
	s := Statement{Title: "Certificate of an import", Below: []string{"It is signed."},
		Signs: []string{"Date", "Signature"},
		Made:  time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC), Lines: [][2]string{{"Account", "Café Łódź (7d3f0a52)"}}}
	for n := range 60 {
		s.Lines = append(s.Lines, [2]string{fmt.Sprintf("Chain %d", n), strings.Repeat("ab12", 20)})
	}
	for _, paper := range []Paper{A4, Letter} {
		pdf, err := BuiltIn().Statement(s, paper)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := BuiltIn().Statement(s, paper); err != nil || !bytes.Equal(pdf, again) {
			t.Errorf("it is another one the second time: %v", err)
		}
		reader, err := exec.LookPath("pdftotext")
		if err != nil {
			t.Skip("LEFT OUT: there is no pdftotext")
		}
		read := exec.CommandContext(t.Context(), reader, "-layout", "-", "-")
		read.Stdin = bytes.NewReader(pdf)
		text, err := read.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{s.Title, "Café Łódź (7d3f0a52)", "Chain 0", "Chain 59", "It is signed.", "Date",
			"Signature"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q", paper, want)
			}
		}
		if n := strings.Count(strings.ReplaceAll(strings.ReplaceAll(string(text), "\n", ""), " ", ""), "ab12"); n != 60*20 {
			t.Errorf("%s has %d parts of hashes, want %d", paper, n, 60*20)
		}
	}
}
