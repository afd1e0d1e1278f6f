package webhook

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// stream is the events of one account on their way to its lanes.
//
// # Why it is hard
//
// An account may have twenty endpoints that want the same events. Some of them take a millisecond, some are away for
// days. An event should be read and rendered once for all of them; no endpoint may wait for a slower one; and what
// waits in memory for the slow ones has to be bounded.
//
// So the stream remembers the newest events, rendered, for the lanes that keep up: those that are in step. A lane that
// does not keep up leaves the step and reads from the database what it lacks, by itself. It is in step again once its
// place is one that the stream remembers from.
//
// # Invariants
//
//  1. recent holds every event of types after start and up to end, in order. What is not in types was never read.
//  2. A lane may take events from recent only while its place is not before start, and the stream is not lost.
//     lane.remembered looks and takes them under one lock.
//  3. recent has at most maxRecent events. When there are more, the oldest go and start moves on: a lane whose place is
//     before start then leaves the step, and the others do not wait for it.
//  4. forget drops what all lanes in step are past. A lane out of step keeps none of recent; in memory it has at most
//     the backlogPage events that it read last.
//  5. When types change, recent becomes empty and start becomes end (updateTypes), as the new types were not read for
//     the time before.
//  6. Pages are read only while a lane is in step (waits). When none is, the first one that has read up to the end by
//     itself says from where on the stream goes on (lane.restartStream). Otherwise the stream would read, for nobody,
//     what the lanes read for themselves.
//  7. An endpoint has at most one lane in a process: sync cancels a lane and waits for its goroutine before it keeps
//     its state and begins another. Two processes are kept apart by the lease of the account; a process that missed the
//     end of its lease sends events twice, and loses none.
//  8. mu guards all fields below it, and the fields of lanes that say so. The fields above it belong to the goroutine
//     of the deliverer, have a lock of their own, or never change.
//  9. The database may not know end any more, after it was put back or after events were forgotten. Then the stream is
//     lost, and every lane reads by itself (restart). Nothing can be read after such a place: a lane that stayed
//     in step would wait for ever.
//  10. An account that gets its first lanes goes on where the endpoint is that came furthest (startAtFurthest). If it
//     went on where the last one is, the stream would read a week again because one endpoint was away for a week.
//  11. A read ends after maxPages, and comes again only after readNext, however many events the account has: accounts
//     that are read together wait for each other.
//
// # What shows it
//
// TestEveryEventArrives shows the order, and that events come once while all goes well; TestThreeBadDays that no
// endpoint waits for another one (3, 4); TestTwoProcesses and TestAProcessIsKilled the leases (7);
// TestPlacesThatAreForgotten the places that are lost (9); TestAccountsAreTakenOverTogether where a stream begins (10).
type stream struct {
	*Deliverer
	account guid.ID
	behind  bool // there are events after end; the deliverer's own
	// readNext is when they may be read; the deliverer's own.
	readNext time.Time
	calls    *fair.Places // of the account's calls in flight
	paces    paces

	mu         sync.Mutex
	lanes      map[guid.ID]*lane
	states     map[guid.ID]event.WebhookState // of endpoints that have, or had, no lane
	unsaved    map[guid.ID]bool               // which of them are to be saved
	types      []gift.EventType               // that are read; nil: all
	recent     []rendered                     // those of these types after start and up to end
	start, end merchant.EventPlace
	// lost: the database knows end no more, so that no lane can be in step until one has read up to the end by itself.
	lost bool
}

// rendered is an event as it is sent.
type rendered struct {
	id     guid.ID
	kind   gift.EventType
	body   []byte
	before merchant.EventPlace // nothing that is wanted lies between it and the event
	place  merchant.EventPlace
}

const (
	maxRecent = 1_024 // events of an account that wait in memory for the slowest of its lanes in step
	pageSize  = 100
	maxPages  = 8 // that are read of an account before others have their turn
)

func newStream(d *Deliverer, account guid.ID, states []event.WebhookState) *stream {
	s := &stream{Deliverer: d, account: account, calls: fair.New(accountCalls),
		paces: paces{free: map[string]time.Time{}},
		lanes: map[guid.ID]*lane{}, states: map[guid.ID]event.WebhookState{},
		unsaved: map[guid.ID]bool{}, types: []gift.EventType{}}
	for _, state := range states {
		s.states[state.WebhookID] = state
	}
	return s
}

