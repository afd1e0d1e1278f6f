package server

import (
	"context"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/merchant"
	"boon.example/internal/post/webhook"
	"boon.example/internal/store"
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

// portions deletes some of what is old, and tells how much.
type portions func(ctx context.Context, most int) (int64, error)

// next is a batch of a job.
func next(ctx context.Context, some portions) (done int, more bool, err error) {
	n, err := some(ctx, forgetBatch)
	return int(n), n == forgetBatch, err
}

// forgetting deletes old records.
type forgetting struct {
	store *store.Store
	keep  time.Duration
	begun time.Time // the round before, by a clock that cannot be set
}

// due is what is to be deleted in a round of the job.
func (f *forgetting) due(ctx context.Context, d *merchant.Directory, now time.Time) ([]portions, error) {
	var ran time.Duration
	if !f.begun.IsZero() {
		ran = time.Since(f.begun)
	}
	list, err := f.after(ctx, d, now, ran)
	if err == nil { // otherwise the next round makes up for it
		f.begun = time.Now()
	}
	return list, err
}

// after is what is to be deleted in all accounts, records and then events of each, after the service has run for a time
// since the round before. What is old follows the newest entry that is stored, so that a clock that is ahead makes
// nothing old by itself; and because a redemption under that clock is such an entry, too, the instant before which
// everything is forgotten moves on by a few hours at most.
func (f *forgetting) after(ctx context.Context, d *merchant.Directory, now time.Time,
	ran time.Duration) (list []portions, err error) {
	newest, oldest, err := f.ages(ctx, d)
	if err != nil || newest.IsZero() || oldest.IsZero() {
		return nil, err
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
		return nil, err
	}
	before = earlier(before, latest)
	for account := range d.Accounts {
		list = append(list, func(ctx context.Context, most int) (int64, error) {
			return f.store.ForgetRequests(ctx, account, before, most)
		}, func(ctx context.Context, most int) (int64, error) { // events are kept longer, by the same instant
			return f.store.ForgetEvents(ctx, account, before.Add(-f.longer()), now, most)
		})
	}
	return list, nil
}

// ages are the times of the newest entry and of the oldest record or event that may be forgotten one day: of an event,
// when a record would be forgotten together with it.
func (f *forgetting) ages(ctx context.Context, d *merchant.Directory) (newest, oldest time.Time, err error) {
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
func (f *forgetting) longer() time.Duration { return max(0, event.Kept-f.keep) }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// oldMessages are those of the outbox.
func (a *app) oldMessages(context.Context) ([]portions, error) {
	before := time.Now().Add(-keepMessages)
	return []portions{func(ctx context.Context, most int) (int64, error) {
		return a.store.ForgetMessages(ctx, before, most)
	}}, nil
}

// oldCounts are those of daily limits, of the days before yesterday.
func (a *app) oldCounts(context.Context) (list []portions, _ error) {
	for id, account := range a.directory.Load().Accounts {
		yesterday, _ := merchant.Day(time.Now().AddDate(0, 0, -1), account.Zone)
		list = append(list, func(ctx context.Context, most int) (int64, error) {
			return a.store.ForgetCounts(ctx, id, yesterday, most)
		})
	}
	return list, nil
}

// oldAttempts are those at webhooks.
func (a *app) oldAttempts(context.Context) (list []portions, _ error) {
	before := time.Now().Add(-webhook.AttemptsKept)
	for id := range a.directory.Load().Accounts {
		list = append(list, func(ctx context.Context, most int) (int64, error) {
			return a.store.ForgetAttempts(ctx, id, before, most)
		})
	}
	return list, nil
}
