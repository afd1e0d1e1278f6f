package webhook

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"

	"boon.example/internal/base/fair"
	"boon.example/internal/base/span"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// lane brings the events of an account to one endpoint. While it is in step it takes them from what its stream
// remembers; else it reads for itself, and only what its endpoint wants.
//
// # Why it is hard
//
// Every event has to reach the endpoint at least once, through a process that may be killed at any moment and an
// endpoint that may be slow, away, or broken for one event only. If the lane waited for each event, one that the
// endpoint never takes would hold up all others. If it went past each failure, a restart would forget the failures. And
// a slow endpoint must not take the connections of the fast ones.
//
// # What it does next
//
// run does the first of these that applies, and then begins again:
//
//  1. If the endpoint was switched off: nothing, until the set-up has a new lane for it.
//  2. If an event that failed is due again: one attempt at it (retry).
//  3. If maxAside events have failed and none is due: it stands still, out of step.
//  4. If a replay is under way and did not have the last turn: the next few events of the replay.
//  5. Else the next events (next, deliver); without any, it sleeps until it is woken or an event is due again.
//
// # Invariants
//
//  1. Every event that is wanted and not after state.After was taken by the endpoint, stands in state.Aside, or was
//     given up after the last retry. Only events that are not kept any more are passed over.
//  2. After and Aside are saved together, in one document. So a document that is a little old, after a kill, is still
//     whole: whoever goes on from it repeats some attempts, and leaves none out.
//  3. An attempt that was broken off because the lane was stopped counts as none: nothing of the state changes. The
//     endpoint may have taken it; whoever has the lane next sends it again. Counted, it could be lost.
//  4. deliver moves After to the last event that was attempted. send ends before the first event that was not, so there
//     is no gap between them.
//  5. Aside never has more than maxAside events: atOnce lets no more calls begin than there is room for, should all of
//     them fail. The state is one document, which is written again whenever it changes; without a bound it would grow
//     for as long as the endpoint is away.
//  6. Events are begun in their order. They may arrive in another: up to atOnce calls are in flight, and a failed event
//     comes later. The receiver knows events by their ids.
//  7. More than one call begins only while the last calls succeeded and were quick (lane.quick). One slow or failed
//     call makes it one at a time. So an endpoint that is overloaded is not called eight times at once, and one that
//     never answers holds one place and not eight.
//  8. A call waits for its places in one order: of the account, of slow endpoints, of all calls, of the processor
//     (enter). So calls wait for each other, but never in a circle. maxSlow is smaller than maxCalls, so that slow
//     endpoints leave places to the others.
//  9. The fields of its goroutine have no lock. state is written under stream.mu, by the goroutine of the lane; the
//     stream writes After, and that only while the lane is waiting.
//  10. A replay moves ReplayAfter and never After. It takes turns with the newest events, so that both go on.
//  11. wake holds one value. What happens between the last look for events (remembered) and the sleep leaves its value
//     there, and the sleep ends at once. Without it, an event would lie until the next one comes.
//  12. While a lane is in step, it looks for events and begins to wait under one lock (remembered). In two, it would
//     pass over the events that the stream reads in between, as waiting moves After to the end.
//  13. When all maxAside events failed and one of them is taken at last, the others are due at once (reschedule). Their
//     own next attempts may be a day away, though the endpoint works again.
//  14. The rate of calls is that of the account at the machine that a URL leads to (paces), whatever the endpoints
//     there are called. So naming a server of somebody else twenty times does not have it called more often.
//
// # What shows it
//
// TestThreeBadDays and TestOneBadEvent show that every event comes, and when one is given up (1, 5);
// TestAProcessIsKilled and TestTwoProcesses what comes again (2, 3); TestPlacesThatAreForgotten what is passed over
// (1); TestSlowOnesDelayNoOther and TestSlowAccountsDelayNoOther the width and the places (7, 8); TestQuickCallsAreFew
// the processor (8); TestReplays the replay (10); TestSwitchedOff the end; TestOneAddressUnderManyNames the rate (14).
type lane struct {
	*stream
	hook   *merchant.Webhook // never changes: another one gets another lane
	types  []gift.EventType
	cancel context.CancelFunc
	wake   chan struct{} // has a value when there may be something to do
	done   chan struct{}

	// Of its goroutine.
	backlog  []rendered // what it read for itself
	free     time.Time  // when a replay may go on
	quick    bool       // the last calls succeeded, none took long
	width    int        // how many calls it makes at once
	off      bool       // it was switched off
	replayed bool       // a replay had the last turn

	// Under stream.mu, as is what of state is written.
	state     event.WebhookState
	following bool
	waiting   bool // in step, at the end
	// behindSince is since when it has not been waiting.
	behindSince time.Time
	changed     bool // state is to be saved
	moved       bool // likewise, but there is no hurry
}

