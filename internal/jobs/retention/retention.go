// Package retention erases what gifts say of people, in accounts whose set-up says after how many days: by the
// machine's clock, and in test accounts by theirs. Any number of services may run it: to erase again changes nothing.
package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store"
	"boon.example/internal/store/erase"
)

// Every is the time between two rounds of the job.
const Every = time.Hour

const (
	again     = 23 * time.Hour        // until an account is looked through once more: each look reads all of its gifts
	gather    = 1_000                 // gifts before they are erased, so that those of an order are erased together
	lookPause = 10 * time.Millisecond // between two looks for what has ended
)

// Job erases in all accounts.
type Job struct {
	Store     *store.Store
	Directory func() *merchant.Directory

	begun  time.Time             // of the first round
	looked map[guid.ID]time.Time // when all that was due in an account was erased
}

// Batch is a round of the job, and tells in how many gifts it erased.
func (j *Job) Batch(ctx context.Context) (done int, more bool, err error) {
	if j.begun.IsZero() {
		j.begun = time.Now()
	}
	done, err = j.Round(ctx, notAhead(j.begun, time.Since(j.begun), time.Now()))
	return done, false, err
}

// notAhead is what the clock shows, but no more than has passed since a time: what is erased because somebody set the
// clock ahead does not come back.
func notAhead(begun time.Time, passed time.Duration, now time.Time) time.Time {
	latest := begun.Round(0).Add(passed) // without the reading of the clock that cannot be set, which hides the jump
	if now = now.Round(0); now.After(latest) {
		return latest
	}
	return now
}

// Round erases in the accounts that are due at a time of the machine's clock: once a day each. Rounds come one after
// the other. An account that fails holds up no other.
func (j *Job) Round(ctx context.Context, now time.Time) (done int, failed error) {
	if j.looked == nil {
		j.looked = map[guid.ID]time.Time{}
	}
	for _, account := range j.Directory().Accounts {
		if now.Sub(j.looked[account.ID]) < again {
			continue
		}
		n, err := j.Account(ctx, account, now)
		if done += n; err != nil {
			failed = errors.Join(failed, fmt.Errorf("account %s: %w", account.ID, err))
			continue
		}
		j.looked[account.ID] = now
	}
	return done, failed
}

// Account erases all that is due in an account at a time of the machine's clock, and tells in how many gifts. That it
// does stands in the audit trail before. A gift that cannot be erased is told of at the end and holds up no other.
func (j *Job) Account(ctx context.Context, account *merchant.Account, now time.Time) (n int, err error) {
	before, err := j.endedBefore(ctx, account, now)
	if err != nil || before.IsZero() {
		return 0, err
	}
	ask := erase.Request{Account: account, Force: true, Ended: before, GoOn: true}
	var failed error
	var ids []guid.ID
	for after, more := (guid.ID{}), true; more; {
		var some []guid.ID
		if some, after, more, err = j.Store.Eraser.Ended(ctx, account, after, before); err != nil {
			return n, errors.Join(err, failed)
		}
		if n == 0 && failed == nil && len(ids) == 0 && len(some) > 0 {
			what := phrase.Kept("erases what gifts of account %-s say of people that ended more than %d days ago").Say(
				account.ID, account.PersonalDataDays)
			err := j.Store.LogExport(ctx, event.TrailEntry{AccountID: account.ID, Action: event.PersonErased, What: what})
			if err != nil {
				return n, err
			}
		}
		if ids = append(ids, some...); len(ids) >= gather || !more {
			done, err := j.Store.Eraser.Gifts(ctx, ask, ids)
			if n, ids = n+done.Gifts, nil; err != nil {
				failed = err
			}
		}
		if !wait(ctx, lookPause) {
			return n, ctx.Err()
		}
	}
	return n, failed
}

// Within is Account for as long as there is time, and counts the gifts that are left; it stops at a number.
func (j *Job) Within(ctx context.Context, account *merchant.Account, now time.Time, within time.Duration, most int) (
	left int, err error) {
	if within > 0 {
		timed, cancel := context.WithTimeout(ctx, within)
		_, err = j.Account(timed, account, now)
		over := timed.Err() != nil
		if cancel(); !over {
			return 0, err
		}
	}
	return j.due(ctx, account, now, most)
}

// endedBefore is the instant before which gifts ended that are to be erased at a time of the machine's clock; zero:
// none is.
func (j *Job) endedBefore(ctx context.Context, account *merchant.Account, now time.Time) (before time.Time, err error) {
	if account.PersonalDataDays == 0 {
		return before, nil
	}
	if account.Test {
		clock, err := j.Store.Clock(ctx, account.ID)
		if err != nil {
			return before, err
		}
		now = clock.Now(now)
	}
	return now.AddDate(0, 0, -account.PersonalDataDays), nil
}

// due counts the gifts that Account would erase.
func (j *Job) due(ctx context.Context, account *merchant.Account, now time.Time, most int) (n int, err error) {
	before, err := j.endedBefore(ctx, account, now)
	if err != nil || before.IsZero() {
		return 0, err
	}
	for after, more := (guid.ID{}), true; more && n < most; {
		var ids []guid.ID
		if ids, after, more, err = j.Store.Eraser.Ended(ctx, account, after, before); err != nil {
			return n, err
		}
		n += len(ids)
	}
	return min(n, most), nil
}

// wait tells whether there is time left.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
