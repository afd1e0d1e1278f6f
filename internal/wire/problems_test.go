package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"boon.example/internal/refusal"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	var p Problems
	if p.Err() != nil || p.Len() != 0 || p.Has("") || p.Has("a") {
		t.Error("no problems are some")
	}
	p.Add("a", "First.")
	p.Add("a", "Second.")
	p.Add("b", "100 %s.", "%")
	p.Add("", "Whole.")
	p.Add("", "Whole again.")
	if !p.Has("a") || p.Has("c") || p.Len() != 4 {
		t.Errorf("%d problems", p.Len())
	}
	err := p.Err()
	if err.Error() != "VALIDATION_FAILURE: a: First.; b: 100 %.; Whole.; Whole again." {
		t.Errorf("got %v", err)
	}
	if p.Add("c", "Later."); len(err.(*refusal.Error).Messages) != 4 {
		t.Error("an error that was given out has changed")
	}
}

func TestProblemsAndARefusal(t *testing.T) {
	t.Parallel()
	refused := refusal.Join(refusal.At(refusal.NotAuthorized, "a", "Not here."), refusal.At(refusal.NotSupported, "b",
		"Not this."))
	with := func(err error, paths ...string) error {
		var p Problems
		for _, path := range paths {
			p.Add(path, "Wrong.")
		}
		p.Refuse(err)
		return p.Err()
	}
	if err := with(nil); err != nil {
		t.Errorf("nothing is wrong: %v", err)
	}
	if err := with(refused); err != error(refused) {
		t.Errorf("the refusal became %v", err)
	}
	if err := with(refused, "a", "c"); err.Error() != "VALIDATION_FAILURE: a: Wrong.; c: Wrong.; b: Not this." {
		t.Errorf("got %v", err)
	}
	if err := with(refusal.At(refusal.ValidationFailure, "b", "Not this."),
		"a"); err.Error() != "VALIDATION_FAILURE: a: Wrong.; b: Not this." {
		t.Errorf("got %v", err)
	}
	if err := with(nil, "a"); !errors.Is(err, refusal.ValidationFailure) {
		t.Errorf("the problems became %v", err)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	var p Problems
	for n := range 300_000 { // quadratic work would take minutes
		p.Add(fmt.Sprintf("unknown%d", n), "There is no such member.")
	}
	messages := p.All()
	if p.Len() != 300_000 || len(messages) != maxProblems+1 || !strings.Contains(messages[maxProblems].Text,
		"295000 more") {
		t.Errorf("%d problems, %d messages, the last %q", p.Len(), len(messages), messages[len(messages)-1].Text)
	}
}

// TestProblemsAtPaths: a path is made for each problem that is told, and for no other.
func TestProblemsAtPaths(t *testing.T) {
	t.Parallel()
	var p Problems
	made := 0
	for n := range 3 * maxProblems {
		p.AddAt(func() string { made++; return fmt.Sprintf("unknown%d", n/2) }, "There is no %s member.", "such")
	}
	messages := p.All()
	if made != 2*maxProblems-1 || p.Len() != 2*maxProblems+1 || len(messages) != maxProblems+1 ||
		messages[1].Path != "unknown1" || messages[1].Text != "There is no such member." {
		t.Errorf("%d paths of %d problems, of which %d are told: %v", made, p.Len(), len(messages), messages[1])
	}
}