const (
	maxAside    = 16 // events that failed and wait for their next attempt; with more, the lane stands still
	atOnce      = 8  // calls of a lane in flight
	backlogPage = 32
	slowAfter   = 2 * time.Second
	// In a replay a lane makes a call every replayGap.
	replayGap = 100 * time.Millisecond
	// offAgain is when it is tried again to switch an endpoint off.
	offAgain = time.Minute
)

// current reports whether the lane delivers to the endpoint as it is now. The set-up gives another pointer whenever it
// is read anew. A lane is kept while nothing has changed that it goes by, as to begin another one breaks off its calls.
func (l *lane) current(w *merchant.Webhook) bool {
	return l.hook == w || l.hook.ChangedAt.Equal(w.ChangedAt) && l.hook.Secret == w.Secret && l.hook.Old == w.Old &&
		(l.hook.Replay == nil) == (w.Replay == nil) && (w.Replay == nil || l.hook.Replay.ID == w.Replay.ID)
}

func (l *lane) wants(t gift.EventType) bool { return l.types == nil || slices.Contains(l.types, t) }

// wakeUp wakes the lane.
func (l *lane) wakeUp() {
	l.fallBehind()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// fallBehind notes that the lane does not wait for events any more, but they for it.
func (l *lane) fallBehind() {
	if l.waiting {
		l.waiting, l.behindSince = false, time.Now()
	}
}

// move goes on to a place. It goes back nowhere.
func (l *lane) move(to merchant.EventPlace) {
	if l.state.After.Before(to) {
		l.state.After, l.moved = to, true
	}
}

func (l *lane) run(ctx context.Context) {
	defer close(l.done)
	for ctx.Err() == nil {
		if l.off {
			<-ctx.Done() // which comes with the next set-up
			return
		}
		due, next := l.nextRetry()
		switch {
		case due != nil:
			l.retry(ctx, *due)
		case len(l.state.Aside) >= maxAside:
			l.backlog = nil
			l.leave()
			l.sleep(ctx, next)
		case l.replaying() && !l.replayed:
			l.replayed = true
			l.replay(ctx)
		default:
			l.replayed = false
			if events, more := l.next(ctx); len(events) > 0 {
				n := l.deliver(ctx, events, true)
				l.backlog = l.backlog[min(n, len(l.backlog)):]
			} else if !more && !l.replaying() {
				l.sleep(ctx, next)
			}
		}
	}
}

// nextRetry gives the event whose next attempt is due, and else when the first one is.
func (l *lane) nextRetry() (due *event.WebhookAside, next time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.state.Aside {
		if a := &l.state.Aside[i]; next.IsZero() || a.Due.Before(next) {
			due, next = a, a.Due
		}
	}
	if due == nil || time.Now().Before(next) {
		return nil, next
	}
	// A copy: retry holds no lock while its call is in flight, and the state may be written meanwhile.
	one := *due
	return &one, next
}

// leave puts the lane out of step.
func (l *lane) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.following = false
	l.fallBehind()
}

// sleep waits until there may be something to do.
func (l *lane) sleep(ctx context.Context, until time.Time) {
	var timer <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-ctx.Done():
	case <-l.wake:
	case <-timer:
	}
}

