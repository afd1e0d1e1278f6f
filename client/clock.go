package client

import (
	"context"
	"net/http"
	"time"
)

// OpAdvanceClock advances the clock of a test account.
const OpAdvanceClock Operation = "clock"

const testPath = "/api/test/"

// AdvanceClockRequest asks for the clock of a test account to be advanced, by a period or to an instant.
type AdvanceClockRequest struct {
	Advance string    `json:"advance,omitzero"` // an ISO 8601 duration, such as P30D
	Now     time.Time `json:"now,omitzero"`

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Clock is the clock of a test account.
type Clock struct {
	AccountID string    `json:"accountID"`
	Now       time.Time `json:"now"`
	Due       int       `json:"due"` // what is due by the clock and not done yet; more than 0: advance it by PT0S
	Meta      Meta      `json:"-"`
}

// Clock tells what the clock of the key's test account shows.
func (c *Client) Clock(ctx context.Context) (*Clock, error) {
	var a Clock
	k := call{method: http.MethodGet, path: testPath + string(OpAdvanceClock), limit: smallAnswer}
	return answered(ctx, c, k, &a, &a.Meta)
}

// AdvanceClock advances the clock of the key's test account. What becomes due by it is done before the answer, as far
// as there is time.
func (c *Client) AdvanceClock(ctx context.Context, r AdvanceClockRequest) (*Clock, error) {
	var a Clock
	return answered(ctx, c, post(OpAdvanceClock, testPath, r, r.IdempotencyKey), &a, &a.Meta)
}
