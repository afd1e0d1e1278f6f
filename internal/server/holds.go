package server

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"boon.example/internal/ledger"
)

// HoldsEvery is how often holds that are over are entered in histories. No money depends on it: what is touched before
// is entered then.
const HoldsEvery = 10 * time.Second

// A few of each of some gifts are entered at a time, with a pause in between, so that no redemption waits for many.
const (
	holdsBatch = 64
	holdsPause = 100 * time.Millisecond
)

// expireHolds enters which holds are over, for as long as the service runs.
func (a *app) expireHolds(ctx context.Context) {
	every(ctx, cmp.Or(a.HoldsEvery, HoldsEvery), func() {
		for {
			n, err := a.expireSome(ctx)
			if err != nil && ctx.Err() == nil {
				a.Logger.Error("holds that are over could not be entered; this is tried again", "error", err)
			}
			if n == 0 || err != nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(holdsPause):
			}
		}
	})
}

// expireSome tells of how many gifts it entered holds.
func (a *app) expireSome(ctx context.Context) (int, error) {
	due, err := a.store.DueHolds(ctx, time.Now(), holdsBatch)
	if err != nil {
		return 0, err
	}
	failures := make([]error, len(due))
	var all sync.WaitGroup
	for i, ref := range due { // at once, so that they share transactions
		all.Go(func() {
			failures[i] = a.do(ctx, ref.AccountID, "expire", &ledger.Expire{Ref: ref})
		})
	}
	all.Wait()
	return len(due), errors.Join(failures...)
}
