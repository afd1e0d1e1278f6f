package server

import (
	"context"
	"errors"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/store"
	"boon.example/internal/webhook"
)

// KeepRequests is how long idempotency records of calls that move no value are kept at least, and by default.
const KeepRequests = 30 * 24 * time.Hour

// How old records are deleted: so few at a time that no redemption waits for it longer than for another group, and with
// a pause in between; and no faster than so many days' worth in a day of running, whatever the clock says.
const (
	forgetEvery = time.Hour
	forgetBatch = 200
	forgetPause = 250 * time.Millisecond
	forgetPace  = 2
)

// keepMessages is how long messages stay in the outbox.
const keepMessages = 30 * 24 * time.Hour

// forget deletes what is old enough, and frees jobs that a wrong clock holds, now and then, for as long as the service
// runs.
func (a *app) forget(ctx context.Context) {
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	f := forgetting{store: a.store, keep: a.KeepRequests, pause: forgetPause}
	var ran time.Duration // since the pass before
	for {
		n, err := f.pass(ctx, a.directory.Load(), time.Now(), ran)
		err = errors.Join(err, a.store.ForgetSheets(ctx, time.Now()), a.store.FreeJobs(ctx, time.Now()),
			a.forgetOthers(ctx, time.Now()))
		if err != nil && ctx.Err() == nil {
			a.Logger.Error("what is old could not be deleted; this is tried again later", "error", err)
		}
		if n > 0 {
			a.Logger.Info("old idempotency records were deleted", "records", n)
		}
		ran = forgetEvery // by a clock that cannot be set
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// forgetting deletes old records.
type forgetting struct {
	store *store.Store
	keep  time.Duration
	pause time.Duration
}

// pass goes through all accounts, after the service has run for so long since the pass before, and tells how many
// records it deleted. What is old follows the newest entry that is stored, so that a clock that is ahead makes nothing
// old by itself; and because a redemption under that clock is such an entry, too, the instant before which everything
// is forgotten moves on by a few hours at most.
func (f *forgetting) pass(ctx context.Context, d *gift.Directory,
	now time.Time, ran time.Duration) (total int64, err error) {
	newest, oldest, err := f.ages(ctx, d)
	if err != nil || newest.IsZero() || oldest.IsZero() {
		return 0, err
	}
	latest := earlier(newest, now).Add(-f.keep)
	before, err := f.store.MoveForgotten(ctx, func(before, moved time.Time) time.Time {
		if before.IsZero() {
			before = oldest
		}
		if since := now.Sub(moved); !moved.IsZero() && since > 0 { // another instance may have moved it
			ran = min(ran, since)
		}
		return before.Add(ran * forgetPace)
	}, latest, now)
	if err != nil {
		return 0, err
	}
	before = earlier(before, latest)
	for account := range d.Accounts {
		n, err := inBatches(ctx, f.pause, func(most int) (int64, error) {
			return f.store.ForgetRequests(ctx, account, before, most)
		})
		if total += n; err == nil { // events are kept longer, by the same instant
			_, err = inBatches(ctx, f.pause, func(most int) (int64, error) {
				return f.store.ForgetEvents(ctx, account, before.Add(-f.longer()), now, most)
			})
		}
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// ages are the times of the newest entry and of the oldest record or event that may be forgotten one day: of an event,
// when a record would be forgotten together with it.
func (f *forgetting) ages(ctx context.Context, d *gift.Directory) (newest, oldest time.Time, err error) {
	for account, of := range d.Accounts {
		ages, err := f.store.Ages(ctx, account)
		if err != nil {
			return newest, oldest, err
		}
		if ages.Entry.After(newest) && !of.Test { // whose clock may be years ahead
			newest = ages.Entry
		}
		if !ages.Event.IsZero() {
			ages.Event = ages.Event.Add(f.longer())
		}
		for _, at := range []time.Time{ages.Record, ages.Event} {
			if oldest.IsZero() || !at.IsZero() && at.Before(oldest) {
				oldest = at
			}
		}
	}
	return newest, oldest, nil
}

// longer is how much longer than records events are kept, by the same instant.
func (f *forgetting) longer() time.Duration { return max(0, gift.EventsKept-f.keep) }

// inBatches forgets, with pauses, until there is nothing left to be forgotten.
func inBatches(ctx context.Context, pause time.Duration,
	forget func(most int) (int64, error)) (total int64, err error) {
	for {
		n, err := forget(forgetBatch)
		if total += n; err != nil || n < forgetBatch {
			return total, err
		}
		select {
		case <-ctx.Done():
			return total, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// forgetOthers deletes messages of the outbox, counts of daily limits of days before yesterday, and attempts at
// webhooks, as they are old enough.
func (a *app) forgetOthers(ctx context.Context, now time.Time) (failed error) {
	old := []func(most int) (int64, error){func(most int) (int64, error) {
		return a.store.ForgetMessages(ctx, now.Add(-keepMessages), most)
	}}
	for id, account := range a.directory.Load().Accounts {
		yesterday, _ := gift.Day(now.AddDate(0, 0, -1), account.Zone)
		old = append(old, func(most int) (int64, error) { return a.store.ForgetCounts(ctx, id, yesterday, most) },
			func(most int) (int64, error) {
				return a.store.ForgetAttempts(ctx, id, now.Add(-webhook.AttemptsKept), most)
			})
	}
	for _, forget := range old {
		_, err := inBatches(ctx, forgetPause, forget)
		failed = errors.Join(failed, err)
	}
	return failed
}
