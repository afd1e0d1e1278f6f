package api

import (
	"net/http"

	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
)

// Fail answers a request to an address that is not the interface's own with the problem document of a status: 404,
// 405 (the header Allow is set), 410, 429, 503 (Retry-After may be set), or else 500.
func (a *API) Fail(w http.ResponseWriter, r *http.Request, status int) {
	var err error
	switch status {
	case http.StatusNotFound:
		err = nothingHere()
	case http.StatusMethodNotAllowed:
		err = (&call{w: w}).wrongMethod(w.Header().Get("Allow"))
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
	a.handler(func(*call) (ledger.Answer, error) { return ledger.Answer{}, err }).ServeHTTP(w, r)
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
	return refused.Code, problemDocument(refused, status, publicURL, requestID).Body
}

func nothingHere() error { return refusal.New(refusal.NotFound, "There is nothing at this address.") }
