package push

import (
	"context"
	"sync"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

const (
	most       = 256             // pushes of an account in flight
	firstPause = time.Second     // after a failure of all; it doubles
	maxPause   = 5 * time.Minute // between two tries while all fail
	aside      = 5 * time.Second // that a device is left alone of which Apple wants fewer pushes
	giveUp     = time.Hour       // after which a push is worth nothing: the phone asks by itself sooner or later

	spread  = 400 * time.Millisecond // within which pushes begin that wait together
	longest = 10 * time.Millisecond  // between two that begin: a few need not be spread
	least   = 200 * time.Microsecond // likewise, however many wait
	late    = 20 * time.Millisecond  // by which a push may begin later than its turn, and the next one by none
)

// queue has the pushes of one account that wait. All changes of what a device has become one push, as long as it waits.
//
// # Invariants
//
//  1. A push is in byToken from when it is added until it is taken, lost or given up. While it is in flight, it is not
//     in waiting; one that is added meanwhile is noted on it (again), and goes after it.
//  2. If Apple does not answer, or answers that it cannot, one push at a time is tried, after pauses that double: the
//     others wait. One answer of Apple ends that.
//  3. What a push says of the database (since) is before all events that it tells of: whoever begins anew from the
//     oldest of these loses none.
//  4. Pushes begin one after the other, in turns. Changes are read some hundred at a time: if all of their pushes began
//     at once, these would have all cores for tens of milliseconds, and tills would wait.
type queue struct {
	*Follower
	account guid.ID
	stop    context.CancelFunc
	ctx     context.Context
	running sync.WaitGroup

	mu       sync.Mutex
	byToken  map[string]*waiting
	waiting  []*waiting // in the order in which they were added
	aside    []*waiting
	begins   bool // a goroutine begins pushes
	inFlight int
	failures int // since Apple answered
	resume   time.Time
	turn     time.Time     // of the next push
	every    time.Duration // from one turn to the next
}

// waiting is a push that is not taken yet.
type waiting struct {
	devices  []event.PassDevice // all with one token
	since    merchant.EventPlace
	begun    time.Time
	due      time.Time // of one that is aside
	again    *waiting  // what came while it was in flight
	inFlight bool
}

func newQueue(f *Follower, account guid.ID) *queue {
	q := &queue{Follower: f, account: account, byToken: map[string]*waiting{}}
	q.ctx, q.stop = context.WithCancel(f.ctx)
	return q
}

// add has devices be told, of events after a place.
func (q *queue) add(devices []event.PassDevice, since merchant.EventPlace) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range devices {
		p := q.byToken[d.Push]
		switch {
		case d.Push == "": // it is sealed with a key that this instance lacks
		case p == nil:
			p = &waiting{devices: []event.PassDevice{d}, since: since, begun: now}
			q.byToken[d.Push], q.waiting = p, append(q.waiting, p)
		case !p.inFlight:
			p.note(d)
		case p.again == nil:
			p.again = &waiting{devices: []event.PassDevice{d}, since: since, begun: now}
		default:
			p.again.note(d)
		}
	}
	q.every = min(longest, max(least, spread/time.Duration(max(1, len(q.waiting)))))
	q.start(now)
}

// note adds what a device has to a push of it.
func (w *waiting) note(d event.PassDevice) {
	for i := range w.devices {
		if w.devices[i].VoucherID == d.VoucherID {
			w.devices[i] = d
			return
		}
	}
	w.devices = append(w.devices, d)
}

// tick has pushes go on that were paused.
func (q *queue) tick() {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.aside[:0]
	for _, p := range q.aside {
		if p.due.After(now) {
			left = append(left, p)
		} else {
			q.waiting = append(q.waiting, p)
		}
	}
	clear(q.aside[len(left):])
	q.aside = left
	q.start(now)
}

// start has pushes begin, if there are any that may.
func (q *queue) start(now time.Time) {
	if !q.begins && q.may(now) {
		q.begins = true
		q.running.Go(q.begin)
	}
}

