// Package expiry tells, as events, of gifts whose validity is about to end or has ended: by the machine's clock, and in
// test accounts by theirs. What was told of is in the store, so that any number of services may run it.
package expiry

import (
	"context"
	"log/slog"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
)

// Every is how often it is looked for gifts.
const Every = time.Minute

// A few gifts are told of at a time, with a pause in between, so that no redemption waits for many: at least pause, and
// share times what they took. So the embedded database is left to tills for two thirds of the time, and thousands of
// gifts that end at one midnight are told of within seconds.
const (
	batch = 100
	pause = 20 * time.Millisecond
	share = 2
	most  = 1_000 // that are counted
)

// Store keeps gifts and events.
type Store interface {
	Clock(ctx context.Context, account guid.ID) (gift.Clock, error)
	// DueExpiry counts what is due of an account, up to a limit for each type of event.
	DueExpiry(ctx context.Context, account guid.ID, now time.Time, limit int) (int, error)
	// TellExpiry writes the events of some gifts that are due, once for each end of a gift, and tells of how many gifts.
	TellExpiry(ctx context.Context, account guid.ID, now time.Time, limit int) (int, error)
}

// Teller tells of gifts of all accounts.
type Teller struct {
	Store
	Directory func() *gift.Directory
	Logger    *slog.Logger
}

// Run tells of gifts until ctx ends.
func (t *Teller) Run(ctx context.Context) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		for id, account := range t.Directory().Accounts {
			if err := t.account(ctx, id, account); err != nil && ctx.Err() == nil {
				t.Logger.Error("gifts that expire could not be told of; this is tried again", "account", id.String(), "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// account tells of all that is due in an account.
func (t *Teller) account(ctx context.Context, id guid.ID, account *gift.Account) error {
	for {
		now := time.Now()
		if account.Test {
			clock, err := t.Clock(ctx, id)
			if err != nil {
				return err
			}
			now = clock.Now(now)
		}
		begun := time.Now()
		n, err := t.TellExpiry(ctx, id, now, batch)
		if err != nil || n == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(pause, share*time.Since(begun))):
		}
	}
}

// Settle tells of some of what is due in an account at an instant by its clock, if it is to, and counts what is left.
func (t *Teller) Settle(ctx context.Context, account guid.ID, now time.Time, tell bool) (left int, err error) {
	if tell {
		if _, err := t.TellExpiry(ctx, account, now, batch); err != nil {
			return 0, err
		}
	}
	return t.DueExpiry(ctx, account, now, most)
}
