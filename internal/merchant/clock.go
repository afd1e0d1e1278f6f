package merchant

import (
	"time"

	"boon.example/internal/calendar"
	"boon.example/internal/refusal"
)

// Clock is that of a test account. It only goes forward.
type Clock struct {
	Ahead  time.Duration // of the real time
	Target time.Time     // where it was set to last; zero: it never was
	Key    string        // the Idempotency-Key of that call; "": none
}

// MaxAhead is how far a clock may be ahead of the real time.
const MaxAhead = 50 * 366 * 24 * time.Hour

// Now is what the clock shows at an instant of the real time.
func (c Clock) Now(at time.Time) time.Time { return at.Add(c.Ahead) }

// ClockChange says where a clock is to be set: one of both.
type ClockChange struct {
	Advance *calendar.Period // by so much; nil: not said
	Now     time.Time        // to this instant; zero: not said
	Key     string           // the Idempotency-Key; "": none
}

// Set moves the clock of an account. What was asked for last, by its key or by the same instant, changes nothing when
// it is asked for again. It fails with VALIDATION_FAILURE.
func (c Clock) Set(ask ClockChange, zone *time.Location, at time.Time) (Clock, error) {
	ask.Now = ask.Now.UTC().Truncate(time.Microsecond)
	if ask.Key != "" && ask.Key == c.Key || ask.Advance == nil && !c.Target.IsZero() && ask.Now.Equal(c.Target) {
		return c, nil
	}
	field, to := refusal.FieldNow, ask.Now
	if ask.Advance != nil {
		field, to = refusal.FieldAdvance, ask.Advance.After(c.Now(at), zone)
	}
	at, to = at.Truncate(time.Microsecond), to.UTC().Truncate(time.Microsecond)
	switch {
	case to.Before(c.Now(at)):
		return c, refusal.At(refusal.ValidationFailure, field, "A clock only goes forward; this one shows %s.",
			c.Now(at).UTC().Format(time.RFC3339))
	case to.Sub(at) > MaxAhead:
		return c, refusal.At(refusal.ValidationFailure, field, "A clock may be 50 years ahead of the real time, no more.")
	case to.Equal(c.Now(at)): // it stands there already: nothing is kept
		return c, nil
	}
	return Clock{Ahead: to.Sub(at), Target: to, Key: ask.Key}, nil
}
