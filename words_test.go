package boon_test

import (
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// fieldWords has, for each word that this project once made up for itself, the one that the field uses.
// docs/reference/glossary.md explains those.
var fieldWords = map[string]string{
	"strand": "chain", "strands": "chains", "tips": "heads",
	"turnstile": "admission control", "visitor": "call in flight", "visitors": "calls in flight", "crowded": "overloaded",
	"patience": "timeout", "hurried": "with a short timeout", "hurries": "has a short timeout", "unhurried": "background",
	"calmly": "in the background", "insist": "retry", "house": "app", "furnish": "new, open", "furnished": "opened",
	"rowwise": "execRows", "pipelined": "execBatch", "piped": "batched", "flying": "in flight",
	"sought":    "pending look-up",
	"gathering": "lookup batcher", "gatherings": "lookup batchers", "rank": "priority", "shelf": "VoucherReader",
	"door": "admission control", "doors": "admission control", "walls": "row-level security",
	"stranger": "anonymous client, or sender", "strangers": "anonymous clients, or senders",
	"hangup": "close", "findinsteps": "find",
	"album": "cache", "fence": "watermark", "rouse": "wake", "mayhook": "check webhook", "payout": "cash out",
	"foreignkey": "provider key", "teller": "expiry notifier",
	"breath": "pause", "soil": "mark unsaved", "troubled": "retry pause", "uncoded": "without a code",
	"instep": "following", "keepsilent": "leave unanswered", "loseanswer": "drop answer", "tellrest": "tell PIN limited",
	"rests": "pauses, or is paused", "restkey": "PIN key",
}

// words splits identifiers at their capitals, and also gives each identifier as a whole.
var (
	identifiers = regexp.MustCompile(`[A-Za-z]+`)
	words       = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)
)

// TestWordsAreTheFields holds identifiers, comments and documents to words that an engineer from elsewhere would search
// for.
func TestWordsAreTheFields(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*.go", "*.sql", "*.sh", "*.md", "*.yaml", "Makefile").Output()
	if err != nil {
		t.Skipf("there is no git to list the files: %v", err)
	}
	for _, file := range strings.Fields(string(out)) {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) || file == "words_test.go" {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for number, line := range strings.Split(string(text), "\n") {
			for _, identifier := range identifiers.FindAllString(line, -1) {
				for _, word := range append(words.FindAllString(identifier, -1), identifier) {
					if instead, banned := fieldWords[strings.ToLower(word)]; banned {
						t.Errorf("%s:%d: %q: the field's word is %q", file, number+1, word, instead)
					}
				}
			}
		}
	}
}

// TestTheTestsThatAreNamedExist: a comment that says which tests show an invariant ("# What shows it") names tests that
// there are.
func TestTheTestsThatAreNamedExist(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		t.Skipf("there is no git to list the files: %v", err)
	}
	declared, named := map[string]bool{}, map[string]string{}
	for _, file := range strings.Fields(string(out)) {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		within := false
		for line := range strings.Lines(string(text)) {
			if of := testFunction.FindStringSubmatch(line); of != nil {
				declared[of[1]] = true
			}
			within = strings.HasPrefix(line, "// # What shows it") ||
				within && strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "// # ")
			if within {
				for _, name := range testName.FindAllString(line, -1) {
					named[name] = file
				}
			}
		}
	}
	for name, file := range named {
		if !declared[name] {
			t.Errorf("%s names %s, which is no test", file, name)
		}
	}
	if len(named) < 40 {
		t.Errorf("comments name %d tests", len(named))
	}
}

var (
	testFunction = regexp.MustCompile(`^func ((?:[Tt]est|Fuzz)[A-Z]\w*)\(`)
	testName     = regexp.MustCompile(`\b(?:[Tt]est|Fuzz)[A-Z]\w*`)
)

// TestLinesAreShort: a line of Go has at most 120 columns, but for lines with a raw string: a struct tag, a text, SQL.
func TestLinesAreShort(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		t.Skipf("there is no git to list the files: %v", err)
	}
	for _, file := range strings.Fields(string(out)) {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		raw := rawStrings(text)
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 && !raw[number] {
				t.Errorf("%s:%d has %d columns, 120 are the most", file, number, n)
			}
		}
	}
}

// rawStrings tells which lines of a Go file hold a raw string, or a part of one.
func rawStrings(text []byte) map[int]bool {
	var s scanner.Scanner
	files := token.NewFileSet()
	f := files.AddFile("", files.Base(), len(text))
	s.Init(f, text, nil, 0)
	lines := map[int]bool{}
	for pos, tok, lit := s.Scan(); tok != token.EOF; pos, tok, lit = s.Scan() {
		if tok == token.STRING && lit[0] == '`' {
			for n := f.Line(pos); n <= f.Line(pos)+strings.Count(lit, "\n"); n++ {
				lines[n] = true
			}
		}
	}
	return lines
}
