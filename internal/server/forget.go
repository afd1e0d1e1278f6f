package server

import (
	"context"
	"time"
)

// KeepRequests is how long idempotency records of calls that move no value are kept at least, and by default.
const KeepRequests = 30 * 24 * time.Hour

// How old records are deleted: so few at a time that no redemption waits for it longer than for another group, and with
// a pause in between.
const (
	forgetEvery = time.Hour
	forgetBatch = 200
	forgetPause = 250 * time.Millisecond
)

// forget deletes idempotency records that are old enough, now and then, for as long as the service runs.
func (h *house) forget(ctx context.Context) {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		n, err := h.forgetOnce(ctx, time.Now().Add(-h.KeepRequests))
		if err != nil && ctx.Err() == nil {
			h.Logger.Error("old idempotency records could not be deleted; this is tried again later", "error", err)
		}
		if n > 0 {
			h.Logger.Info("old idempotency records were deleted", "records", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// forgetOnce goes through all accounts, and tells how many records it deleted.
func (h *house) forgetOnce(ctx context.Context, before time.Time) (total int64, err error) {
	for account := range h.directory.Load().Accounts {
		for {
			n, err := h.store.ForgetRequests(ctx, account, before, forgetBatch)
			total += n
			if err != nil {
				return total, err
			}
			if n < forgetBatch {
				break
			}
			select {
			case <-ctx.Done():
				return total, ctx.Err()
			case <-time.After(forgetPause):
			}
		}
	}
	return total, nil
}
