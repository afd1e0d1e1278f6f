package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// statusOf is the HTTP status of an answer; 0: there is no such code.
func statusOf(code refusal.Code) int {
	switch code {
	case ledger.OK, ledger.Nothing:
		return http.StatusOK
	case ledger.Created:
		return http.StatusCreated
	}
	return code.Status()
}

// statusError is a refusal with an HTTP status that its code alone does not give.
type statusError struct {
	refusal *refusal.Error
	status  int
}

func (e *statusError) Error() string { return e.refusal.Error() }
func (e *statusError) Unwrap() error { return e.refusal }

func refuseWith(status int, code refusal.Code, path, text string) error {
	return &statusError{refuseAt(code, path, "%s", text), status}
}

// refuseAt refuses what package gift knows nothing of: a header, or how a value is written.
func refuseAt(code refusal.Code, path, format string, args ...any) *refusal.Error {
	return &refusal.Error{Code: code, Messages: []refusal.Message{refusal.MessageAt(path, format, args...)}}
}

// problem makes the answer of an error with its HTTP status, and sets the headers that belong to it.
func (c *call) problem(err error) (status int, _ ledger.Answer) {
	refused := told(err)
	status = refused.Code.Status()
	if e, ok := errors.AsType[*statusError](err); ok {
		status = e.status
	}
	switch refused.Code {
	case refusal.Unauthenticated:
		c.w.Header().Set("WWW-Authenticate", `Bearer realm="boon"`)
	case refusal.RateLimited, refusal.Unavailable, refusal.RequestInProgress:
		sayWhen(c.w.Header(), refused)
	}
	return status, problemDocument(refused, status, c.PublicURL, c.requestID)
}

// told is what a caller is told of an error: a refusal as it is, and of a failure no reason.
func told(err error) *refusal.Error {
	refused, ok := errors.AsType[*refusal.Error](err)
	switch {
	case ok && refused.Code != refusal.UnexpectedError:
		return refused
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return refusal.New(refusal.Unavailable, "This took too long. Repeat the request in a moment with the same "+
			"Idempotency-Key.")
	}
	return refusal.New(refusal.UnexpectedError, "Something went wrong on our side. It is noted under the requestID "+
		"of this answer.")
}

// sayWhen says when to come again, unless that is said already.
func sayWhen(h http.Header, refused *refusal.Error) {
	if wait := max(refused.RetryAfter, time.Second); h.Get("Retry-After") == "" {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}

// render makes the answer of a refusal; the engine stores it for the refusals that are decided on a gift's state.
func (c *call) render(refused *refusal.Error) ledger.Answer {
	return problemDocument(refused, refused.Code.Status(), c.PublicURL, c.requestID)
}

// problemDocument writes RFC 9457's members and the interface's two.
func problemDocument(e *refusal.Error, status int, publicURL, requestID string) ledger.Answer {
	w := wire.NewWriter(512)
	w.Open()
	w.Text("type", publicURL+"/docs/errors#"+string(e.Code))
	w.Text("title", e.Code.Title())
	w.Integer("status", status)
	w.Text("code", string(e.Code))
	w.List("messages")
	for _, m := range wire.Told(e) {
		w.Open()
		w.Text("path", m.Path)
		w.Text("text", m.Text)
		w.Close()
	}
	w.EndList()
	w.Text("requestID", requestID)
	w.Close()
	return ledger.Answer{Code: e.Code, Body: w.Bytes()}
}

// stored tells what became of a look-up: what is not there is refusal.NotFound, what is not as it was written
// refusal.UnexpectedError; any other failure means that the store is away, and since nothing was changed, the caller
// may ask again.
func stored(err error) error {
	if err == nil || errors.Is(err, refusal.NotFound) || errors.Is(err, refusal.UnexpectedError) {
		return err
	}
	if _, ok := errors.AsType[*refusal.Error](err); ok {
		return err
	}
	away := refusal.New(refusal.Unavailable, "The store is busy or cannot be reached; nothing was changed. Repeat the "+
		"request in a moment.")
	away.RetryAfter = time.Second
	return &hiddenCause{away, err}
}

// hiddenCause is a refusal with the reason that only the operator learns.
type hiddenCause struct {
	refusal *refusal.Error
	cause   error
}

func (e *hiddenCause) Error() string   { return e.refusal.Error() + ": " + e.cause.Error() }
func (e *hiddenCause) Unwrap() []error { return []error{e.refusal, e.cause} }
