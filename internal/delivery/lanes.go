package delivery

import (
	"strings"
	"sync"
	"time"

	"boon.example/internal/gift"
)

const (
	// slowAfter is when a message that is being sent is called slow: it no longer keeps others from being sent.
	slowAfter = 2 * time.Second
	// slowFor is how long a domain is remembered as slow after its last slow message.
	slowFor = time.Minute
	// slowShare bounds the slow messages under way: so many for each sender.
	slowShare = 4
	// asideFirst and asideMost bound how long a message for a slow domain stands aside; asidePer is added for each that
	// does.
	asideFirst = 10 * time.Second
	asideMost  = 5 * time.Minute
	asidePer   = 50 * time.Millisecond
)

// lanes keep apart what goes to different places, so that a slow one does not hold up the others: once a domain is
// known to be slow, few messages are sent to it at once, and the others wait their turn in the store.
type lanes struct {
	perLane int // at once to a slow domain
	slowest int // slow messages at once to all of them

	mu    sync.Mutex
	named map[string]*lane
	under int // slow messages under way
}

type lane struct {
	running int
	slow    int       // of those running
	until   time.Time // it counts as slow until then
	aside   int       // how many stand aside since it became slow
}

// place is one message's in its lane.
type place struct {
	*lane
	slow, left bool
}

// laneOf names where a gift's message goes: the domain of an e-mail address; one for all text messages.
func laneOf(g *gift.Gift) string {
	if g.Card.Method != gift.Email {
		return g.Card.Method.String()
	}
	return strings.ToLower(g.Card.Contact[strings.LastIndexByte(g.Card.Contact, '@')+1:])
}

// enter takes a place in a lane; nil when the lane is slow and full, with the number of those that stand aside already.
func (l *lanes) enter(name string, now time.Time) (_ *place, behind int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.named[name]
	if in == nil {
		l.forget(now)
		in = new(lane)
		l.named[name] = in
	}
	if isSlow := in.slow > 0 || now.Before(in.until); !isSlow {
		in.aside = 0
	} else if in.running >= l.perLane {
		in.aside++
		return nil, in.aside
	}
	in.running++
	return &place{lane: in}, 0
}

// forget drops lanes that are empty and not slow.
func (l *lanes) forget(now time.Time) {
	if l.named == nil {
		l.named = make(map[string]*lane)
	}
	for name, in := range l.named {
		if in.running == 0 && !now.Before(in.until) {
			delete(l.named, name)
		}
	}
}

// slow notes that a message takes long, and tells whether another may begin beside it.
func (l *lanes) slow(p *place) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.left {
		return false
	}
	p.slow = true
	p.lane.slow++
	l.under++
	return l.under <= l.slowest
}

// leave gives a place back.
func (l *lanes) leave(p *place, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.left = true
	p.running--
	if p.slow {
		p.lane.slow--
		l.under--
		p.until = now.Add(slowFor)
	}
}

// aside is how long a message stands aside when behind others do: the more there are, the wider they are spread.
func aside(behind int, random float64) time.Duration {
	spread := min(time.Duration(behind)*asidePer+asideFirst, asideMost)
	return asideFirst + time.Duration(random*float64(spread))
}
