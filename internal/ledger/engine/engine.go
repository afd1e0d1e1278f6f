// Package engine runs the commands of package ledger: it takes them from many goroutines, groups those that wait at the
// same moment, and has a store load, decide and save each group in ONE transaction. Every caller is answered after the
// commit, never before.
//
// Its tests stand beside those of the commands, in internal/ledger.
package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/base/phrase"
	"boon.example/internal/base/span"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
)

const keyTimeout = 2 * time.Second // the default of Options.KeyTimeout

// Options tune an Engine; the zero value is what a service wants.
type Options struct {
	Lanes int // transactions under way at once, for a database that has row locks. Default 1
	Queue int // commands that may wait in each lane; more are refused at once. Default 4,096
	// commands that may share one transaction. Default 512, fewer when they are about many gifts
	Group      int
	KeyTimeout time.Duration    // how long a second request with a key waits for the first. Default 2 s
	Now        func() time.Time // default time.Now
	Random     io.Reader        // default crypto/rand
	Observe    func(GroupStats) // told of every group; must be quick
	Tracer     *span.Tracer     // remembers which requests caused which events; nil: nobody does
}

// Store is what the engine needs of a database.
type Store interface {
	// Group loads what want names, locked against every other writer, hands it to decide, saves what decide returns and
	// commits, all in one transaction. When it returns nil, the changes are on stable storage. When it returns an error,
	// nothing was changed, unless the error is ErrUnknown: then the commit may or may not have taken effect. ErrRejected
	// says that the changes broke a constraint or a row was not as it was loaded; with ErrInTheWay, that it may have been
	// another writer's doing, or that what they use first may not be in the set-up any more. decide is pure; it may be
	// called again on fresh state when the database asked for a retry. The errors are those of package ledger.
	Group(ctx context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error
	// Look loads what want names as it stands at one moment and hands it to decide. It locks nothing and changes nothing;
	// decide may be called again.
	Look(ctx context.Context, want ledger.Want, decide func(*ledger.State)) error
	// Worth tells what the pieces of an item gift are worth, as was said when it was made; zero: it was not said, or there
	// is no such item gift.
	Worth(ctx context.Context, account, voucher guid.ID) (gift.ItemWorth, error)
}

// GroupStats is what one transaction was.
type GroupStats struct {
	Commands int
	Took     time.Duration
	Err      error
	Done     ledger.Changes // what was committed, to be read only; nothing when there is an Err
}

// Engine runs commands.
//
// # Why it is hard
//
// An answer needs a sync of the disk, and a sync takes as long for one redemption as for a hundred. So commands that
// wait at the same moment share one transaction, a group. A group mixes callers who know nothing of each other: one of
// them may hang up, break a rule, or repeat a call whose answer was lost. None of that may reach the others, and every
// one of them must learn what became of its own command.
//
// # The way of a command
//
// Do makes a task. submit waits for an earlier call with the same Idempotency-Key. enqueue puts the task into a lane.
// The goroutine of the lane (run) collects what has queued up, drops the tasks whose callers have gone, and hands the
// others to commit. commit calls transact, which loads, decides and saves in one transaction of the store, and then
// gives every task an outcome. finish frees the keys and wakes the callers.
//
// A lane never waits for more commands: a group is what arrived while the group before it was committed. Options.Group
// and maxWeight bound it, so that no command waits for a transaction that takes longer than those in it can wait.
//
// # Invariants
//
//  1. Durable before answered. A caller learns what was done only after Store.Group has returned nil. A refusal that
//     nothing was decided for (the queue is full, the key is still running, the engine stops) comes earlier.
//  2. One outcome for each task. When finish closes task.done, the Task has its outcome, and nobody writes to it
//     again.
//  3. A group outlives its callers. dropCancelled takes tasks out between transactions, never during one. A caller who
//     gives up later is told that the outcome is not known.
//  4. Commands of one group are decided in the order of their arrival in the lane, and each sees the effect of those
//     before it (ledger.Group). The answer to each is the one that it would have had alone, after those before it.
//  5. Deciding is pure. Store.Group may call decide again on fresh state, so decide and the callback of transact begin
//     with empty results each time, and no answer depends on anything else that they change.
//  6. One command cannot fail another. When the database rejects the changes of a group, or deciding panics, nothing
//     was changed, and every command is decided in a transaction of its own. A refusal by a rule is no failure: it is
//     an answer.
//  7. A known key gets its stored answer before any rule is asked, and a new answer is saved in the transaction of its
//     effect. So there is no moment at which the effect is there and the record is not.
//  8. running keeps two calls with one key apart in this process only, so that the second waits for the first instead
//     of being decided beside it. What keeps them apart for good is the primary key of the table request: two lanes, or
//     two processes, cannot both insert the record.
//
// # Lanes
//
// SQLite has one writer, and one lane. PostgreSQL has as many lanes as Options.Lanes says. Commands on one voucher go
// to one lane (Task.Affinity), where they share a group; in two lanes the second would wait for the row lock of the
// first. Commands that name no voucher before they are loaded, such as an undo by key, are dealt out in turn. So a lane
// saves waiting, and protects nothing: the row locks of the store do that, and every command would be as right in any
// other lane.
//
// Heavy commands, such as an order of hundreds of gifts, have a lane of their own: see heavyLane. They share no
// transaction with light ones.
//
// What happens when nobody knows the outcome of a commit stands at lane.resolve.
//
// # What shows it
//
// TestEngineAgreesWithModel compares every answer with the simplest model that can be written (4, 5);
// TestCallerThatGivesUpDoesNotUndoTheCommit and TestCallerThatHasGoneIsNotBegun show 3; TestOneBadCommandFailsAlone and
// TestAPanicSavesNothing show 6; TestKeySurvivesReopening shows 7; TestOneKeyRedeemsOnceFromManyCallers and
// TestSecondRequestWithAKeyWaitsThenIsTold show 8; TestLanesKeepOneTruth runs the races with several lanes. That
// nothing is answered before it is durable (1) only kills and power cuts show: test/torture and test/power.
type Engine struct {
	store Store
	opts  Options

	mu      sync.Mutex
	stopped bool
	running map[ledger.RequestKey]chan struct{} // closed when the call that holds the key has ended

	lanes []*lane
	heavy *heavyLane
	spare atomic.Uint64 // deals out commands that belong to no lane in particular
	ended sync.WaitGroup

	verifying *fair.Places // for dry runs that show verification codes

	newestLight atomic.Int64 // when the newest group with light commands of callers was committed
}

// lane is one collector with its queue. Commands on one voucher share a lane, so that they share a group instead of
// waiting for each other's row lock; what keeps them apart when they do not is the database.
type lane struct {
	*Engine
	queue chan *task
	last  time.Time // of the newest group
	began time.Time // when it was decided: from then on its transaction kept others waiting

	outcomeUnknown bool // of a group that could not be resolved, and none has been committed since
}

// task is one command on its way through the engine.
type task struct {
	ledger.Task
	ctx    context.Context
	queued time.Time
	done   chan struct{}
}

// Start makes an engine over a store. Stop ends it.
func Start(store Store, opts Options) *Engine {
	opts.Lanes = cmp.Or(opts.Lanes, 1)
	opts.Queue = cmp.Or(opts.Queue, 4096)
	opts.Group = cmp.Or(opts.Group, 512)
	opts.KeyTimeout = cmp.Or(opts.KeyTimeout, keyTimeout)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Random == nil {
		opts.Random = rand.Reader
	}
	if opts.Observe == nil {
		opts.Observe = func(GroupStats) {}
	}
	e := &Engine{store: store, opts: opts, running: map[ledger.RequestKey]chan struct{}{},
		verifying: fair.New(1)}
	for range opts.Lanes {
		l := &lane{Engine: e, queue: make(chan *task, opts.Queue)}
		e.lanes = append(e.lanes, l)
		e.ended.Go(l.run)
	}
	e.heavy = &heavyLane{lane: lane{Engine: e}, wake: make(chan struct{}, 1), waiting: map[guid.ID][]*task{},
		served: map[guid.ID]time.Time{}}
	e.ended.Go(e.heavy.run)
	return e
}

// Stop refuses new commands, finishes those that wait, and returns when the last caller has its answer.
func (e *Engine) Stop() {
	e.mu.Lock()
	if !e.stopped {
		e.stopped = true
		for _, l := range e.lanes {
			close(l.queue)
		}
		e.heavy.awaken()
	}
	e.mu.Unlock()
	e.ended.Wait()
}

// Depth is the number of commands that wait.
func (e *Engine) Depth() (n int) {
	for _, l := range e.lanes {
		n += len(l.queue)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return n + e.heavy.depth()
}

// Running reports whether a call with this key is under way in this process.
func (e *Engine) Running(k ledger.RequestKey) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.running[k] != nil
}

// Do runs one command and gives the answer once it is durable. What was done is always an Answer; so is a refusal that
// is remembered under the call's key. Any other refusal is a *refusal.Error (IDEMPOTENCY_MISMATCH, REQUEST_IN_PROGRESS
// and UNAVAILABLE among them), and any other error an internal one. A caller that gives up gets UNAVAILABLE; what it
// asked for may still happen, once.
//
// Of a dry run nothing is kept, but for a wrong verification code: see Engine.rehearse.
func (e *Engine) Do(ctx context.Context, c ledger.Call, cmd ledger.Command) (ledger.Answer, error) {
	asked := ledger.Task{Call: &c, Command: cmd}
	if err := e.weigh(ctx, &asked); err != nil {
		return ledger.Answer{}, err
	}
	for range maxDraws {
		t := &task{Task: asked, ctx: ctx, queued: time.Now(), done: make(chan struct{})}
		if err := t.Draw(e.opts.Random); err != nil {
			return ledger.Answer{}, fmt.Errorf("drawing codes: %w", err)
		}
		carryOut := e.await
		if c.DryRun {
			carryOut = e.rehearse
		}
		if err := carryOut(t); err != nil {
			return ledger.Answer{}, err
		}
		if !t.DrawsAgain() {
			return t.Told()
		}
	}
	return ledger.Answer{}, errors.New("drawing codes: every draw met one in use")
}

// weigh finds out what the pieces are worth that a command moves, where that counts. It never changes, so it is read
// before the transaction.
func (e *Engine) weigh(ctx context.Context, t *ledger.Task) error {
	err := t.Weigh(func(voucher guid.ID) (gift.ItemWorth, error) { return e.store.Worth(ctx, t.Call.AccountID, voucher) })
	if err != nil {
		return fmt.Errorf("%w: %w", ledger.Unavailable("The store is busy or cannot be reached; nothing was changed."), err)
	}
	return nil
}

// maxDraws bounds how often codes are drawn anew. Even with 10^9 gifts alive only one draw in a thousand meets one in
// use.
const maxDraws = 20

// await has a task carried out, and returns when it has an outcome.
func (e *Engine) await(t *task) error {
	if err := e.submit(t); err != nil {
		return err
	}
	select {
	case <-t.done:
		return nil
	case <-t.ctx.Done():
		return unknown(t.ctx.Err())
	}
}

// submit queues a task, once the call with its key that was there before it has ended. All who waited for that one go
// on together: they find its record, or the first of them to be decided makes the record that the others find.
func (e *Engine) submit(t *task) error {
	ahead, err := e.enqueue(t, false)
	if ahead == nil {
		return err
	}
	timeout := time.NewTimer(e.opts.KeyTimeout)
	defer timeout.Stop()
	select {
	case <-ahead:
		_, err := e.enqueue(t, true)
		return err
	case <-timeout.C:
		refused := refusal.New(refusal.RequestInProgress,
			"The first request with this Idempotency-Key is still under way. Repeat it with the same key.")
		refused.RetryAfter = time.Second
		return refused
	case <-t.ctx.Done():
		return unknown(t.ctx.Err())
	}
}

// enqueue queues a task, or gives the call with the same key that must end first; a task that has waited for one waits
// for no other.
func (e *Engine) enqueue(t *task, waited bool) (ahead chan struct{}, _ error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return nil, ledger.Unavailable("The service is stopping.")
	}
	keyed := t.Call.Key != ""
	if keyed && !waited {
		if ahead = e.running[t.Call.RequestKey()]; ahead != nil {
			return ahead, nil
		}
	}
	into := e.laneOf(t).enqueue
	if t.Heavy() {
		into = e.heavy.enqueue
	}
	if err := into(t); err != nil {
		return nil, err
	}
	if keyed {
		e.running[t.Call.RequestKey()] = t.done
	}
	return nil, nil
}