// sync starts lanes for endpoints that are switched on, and stops the others.
func (s *stream) sync(ctx context.Context, hooks []*merchant.Webhook) {
	wanted := map[guid.ID]*merchant.Webhook{}
	for _, w := range hooks {
		if w.Enabled && w.Secret != "" {
			wanted[w.ID] = w
		}
	}
	s.mu.Lock()
	var stopped []*lane
	for id, l := range s.lanes {
		if w := wanted[id]; w == nil || !l.current(w) {
			stopped = append(stopped, l)
		}
	}
	s.mu.Unlock()
	for _, l := range stopped {
		l.cancel()
	}
	for _, l := range stopped {
		<-l.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range stopped {
		s.states[l.hook.ID], s.unsaved[l.hook.ID] = l.state, l.changed || l.moved
		delete(s.lanes, l.hook.ID)
	}
	if len(s.lanes) == 0 {
		s.startAtFurthest(wanted)
	}
	s.updateTypes(wanted)
	for id, w := range wanted {
		if s.lanes[id] == nil {
			s.begin(ctx, w)
		}
	}
}

// startAtFurthest has a stream without lanes go on where the endpoint does that came furthest. So the accounts that a
// process takes over are read together, but for endpoints that are behind others of theirs.
func (s *stream) startAtFurthest(wanted map[guid.ID]*merchant.Webhook) {
	furthest := merchant.EventPlace{}
	for _, w := range wanted {
		if state, _ := s.state(w); furthest.Before(state.After) {
			furthest = state.After
		}
	}
	s.recent, s.start, s.end, s.lost, s.behind = nil, furthest, furthest, false, true
}

// state is how far an endpoint has come. One that never had a lane begins where it was made.
func (s *stream) state(w *merchant.Webhook) (state event.WebhookState, known bool) {
	if state, known = s.states[w.ID]; !known {
		state = event.WebhookState{AccountID: s.account, WebhookID: w.ID, After: w.Start}
	}
	return state, known
}

// begin starts the lane of an endpoint.
func (s *stream) begin(ctx context.Context, w *merchant.Webhook) {
	state, known := s.state(w)
	if state.FailingSince.Before(w.ChangedAt) && !state.FailingSince.IsZero() { // it may work now
		state.FailingSince = time.Time{}
		for i := range state.Aside {
			state.Aside[i].Due = time.Now()
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &lane{stream: s, hook: w, types: event.CoveredTypes(w.Types), state: state, changed: !known, cancel: cancel,
		behindSince: time.Now(),
		wake:        make(chan struct{}, 1), done: make(chan struct{})}
	s.lanes[w.ID] = l
	go l.run(ctx)
}

// updateTypes has the types be read that one of the endpoints wants. What is remembered lacks the new ones.
func (s *stream) updateTypes(wanted map[guid.ID]*merchant.Webhook) {
	types := map[gift.EventType]bool{}
	for _, w := range wanted {
		all := event.CoveredTypes(w.Types)
		if all == nil {
			all = event.Types()
		}
		for _, t := range all {
			types[t] = true
		}
	}
	union := slices.Sorted(maps.Keys(types))
	if len(union) == len(event.Types()) {
		union = nil
	}
	if !slices.Equal(union, s.types) || (union == nil) != (s.types == nil) {
		s.types, s.recent, s.start = union, nil, s.end
	}
}

// waits reports whether a lane waits for events that are read here: those that are out of step read for themselves, and
// the first that is back says from where on it goes.
func (s *stream) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		if l.following {
			return true
		}
	}
	return false
}

// query asks for the next page.
func (s *stream) query() event.Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	return event.Query{AccountID: s.account, Types: s.types, After: s.end, Limit: pageSize}
}

// remember keeps a page of the events after a place, and wakes the lanes that want something of it.
func (s *stream) remember(ctx context.Context, after merchant.EventPlace, page *event.Page) {
	if page.Forgotten {
		s.restart()
		return
	}
	s.add(s.render(ctx, page.Events, after), page.Next)
	s.behind = page.More
}

// restart puts all lanes out of step: the database has forgotten the place up to which was read.
func (s *stream) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent, s.lost = nil, true
	for _, l := range s.lanes {
		l.following = false
		l.wakeUp()
	}
}

func (s *stream) render(ctx context.Context, events []event.Event, after merchant.EventPlace) []rendered {
	all := make([]rendered, 0, len(events))
	for i := range events {
		e := &events[i]
		all = append(all, rendered{e.ID, e.Type, s.Render(ctx, e), after, e.Place})
		after = e.Place
	}
	return all
}

// add remembers events that were read.
func (s *stream) add(events []rendered, end merchant.EventPlace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	s.recent, s.end = append(s.recent, events...), end
	if over := len(s.recent) - maxRecent; over > 0 {
		s.start = s.recent[over-1].place
		s.recent = slices.Clone(s.recent[over:])
	}
	for _, l := range s.lanes {
		switch {
		case !l.following:
		case slices.ContainsFunc(events, func(e rendered) bool { return l.wants(e.kind) }):
			l.wakeUp()
		case l.waiting:
			l.move(end)
		}
	}
}

// forget lets go of the events that all lanes in step are past.
func (s *stream) forget() {
	past := s.end
	for _, l := range s.lanes {
		if l.following && l.state.After.Before(past) {
			past = l.state.After
		}
	}
	if s.start.Before(past) {
		s.start = past
		s.recent = slices.DeleteFunc(s.recent, func(e rendered) bool { return !past.Before(e.place) })
	}
}

// unsavedStates gives the states that are to be saved. Where idle is true, those are among them that only moved over
// events that nobody wanted.
func (s *stream) unsavedStates(idle bool) (states []event.WebhookState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	for _, l := range s.lanes {
		if l.changed || idle && l.moved {
			l.changed, l.moved = false, false
			states = append(states, l.state.Clone())
		}
	}
	for id, is := range s.unsaved {
		if !is {
			continue
		}
		state := s.states[id]
		states = append(states, state.Clone())
	}
	clear(s.unsaved)
	return states
}

// markUnsaved has a state be saved again.
func (s *stream) markUnsaved(id guid.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lanes[id]; l != nil {
		l.changed = true
	} else {
		s.unsaved[id] = true
	}
}
