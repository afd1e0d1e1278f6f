package service

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// Status is the HTTP status of an answer; 0: there is no such code.
func Status(code refusal.Code) int {
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

func refuseWith(status int, code refusal.Code, path string, text phrase.Text, values ...any) error {
	return &statusError{RefuseAt(code, path, text, values...), status}
}

// RefuseAt refuses what package gift knows nothing of: a header, or how a value is written.
func RefuseAt(code refusal.Code, path string, text phrase.Text, values ...any) *refusal.Error {
	return &refusal.Error{Code: code, Messages: []refusal.Message{refusal.MessageAt(path, text, values...)}}
}

// ProblemType is the media type of a problem document.
const ProblemType = "application/problem+json"

// problem answers an error with a problem document, and sets the headers that belong to it.
func (c *Call) problem(err error) Reply {
	refused := Told(err)
	status := refused.Code.Status()
	if e, ok := errors.AsType[*statusError](err); ok {
		status = e.status
	}
	switch refused.Code {
	case refusal.Unauthenticated:
		c.Writer.Header().Set("WWW-Authenticate", `Bearer realm="boon"`)
	case refusal.RateLimited, refusal.Unavailable, refusal.RequestInProgress:
		sayWhen(c.Writer.Header(), refused)
	}
	c.sayLanguage()
	return Reply{Status: status, Type: ProblemType, Body: c.Problem(refused, status), Code: refused.Code, Err: err}
}

// Problem is the problem document of a refusal that is answered with a status.
func (c *Call) Problem(refused *refusal.Error, status int) []byte {
	return c.document(refused, status).Body
}

// Told is what a caller is told of an error: a refusal as it is, and of a failure no reason.
func Told(err error) *refusal.Error {
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
func (c *Call) render(refused *refusal.Error) ledger.Answer {
	return c.document(refused, refused.Code.Status())
}

func (c *Call) document(refused *refusal.Error, status int) ledger.Answer {
	return problemDocument(refused, status, locale.Words(c.reads()), c.config.PublicURL, c.RequestID, c.sayDry)
}

// reads is the language in which the caller is told a refusal.
func (c *Call) reads() merchant.Language { return locale.ForRefusals(c.HTTP.Header["Accept-Language"]) }

// Words gives the sentences of a success in the caller's language, as those of refusals are. It is asked once the
// answer is there, as the answer says which language that is.
func (c *Call) Words() func(phrase.Text) string {
	c.sayLanguage()
	return locale.Words(c.reads())
}

// sayLanguage says of a refusal in which language it is written, and that another header gives another one.
func (c *Call) sayLanguage() {
	h := c.Writer.Header()
	h.Set("Content-Language", string(c.reads()))
	h.Add("Vary", "Accept-Language")
}

// problemDocument writes RFC 9457's members and the interface's two, in the words of a language, and what more there
// is to say.
func problemDocument(e *refusal.Error, status int, words func(phrase.Text) string, publicURL, requestID string,
	more func(*wire.Writer)) ledger.Answer {
	w := wire.NewWriter(512)
	w.Open()
	w.Text("type", publicURL+"/docs/errors#"+string(e.Code))
	w.Text("title", words(e.Code.Title()))
	w.Integer("status", status)
	w.Text("code", string(e.Code))
	w.List("messages")
	for _, m := range wire.ToldIn(words, e) {
		w.Open()
		w.Text("path", m.Path)
		w.Text("text", m.Text)
		w.Close()
	}
	w.EndList()
	more(&w)
	w.Text("requestID", requestID)
	w.Close()
	return ledger.Answer{Code: e.Code, Body: w.Bytes()}
}

// Stored tells what became of a look-up: what is not there is refusal.NotFound, what is not as it was written
// refusal.UnexpectedError; any other failure means that the store is away, and since nothing was changed, the caller
// may ask again.
func Stored(err error) error {
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

// Unkept refuses a file that the service could not keep for as long as it needs it. Why, and in which folder, stands in
// the log.
func Unkept(err error) error {
	full := refusal.New(refusal.Unavailable, "The service could not keep the file: its disk may be full. Nothing was "+
		"changed. Whoever runs the service finds the folder in the log.")
	full.RetryAfter = time.Minute
	return &hiddenCause{full, err}
}

// hiddenCause is a refusal with the reason that only the operator learns.
type hiddenCause struct {
	refusal *refusal.Error
	cause   error
}

func (e *hiddenCause) Error() string   { return e.refusal.Error() + ": " + e.cause.Error() }
func (e *hiddenCause) Unwrap() []error { return []error{e.refusal, e.cause} }

// Refuse answers a request with the problem document of an error.
func (s *Service) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	s.Handler(func(c *Call) Reply { return c.problem(err) }).ServeHTTP(w, r)
}

// Fail answers a request with the problem document of a status: 404, 405 (the header Allow is set), 410, 429, 503
// (Retry-After may be set), or else 500.
func (s *Service) Fail(w http.ResponseWriter, r *http.Request, status int) {
	var err error
	switch status {
	case http.StatusNotFound:
		err = refusal.New(refusal.NotFound, "There is nothing at this address.")
	case http.StatusMethodNotAllowed:
		err = WrongMethod(w, w.Header().Get("Allow"))
	case http.StatusGone:
		err = refuseWith(status, refusal.NotFound, "", "This card was replaced.")
	case http.StatusTooManyRequests:
		err = refusal.New(refusal.RateLimited, "There were too many requests for what is not there. Wait a moment.")
	case http.StatusServiceUnavailable:
		err = refusal.New(refusal.Unavailable, "The service is unavailable at the moment. Repeat the request in a moment.")
	default:
		err = refusal.New(refusal.UnexpectedError, "Something went wrong on our side. It is noted under the requestID of "+
			"this answer.")
	}
	s.Refuse(w, r, err)
}

// WrongMethod refuses the method of a call to an address that takes others, and sets the header Allow.
func WrongMethod(w http.ResponseWriter, allow string) error {
	w.Header().Set("Allow", allow)
	return refuseWith(http.StatusMethodNotAllowed, refusal.NotSupported, "", "This address takes %s only.", allow)
}

// Unreadable is the code and the problem document of a request that could not be read as HTTP, so that no handler got
// it.
func Unreadable(status int, publicURL, requestID string) (refusal.Code, []byte) {
	refused := refusal.New(refusal.ValidationFailure, "This is not a valid HTTP request.")
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		refused = refusal.New(refusal.ValidationFailure, "The headers of this request are too large.")
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		refused = refusal.New(refusal.NotSupported, "This version or transfer encoding of HTTP is not supported.")
	}
	return refused.Code, problemDocument(refused, status, phrase.English, publicURL, requestID, func(*wire.Writer) {}).Body
}