func (l *lane) enqueue(t *task) error {
	select {
	case l.queue <- t:
		return nil
	default:
		return ledger.Unavailable("The service is overloaded.")
	}
}

// laneOf deals out a light command.
func (e *Engine) laneOf(t *task) *lane {
	n := e.spare.Add(1)
	if id := t.Affinity(); !id.IsZero() {
		n = uint64(id[len(id)-1]) // random in every UUID version
	}
	return e.lanes[n%uint64(len(e.lanes))]
}

// finish tells the callers of a group.
func (e *Engine) finish(group []*task) {
	e.mu.Lock()
	for _, t := range group {
		if k := t.Call.RequestKey(); t.Call.Key != "" && e.running[k] == t.done {
			delete(e.running, k)
		}
	}
	e.mu.Unlock()
	for _, t := range group {
		close(t.done)
	}
}

// run is the collector: it takes what has queued up while the last group was committed, and never waits for more when
// there is something to do.
func (l *lane) run() {
	group := make([]*task, 0, l.opts.Group)
	for first := range l.queue {
		group = l.collect(append(group[:0], first))
		live, gone := dropCancelled(group)
		l.finish(gone)
		if len(live) == 0 {
			continue
		}
		l.commit(live)
		l.finish(live)
		if slices.ContainsFunc(live, func(t *task) bool { return !t.Background() }) {
			l.newestLight.Store(time.Now().UnixNano())
		}
	}
}

