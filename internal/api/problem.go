package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/wire"
)

// kind is how a code is told in HTTP.
type kind struct {
	status int
	title  string // of a refusal
}

// kinds says it of every code that an answer can have.
var kinds = map[gift.Code]kind{
	ledger.OK:               {http.StatusOK, ""},
	ledger.Created:          {http.StatusCreated, ""},
	ledger.Nothing:          {http.StatusOK, ""},
	gift.ValidationFailure:  {http.StatusBadRequest, "The request has missing or incorrectly formatted fields."},
	gift.InvalidCodeFormat:  {http.StatusBadRequest, "The voucher code is not formatted as expected."},
	gift.InvalidTokenFormat: {http.StatusBadRequest, "The voucher token is not formatted as expected."},
	gift.Unauthenticated:    {http.StatusUnauthorized, "The request carries no valid API key."},
	gift.NotAuthorized: {http.StatusForbidden,
		"This is not allowed for the current account, key or location."},
	gift.NotFound:             {http.StatusNotFound, "The requested gift or record is not found."},
	gift.AccountMisconfigured: {http.StatusConflict, "The account lacks configuration that this needs."},
	gift.AlreadyRedeemed:      {http.StatusConflict, "The gift is already redeemed."},
	gift.RedemptionNotAllowed: {http.StatusConflict, "The gift is not in a state that allows this."},
	gift.InsufficientBalance:  {http.StatusConflict, "The amount is above the balance."},
	gift.AlreadyReversed:      {http.StatusConflict, "It is already reversed."},
	gift.HoldNotOpen:          {http.StatusConflict, "The hold is not open any more."},
	gift.AlreadyActivated:     {http.StatusConflict, "The card is already activated."},
	gift.RequestInProgress:    {http.StatusConflict, "The first request with this key is still under way."},
	gift.NotSupported:         {http.StatusUnprocessableEntity, "The operation is not supported."},
	gift.MissingOrInvalidGiftProgram: {http.StatusUnprocessableEntity,
		"The gift program is not the one of the gift, or there is no such program."},
	gift.InvalidVoucherType:     {http.StatusUnprocessableEntity, "The gift is not of the type that was asked for."},
	gift.ItemEligibilityFailure: {http.StatusUnprocessableEntity, "No item on the ticket is eligible for this gift."},
	gift.IdempotencyMismatch:    {http.StatusUnprocessableEntity, "The Idempotency-Key belongs to another request."},
	gift.RateLimited:            {http.StatusTooManyRequests, "There were too many attempts."},
	gift.UnexpectedError:        {http.StatusInternalServerError, "Something went wrong on our side."},
	gift.Unavailable:            {http.StatusServiceUnavailable, "The service is unavailable at the moment."},
}

// statusError is a refusal with an HTTP status that its code alone does not give.
type statusError struct {
	refusal *gift.Error
	status  int
}

func (e *statusError) Error() string { return e.refusal.Error() }
func (e *statusError) Unwrap() error { return e.refusal }

func refuseWith(status int, code gift.Code, path, text string) error {
	return &statusError{refuseAt(code, path, "%s", text), status}
}

// refuseAt refuses what package gift knows nothing of: a header, or how a value is written.
func refuseAt(code gift.Code, path, format string, args ...any) *gift.Error {
	return &gift.Error{Code: code, Messages: []gift.Message{gift.MessageAt(path, format, args...)}}
}

// problem makes the answer of an error with its HTTP status, and sets the headers that belong to it.
func (c *call) problem(err error) (status int, _ ledger.Answer) {
	refused := told(err)
	status = kinds[refused.Code].status
	if e, ok := errors.AsType[*statusError](err); ok {
		status = e.status
	}
	switch refused.Code {
	case gift.Unauthenticated:
		c.w.Header().Set("WWW-Authenticate", `Bearer realm="boon"`)
	case gift.RateLimited, gift.Unavailable, gift.RequestInProgress:
		sayWhen(c.w.Header(), refused)
	}
	return status, problemDocument(refused, status, c.PublicURL, c.requestID)
}

// told is what a caller is told of an error: a refusal as it is, and of a failure no reason.
func told(err error) *gift.Error {
	refused, ok := errors.AsType[*gift.Error](err)
	switch {
	case ok && refused.Code != gift.UnexpectedError:
		return refused
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return gift.Refuse(gift.Unavailable, "This took too long. Repeat the request in a moment with the same "+
			"Idempotency-Key.")
	}
	return gift.Refuse(gift.UnexpectedError, "Something went wrong on our side. It is noted under the requestID "+
		"of this answer.")
}

// sayWhen says when to come again, unless that is said already.
func sayWhen(h http.Header, refused *gift.Error) {
	if wait := max(refused.RetryAfter, time.Second); h.Get("Retry-After") == "" {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}

// render makes the answer of a refusal; the engine stores it for the refusals that are decided on a gift's state.
func (c *call) render(refused *gift.Error) ledger.Answer {
	return problemDocument(refused, kinds[refused.Code].status, c.PublicURL, c.requestID)
}

// problemDocument writes RFC 9457's members and the interface's two.
func problemDocument(e *gift.Error, status int, publicURL, requestID string) ledger.Answer {
	w := wire.NewWriter(512)
	w.Open()
	w.Text("type", publicURL+"/docs/errors#"+string(e.Code))
	w.Text("title", kinds[e.Code].title)
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

// stored tells what became of a look-up: what is not there is gift.NotFound, what is not as it was written
// gift.UnexpectedError; any other failure means that the store is away, and since nothing was changed, the caller may
// ask again.
func stored(err error) error {
	if err == nil || errors.Is(err, gift.NotFound) || errors.Is(err, gift.UnexpectedError) {
		return err
	}
	if _, ok := errors.AsType[*gift.Error](err); ok {
		return err
	}
	away := gift.Refuse(gift.Unavailable, "The store is busy or cannot be reached; nothing was changed. Repeat the "+
		"request in a moment.")
	away.RetryAfter = time.Second
	return &hiddenCause{away, err}
}

// hiddenCause is a refusal with the reason that only the operator learns.
type hiddenCause struct {
	refusal *gift.Error
	cause   error
}

func (e *hiddenCause) Error() string   { return e.refusal.Error() + ": " + e.cause.Error() }
func (e *hiddenCause) Unwrap() []error { return []error{e.refusal, e.cause} }
