package server

import (
	"context"
	"math/rand/v2"
	"time"

	"boon.example/internal/jobs"
	"boon.example/internal/merchant"
	"boon.example/internal/post/pass/google"
	"boon.example/internal/post/pass/push"
)

// phones tells phones that their passes changed.
type phones struct {
	*push.Follower
	sender *push.Sender
	google *google.Writer // has Google keep its passes as gifts are
}

func (a *app) newPhones() phones {
	count := a.metrics.outcomes("boon_pass_pushes_total", "Pushes to phones that have passes, by outcome: taken, gone "+
		"(there is no such phone), refused (another answer of Apple) or failed (none).",
		"taken", "gone", "refused", "failed")
	sender := push.NewSender(a.PushAddress, a.PushRoots)
	f := &push.Follower{Store: a.store, Send: sender.Send, Directory: a.directory.Load, Log: a.Logger,
		Random: rand.Float64, Observe: func(o push.Outcome) { count(o.Word()) }}
	f.Begin()
	a.metrics.gauge("boon_pass_pushes_waiting", "Phones that are to be told that a pass changed.",
		func() float64 { return float64(f.Health().Waiting) })
	a.metrics.gauge("boon_pass_push_behind_seconds", "For how long the oldest of them has waited; 0: none does.",
		func() float64 { return f.Health().Behind().Seconds() })
	p := phones{f, sender, a.googlePasses()}
	f.Beside = p.google
	return p
}

func (a *app) googlePasses() *google.Writer {
	count := a.metrics.outcomes("boon_google_passes_total", "Passes that were to be written at Google, by outcome: "+
		"written, refused (Google never takes it as it is), unreadable (the gift does not open) or failed (it is tried "+
		"again).",
		"written", "refused", "unreadable", "failed")
	at := a.Google
	if at == (google.Addresses{}) {
		at = google.Google
	}
	w := &google.Writer{Store: a.store, Directory: a.directory.Load, PublicURL: a.PublicURL, At: at, Log: a.Logger,
		Observe: count,
		Now: func(ctx context.Context, account *merchant.Account) (time.Time, error) {
			if !account.Test {
				return time.Now(), nil
			}
			clock, err := a.store.Clock(ctx, account.ID)
			return clock.Now(time.Now()), err
		}}
	w.Begin()
	return w
}

// job follows the events of all accounts that have passes.
func (p phones) job() jobs.Job {
	return jobs.Job{Name: "push-passes", Every: push.Every, Batch: jobs.Whole(p.Look),
		Last: func(ctx context.Context) error {
			defer p.sender.Close()
			p.google.Stop() // before the leases are given back
			return p.Stop(ctx)
		},
		Failed: "phones could not be told that passes changed"}
}
