package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Code names a kind of refusal. It is itself an error, so that errors.Is(err, client.NotFound) works through any
// wrapping. The service may answer with codes that are newer than this package.
type Code string

// Error is the code's text.
func (c Code) Error() string { return string(c) }

// Message is one problem in plain words that may be shown to a person.
type Message struct {
	Path string `json:"path"` // which member of the request, such as recipients[2].recipientContact; "": the whole of it
	Text string `json:"text"`
}

// Error is an answer that is no success of the service's. errors.Is finds its Code.
type Error struct {
	Status     int           // the HTTP status
	Code       Code          // "" when the answer was not the service's own: a proxy's, or not JSON
	Messages   []Message     // every problem that was found, not only the first
	RequestID  string        // by which the operators find the call in their logs
	RetryAfter time.Duration // when a repeat makes sense; 0: not said
}

// Error is the code, the status, every message and the request id.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Code == "" {
		fmt.Fprintf(&b, "HTTP %d", e.Status)
	} else {
		fmt.Fprintf(&b, "%s (HTTP %d)", e.Code, e.Status)
	}
	for i, m := range e.Messages {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		if m.Path != "" {
			b.WriteString(m.Path + ": ")
		}
		b.WriteString(m.Text)
	}
	if e.RequestID != "" {
		b.WriteString(" [request " + e.RequestID + "]")
	}
	return b.String()
}

// Unwrap gives the Code, for errors.Is; nil when there is none.
func (e *Error) Unwrap() error {
	if e.Code == "" {
		return nil
	}
	return e.Code
}

// Refused reports whether err is the service's definite no: the call changed nothing, in any of its attempts. False
// means that err is nil, or that the outcome is unknown, still open, or was made certain by a void.
func Refused(err error) bool {
	if _, unknown := errors.AsType[*UnknownOutcome](err); unknown || errors.Is(err, ErrVoided) {
		return false
	}
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code != "" && e.Code != RequestInProgress && e.Status >= 400 && e.Status < 500
}

// passing reports whether a repeat of the same call may fare better.
func (e *Error) passing() bool {
	return e.Status < 300 || e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Code == RequestInProgress
}

// UnknownOutcome is what a call that changes something fails with when no attempt brought a definite answer: it may
// have taken effect, once, or not at all. Repeat the call with IdempotencyKey to find out; [Client.RequestStatus]
// tells, too; and a redemption can be undone by it ([ReverseRedemptionRequest].OriginalKey).
type UnknownOutcome struct {
	Operation      Operation
	IdempotencyKey string
	Err            error // the last attempt's
}

// Error says what is unknown, and why.
func (u *UnknownOutcome) Error() string {
	return fmt.Sprintf("it is unknown whether %s %s took effect: %v", u.Operation, u.IdempotencyKey, u.Err)
}

// Unwrap gives the last attempt's error.
func (u *UnknownOutcome) Unwrap() error { return u.Err }

// ErrVoided is found in the error of [Client.RedeemSafely] when the redemption got no definite answer and was undone:
// nothing is taken from the gift, and a late original will be refused.
var ErrVoided = errors.New("the redemption was voided, nothing was taken from the gift")
