package server

import (
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

// expireHolds makes the batches that enter which holds are over.
func (a *app) expireHolds() func(context.Context) (done int, more bool, err error) {
	skip := 0 // those that could not be entered, until all others were tried
	return func(ctx context.Context) (int, bool, error) {
		n, failed, err := a.expireSome(ctx, skip)
		if skip += failed; n == 0 {
			skip = 0
		}
		return n - failed, n > 0, err
	}
}

// expireSome tells of how many gifts it wanted to enter holds, after those to be skipped, and of how many it could not.
func (a *app) expireSome(ctx context.Context, skip int) (n, failed int, _ error) {
	due, err := a.store.DueHolds(ctx, time.Now(), holdsBatch, skip)
	if err != nil {
		return 0, 0, err
	}
	failed, err = a.enterHolds(ctx, due)
	return len(due), failed, err
}

// enterHolds enters which holds of gifts are over, and tells of how many it could not.
func (a *app) enterHolds(ctx context.Context, due []ledger.Ref) (failed int, _ error) {
	failures := make([]error, len(due))
	enter := func(i int) { failures[i] = a.do(ctx, due[i].AccountID, "expire", &ledger.Expire{Ref: due[i]}) }
	var all sync.WaitGroup
	for i := range due { // at once, so that they share transactions
		all.Go(func() { enter(i) })
	}
	all.Wait()
	for i := range due {
		if failures[i] != nil {
			enter(i) // by itself: one that cannot be read fails all of its group
		}
		if failures[i] != nil {
			failed++
		}
	}
	return failed, errors.Join(failures...)
}
