package gift

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestErrorsCanBeAskedFor(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("redeeming: %w", RefuseAt(InsufficientBalance, "amount", "The balance of this gift is %s.",
		"1.00 USD"))
	if !errors.Is(err, InsufficientBalance) || errors.Is(err, NotFound) {
		t.Errorf("%v is not known by its code", err)
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Error() != "INSUFFICIENT_BALANCE: amount: The balance of this "+
		"gift is 1.00 USD." {
		t.Errorf("got %v", err)
	}
	two := Join(Refuse(NotFound, "One."), Refuse(RateLimited, "Two."))
	if two.Error() != "NOT_FOUND: One.; Two." || two.Code != NotFound {
		t.Errorf("joined: %v", two)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	one, late := Refuse(NotFound, "One."), &Error{Code: Unavailable, RetryAfter: time.Second}
	if Join(nil, nil) != nil || Join(one, nil) != one || Join(nil, one) != one ||
		Join(one, errors.New("internal")) != one {
		t.Error("joining with nothing changes something")
	}
	if got := Join(one, late); got.Code != NotFound || got.RetryAfter != time.Second || len(one.Messages) != 1 {
		t.Errorf("got %+v", got)
	}
}

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
	if p.Add("c", "Later."); len(err.(*Error).Messages) != 4 {
		t.Error("an error that was given out has changed")
	}
}

func TestProblemsAndARefusal(t *testing.T) {
	t.Parallel()
	refused := Join(RefuseAt(NotAuthorized, "a", "Not here."), RefuseAt(NotSupported, "b", "Not this."))
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
	if err := with(RefuseAt(ValidationFailure, "b", "Not this."),
		"a"); err.Error() != "VALIDATION_FAILURE: a: Wrong.; b: Not this." {
		t.Errorf("got %v", err)
	}
	if err := with(nil, "a"); !errors.Is(err, ValidationFailure) {
		t.Errorf("the problems became %v", err)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	var p Problems
	for n := range 300_000 { // quadratic work would take minutes
		p.Add(fmt.Sprintf("unknown%d", n), "There is no such member.")
	}
	messages := p.Err().(*Error).Messages
	if p.Len() != 300_000 || len(messages) != maxProblems+1 || !strings.Contains(messages[maxProblems].Text,
		"295000 more") {
		t.Errorf("%d problems, %d messages, the last %q", p.Len(), len(messages), messages[len(messages)-1].Text)
	}
}
