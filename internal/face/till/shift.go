package till

import (
	"context"
	"sync"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

const (
	// signedInFor is how long somebody stays signed in: a long shift.
	signedInFor = 12 * time.Hour
	// shiftAge is for how long what another instance did to a shift may be missed.
	shiftAge = time.Second
	// shiftSlack is how much longer than signedInFor a sign-in may last, as each lasts a second longer than the one
	// before in the same second. Whoever signs in and out more often than that has to wait.
	shiftSlack = time.Minute
)

// shifts is what is known of the shifts of tills. People stay signed in by a cookie, which may be copied; it is good
// as long as nobody has signed out or in at its till since.
type shifts struct {
	mu    sync.Mutex
	known map[guid.ID]shift // by the till's key
}

// shift is until when sign-ins last that hold.
type shift struct{ until, read time.Time }

func (s *shifts) get(till guid.ID, now time.Time) (until time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.known[till]
	age := now.Sub(known.read)
	return known.until, ok && age >= 0 && age < shiftAge
}

func (s *shifts) put(till guid.ID, until, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) > 10_000 {
		s.known = map[guid.ID]shift{}
	}
	if now.After(s.known[till].read) || until.After(s.known[till].until) {
		s.known[till] = shift{until, now}
	}
}

// shift is until when sign-ins last that hold at a till.
func (t *tills) shift(ctx context.Context, c *merchant.Caller, now time.Time) (time.Time, error) {
	if until, ok := t.shifts.get(c.KeyID, now); ok {
		return until, nil
	}
	until, err := t.Store.Shift(ctx, c.Account.ID, c.KeyID)
	if err == nil {
		t.shifts.put(c.KeyID, until, now)
	}
	return until, err
}

// beginShift ends all sign-ins at a till, and gives until when one lasts that begins now.
func (t *tills) beginShift(c *service.Call, at *merchant.Caller) (time.Time, error) {
	until, err := t.Store.BeginShift(c.Context(), at.Account.ID, at.KeyID, c.Now.Add(signedInFor))
	if err != nil {
		return time.Time{}, service.Stored(err)
	}
	t.shifts.put(at.KeyID, until, c.Now)
	if until.After(c.Now.Add(signedInFor + shiftSlack)) {
		refused := refusal.New(refusal.RateLimited, "People signed in and out at this till too often. Wait a minute.")
		refused.RetryAfter = shiftSlack
		return time.Time{}, refused
	}
	return until, nil
}
