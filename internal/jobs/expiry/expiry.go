// Package expiry tells, as events, of gifts whose validity is about to end or has ended: by the machine's clock, and in
// test accounts by theirs. What was told of is in the store, so that any number of services may run it.
package expiry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/jobs"
	"boon.example/internal/merchant"
)

// Every is the time between two rounds of the job.
const Every = time.Minute

// Pause is the least time between two batches: a few gifts are told of at a time, so that no redemption waits for many,
// and thousands of gifts that end at one midnight are told of within seconds.
const Pause = 20 * time.Millisecond

const (
	batch = 100
	most  = 1_000 // that are counted
)

// Store keeps gifts and events.
type Store interface {
	Clock(ctx context.Context, account guid.ID) (merchant.Clock, error)
	// DueExpiry counts what is due of an account, up to a limit for each type of event.
	DueExpiry(ctx context.Context, account guid.ID, now time.Time, limit int) (int, error)
	// TellExpiry writes the events of some gifts that are due, once for each end of a gift, and tells of how many gifts.
	TellExpiry(ctx context.Context, account guid.ID, now time.Time, limit int) (int, error)
}

// Notifier tells of gifts of all accounts.
type Notifier struct {
	Store
	Directory func() *merchant.Directory
}

// Batches makes the batches of the job, which tell of all that is due.
func (n *Notifier) Batches() func(context.Context) (done int, more bool, err error) {
	return jobs.Each(func(context.Context) ([]*merchant.Account, error) {
		return slices.Collect(maps.Values(n.Directory().Accounts)), nil
	}, n.some)
}

// some tells of some of what is due in an account.
func (n *Notifier) some(ctx context.Context, account *merchant.Account) (done int, more bool, err error) {
	now := time.Now()
	if account.Test {
		clock, err := n.Clock(ctx, account.ID)
		if err != nil {
			return 0, false, err
		}
		now = clock.Now(now)
	}
	if done, err = n.TellExpiry(ctx, account.ID, now, batch); err != nil {
		return 0, false, fmt.Errorf("account %s: %w", account.ID, err)
	}
	return done, done > 0, nil
}

// CatchUp tells of some of what is due in an account at an instant by its clock, if it is to, and counts what is left.
func (n *Notifier) CatchUp(ctx context.Context, account guid.ID, now time.Time, tell bool) (left int, err error) {
	if tell {
		if _, err := n.TellExpiry(ctx, account, now, batch); err != nil {
			return 0, err
		}
	}
	return n.DueExpiry(ctx, account, now, most)
}
