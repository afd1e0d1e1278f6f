// Package load puts load on a service and measures what comes of it: how many calls a second, how long each took, and
// what became of those that did not succeed. boon bench and the standing comparison in test/bench both use it.
//
// A closed loop calls again on each connection as soon as the answer is there: it finds out what the service can do. An
// open loop calls at a rate, however the service fares, as customers do; a call's latency counts from when it was meant
// to be made, so that what had to wait for a free connection is not left out of the picture.
//
// It knows HTTP and the requests of the interface. What gifts there are, and whether money is where it should be
// afterwards, is for its callers to say.
package load

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Kind is what a call does.
type Kind uint8

// The kinds.
const (
	Redeem Kind = iota
	Validate
	Send
	Hold // or capture it, or release it
	kinds
)

// String is the kind's name.
func (k Kind) String() string { return [...]string{"redeem", "validate", "send", "hold"}[k] }

// Note is what is remembered of a call while it is under way.
type Note struct {
	Kind Kind
	Key  uuid.UUID // its Idempotency-Key; zero: none
}

// Next appends the next request to b. It is called from many goroutines.
type Next func(b []byte) ([]byte, Note)

// Plan is what is to be done.
type Plan struct {
	Target      *Target
	Next        Next
	Connections int
	Duration    time.Duration
	Rate        float64 // calls a second: an open loop; 0: a closed one
	// Each is called with every answer, from many goroutines, if not nil.
	Each func(Event)
}

// Event is one answer.
type Event struct {
	Kind    Kind
	At      time.Duration // of the answer, since the load began
	Latency time.Duration // since the call was meant to be made
	Took    time.Duration // since it was really made
	Status  int           // of HTTP; 0: no answer came
	Code    string        // of a refusal of the interface; else ""
	Body    string        // of a refusal
}

// Stats are what calls came to.
type Stats struct {
	OK       Histogram // latencies of successes, since each call was meant to be made
	Refused  Histogram // latencies of refusals, since each call was really made
	mu       sync.Mutex
	failures map[string]int64
}

// Failures are the calls that did not succeed by what was said: a code of the interface, HTTP and a status, or words of
// our own.
func (s *Stats) Failures() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[string]int64, len(s.failures))
	maps.Copy(all, s.failures)
	return all
}

func (s *Stats) fail(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures == nil {
		s.failures = map[string]int64{}
	}
	s.failures[why]++
}

// What is said of calls without an answer.
const (
	NotConnected = "no connection"
	NoAnswer     = "no answer"
)

// Run is load that is under way, or was.
type Run struct {
	plan   Plan
	stats  [kinds]Stats
	all    Stats
	begun  time.Time
	took   time.Duration
	taken  atomic.Int64 // calls of an open loop that a connection has taken up
	ctx    context.Context
	ended  sync.WaitGroup
	mu     sync.Mutex
	unsure []Note
}

// Start connects and begins; Wait waits for the end. The load ends early when ctx does. It fails when the
// service cannot be reached.
func Start(ctx context.Context, p Plan) (*Run, error) {
	r := &Run{plan: p, ctx: ctx}
	first, err := p.Target.dial(ctx)
	if err != nil {
		return nil, err
	}
	conns := make([]*conn, p.Connections)
	conns[0] = first
	for n := 1; n < len(conns); n++ { // one that cannot be made is tried again later
		conns[n], _ = p.Target.dial(ctx)
	}
	r.begun = time.Now()
	for _, c := range conns {
		r.ended.Go(func() { r.drive(c) })
	}
	return r, nil
}

// Wait waits until the last answer is there.
func (r *Run) Wait() {
	r.ended.Wait()
}

// Stats are what all calls have come to so far.
func (r *Run) Stats() *Stats { return &r.all }

// Of are those of the calls of a kind.
func (r *Run) Of(k Kind) *Stats { return &r.stats[k] }

// Took is how long it took until the last answer was there, known after Wait.
func (r *Run) Took() time.Duration { return r.took }

// Begun is when the load began.
func (r *Run) Begun() time.Time { return r.begun }

// Unsure are the calls with an Idempotency-Key whose outcome is unknown: no answer came, or the answer
// said so. Known after Wait.
func (r *Run) Unsure() []Note { return r.unsure }

// Unsent is how many calls of an open loop were due and never made, for want of a free connection.
func (r *Run) Unsent() int64 {
	if r.plan.Rate == 0 {
		return 0
	}
	due := int64(r.plan.Rate * min(r.took, r.plan.Duration).Seconds())
	return max(0, due-r.taken.Load())
}

// drive is one connection's work.
func (r *Run) drive(c *conn) {
	defer func() {
		if c != nil {
			c.Close()
		}
		r.mu.Lock()
		r.took = max(r.took, time.Since(r.begun))
		r.mu.Unlock()
	}()
	b := make([]byte, 0, 1024)
	for {
		meant, more := r.turn()
		if !more {
			return
		}
		if c == nil {
			if c = r.reconnect(); c == nil {
				continue
			}
		}
		var note Note
		b, note = r.plan.Next(b[:0])
		sent := time.Now()
		if meant.IsZero() {
			meant = sent
		}
		a, err := c.exchange(b)
		r.count(note, a, err, meant, sent)
		if err != nil || a.close {
			c.Close()
			c = nil
		}
	}
}

// turn waits until the next call is due, and tells when it was meant to be made: zero in a closed loop, when it is.
func (r *Run) turn() (meant time.Time, more bool) {
	end := r.begun.Add(r.plan.Duration)
	if r.plan.Rate > 0 {
		n := r.taken.Add(1) - 1
		meant = r.begun.Add(time.Duration(float64(n) / r.plan.Rate * float64(time.Second)))
		if pause := time.Until(meant); pause > 0 && meant.Before(end) {
			time.Sleep(pause)
		}
		if meant.After(end) || time.Now().After(end) {
			r.taken.Add(-1)
			return meant, false
		}
	}
	return meant, r.ctx.Err() == nil && time.Now().Before(end)
}

// reconnect makes a connection in place of one that ended; nil: not now.
func (r *Run) reconnect() *conn {
	c, err := r.plan.Target.dial(r.ctx)
	if err != nil {
		r.all.fail(NotConnected)
		time.Sleep(100 * time.Millisecond)
		return nil
	}
	return c
}

// count notes what a call came to.
func (r *Run) count(note Note, a answer, err error, meant, sent time.Time) {
	now, of := time.Now(), &r.stats[note.Kind]
	why := ""
	switch {
	case err != nil:
		why = NoAnswer
	case a.status >= 300 && a.code != "":
		why = a.code
	case a.status >= 300:
		why = "HTTP " + strconv.Itoa(a.status)
	}
	for _, s := range []*Stats{of, &r.all} {
		switch {
		case why == "":
			s.OK.Add(now.Sub(meant))
			continue
		case err == nil:
			s.Refused.Add(now.Sub(sent))
		}
		s.fail(why)
	}
	if (err != nil || a.status >= 500) && note.Key != (uuid.UUID{}) {
		r.mu.Lock()
		r.unsure = append(r.unsure, note)
		r.mu.Unlock()
	}
	if r.plan.Each != nil {
		r.plan.Each(Event{Kind: note.Kind, At: now.Sub(r.begun), Latency: now.Sub(meant), Took: now.Sub(sent),
			Status: a.status, Code: a.code, Body: a.body})
	}
}
