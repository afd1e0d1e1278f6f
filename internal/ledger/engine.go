package ledger

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"boon.example/internal/gift"
)

// Options tune an Engine; the zero value is what a service wants.
type Options struct {
	Queue    int              // commands that may wait; more are refused at once. Default 4,096
	Group    int              // commands that may share one transaction. Default 512
	Patience time.Duration    // how long a second request with a key waits for the first. Default 2 s
	Now      func() time.Time // default time.Now
	Random   io.Reader        // default crypto/rand
	Observe  func(GroupStats) // told of every group; must be quick
}

// GroupStats is what one transaction was.
type GroupStats struct {
	Commands int
	Took     time.Duration
	Err      error
}

// Engine runs commands. See the package comment.
type Engine struct {
	store Store
	opts  Options

	mu      sync.Mutex
	stopped bool
	running map[RequestKey]chan struct{} // closed when the call that holds the key has ended

	queue chan *task
	ended chan struct{}
	last  time.Time // of the newest group; decisions never go back in time
}

// task is one command on its way through the engine.
type task struct {
	ctx    context.Context
	call   *Call
	cmd    Command
	done   chan struct{}
	result Result
	answer Answer
	err    error
}

// Start makes an engine over a store. Stop ends it.
func Start(store Store, opts Options) *Engine {
	if opts.Queue == 0 {
		opts.Queue = 4096
	}
	if opts.Group == 0 {
		opts.Group = 512
	}
	if opts.Patience == 0 {
		opts.Patience = 2 * time.Second
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Random == nil {
		opts.Random = rand.Reader
	}
	if opts.Observe == nil {
		opts.Observe = func(GroupStats) {}
	}
	e := &Engine{
		store: store, opts: opts, running: map[RequestKey]chan struct{}{},
		queue: make(chan *task, opts.Queue), ended: make(chan struct{}),
	}
	go e.run()
	return e
}

// Stop refuses new commands, finishes those that wait, and returns when the last caller has its answer.
func (e *Engine) Stop() {
	e.mu.Lock()
	if !e.stopped {
		e.stopped = true
		close(e.queue)
	}
	e.mu.Unlock()
	<-e.ended
}

// Depth is the number of commands that wait.
func (e *Engine) Depth() int { return len(e.queue) }

// Running reports whether a call with this key is under way in this process.
func (e *Engine) Running(k RequestKey) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.running[k] != nil
}

// Do runs one command and gives the answer once it is durable. What was done is always an Answer; so is a refusal that is
// remembered under the call's key. Any other refusal is a *gift.Error (IDEMPOTENCY_MISMATCH, REQUEST_IN_PROGRESS and UNAVAILABLE
// among them), and any other error an internal one. A caller that gives up gets UNAVAILABLE; what it asked for may still
// happen, once.
func (e *Engine) Do(ctx context.Context, c Call, cmd Command) (Answer, error) {
	issue, issuing := cmd.(*Issue)
	for range maxDraws {
		if issuing {
			if err := issue.draw(e.opts.Random); err != nil {
				return Answer{}, fmt.Errorf("drawing codes: %w", err)
			}
		}
		t := &task{ctx: ctx, call: &c, cmd: cmd, done: make(chan struct{})}
		if err := e.submit(t); err != nil {
			return Answer{}, err
		}
		select {
		case <-t.done:
		case <-ctx.Done():
			return Answer{}, unknown(ctx.Err())
		}
		switch {
		case errors.Is(t.err, errCodeTaken):
			continue
		case t.err != nil || t.answer.Body != nil:
			return t.answer, t.err
		}
		return c.Render(t.result, nil), nil
	}
	return Answer{}, errors.New("drawing codes: every draw met one in use")
}

// maxDraws bounds how often codes are drawn anew. Even with 10^9 gifts alive only one draw in a thousand meets one in use.
const maxDraws = 20

// submit queues a task, once no other call with its key is under way.
func (e *Engine) submit(t *task) error {
	var patience <-chan time.Time
	for {
		ahead, err := e.enqueue(t)
		if ahead == nil {
			return err
		}
		if patience == nil {
			timer := time.NewTimer(e.opts.Patience)
			defer timer.Stop()
			patience = timer.C
		}
		select {
		case <-ahead:
		case <-patience:
			refused := gift.Refuse(gift.RequestInProgress, "The first request with this Idempotency-Key is still under way. Repeat it with the same key.")
			refused.RetryAfter = time.Second
			return refused
		case <-t.ctx.Done():
			return unknown(t.ctx.Err())
		}
	}
}

// enqueue queues a task, or gives the call with the same key that must end first.
func (e *Engine) enqueue(t *task) (ahead chan struct{}, _ error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return nil, unavailable("The service is stopping.")
	}
	keyed := t.call.Key != ""
	if keyed {
		if ahead = e.running[t.call.requestKey()]; ahead != nil {
			return ahead, nil
		}
	}
	select {
	case e.queue <- t:
	default:
		return nil, unavailable("The service is overloaded.")
	}
	if keyed {
		e.running[t.call.requestKey()] = t.done
	}
	return nil, nil
}

// finish tells the callers of a group.
func (e *Engine) finish(group []*task) {
	e.mu.Lock()
	for _, t := range group {
		if t.call.Key != "" {
			delete(e.running, t.call.requestKey())
		}
	}
	e.mu.Unlock()
	for _, t := range group {
		close(t.done)
	}
}

