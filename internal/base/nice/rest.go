package nice

import (
	"context"
	"sync/atomic"
	"time"
)

// How long a goroutine that gives way works at a stretch, and how long it pauses then.
const (
	stretch = 500 * time.Microsecond
	pause   = 100 * time.Microsecond // a runtime that has nothing else to do makes a millisecond of it
	long    = 4 * stretch            // after work of minutes

	mostAfter = 2 * time.Millisecond // a database far away takes its time for an answer, and needs no core of ours
)

// worker is a goroutine that gives way.
type worker struct {
	others func() bool
	pause  time.Duration
	begun  time.Time
	rested atomic.Int64 // when it rested last, since begun
}

type workerKey struct{}

// Background marks what is done under a context as work that nobody waits for at a counter. Where it calls Rest, it
// leaves its core to others for a moment, as long as others says that somebody needs it. The runtime of Go would have
// them wait for 10 milliseconds.
func Background(ctx context.Context, others func() bool) context.Context {
	return context.WithValue(ctx, workerKey{}, &worker{others: others, pause: pause, begun: time.Now()})
}

// LongBackground is Background for work that takes minutes. It leaves its core to others for four times as long as it
// worked.
func LongBackground(ctx context.Context, others func() bool) context.Context {
	return context.WithValue(ctx, workerKey{}, &worker{others: others, pause: long, begun: time.Now()})
}

// Rest is called again and again by what may take many milliseconds of processor time. Under a context of Background it
// pauses when it is time to.
func Rest(ctx context.Context) { Resting(ctx)() }

// Resting is Rest for loops, which look into the context once.
func Resting(ctx context.Context) func() {
	w, ok := ctx.Value(workerKey{}).(*worker)
	if !ok {
		return func() {}
	}
	return w.rest
}

// RestAfter is called after a step that another process worked on, such as a database server: others on the machine
// waited for a core meanwhile. Under a context of Background it pauses for as long as the step took, but for mostAfter.
func RestAfter(ctx context.Context, took time.Duration) {
	if need, _ := Others(ctx); need {
		time.Sleep(min(took, mostAfter))
	}
}

// Others reports whether somebody at a counter needs the core. Known is false where nobody says so, as in a process
// that only shares the database with others.
func Others(ctx context.Context) (need, known bool) {
	w, known := ctx.Value(workerKey{}).(*worker)
	return known && w.others(), known
}

func (w *worker) rest() {
	now := time.Since(w.begun)
	if now-time.Duration(w.rested.Load()) < stretch {
		return
	}
	if w.others() {
		time.Sleep(w.pause)
		now = time.Since(w.begun)
	}
	w.rested.Store(int64(now))
}
