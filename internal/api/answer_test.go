package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
)

// TestNeitherAnswerNorError: a handler that forgets both is a failure of ours, told as one, and never a status of 0.
func TestNeitherAnswerNorError(t *testing.T) {
	t.Parallel()
	noted := Event{}
	a := New(Config{Note: func(_ context.Context, e Event) { noted = e }})
	answer := httptest.NewRecorder()
	a.handler(func(*call) (ledger.Answer, error) { return ledger.Answer{}, nil }).
		ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	if answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), `"UNEXPECTED_ERROR"`) ||
		noted.Err == nil {
		t.Errorf("answered %d %s, noted %v", answer.Code, answer.Body, noted.Err)
	}
}

// TestWaitingForThePrinter: who waits for other stocks to be printed is told what to do before the call's time is over,
// and leaves the rest of it to what is printed.
func TestWaitingForThePrinter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &call{API: New(Config{}), w: httptest.NewRecorder(), r: httptest.NewRequest("GET", "/", nil), leave: func() {},
			account: &gift.Account{ID: guid.ID{1}}, caller: &gift.Caller{}}
		done, err := c.prints.Take(t.Context(), guid.ID{2}, guid.ID{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = c.startPrinting()
		if waited := time.Since(began); !errors.Is(err, refusal.Unavailable) || !strings.Contains(err.Error(),
			"format=csv") ||
			heavyDeadline-waited < otherDeadline {
			t.Errorf("after %v: %v", waited, err)
		}
		done()
		printed, err := c.startPrinting()
		if until, _ := c.ctx.Deadline(); err != nil || time.Until(until) != heavyDeadline {
			t.Fatalf("until %v, %v", until, err)
		}
		printed()
		if _, err := c.prints.Take(t.Context(), guid.ID{2}, guid.ID{}); err != nil {
			t.Error("the printer is still taken")
		}
	})
}