// maxWeight is the weight of the commands of a group, but for the last of them: a transaction should not take longer
// than those in it, and those behind it, can wait.
const maxWeight = 512

func (e *Engine) stopping() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stopped
}

func (l *lane) collect(group []*task) []*task {
	for n := group[0].Weight(); len(group) < l.opts.Group && n < maxWeight; n += group[len(group)-1].Weight() {
		select {
		case t, open := <-l.queue:
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

// dropCancelled parts a group into those whose callers still wait and those who have gone: nothing was done for these,
// and the keys they hold are free again.
func dropCancelled(group []*task) (live, gone []*task) {
	live = group[:0]
	for _, t := range group {
		if err := t.ctx.Err(); err != nil {
			t.Err = unknown(err)
			gone = append(gone, t)
		} else {
			live = append(live, t)
		}
	}
	return live, gone
}

// errPanic tells that deciding a group panicked. Nothing was changed.
var errPanic = errors.New("deciding a group panicked")

// commit decides a group in one transaction, and sees to it that every task of it has an outcome.
func (l *lane) commit(group []*task) {
	err := l.transact(group)
	broken := errors.Is(err, ledger.ErrRejected) || errors.Is(err, errPanic)
	switch {
	case err == nil:
		l.outcomeUnknown = false
	case broken && len(group) > 1:
		// A command of the group broke an invariant, which no rule should let happen. Each is decided alone, so that it fails
		// alone.
		for n := range group {
			l.commit(group[n : n+1])
		}
	case broken && !errors.Is(err, ledger.ErrInTheWay):
		group[0].Fail(err)
	case errors.Is(err, ledger.ErrUnknown):
		l.resolve(group, err)
	default:
		why := phrase.Text("The store is busy or cannot be reached; nothing was done.")
		if errors.Is(err, ledger.ErrFull) {
			why = "The disk of the service is full, so that it can write nothing; nothing was done."
		}
		for _, t := range group {
			t.Fail(fmt.Errorf("%w: %w", ledger.Unavailable(why), err))
		}
	}
}

// resolve finds out what became of a group whose commit has an unknown outcome (ErrUnknown). It returns when every task
// has an outcome, or when no caller waits any more.
//
// # Why it is hard
//
// A COMMIT was sent, and no answer can be trusted: the connection was lost before the answer came, the wait for a
// standby was broken off, or the disk failed to sync. The gifts may be redeemed or not. To say "done" may give goods
// away, and to say "not done" may take a guest's money twice. Looking at the balance does not help, as other commands
// change it, too. The one witness is the idempotency record, which stands in the same transaction as the effect.
//
// So resolve runs the same tasks again, as an ordinary group. If the first commit took effect, each task finds its
// record and gets the stored answer. If it did not, each task is decided as if for the first time. Both are right, and
// resolve need not know which of them happened.
//
// # Invariants
//
//  1. A call with a key takes effect once, whatever happened to the first commit: the primary key of the table request
//     admits one record, and the effect stands in the transaction of the record.
//  2. The first transaction may still be open on the server. Then the second waits for its row locks and reads the
//     records after that. If the second locks no row, its insert of the record waits for the first and fails, and
//     db.Retry runs the group again.
//  3. A caller is told that something was done only after a commit that succeeded. A stored answer is not enough, as a
//     failover could still lose the record. So a replay writes to the record (Changes.Replays), and the commit of that
//     write shows that the record itself has arrived at the standby.
//  4. A call without a key has no record. It is told that its outcome is unknown, and is never run again.
//  5. When all tries have failed, every task is told that its outcome is unknown. The caller repeats with the same key,
//     which does what a further try would have done.
//  6. The lane takes no other group meanwhile. If a group could not be resolved, later ones with an unknown outcome get
//     one try each (lane.outcomeUnknown) until some commit succeeds; otherwise each would wait as long, and in vain.
//  7. Callers who have gone are dropped before each try. Their keys are freed with those of the group.
//  8. The hash chain of the unknown commit is not continued (store.group.releaseWriter): its next row could follow one
//     that was never written.
//
// # What shows it
//
// TestFaultsInPairs shows that a call takes effect once, whether the commit did or not (1);
// TestUnknownCommitsAreSettledByTheRecords what is told with a key and without one (4, 5); store.TestUnconfirmedCommit
// that a stored answer is not enough (3); TestWhatLastsIsWaitedForOnce the single tries (6);
// TestSettlingEndsWithItsCallers the callers who have gone (7).
func (l *lane) resolve(group []*task, err error) {
	keyed := make([]*task, 0, len(group))
	for _, t := range group {
		if t.Call.Key == "" {
			t.Fail(unknown(err))
		} else {
			keyed = append(keyed, t)
		}
	}
	if len(keyed) == 0 {
		return
	}
	tries := settleTries
	if l.outcomeUnknown {
		tries = 1 // nor should those behind it wait for what the group before waited for in vain
	}
	for try := range tries {
		time.Sleep(settlePause << try)
		if keyed, _ = dropCancelled(keyed); len(keyed) == 0 {
			return
		}
		if err = l.transact(keyed); err == nil {
			l.outcomeUnknown = false
			return
		}
	}
	l.outcomeUnknown = true
	for _, t := range keyed {
		t.Fail(unknown(err))
	}
}

// How long resolve keeps trying: 10 ms, 20 ms and so on, about a second in all.
const (
	settlePause = 10 * time.Millisecond
	settleTries = 7
)

// transact decides a group in one transaction. The group outlives its callers: what is being committed is not abandoned
// because somebody hung up.
func (l *lane) transact(group []*task) error {
	begun := time.Now()
	requests := make([]context.Context, len(group))
	for n, t := range group {
		requests[n] = t.ctx
	}
	ctx, traced := span.Group("group", requests)
	var want ledger.Want
	var done ledger.Changes
	err := safely(func() {
		for _, t := range group {
			t.Prepare(l.now(), &want)
		}
	})
	if err == nil {
		var panicked error
		err = l.store.Group(ctx, want, func(loaded *ledger.State) ledger.Changes {
			done = ledger.Changes{}
			l.began = time.Now()
			panicked = safely(func() {
				g := ledger.NewGroup(loaded, &want, len(group), l.now())
				for _, t := range group {
					jobs, entries := g.Decide(&t.Task)
					t.trace(l.opts.Tracer, jobs, entries)
				}
				done = g.Changes()
			})
			return done
		})
		err = cmp.Or(err, panicked)
	}
	if err != nil {
		done = ledger.Changes{}
	}
	span.End(traced, err)
	l.opts.Observe(GroupStats{Commands: len(group), Took: time.Since(begun), Err: err, Done: done})
	return err
}

// trace has jobs and events remember the request that they come from.
func (t *task) trace(by *span.Tracer, jobs []ledger.Job, entries []gift.Entry) {
	header := span.Header(t.ctx)
	for n := range jobs {
		jobs[n].Trace = header
	}
	for n := range entries {
		by.Caused(entries[n].ID, header)
	}
}

// safely runs fn and makes a panic an error. What fn had done may be half of something.
func safely(fn func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
	}()
	fn()
	return nil
}

// now is the time of a decision.
func (l *lane) now() time.Time {
	l.last = monotonic(l.last, l.opts.Now().UTC().Truncate(time.Microsecond))
	return l.last
}

// monotonic is the time of a decision: that of the clock, unless it has just been set back a little. One that was
// wrong by more is right now.
func monotonic(last, now time.Time) time.Time {
	if back := last.Sub(now); 0 < back && back < time.Second {
		return last
	}
	return now
}

// unknown is told to a caller whose command may or may not have been carried out.
func unknown(cause error) error {
	return fmt.Errorf("%w: %w", ledger.Unavailable("It is not known whether this was done."), cause)
}
