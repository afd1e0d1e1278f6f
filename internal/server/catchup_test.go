package server

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"boon.example/internal/calendar"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// TestSettleErasesWithinItsTime: a look at the clock of a test account erases no names and tells of how many gifts they
// are to be, and whoever advances it is answered in time.
func TestSettleErasesWithinItsTime(t *testing.T) {
	t.Parallel()
	const of, lab, promotion = "5a0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a01", "5a0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a11",
		"5a0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a31"
	const key, orders, size = "boon_test_sandbox_0123456789abcdefghijklmnop", 4, 50
	h := assembled(t, slog.New(slog.DiscardHandler), `accounts:
  - {id: `+of+`, name: Sandbox, mode: test, currency: USD, timeZone: America/New_York, language: en,
     retention: {personalDataDays: 30}, locations: [{id: `+lab+`, name: Lab}],
     subscriptions: [{program: 33333333-3333-3333-3333-333333333333}],
     promotions: [{id: `+promotion+`, name: Spring, validForDays: 1, terms: None.}],
     keys: [{name: all, role: all, secret: `+key+`}]}
`)
	recipients := bytes.Repeat([]byte(`,{"deliveryMethodID":3,"recipientDescription":"Ana"}`), size)[1:]
	for n := range orders {
		body := fmt.Sprintf(`{"paymentMethodID":4,"promotionID":%q,"validStarting":%q,"monetaryGift":{"value":5},"recipients":[%s]}`, promotion,
			time.Now().UTC().Format(time.RFC3339), recipients)
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost,
			"/api/integration/gifting/send-gift", strings.NewReader(body))
		r.Header.Set("Authorization", key)
		r.Header.Set("Idempotency-Key", fmt.Sprint("order ", n))
		r.Header.Set("Content-Type", "application/json")
		if h.handler.ServeHTTP(w, r); w.Code != http.StatusCreated {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	account, err := guid.Parse(of)
	if err != nil {
		t.Fatal(err)
	}
	by, _ := calendar.ParsePeriod("P60D")
	_, err = h.store.AdvanceClock(t.Context(), account, func(was merchant.Clock) (merchant.Clock, event.TrailEntry,
		error) {
		is, err := was.Set(merchant.ClockChange{Advance: &by, Key: "k"}, time.UTC, time.Now())
		return is, event.TrailEntry{AccountID: account, Action: event.ClockAdvanced}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	test := h.directory.Load().Accounts[account]
	catchUp := func(within time.Duration) int {
		t.Helper()
		begun := time.Now()
		left, err := h.catchUp(t.Context(), test, within)
		if took := time.Since(begun); err != nil || took > within+10*time.Second {
			t.Errorf("to catch up within %s took %s: %v", within, took, err)
		}
		return left
	}
	const named = orders * size
	names := func() int {
		t.Helper()
		n, err := h.retention().Within(t.Context(), test, time.Now(), 0, 2*named)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if due, left := catchUp(0), names(); due < named || left != named {
		t.Errorf("a look tells that %d are due and leaves the names of %d gifts, want those of %d", due, left, named)
	}
	for within := 300 * time.Millisecond; names() == named; within *= 2 { // a busy machine does nothing in a moment
		if within > time.Minute {
			t.Fatal("no name is erased in a minute")
		}
		// Erasing all of them takes a second of pauses alone.
		if due, left := catchUp(within), names(); due < left || within < time.Second && left == 0 {
			t.Errorf("after %s %d are due, and %d gifts still have names", within, due, left)
		}
	}
	for end := time.Now().Add(time.Minute); catchUp(2*time.Second) > 0; {
		if time.Now().After(end) {
			t.Fatal("some are still due after a minute")
		}
	}
	if n := names(); n > 0 {
		t.Errorf("nothing is due, and %d gifts still have names", n)
	}
}

// assembled is the program on a folder of its own with a set-up; "": without one. It does not listen.
func assembled(t *testing.T, logger *slog.Logger, setUp string) *app {
	t.Helper()
	c := Config{Data: t.TempDir(), Logger: logger}
	if err := c.normalize(); err != nil {
		t.Fatal(err)
	}
	c.listensAt(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	s, err := store.Open(t.Context(), store.Options{Dir: c.Data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if setUp != "" {
		file, err := setup.Parse("boon.yaml", []byte(setUp))
		if err == nil {
			_, err = file.Apply(t.Context(), s, time.Now(), rand.Reader)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	h, err := newApp(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	return h
}
