// Package admission decides how many calls are in flight at a time, and which of those that wait comes next.
package admission

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/guid"
)

// Priority says which calls go first when not all can be handled.
type Priority int

// The priorities, from the first to go.
const (
	Redeem     Priority = iota // redeem and reverse: a customer waits, and has been told what the gift is worth
	Validate                   // validate: a customer waits
	Write                      // sends and changes gifts
	Read                       // changes nothing: look-ups, pages, documentation
	Priorities                 // how many there are
)

// String is the priority's name in metrics.
func (p Priority) String() string { return [...]string{"redeem", "validate", "write", "read"}[p] }

// Control bounds how many calls are in flight: past reading, and not yet answered. A call beyond the bound waits for
// its turn. A place that becomes free goes to the highest priority; within it to the party (an account, or the network
// of guests) whose turn was longest ago; and within that to the call that came first. So a party waits for one turn of
// each other one at most, however many calls others send.
//
// A party takes another place only while more places are free than it has: it has half of what others leave. So the
// next party finds a place at once, however long the calls of the others take. Guests count as one party besides, since
// a new network costs them nothing: all guests together have half of what the holders of keys leave.
//
// A call is refused when its turn has not come within queueTimeout, unless its line moves fast enough for it to come
// within longestWait.
//
// Waiting is what keeps the goodput up under overload. A caller that is refused at once calls again at once, and the
// service would spend its time on refusals, its goroutines queueing ahead of the database's answers.
type Control struct {
	refused func(Priority) // told of every refusal

	mu      sync.Mutex
	atMost  [Priorities]int   // calls in flight of each priority and those below it
	inUse   counts            // calls in flight, counted the same way
	byParty map[Party]*counts // of each party that has some, and of allGuests
	lines   [Priorities]line
	timed   bool // refuseLate is to come

	// when a call came last that somebody waits for at a counter, since begun: no clock that is set moves that. 0: none
	// did.
	counter atomic.Int64
	begun   time.Time
}

type counts [Priorities]int

// Party is whose calls take turns with those of others: an account, a system key, or a network of guests.
type Party struct {
	ID    guid.ID
	Guest bool // callers without a key
}

// allGuests are the guests of all networks.
var allGuests = Party{Guest: true}

// line is the calls of a priority that wait.
type line struct {
	parties []*queue // those whose turn was longest ago first
	length  int
	turns   int // how many of its calls have been admitted
}

// queue is the calls of a party in a line, those that came first in front. It is never empty.
type queue struct {
	party   Party
	waiting []waiter
}

// waiter is a call that waits for its turn.
type waiter struct {
	came  time.Time
	most  time.Duration // that it can wait
	turns int           // line.turns when it came
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
func New(most int, refused func(Priority)) *Control {
	a := &Control{refused: refused, byParty: map[Party]*counts{}, begun: time.Now().Add(-time.Nanosecond)}
	for p := range a.atMost {
		a.atMost[p] = most * (len(a.atMost) - p) / len(a.atMost)
	}
	return a
}

// Enter waits until the call may be handled, and reports whether it may; then Leave must follow. Of ctx only the
// deadline counts, and not below queueTimeout. A call whose caller has gone waits too: leaving the line would cost more
// than the place that it gives back at once.
func (a *Control) Enter(ctx context.Context, party Party, p Priority) bool {
	if p <= Validate {
		a.counter.Store(int64(time.Since(a.begun)))
	}
	a.mu.Lock()
	if a.fits(party, p) {
		a.count(party, p, +1)
		a.mu.Unlock()
		return true
	}
	w := waiter{came: time.Now(), most: longestWait, turns: a.lines[p].turns, turn: make(chan bool, 1)}
	if deadline, ok := ctx.Deadline(); ok {
		w.most = deadline.Sub(w.came)
	}
	a.lines[p].add(party, w)
	if !a.timed {
		a.timed = true
		time.AfterFunc(queueTimeout, a.refuseLate)
	}
	a.mu.Unlock()
	return <-w.turn
}

func (l *line) add(party Party, w waiter) {
	l.length++
	for _, q := range l.parties {
		if q.party == party {
			q.waiting = append(q.waiting, w)
			return
		}
	}
	l.parties = append(l.parties, &queue{party, []waiter{w}})
}

// refuseLate refuses the calls that have waited in vain, and comes again as long as others wait.
func (a *Control) refuseLate() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.timed = false
	for p := range a.lines {
		l := &a.lines[p]
		l.keep(func(w *waiter, before int) bool {
			waited := now.Sub(w.came)
			if waited < queueTimeout || w.inTime(before, l.turns, waited) {
				return true
			}
			a.refused(Priority(p)) // first: who is refused may look at the count
			w.turn <- false
			return false
		})
		a.timed = a.timed || l.length > 0
	}
	if a.timed {
		time.AfterFunc(refusalInterval, a.refuseLate)
	}
}

