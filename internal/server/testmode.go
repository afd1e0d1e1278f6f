package server

import (
	"context"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/jobs"
	"boon.example/internal/merchant"
)

const (
	catchUpPause = 20 * time.Millisecond // before what is due is counted again
	holdsAtOnce  = 16                    // gifts whose holds are entered at a time
	countDue     = 1_000                 // gifts that are counted at most, of holds and of names to be erased
)

// catchUp does what is due in a test account by its clock, in small portions beside everything else, and tells how much
// is left after a time: gifts of which names are to be erased, messages to be sent, gifts with holds that are over, and
// gifts that expire. Where there is no time, it does nothing and tells what is due.
func (a *app) catchUp(ctx context.Context, account *merchant.Account, within time.Duration) (left int, err error) {
	end := time.Now().Add(within)
	kept, err := a.retention().Within(ctx, account, time.Now(), within, countDue)
	if err != nil {
		return 0, err
	}
	for {
		if left, err = a.doSome(ctx, account, within > 0); err != nil || left == 0 || !time.Now().Before(end) {
			return left + kept, err
		}
		a.tests.Wake()
		select {
		case <-ctx.Done():
			return left + kept, nil
		case <-time.After(catchUpPause):
		}
	}
}

// doSome counts what is due, and enters some of the holds that are over.
func (a *app) doSome(ctx context.Context, account *merchant.Account, enter bool) (left int, err error) {
	clock, err := a.store.Clock(ctx, account.ID)
	if err != nil {
		return 0, err
	}
	now := clock.Now(time.Now())
	due, err := a.store.DueHoldsOf(ctx, account.ID, now, countDue)
	if err != nil {
		return 0, err
	}
	if enter {
		some := due[:min(holdsAtOnce, len(due))]
		if _, err := a.enterHolds(ctx, some); err != nil {
			return 0, err
		}
		due = due[len(some):]
	}
	ends, err := a.expiry.CatchUp(ctx, account.ID, now, enter)
	if err != nil {
		return 0, err
	}
	left, err = a.store.DueJobsOf(ctx, account.ID, now)
	return left + len(due) + ends, err
}

// expireTestHolds makes the batches that enter which holds of test accounts are over by their clocks.
func (a *app) expireTestHolds() func(context.Context) (done int, more bool, err error) {
	return jobs.Each(func(context.Context) (accounts []guid.ID, _ error) {
		for id, account := range a.directory.Load().Accounts {
			if account.Test {
				accounts = append(accounts, id)
			}
		}
		return accounts, nil
	}, func(ctx context.Context, account guid.ID) (done int, more bool, err error) {
		clock, err := a.store.Clock(ctx, account)
		if err != nil {
			return 0, false, err
		}
		due, err := a.store.DueHoldsOf(ctx, account, clock.Now(time.Now()), holdsAtOnce)
		if err != nil {
			return 0, false, err
		}
		failed, err := a.enterHolds(ctx, due)
		return len(due) - failed, len(due) == holdsAtOnce, err
	})
}