// next gives the next events that are wanted; more tells, where there are none, to ask again at once.
func (l *lane) next(ctx context.Context) (events []rendered, more bool) {
	if len(l.backlog) == 0 {
		if events, following := l.remembered(); following {
			return events, false
		}
	}
	if len(l.backlog) == 0 {
		page, err := l.readBacklog(ctx, event.Query{AccountID: l.account, Types: l.types, After: l.state.After,
			Limit: backlogPage})
		switch {
		case forgotten(err) && !l.state.After.IsZero():
			l.Log.Warn("the events after the last one that a webhook got are not kept any more; it goes on with the oldest",
				"webhook", l.hook.ID, "account", l.account)
			// To stop here would be to stop for good, as a place that was erased never comes back. So the log tells that
			// something is lost, and what is still kept is delivered.
			l.set(func() { l.state.After = merchant.EventPlace{} })
			return nil, true
		case err != nil:
			l.complain(ctx, "events could not be read for a webhook", err)
			pause(ctx, 5*time.Second)
			return nil, true
		}
		l.backlog = l.render(ctx, page.Events, l.state.After)
		if len(l.backlog) == 0 {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.move(page.Next)
			if !page.More {
				l.restartStream()
			}
			return nil, true
		}
	}
	return l.backlog[:min(len(l.backlog), l.atOnce())], true
}

// forgotten reports whether the database does not know a place any more.
func forgotten(err error) bool { return errors.Is(err, refusal.NotFound) }

// restartStream lets a lane that has read up to the end in step, where the stream has stood still for want of
// lanes in step.
func (l *lane) restartStream() {
	for _, other := range l.lanes {
		if other.following {
			return
		}
	}
	l.recent, l.start, l.end, l.lost = nil, l.state.After, l.state.After, false
}

// remembered puts the lane in step if the stream remembers what comes after its place, and takes the next events that
// are wanted. Where there are none, the lane waits. Both happen under one lock: if the stream let go of events in
// between, the lane would pass over them.
func (l *lane) remembered() (events []rendered, following bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.following = !l.lost && !l.state.After.Before(l.start); !l.following {
		return nil, false
	}
	most := l.atOnce()
	for _, e := range l.recent {
		if l.state.After.Before(e.place) && l.wants(e.kind) {
			if events = append(events, e); len(events) == most {
				return events, true
			}
		}
	}
	if len(events) == 0 {
		l.move(l.end)
		l.waiting = true
	}
	return events, true
}

// atOnce is how many events the lane sends at once: one, until its endpoint has taken one, while it is slow or fails.
func (l *lane) atOnce() int {
	if !l.quick || !l.state.FailingSince.IsZero() {
		return 1
	}
	return min(atOnce, maxAside-len(l.state.Aside))
}

// set changes the state.
func (l *lane) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	l.changed = true
}

// deliver makes the first attempt at each of some events, the next ones or some of a replay, and tells at how many:
// after one that was not taken soon, the others have time.
func (l *lane) deliver(ctx context.Context, events []rendered, next bool) int {
	outcomes := l.send(ctx, events)
	if ctx.Err() != nil || len(outcomes) == 0 {
		return 0 // whoever has the lane next sends them again
	}
	l.set(func() {
		for i, o := range outcomes {
			if l.judge(o); !o.Succeeded() {
				wait, _ := Retry(1, l.Random())
				e := &events[i]
				l.state.Aside = append(l.state.Aside, event.WebhookAside{Event: e.id, Type: e.kind, Before: e.before, Attempts: 1,
					Due: time.Now().Add(wait)})
			}
		}
		if next { // the events of a replay lie before After, or come again in their turn
			l.state.After = events[len(outcomes)-1].place
		}
	})
	l.decide(ctx, outcomes)
	return len(outcomes)
}

// judge notes what an outcome says about the endpoint.
func (l *lane) judge(o Outcome) {
	switch {
	case o.Succeeded():
		l.state.FailingSince = time.Time{}
	case l.state.FailingSince.IsZero():
		l.state.FailingSince = time.Now().UTC().Truncate(time.Microsecond)
	}
}

// decide switches the endpoint off where an outcome asks for it, or where there was no success for too long.
func (l *lane) decide(ctx context.Context, outcomes []Outcome) {
	var why merchant.WebhookOff
	since := l.state.FailingSince
	switch {
	case slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.Gone() }):
		why = merchant.WebhookGone
	case !since.IsZero() && time.Since(since) >= FailingMost:
		why = merchant.WebhookFailing
	default:
		return
	}
	// Until the set-up says so, another process would go on calling the endpoint. So this is tried until it succeeds, and
	// the lane makes no call meanwhile.
	l.off = true
	for ctx.Err() == nil {
		err := l.SwitchOff(ctx, l.hook, why)
		if err == nil {
			return
		}
		l.complain(ctx, "a webhook could not be switched off", err)
		pause(ctx, offAgain)
	}
}

