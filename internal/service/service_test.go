package service

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/base/admission"
	"boon.example/internal/base/nice"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/wire"
)

// alone is a service without an engine and a store, and what it noted.
func alone() (s *Service, noted *Event) {
	noted = &Event{}
	s = New(Config{Note: func(_ context.Context, e Event) { *noted = e }})
	return s, noted
}

// TestNeitherAnswerNorError: a handler that forgets both is a failure of ours, told as one, and never a status of 0.
func TestNeitherAnswerNorError(t *testing.T) {
	t.Parallel()
	s, noted := alone()
	answer := httptest.NewRecorder()
	s.Handler(func(c *Call) Reply { return c.Reply(ledger.Answer{}, nil) }).
		ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	if answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), `"UNEXPECTED_ERROR"`) ||
		noted.Err == nil {
		t.Errorf("answered %d %s, noted %v", answer.Code, answer.Body, noted.Err)
	}
}

// TestPanics: a handler that panics is a failure of ours, told as one, and the next call is answered.
func TestPanics(t *testing.T) {
	t.Parallel()
	s, noted := alone()
	answer := httptest.NewRecorder()
	s.Handler(func(*Call) Reply { panic("broken") }).ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "broken") ||
		noted.Err == nil || !strings.Contains(noted.Err.Error(), "panic: broken") {
		t.Errorf("answered %d %s, noted %v", answer.Code, answer.Body, noted.Err)
	}
}

// TestCallsSayTheirSetUp: the engine is told by which version of the set-up a call was judged, or by an older one, also
// where the face identifies the caller itself. So nothing of an account is used that was taken away meanwhile.
func TestCallsSayTheirSetUp(t *testing.T) {
	t.Parallel()
	version := int64(7)
	s := New(Config{Directory: func() *merchant.Directory { return &merchant.Directory{Version: version} }})
	account := &merchant.Account{ID: guid.ID{1}}
	s.Handler(func(c *Call) Reply {
		version++ // what comes after the caller was identified counts no more
		err := c.Begin(&merchant.Caller{Account: account, Locations: []guid.ID{{2}}}, admission.Redeem, time.Minute)
		if err != nil || c.setup != 7 {
			t.Errorf("judged by the version %d, %v", c.setup, err)
		}
		return c.Reply(c.Answer(ledger.OK, func(*wire.Writer) {}), nil)
	}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil))
}

// busy admits every call, and says that somebody waits at a counter.
type busy struct{ unbounded }

func (busy) Busy() bool { return true }

// TestReadingPauses: what a call that only reads does makes room for tills, also where it takes more time or is a page;
// a call of a till does not.
func TestReadingPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pauses := func(ctx context.Context) bool {
			time.Sleep(time.Second) // it has worked for a while
			begun := time.Now()
			nice.Rest(ctx)
			return time.Since(begun) > 0
		}
		s := New(Config{Admission: busy{}})
		for _, p := range []admission.Priority{admission.Redeem, admission.Validate, admission.Write, admission.Read} {
			s.Handler(func(c *Call) Reply {
				err := c.Begin(&merchant.Caller{Account: &merchant.Account{ID: guid.ID{1}}}, p, time.Minute)
				more, stop := c.MoreTime()
				defer stop()
				if reads := p == admission.Read; err != nil || pauses(c.Context()) != reads || pauses(more) != reads {
					t.Errorf("%s: %v, pauses: %t", p, err, !reads)
				}
				return c.Reply(c.Answer(ledger.OK, func(*wire.Writer) {}), nil)
			}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil))
		}
		s.Page(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if !pauses(r.Context()) {
				t.Error("a page does not rest")
			}
		})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	})
}
