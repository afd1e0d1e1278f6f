// Package admission decides how many calls are in flight at a time, and which of those that wait comes next.
package admission

import (
	"context"
	"sync"
	"time"

	"boon.example/internal/api"
)

// Control bounds how many calls are in flight: past reading, and not yet answered. A call beyond the bound waits for
// its turn, by priority and then in the order of arrival. It is refused when its turn has not come within queueTimeout,
// unless its line moves fast enough for it to come within longestWait.
//
// Waiting is what keeps the goodput up under overload. A caller that is refused at once calls again at once, and the
// service would spend its time on refusals, its goroutines queueing ahead of the database's answers.
type Control struct {
	refused func(api.Priority) // told of every refusal

	mu      sync.Mutex
	atMost  [api.Priorities]int // calls in flight of each priority and those below it
	inUse   [api.Priorities]int // calls in flight, counted the same way
	waiting [api.Priorities][]waiter
	turns   [api.Priorities]int // how many calls of a line have been admitted
	timed   bool                // refuseLate is to come
}

// waiter is a call that waits for its turn.
type waiter struct {
	came  time.Time
	most  time.Duration // that it can wait
	turns int           // Control.turns of its line when it came
	turn  chan bool     // gets one value: whether the call is admitted
}

// inTime reports whether a call that has waited, and has so many before it, can expect its turn: by as many as had
// theirs since it came.
func (w *waiter) inTime(before, turns int, waited time.Duration) bool {
	had := turns - w.turns
	return had > 0 && waited+waited*time.Duration(before)/time.Duration(had) <= min(w.most, longestWait)
}

const (
	// MaxInFlight is more than the engine needs to fill its transactions, so that a higher number would add waiting and no
	// throughput.
	MaxInFlight = 512
	// longestWait and the time that a full service takes for a call stay within a second, after which a till no longer
	// wants the answer. Who has to be refused is told after queueTimeout.
	queueTimeout = 400 * time.Millisecond
	longestWait  = 750 * time.Millisecond
	// refusalInterval is how much later a refusal may come. One timer for all that wait costs less than one for each.
	refusalInterval = 10 * time.Millisecond
)

// New gives each priority a share, so that calls that take long leave places to those above them.
func New(most int, refused func(api.Priority)) *Control {
	a := &Control{refused: refused}
	for p := range a.atMost {
		a.atMost[p] = most * (len(a.atMost) - p) / len(a.atMost)
	}
	return a
}

// Enter waits until the call may be handled, and reports whether it may; then Leave must follow. Of ctx only the
// deadline counts, and not below queueTimeout. A call whose caller has gone waits too: leaving the line would cost more
// than the place that it gives back at once.
func (a *Control) Enter(ctx context.Context, p api.Priority) bool {
	a.mu.Lock()
	if a.fits(p) {
		a.count(p, +1)
		a.mu.Unlock()
		return true
	}
	w := waiter{came: time.Now(), most: longestWait, turns: a.turns[p], turn: make(chan bool, 1)}
	if deadline, ok := ctx.Deadline(); ok {
		w.most = deadline.Sub(w.came)
	}
	a.waiting[p] = append(a.waiting[p], w)
	if !a.timed {
		a.timed = true
		time.AfterFunc(queueTimeout, a.refuseLate)
	}
	a.mu.Unlock()
	return <-w.turn
}

// refuseLate refuses the calls that have waited in vain, and comes again as long as others wait.
func (a *Control) refuseLate() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.timed = false
	for p, line := range a.waiting {
		stay := line[:0]
		for n, w := range line {
			waited := now.Sub(w.came)
			if waited < queueTimeout { // as have all behind it
				stay = append(stay, line[n:]...)
				break
			}
			if w.inTime(len(stay), a.turns[p], waited) {
				stay = append(stay, w)
				continue
			}
			a.refused(api.Priority(p)) // first: who is refused may look at the count
			w.turn <- false
		}
		clear(line[len(stay):])
		a.waiting[p] = stay
		a.timed = a.timed || len(stay) > 0
	}
	if a.timed {
		time.AfterFunc(refusalInterval, a.refuseLate)
	}
}

// Leave ends what Enter began, and admits those whose turn it is.
func (a *Control) Leave(p api.Priority) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count(p, -1)
	for n := range a.waiting {
		for p := api.Priority(n); len(a.waiting[p]) > 0 && a.fits(p); {
			a.count(p, +1)
			a.next(p) <- true
		}
	}
}

// next takes the call that came first from a line that has one.
func (a *Control) next(p api.Priority) chan<- bool {
	first := a.waiting[p][0]
	a.waiting[p] = a.waiting[p][1:]
	a.turns[p]++
	return first.turn
}

func (a *Control) fits(p api.Priority) bool {
	for above := range p + 1 {
		if a.inUse[above] >= a.atMost[above] {
			return false
		}
	}
	return true
}

func (a *Control) count(p api.Priority, n int) {
	for above := range p + 1 {
		a.inUse[above] += n
	}
}

// State tells how many calls are in flight and how many wait.
func (a *Control) State() (inFlight, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, queue := range a.waiting {
		waiting += len(queue)
	}
	return a.inUse[0], waiting
}
