package api

import (
	"net/http"
	"time"

	"boon.example/internal/gift"
)

// Busy refuses a call for want of time, without having looked at it: UNAVAILABLE, with Retry-After. It is cheap, for whoever calls it has
// more calls than can be served.
func (a *API) Busy(w http.ResponseWriter, r *http.Request) {
	refused := gift.Refuse(gift.Unavailable, "The service is overloaded and has not looked at this. Repeat the request in a moment with the same Idempotency-Key.")
	refused.RetryAfter = time.Second
	c := &call{API: a, w: w, r: r, requestID: Identify(w, r)}
	c.write(c.problem(refused))
}
