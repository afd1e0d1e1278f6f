// Package admission decides how many calls are in flight at a time, and which of those that wait comes next.
package admission

import (
	"sync"
	"time"

	"boon.example/internal/api"
)

// Control bounds how many calls are in flight: past reading, and not yet answered. A call beyond the bound waits for
// its turn, by priority and then in the order of arrival, and is refused when its turn has not come within
// queueTimeout.
//
// Waiting is what keeps the goodput up under overload. A caller that is refused at once calls again at once, and the
// service would spend its time on refusals, its goroutines queueing ahead of the database's answers.
type Control struct {
	refused func(api.Priority) // told of every refusal

	mu      sync.Mutex
	atMost  [api.Priorities]int // calls in flight of each priority and those below it
	inUse   [api.Priorities]int // calls in flight, counted the same way
	waiting [api.Priorities][]waiter
	timed   bool // refuseLate is to come
}

// waiter is a call that waits for its turn.
type waiter struct {
	until time.Time
	turn  chan bool // gets one value: whether the call is admitted
}

const (
	// MaxInFlight is more than the engine needs to fill its transactions, so that a higher number would add waiting and no
	// throughput.
	MaxInFlight = 512
	// queueTimeout and the time that a full service takes for a call stay within a second, after which a till no longer
	// wants the answer.
	queueTimeout = 450 * time.Millisecond
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

// Enter waits until the call may be handled, and reports whether it may; then Leave must follow. A call whose caller
// has gone waits too: leaving the line would cost more than the place that it gives back at once.
func (a *Control) Enter(p api.Priority) bool {
	a.mu.Lock()
	if a.fits(p) {
		a.count(p, +1)
		a.mu.Unlock()
		return true
	}
	w := waiter{time.Now().Add(queueTimeout), make(chan bool, 1)}
	a.waiting[p] = append(a.waiting[p], w)
	if !a.timed {
		a.timed = true
		time.AfterFunc(queueTimeout, a.refuseLate)
	}
	a.mu.Unlock()
	return <-w.turn
}

// refuseLate refuses the calls that have waited for too long, and comes again as long as others wait.
func (a *Control) refuseLate() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.timed = false
	for p := range a.waiting {
		for len(a.waiting[p]) > 0 && !a.waiting[p][0].until.After(now) {
			a.next(api.Priority(p)) <- false
			a.refused(api.Priority(p))
		}
		a.timed = a.timed || len(a.waiting[p]) > 0
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
