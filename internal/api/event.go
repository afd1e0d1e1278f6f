package api

import "boon.example/internal/gift"

// Event is what one request came to, for the log line and the metrics of the server around. It holds no secret.
type Event struct {
	RequestID string
	AccountID gift.ID   // zero: nobody's
	Code      gift.Code // "" on success
	Err       error     // what lies behind an UNEXPECTED_ERROR or UNAVAILABLE; never shown to the caller
}
