package service

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"boon.example/internal/base/admission"
	"boon.example/internal/base/clientip"
	"boon.example/internal/base/nice"
	"boon.example/internal/refusal"
)

// Admission bounds how many calls are handled at the same time. A call asks when its body has been read, so that a slow
// sender takes no place, and has left when its answer is written.
type Admission interface {
	// Enter waits for the call's turn and reports whether it came; if so, Leave must follow. Who has a deadline waits no
	// longer than it takes. Parties (an account, a system key, the network of guests) take turns.
	Enter(ctx context.Context, party admission.Party, p admission.Priority) bool
	Leave(party admission.Party, p admission.Priority)
	// Busy reports whether calls come that somebody waits for at a counter.
	Busy() bool
}

// What test accounts may take of the service, whatever they ask for.
const (
	maxTests = 16 // calls at once
	// testsLeft has an account take half of the places that others leave: what becomes due may take seconds.
	testsLeft = 1
	testWait  = 400 * time.Millisecond // for a place
)

// ErrOverloaded refuses a call that was not admitted.
var ErrOverloaded = refusal.New(refusal.Unavailable,
	"The service is overloaded and has not begun this call. Repeat the "+
		"request in a moment with the same Idempotency-Key.")

// enter waits until the call may be handled, and reports whether it may. Calls of test accounts come last, and few of
// them at once, in turns by account.
func (c *Call) enter(ctx context.Context, p admission.Priority) bool {
	c.place = place{of: admission.Party{ID: c.party()}, priority: p}
	if c.testing() {
		c.place.priority = admission.Read
		waits, cancel := context.WithTimeout(ctx, testWait)
		defer cancel()
		var err error
		if c.place.ofTests, err = c.tests.Take(waits, c.place.of.ID, c.Caller.KeyID); err != nil {
			return false
		}
	}
	c.place.taken = c.config.Admission.Enter(ctx, c.place.of, c.place.priority)
	if !c.place.taken && c.place.ofTests != nil {
		c.place.ofTests()
	}
	return c.place.taken
}

// place is a call's place in flight.
type place struct {
	taken    bool
	of       admission.Party // the party that has it
	priority admission.Priority
	ofTests  func() // gives the place among the calls of test accounts back; nil: it is no such call
}

// Leave gives the call's place back, if it has one: the call is answered, or waits for something that takes long.
func (c *Call) Leave() {
	if !c.place.taken {
		return
	}
	c.place.taken = false
	c.config.Admission.Leave(c.place.of, c.place.priority)
	if c.place.ofTests != nil {
		c.place.ofTests()
	}
}

// Page admits requests for a page, as reading. Its time in flight ends when its answer begins: how long that takes is
// up to the caller.
func (s *Service) Page(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		party := s.guests(r)
		switch {
		case s.config.Admission.Enter(r.Context(), party, admission.Read):
			leave := sync.OnceFunc(func() { s.config.Admission.Leave(party, admission.Read) })
			defer leave()
			next.ServeHTTP(&leavingWriter{w, leave}, r.WithContext(s.inBackground(r.Context())))
		case s.config.Overloaded != nil:
			s.config.Overloaded(w, r)
		default:
			s.Refuse(w, r, ErrOverloaded)
		}
	})
}

// inBackground is the context of a call that makes room for those that somebody waits for at a counter.
func (s *Service) inBackground(ctx context.Context) context.Context {
	return nice.Background(ctx, s.config.Admission.Busy)
}

// guests are those of one network, who take turns with accounts and with other networks.
func (s *Service) guests(r *http.Request) admission.Party {
	party := admission.Party{Guest: true}
	sum := sha256.Sum256([]byte(clientip.Network(s.config.ClientAddress(r))))
	copy(party.ID[:], sum[:])
	return party
}

// leavingWriter ends a call's time in flight when its answer begins.
type leavingWriter struct {
	http.ResponseWriter
	leave func()
}

func (w *leavingWriter) Write(b []byte) (int, error) {
	w.leave()
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *leavingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// unbounded admits every call.
type unbounded struct{}

func (unbounded) Enter(context.Context, admission.Party, admission.Priority) bool { return true }
func (unbounded) Leave(admission.Party, admission.Priority)                       {}
func (unbounded) Busy() bool                                                      { return false }
