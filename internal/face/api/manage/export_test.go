package manage

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// TestWaitingForThePrinter: who waits for other stocks to be printed is told what to do before the call's time is over,
// and leaves the rest of it to what is printed.
func TestWaitingForThePrinter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &Call{Operations: New(Config{}), Call: &service.Call{Writer: httptest.NewRecorder(),
			HTTP: httptest.NewRequest("GET", "/", nil), Account: &merchant.Account{ID: guid.ID{1}}, Caller: &merchant.Caller{}}}
		done, err := c.prints.Take(t.Context(), guid.ID{2}, guid.ID{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = c.startPrinting()
		if waited := time.Since(began); !errors.Is(err, refusal.Unavailable) || !strings.Contains(err.Error(),
			"format=csv") ||
			service.HeavyDeadline-waited < service.OtherDeadline {
			t.Errorf("after %v: %v", waited, err)
		}
		done()
		printed, err := c.startPrinting()
		if until, _ := c.Context().Deadline(); err != nil || time.Until(until) != service.HeavyDeadline {
			t.Fatalf("until %v, %v", until, err)
		}
		printed()
		if _, err := c.prints.Take(t.Context(), guid.ID{2}, guid.ID{}); err != nil {
			t.Error("the printer is still taken")
		}
	})
}
