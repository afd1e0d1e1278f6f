package delivery

import (
	"strings"
	"sync"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
)

const (
	// slowAfter is when a message that is being sent is called slow: it no longer keeps others from being sent.
	slowAfter = 2 * time.Second
	// slowFor is how long a domain is remembered as slow after its last slow message.
	slowFor = time.Minute
	// slowShare bounds the slow messages under way: so many for each sender.
	slowShare = 4
	// delayFirst and delayMost bound how long a message for a slow domain stands aside; delayPer is added for each that
	// does.
	delayFirst = 10 * time.Second
	delayMost  = 5 * time.Minute
	delayPer   = 50 * time.Millisecond
)

// lanes keep apart what goes to different places, so that a slow one does not hold up the others: once a domain is
// known to be slow, few messages are sent to it at once, and the others wait their turn in the store. Accounts have
// lanes of their own, and an account has at most half of the slow messages that others leave: what one account sends to
// slow domains holds up none of another's.
type lanes struct {
	perLane int // at once to a slow domain
	slowest int // slow messages at once to all of them
	spare   int // that may become slow before the next one is kept back

	mu    sync.Mutex
	named map[laneName]*lane
	under int             // slow messages under way
	of    map[guid.ID]int // of them, those of an account
}

// laneName is an account and where its messages go: the domain of an e-mail address; one for all text messages.
type laneName struct {
	account guid.ID
	to      string
}

type lane struct {
	running int
	slow    int       // of those running
	until   time.Time // it counts as slow until then
	delayed int       // how many stand aside since it became slow
}

// place is one message's in its lane.
type place struct {
	*lane
	account    guid.ID
	slow, left bool
}

// laneOf names the lane of a gift's message.
func laneOf(g *gift.Gift) laneName {
	if g.Card.Method != contact.Email {
		return laneName{g.AccountID, g.Card.Method.String()}
	}
	return laneName{g.AccountID, strings.ToLower(g.Card.Contact[strings.LastIndexByte(g.Card.Contact, '@')+1:])}
}

// enter takes a place in a lane; nil when the lane is slow and full, or the account has its share of slow messages.
// Then behind is the number of those that stand aside already.
func (l *lanes) enter(name laneName, now time.Time) (_ *place, behind int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.named[name]
	if in == nil {
		l.forget(now)
		in = new(lane)
		l.named[name] = in
	}
	isSlow, own := in.slow > 0 || now.Before(in.until), l.of[name.account]
	if isSlow && in.running >= l.perLane || own > 0 && own >= (l.slowest-l.spare-(l.under-own))/2 {
		in.delayed++
		return nil, in.delayed
	}
	if !isSlow {
		in.delayed = 0
	}
	in.running++
	return &place{lane: in, account: name.account}, 0
}

// forget drops lanes that are empty and not slow.
func (l *lanes) forget(now time.Time) {
	if l.named == nil {
		l.named, l.of = make(map[laneName]*lane), make(map[guid.ID]int)
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
	l.of[p.account]++
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
		if l.of[p.account]--; l.of[p.account] == 0 {
			delete(l.of, p.account)
		}
		p.until = now.Add(slowFor)
	}
}

// slowDelay is how long a message stands aside when behind others do: the more there are, the wider they are spread.
func slowDelay(behind int, random float64) time.Duration {
	spread := min(time.Duration(behind)*delayPer+delayFirst, delayMost)
	return delayFirst + time.Duration(random*float64(spread))
}