// may reports whether a push may begin, if it is its turn.
func (q *queue) may(now time.Time) bool {
	free := most
	if q.failures > 0 {
		free = 1
	}
	return len(q.waiting) > 0 && q.inFlight < free && !now.Before(q.resume) && q.ctx.Err() == nil
}

// begin has pushes begin, each in its turn, as long as any may.
func (q *queue) begin() {
	for {
		p, after := q.next()
		switch {
		case p != nil:
			q.running.Go(func() { q.finish(p, q.try(p)) })
		case after > 0:
			select {
			case <-time.After(after):
			case <-q.ctx.Done():
			}
		default:
			return
		}
	}
}

// next takes a push out of the queue, or tells after what time the turn of the next one is; nil and 0: none may begin.
func (q *queue) next() (p *waiting, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for len(q.waiting) > 0 && now.Sub(q.waiting[0].begun) > giveUp {
		old := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.end(old)
	}
	if !q.may(now) {
		q.begins = false
		return nil, 0
	}
	if after = q.turn.Sub(now); after > 0 {
		return nil, after
	}
	if after < -late {
		q.turn = now
	}
	q.turn = q.turn.Add(q.every)
	p = q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	p.inFlight = true
	q.inFlight++
	return p, 0
}

// try makes one push.
func (q *queue) try(p *waiting) (o Outcome) {
	done, err := q.places.Take(q.ctx, q.account, q.account)
	if err != nil {
		return o
	}
	defer done()
	a := q.Directory().Accounts[q.account]
	if a == nil || a.Wallet.Apple.Certificate == "" {
		return Outcome{Status: 404} // nobody is to be told any more
	}
	if o, err = q.Send(q.ctx, &a.Wallet.Apple, p.devices[0].Push); q.ctx.Err() != nil {
		return o
	}
	if q.Observe != nil {
		q.Observe(o)
	}
	if err != nil || o.Status == 403 {
		q.complain(q.account, o, err)
	}
	if !o.Gone() {
		return o
	}
	for i := range p.devices {
		if err := q.Store.UnregisterPass(q.ctx, &p.devices[i]); err != nil {
			q.Log.Error("a phone that is gone could not be forgotten; it is next time", "account", q.account, "error", err)
		}
	}
	return o
}

// finish says what becomes of a push after a try.
func (q *queue) finish(p *waiting, o Outcome) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	p.inFlight = false
	q.inFlight--
	if o.Status > 0 && o.Status < 500 && o.Status != 403 {
		q.failures = 0
	}
	switch {
	case o.Taken(), o.lost():
		q.end(p)
	case o.slower():
		p.merge()
		p.due = now.Add(max(aside, o.After))
		q.aside = append(q.aside, p)
	default:
		p.merge()
		q.waiting = append([]*waiting{p}, q.waiting...)
		pause := max(o.After, min(maxPause, firstPause<<min(q.failures, 20)))
		q.failures++
		q.resume = now.Add(pause/2 + time.Duration(q.Random()*float64(pause)/2))
	}
	q.start(now)
}

// end takes a push out, and lets the one after it go.
func (q *queue) end(p *waiting) {
	token := p.devices[0].Push
	if p.again == nil {
		delete(q.byToken, token)
		return
	}
	q.byToken[token] = p.again
	q.waiting = append(q.waiting, p.again)
}

// merge adds to a push that is tried again what came while it was in flight.
func (w *waiting) merge() {
	if w.again != nil {
		for _, d := range w.again.devices {
			w.note(d)
		}
		w.again = nil
	}
}

// oldest is the push that waits for the longest time; nil: none does.
func (q *queue) oldest() (since merchant.EventPlace, begun time.Time, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, p := range q.byToken {
		if n++; n == 1 || p.since.Before(since) {
			since = p.since
		}
		if begun.IsZero() || p.begun.Before(begun) {
			begun = p.begun
		}
	}
	return since, begun, n
}

// close breaks off what is in flight, and returns when nothing of the queue runs any more.
func (q *queue) close() {
	q.stop()
	q.running.Wait()
}