// keep takes out of the line those calls that stay refuses. It asks in the order of their turns: before is how many of
// those that stay come earlier.
func (l *line) keep(stay func(w *waiter, before int) bool) {
	old := l.parties
	kept := make([]*queue, len(old))
	l.length = 0
	for round, more := 0, true; more; round++ {
		more = false
		for n, q := range old {
			if round >= len(q.waiting) {
				continue
			}
			more = true
			if w := q.waiting[round]; stay(&w, l.length) {
				if kept[n] == nil {
					kept[n] = &queue{party: q.party}
				}
				kept[n].waiting = append(kept[n].waiting, w)
				l.length++
			}
		}
	}
	l.parties = slices.DeleteFunc(kept, func(q *queue) bool { return q == nil })
}

// Leave ends what Enter began, and admits those whose turn it is.
func (a *Control) Leave(party Party, p Priority) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count(party, p, -1)
	for p := range Priorities {
		for a.admitNext(p) {
		}
	}
}

// admitNext admits the call of a line whose turn it is, if there is a place for one.
func (a *Control) admitNext(p Priority) bool {
	l := &a.lines[p]
	at := slices.IndexFunc(l.parties, func(q *queue) bool { return a.fits(q.party, p) })
	if at < 0 {
		return false
	}
	q := l.parties[at]
	first := q.waiting[0]
	q.waiting = q.waiting[1:]
	l.parties = slices.Delete(l.parties, at, at+1)
	if len(q.waiting) > 0 {
		l.parties = append(l.parties, q)
	}
	l.length--
	l.turns++
	a.count(q.party, p, +1)
	first.turn <- true
	return true
}

func (a *Control) fits(party Party, p Priority) bool {
	for above := range p + 1 {
		free := a.atMost[above] - a.inUse[above]
		if a.has(party, above) >= free || party.Guest && a.has(allGuests, above) >= free {
			return false
		}
	}
	return true
}

// has is how many calls a party has in flight, of a priority and those below it.
func (a *Control) has(party Party, p Priority) int {
	if of := a.byParty[party]; of != nil {
		return of[p]
	}
	return 0
}

func (a *Control) count(party Party, p Priority, n int) {
	for above := range p + 1 {
		a.inUse[above] += n
	}
	a.countOf(party, p, n)
	if party.Guest {
		a.countOf(allGuests, p, n)
	}
}

func (a *Control) countOf(party Party, p Priority, n int) {
	own := a.byParty[party]
	if own == nil {
		own = &counts{}
		a.byParty[party] = own
	}
	for above := range p + 1 {
		own[above] += n
	}
	if own[0] == 0 { // every call is counted here, as no priority is above redeem
		delete(a.byParty, party)
	}
}

// Busy reports whether a call came within the last second that somebody waits for at a counter.
func (a *Control) Busy() bool {
	last := a.counter.Load()
	return last > 0 && time.Since(a.begun)-time.Duration(last) < time.Second
}

// State tells how many calls are in flight and how many wait.
func (a *Control) State() (inFlight, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p := range a.lines {
		waiting += a.lines[p].length
	}
	return a.inUse[0], waiting
}