// retry makes another attempt at an event that failed.
func (l *lane) retry(ctx context.Context, a event.WebhookAside) {
	e, err := l.find(ctx, &a)
	switch {
	case ctx.Err() != nil:
		return
	case forgotten(err): // as if it were taken: no other attempt could find it
		l.Log.Warn("an event that a webhook is to get is not kept any more", "webhook", l.hook.ID, "event", a.Event)
		l.set(func() { l.reschedule(&a, true) })
		return
	case err != nil:
		l.complain(ctx, "an event could not be read for a webhook", err)
		pause(ctx, 5*time.Second)
		return
	}
	outcomes := l.send(ctx, []rendered{e})
	if ctx.Err() != nil {
		return
	}
	l.set(func() {
		l.judge(outcomes[0])
		l.reschedule(&a, outcomes[0].Succeeded())
	})
	l.decide(ctx, outcomes)
}

// reschedule takes an event out of those that are to be tried again, or says when it is. When the first one gets
// through to an endpoint that took nothing, the others need not wait.
func (l *lane) reschedule(a *event.WebhookAside, taken bool) {
	full := len(l.state.Aside) >= maxAside
	wait, again := Retry(a.Attempts+1, l.Random())
	l.state.Aside = slices.DeleteFunc(l.state.Aside, func(b event.WebhookAside) bool { return b.Event == a.Event })
	switch {
	case taken && full:
		for i := range l.state.Aside {
			l.state.Aside[i].Due = time.Now()
		}
	case taken:
	case again:
		a.Attempts++
		a.Due = time.Now().Add(wait)
		l.state.Aside = append(l.state.Aside, *a)
	default:
		l.Log.Warn("an event is given up for a webhook after the last retry", "webhook", l.hook.ID, "event", a.Event)
	}
}

// find reads an event again. Its body is not kept with the state, which is one document and written with every change:
// sixteen bodies would go to the database each time.
func (l *lane) find(ctx context.Context, a *event.WebhookAside) (rendered, error) {
	q := event.Query{AccountID: l.account, Types: []gift.EventType{a.Type}, After: a.Before, Limit: 1}
	for {
		page, err := l.readBacklog(ctx, q)
		if err != nil {
			return rendered{}, err
		}
		for _, e := range l.render(ctx, page.Events, q.After) {
			if e.id == a.Event {
				return e, nil
			}
		}
		if !page.More {
			return rendered{}, event.NoSuchPlace()
		}
		q.After = page.Next
	}
}

// send makes calls and gives what came of each. It ends before the last event where one was not taken, or not soon. One
// goes after the other, over a connection that stays, as another costs as much as some calls; more at once go where the
// endpoint takes long for what happens, but not where this machine does.
func (l *lane) send(ctx context.Context, events []rendered) []Outcome {
	pause(ctx, l.paces.reserve(l.Destination(l.hook.URL), len(events), time.Now()))
	outcomes, begun := make([]Outcome, len(events)), time.Now()
	var taken, took atomic.Int64
	var late atomic.Bool
	sends := func() {
		for !late.Load() {
			i := int(taken.Add(1)) - 1
			if i >= len(events) {
				return
			}
			outcomes[i] = l.attempt(ctx, &events[i])
			took.Add(int64(outcomes[i].Took))
			if !outcomes[i].quick() {
				late.Store(true)
			}
		}
	}
	width := min(len(events), max(1, l.width))
	var calls sync.WaitGroup
	for range width - 1 {
		calls.Go(sends)
	}
	sends()
	calls.Wait()
	l.quick = !late.Load()
	switch waited := time.Duration(took.Load()) / time.Duration(width); {
	case len(events) < atOnce: // nothing has piled up: one connection keeps up with the events
		l.width = 1
	case waited > time.Since(begun)/2:
		// The calls spent most of the time at the endpoint, so more of them at once bring more through. Where they spent it
		// waiting for their places or for this processor, more of them would only be in each other's way.
		l.width = min(2*width, atOnce)
	}
	return outcomes[:min(int(taken.Load()), len(events))]
}

