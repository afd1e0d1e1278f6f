// Package admission decides how many calls are in flight at a time, and which of those that wait comes next.
package admission

import (
	"context"
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
	waiting [api.Priorities][]*waiter
}

// waiter is a call that waits for its turn.
type waiter struct {
	turn chan struct{} // gets one value when the call is admitted
	gone bool          // it has given up
}

const (
	// MaxInFlight is more than the engine needs to fill its transactions, so that a higher number would add waiting and no
	// throughput.
	MaxInFlight = 512
	// queueTimeout and the time that a full service takes for a call stay within a second, after which a till no longer
	// wants the answer.
	queueTimeout = 450 * time.Millisecond
)

// New gives each priority a share, so that calls that take long leave places to those above them.
func New(most int, refused func(api.Priority)) *Control {
	a := &Control{refused: refused}
	for p := range a.atMost {
		a.atMost[p] = most * (len(a.atMost) - p) / len(a.atMost)
	}
	return a
}

// Enter waits until the call may be handled, and reports whether it may; then Leave must follow.
func (a *Control) Enter(ctx context.Context, p api.Priority) bool {
	a.mu.Lock()
	if a.fits(p) {
		a.count(p, +1)
		a.mu.Unlock()
		return true
	}
	w := &waiter{turn: make(chan struct{}, 1)}
	a.waiting[p] = append(a.waiting[p], w)
	a.mu.Unlock()
	timeout := time.NewTimer(queueTimeout)
	defer timeout.Stop()
	select {
	case <-w.turn:
		return true
	case <-timeout.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	w.gone = true
	select {
	case <-w.turn: // in the meantime
		return true
	default:
		a.refused(p)
		a.forget(p)
		return false
	}
}

// forget takes calls that have given up from the front of a queue, where most of them stand: all wait for the same
// time. While those above them take every place, nothing else would.
func (a *Control) forget(p api.Priority) {
	queue := a.waiting[p]
	for len(queue) > 0 && queue[0].gone {
		queue = queue[1:]
	}
	a.waiting[p] = queue
}

// Leave ends what Enter began, and admits those whose turn it is.
func (a *Control) Leave(p api.Priority) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count(p, -1)
	for next := range a.waiting {
		for len(a.waiting[next]) > 0 && a.fits(api.Priority(next)) {
			w := a.waiting[next][0]
			a.waiting[next] = a.waiting[next][1:]
			if !w.gone {
				a.count(api.Priority(next), +1)
				w.turn <- struct{}{}
			}
		}
	}
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
		for _, w := range queue {
			if !w.gone {
				waiting++
			}
		}
	}
	return a.inUse[0], waiting
}