// run is the collector: it takes what has queued up while the last group was committed, and never waits for more when there
// is something to do.
func (e *Engine) run() {
	defer close(e.ended)
	group := make([]*task, 0, e.opts.Group)
	for first := range e.queue {
		group = e.collect(append(group[:0], first))
		live, gone := e.leave(group)
		e.finish(gone)
		if len(live) > 0 {
			e.commit(live)
			e.finish(live)
		}
	}
}

func (e *Engine) collect(group []*task) []*task {
	for len(group) < e.opts.Group {
		select {
		case t, open := <-e.queue:
			if !open {
				return group
			}
			group = append(group, t)
		default:
			return group
		}
	}
	return group
}

// leave parts a group into those whose callers still wait and those who have gone: nothing was done for these, and the
// keys they hold are free again.
func (e *Engine) leave(group []*task) (live, gone []*task) {
	live = group[:0]
	for _, t := range group {
		if err := t.ctx.Err(); err != nil {
			t.err = unknown(err)
			gone = append(gone, t)
		} else {
			live = append(live, t)
		}
	}
	return live, gone
}

// errPanic tells that deciding a group panicked. Nothing was changed.
var errPanic = errors.New("deciding a group panicked")

// commit decides a group in one transaction. When the database rejects what was decided, or when deciding it panics, a command
// of the group broke an invariant, which no rule should let happen: each command is then decided alone, so that it fails alone.
func (e *Engine) commit(group []*task) {
	begun := time.Now()
	err := e.transact(group)
	e.opts.Observe(GroupStats{Commands: len(group), Took: time.Since(begun), Err: err})
	if (errors.Is(err, ErrRejected) || errors.Is(err, errPanic)) && len(group) > 1 {
		for n := range group {
			e.commit(group[n : n+1])
		}
		return
	}
	if err == nil {
		return
	}
	for _, t := range group {
		switch {
		case errors.Is(err, ErrRejected), errors.Is(err, errPanic):
			t.fail(err)
		case errors.Is(err, ErrUnknown):
			t.fail(unknown(err))
		default:
			t.fail(fmt.Errorf("%w: %w", unavailable("The store cannot be reached; nothing was done."), err))
		}
	}
}

func (e *Engine) transact(group []*task) error {
	var want Want
	for _, t := range group {
		if t.call.Key != "" {
			want.Requests = append(want.Requests, t.call.requestKey())
		}
		t.cmd.want(t.call, &want)
	}
	var panicked error
	// The group outlives its callers: what is being committed is not abandoned because somebody hung up.
	err := e.store.Group(context.Background(), want, func(loaded *State) (changes Changes) {
		panicked = nil
		defer func() {
			if p := recover(); p != nil { // what was decided so far may be half of something: none of it is saved
				panicked, changes = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack()), Changes{}
			}
		}()
		e.last = latest(e.last, e.opts.Now().UTC().Truncate(time.Microsecond))
		s := newState(loaded, e.last)
		for _, t := range group {
			t.decide(s)
		}
		return s.changes
	})
	return cmp.Or(err, panicked)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// decide gives a known key its stored answer, and anything else to the rules.
func (t *task) decide(s *state) {
	t.result, t.answer, t.err = Result{}, Answer{}, nil
	if t.call.Key == "" {
		t.result, t.err = t.cmd.decide(t.call, s)
		return
	}
	if known := s.Requests[t.call.requestKey()]; known != nil {
		t.replay(known, s)
		return
	}
	t.result, t.err = t.cmd.decide(t.call, s)
	if !storable(t.err) {
		return
	}
	t.answer, t.err = t.call.Render(t.result, t.err), nil
	r := Request{RequestKey: t.call.requestKey(), Fingerprint: t.call.Fingerprint, Answer: t.answer, At: s.now}
	r.Locations = distinct(t.cmd.places(t.call, s))
	if len(t.result.Entries) == 1 {
		r.EntryID = t.result.Entries[0].ID
	}
	s.record(r)
}

func (t *task) replay(known *Request, s *state) {
	switch {
	case known.Spent:
		t.err = gift.Refuse(gift.RedemptionNotAllowed, "This request was taken back by its Idempotency-Key before it arrived; nothing was redeemed.")
	case known.Fingerprint != t.call.Fingerprint:
		t.err = gift.Refuse(gift.IdempotencyMismatch, "This Idempotency-Key was used for another request. Use a new key for each new request.")
	case !known.MayBeToldTo(t.call.Caller):
		t.err = gift.Refuse(gift.NotAuthorized, "This request was made at a location that this key is not enabled for.")
	default:
		s.changes.Replays++
		t.answer = known.Answer
		t.answer.Replayed = true
	}
}

func (t *task) fail(err error) { t.result, t.answer, t.err = Result{}, Answer{}, err }

func unavailable(why string) *gift.Error {
	refused := gift.Refuse(gift.Unavailable, "%s Repeat the request in a moment with the same Idempotency-Key.", why)
	refused.RetryAfter = time.Second
	return refused
}

// unknown is told to a caller whose command may or may not have been carried out.
func unknown(cause error) error {
	return fmt.Errorf("%w: %w", unavailable("It is not known whether this was done."), cause)
}
