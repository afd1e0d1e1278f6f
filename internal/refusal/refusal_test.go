package refusal

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestErrorsCanBeAskedFor(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("redeeming: %w", At(InsufficientBalance, "amount", "The balance of this gift is %s.",
		"1.00 USD"))
	if !errors.Is(err, InsufficientBalance) || errors.Is(err, NotFound) {
		t.Errorf("%v is not known by its code", err)
	}
	if e, ok := errors.AsType[*Error](err); !ok || e.Error() != "INSUFFICIENT_BALANCE: amount: The balance of this "+
		"gift is 1.00 USD." {
		t.Errorf("got %v", err)
	}
	two := Join(New(NotFound, "One."), New(RateLimited, "Two."))
	if two.Error() != "NOT_FOUND: One.; Two." || two.Code != NotFound {
		t.Errorf("joined: %v", two)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	one, late := New(NotFound, "One."), &Error{Code: Unavailable, RetryAfter: time.Second}
	if Join(nil, nil) != nil || Join(one, nil) != one || Join(nil, one) != one ||
		Join(one, errors.New("internal")) != one {
		t.Error("joining with nothing changes something")
	}
	if got := Join(one, late); got.Code != NotFound || got.RetryAfter != time.Second || len(one.Messages) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestErrorIn(t *testing.T) {
	t.Parallel()
	e := Join(At(ValidationFailure, FieldContact, "A %s.", FieldContact), New(NotFound, "B"))
	if got := e.In(FieldDeliver).Error(); got != "VALIDATION_FAILURE: deliver.contact: A contact.; B" {
		t.Error(got)
	}
	if strings.Contains(e.Error(), "deliver") {
		t.Errorf("it changed: %v", e)
	}
}