// enter waits for a place among the calls in flight: of the account first, so that one with slow endpoints does not
// take the places of others, and of those to endpoints that may be slow. What it gives gives the place back.
func (l *lane) enter(ctx context.Context) (leave func()) {
	var taken []func()
	leave = func() {
		for _, done := range taken {
			done()
		}
	}
	places := []*fair.Places{l.calls, l.Deliverer.calls}
	if !l.quick {
		places = []*fair.Places{l.calls, l.slow, l.Deliverer.calls}
	}
	for _, place := range places {
		done, err := place.Take(ctx, l.account, l.hook.ID)
		if err != nil {
			leave()
			return nil
		}
		taken = append(taken, done)
	}
	select {
	case l.busy <- struct{}{}:
	case <-ctx.Done():
		leave()
		return nil
	}
	// A call that has lasted for busyFor waits for its endpoint and uses no processor: its place among the busy ones is
	// free for another call, though it is still in flight.
	waits := sync.OnceFunc(func() { <-l.busy })
	soon := time.AfterFunc(busyFor, waits)
	taken = append(taken, func() { soon.Stop() }, waits)
	return leave
}

// attempt makes a call once there is room for it.
func (l *lane) attempt(ctx context.Context, e *rendered) Outcome {
	leave := l.enter(ctx)
	if leave == nil {
		return Outcome{}
	}
	defer leave()
	return l.call(ctx, e)
}

// quick reports whether an endpoint took a message, and not after long.
func (o *Outcome) quick() bool { return o.Succeeded() && o.Took <= slowAfter }

func (l *lane) call(ctx context.Context, e *rendered) Outcome {
	at := time.Now().UTC().Truncate(time.Microsecond)
	traced, s := l.Tracer.Call(ctx, e.id, "webhook", attribute.String("boon.event", string(e.kind)))
	o := l.Send(traced, l.hook.URL, l.hook.Secrets(at), Message{e.id.String(), e.body})
	if o.Status != 0 {
		s.SetAttributes(attribute.Int("http.response.status_code", o.Status))
	}
	span.End(s, o.err())
	if ctx.Err() == nil || o.Succeeded() {
		l.note(event.WebhookAttempt{ID: guid.ID(uuid.Must(uuid.NewV7())), AccountID: l.account, WebhookID: l.hook.ID,
			Event: e.id, Type: e.kind, At: at, Took: o.Took, Status: o.Status, Answer: o.Answer, Words: o.Words}, o)
	}
	return o
}

// replaying reports whether a replay is under way.
func (l *lane) replaying() bool {
	r := l.hook.Replay
	return r != nil && (l.state.Replay != r.ID || !l.state.Replayed)
}

// replay sends the next few events of the time that is replayed.
func (l *lane) replay(ctx context.Context) {
	r := l.hook.Replay
	if l.state.Replay != r.ID {
		l.set(func() { l.state.Replay, l.state.ReplayAfter, l.state.Replayed = r.ID, r.After, false })
	}
	types := event.CoveredTypes(r.Types)
	if types == nil {
		types = l.types
	}
	page, err := l.readBacklog(ctx, event.Query{AccountID: l.account, Types: types, From: r.From, To: r.To,
		After: l.state.ReplayAfter, Limit: l.atOnce()})
	if err != nil && !forgotten(err) {
		l.complain(ctx, "events could not be read for a replay", err)
		pause(ctx, 5*time.Second)
		return
	}
	events := slices.DeleteFunc(l.render(ctx, page.Events, l.state.ReplayAfter),
		func(e rendered) bool { return r.Upto.Before(e.place) })
	end, done := page.Next, err != nil || !page.More || !page.Next.Before(r.Upto)
	if len(events) > 0 {
		// A replay may be of all events that are kept. At one call in replayGap, after a first burst, the endpoint has time
		// for the newest ones, which people wait for.
		now := time.Now()
		if l.free.Before(now) {
			l.free = now
		}
		pause(ctx, l.free.Sub(now)-burst)
		n := l.deliver(ctx, events, false)
		if l.free = l.free.Add(time.Duration(n) * replayGap); n > 0 && n < len(events) {
			end, done = events[n-1].place, false
		}
	}
	if ctx.Err() == nil {
		l.set(func() { l.state.ReplayAfter, l.state.Replayed = end, done })
	}
}
