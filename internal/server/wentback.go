package server

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// noteRetry is how long it is waited before what happened to the database is told once more where it could not be.
const noteRetry = time.Second

// watchStore tells when the database went back to an earlier state: in the log, as a metric, as an event of every
// account and in their audit trails.
func (a *app) watchStore() func(context.Context) {
	count := prometheus.NewCounter(prometheus.CounterOpts{Name: "boon_store_went_back_total",
		Help: "Times that this instance found the database in an earlier state than it had left it in."})
	a.metrics.registry.MustRegister(count)
	return func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case back := <-a.store.WentBack():
				count.Inc()
				a.Logger.Error("THE DATABASE WENT BACK TO AN EARLIER STATE; what was answered since then may be missing. New hash "+
					"chains begin", "chain", back.Chain.String(), "entriesWritten", back.Had, "entriesThere", back.Has)
				a.noteWentBack(ctx, back.String())
			}
		}
	}
}

// noteWentBack writes it down, as soon as the database takes it.
func (a *app) noteWentBack(ctx context.Context, what string) {
	for ctx.Err() == nil {
		err := a.store.NoteWentBack(ctx, what)
		if err == nil {
			return
		}
		a.Logger.Warn("it could not be noted that the database went back; this is tried again", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(noteRetry):
		}
	}
}
