package message

import (
	"context"
	"errors"
	"os"
	"time"
)

// A carrier that returns nil has had the message accepted. Its errors are those below; any other error, too, means that
// the message may be tried again.

// Refusal is a gateway's answer that another attempt cannot change: no such address, no such number.
type Refusal struct {
	Words string // the gateway's own
}

// Error gives the gateway's words.
func (r *Refusal) Error() string { return r.Words }

// Doubt tells that the whole message was handed over and the answer was lost, or is not the gateway's own: it may have
// been accepted, or not.
type Doubt struct{ Cause error }

// Error says so, and why.
func (d *Doubt) Error() string {
	return "The message was handed over, but the gateway's answer was lost, so it may have arrived: " + Reason(d.Cause)
}

// Unreachable tells that the gateway itself does not work, whatever the message: it cannot be reached, does not take
// our password, or does not speak as it should.
type Unreachable struct{ Cause error }

// Error gives the cause.
func (u *Unreachable) Error() string { return Reason(u.Cause) }

// Unwrap gives the cause.
func (u *Unreachable) Unwrap() error { return u.Cause }

// Later is a gateway's answer that the message may be tried again, but not before a pause.
type Later struct {
	Words string
	After time.Duration
}

// Error gives the gateway's words.
func (l *Later) Error() string { return l.Words }

// Reason is why a message was not sent, in words for people.
func Reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return "The gateway did not answer in time."
	}
	return err.Error()
}
