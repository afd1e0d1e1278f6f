// Package jobs runs what a service does again and again beside its calls: it deletes what is old, enters holds that are
// over, tells of gifts that expire. Every such loop is a Job here, so that all of them rest, fail, stop and are watched
// in one way.
//
// A round of a job does all that is due, in batches. What holds for every job:
//
//  1. One job never runs twice at once in a process. Jobs do not wait for each other.
//  2. After a batch the job pauses for at least twice as long as the batch took, so that two thirds of the time belong
//     to calls.
//  3. A round that fails is tried again sooner than the next one would come. If it goes on failing, the pauses double
//     until they are as long as those between rounds.
//  4. Stop ends the context of every batch, and returns when all have returned.
//
// Any number of processes may run the same job on one database. A job that must not run twice at once takes a lease in
// its batch.
package jobs

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Job is something that is done again and again.
type Job struct {
	Name string // in metrics and in the log; unique
	// Every is the time between two rounds, give or take a tenth: instances that started together drift apart. The first
	// round begins at the start.
	Every time.Duration
	// Pause is the least time between two batches of a round.
	Pause time.Duration
	// Batch does a part of what is due. It tells how many things it did, for the metrics, and whether more of them wait.
	Batch func(context.Context) (done int, more bool, err error)
	// Last is called once after the last round, and has ten seconds; nil: nothing is.
	Last func(context.Context) error
	// Failed is what the log says when a batch fails, such as "old records could not be deleted".
	Failed string
}

// Whole makes a Batch of what does all that is due at once.
func Whole(do func(context.Context) error) func(context.Context) (int, bool, error) {
	return func(ctx context.Context) (int, bool, error) { return 0, false, do(ctx) }
}

// Each makes a Batch that goes through a list, which is made anew for each round. Items have turns, a batch each,
// until nothing more of them waits: one of which much waits holds up no other. A list that is old is made anew, for
// what began to wait meanwhile. An item that fails holds up no other either: it is left for the next round, and the
// failures of a round are told at its end.
func Each[T any](list func(context.Context) ([]T, error),
	batch func(context.Context, T) (done int, more bool, err error)) func(context.Context) (int, bool, error) {
	var left []T
	var listed time.Time
	var failed error
	return func(ctx context.Context) (int, bool, error) {
		if len(left) == 0 {
			var err error
			if left, err = list(ctx); err != nil {
				return 0, false, err
			}
			listed = time.Now()
		}
		done, pause := 0, false
		for !pause && len(left) > 0 {
			item := left[0]
			n, more, err := batch(ctx, item)
			done, failed, left = n, errors.Join(failed, err), left[1:]
			if more && err == nil {
				left = append(left, item)
			}
			pause = n > 0 || more && err == nil
		}
		switch {
		case len(left) > 0 && time.Since(listed) < listFor:
			return done, true, nil
		case len(left) > 0 && failed == nil:
			left = nil
			return done, true, nil
		}
		err := failed
		left, failed = nil, nil
		return done, false, err
	}
}

// listFor is for how long a list of Each is good.
const listFor = time.Minute

const (
	share       = 2                // times what a batch took is the pause after it
	spread      = 0.1              // of the time between two rounds, which is longer or shorter by that
	firstRetry  = 10 * time.Second // after the first failure; never longer than Every
	toldEvery   = time.Minute      // how often the log repeats that a job fails in the same way
	lastTimeout = 10 * time.Second // for Last
)

// Runner runs jobs.
type Runner struct {
	log     *slog.Logger
	metrics *metrics
	running sync.WaitGroup
	stop    context.CancelFunc
	ctx     context.Context
}

// New makes a runner without jobs, and adds the metrics of its jobs to a registry. The jobs have what ctx holds, but do
// not end with it: Stop ends them.
func New(ctx context.Context, log *slog.Logger, registry prometheus.Registerer) *Runner {
	r := &Runner{log: log, metrics: newMetrics(registry)}
	r.ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// Start begins to run jobs.
func (r *Runner) Start(jobs ...Job) {
	for _, j := range jobs {
		r.metrics.add(&j)
		r.running.Go(func() { r.run(&j) })
	}
}

// Stop ends all jobs, and returns when nothing of them runs any more. Nothing is started after it.
func (r *Runner) Stop() {
	r.stop()
	r.running.Wait()
}

// run does rounds of a job until the runner stops.
func (r *Runner) run(j *Job) {
	s := state{Job: j, log: r.log}
	for {
		begun := time.Now()
		err := r.round(j)
		if r.ctx.Err() != nil {
			break
		}
		s.note(err)
		r.metrics.round(j.Name, time.Since(begun), err)
		if !r.sleep(s.untilNext()) {
			break
		}
	}
	if j.Last == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), lastTimeout)
	defer cancel()
	if err := j.Last(ctx); err != nil {
		r.log.Warn(j.Failed, "job", j.Name, "error", err)
	}
}

// round does batches until nothing more waits.
func (r *Runner) round(j *Job) error {
	for {
		begun := time.Now()
		done, more, err := j.Batch(r.ctx)
		r.metrics.batch(j.Name, done)
		if err != nil || !more || !r.sleep(max(j.Pause, share*time.Since(begun))) {
			return err
		}
	}
}

// sleep tells whether the runner still runs after a time.
func (r *Runner) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// state is how a job has fared.
type state struct {
	*Job
	log      *slog.Logger
	failures int // in a row
	said     string
	at       time.Time // when the log was told of that
}

// note remembers how a round ended. The log is told when the job begins to fail, when it fails in another way, now and
// then while it fails, and when it succeeds again.
func (s *state) note(err error) {
	if err == nil {
		if s.failures > 0 {
			s.log.Info("a job succeeds again", "job", s.Name, "failures", s.failures)
		}
		s.failures, s.said = 0, ""
		return
	}
	s.failures++
	if said := err.Error(); said != s.said || time.Since(s.at) >= toldEvery {
		s.log.Error(s.Failed, "job", s.Name, "failures", s.failures, "error", err)
		s.said, s.at = said, time.Now()
	}
}

// untilNext is how long it is until the next round.
func (s *state) untilNext() time.Duration {
	pause := s.Every
	if s.failures > 0 {
		const doublings = 20 // so that nothing overflows
		pause = min(pause, firstRetry<<min(s.failures-1, doublings))
	}
	return time.Duration(float64(pause) * (1 - spread + 2*spread*rand.Float64()))
}
