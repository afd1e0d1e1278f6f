package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"boon.example/internal/base/phrase"
)

// Problem is one thing that is wrong with a set-up: with a file, or with what somebody typed into a form.
type Problem struct {
	File string
	Line int    // 0: the file as a whole
	Path string // such as accounts[0].locations[1].id, "" when it is not about one field
	Said *phrase.Phrase
}

// String is the problem in English, as compilers write theirs: setup.yaml:12: accounts[0].name: This field is required.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	b.WriteString(": ")
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Said.Error())
	return b.String()
}

// Problems is everything that is wrong with a set-up file, in the order of its lines. It is never empty.
type Problems []Problem

// Error is one problem a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}

// maxProblems bounds what a file of junk can make us say.
const maxProblems = 500

// Err is nil, or all of p in the order of the lines.
func (p Problems) Err(file string) error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	if len(p) > maxProblems {
		more := phrase.New("There are %d problems in all; these are the first %d.", len(p), maxProblems)
		p = append(p[:maxProblems:maxProblems], Problem{File: file, Said: more})
	}
	return p
}
