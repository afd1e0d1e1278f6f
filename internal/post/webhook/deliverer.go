package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/base/span"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/lease"
)

// Store is what a deliverer needs of a store.
type Store interface {
	// Events gives a page of the events of an account, EventPages of several.
	Events(context.Context, event.Query) (event.Page, error)
	EventPages(context.Context, []event.Query) ([]event.Page, error)
	// NewEvents tells which accounts have events after a position, and up to which it looked; of what is committed out of
	// turn it tells later. Before 0, it tells of none, and where the newest is.
	NewEvents(ctx context.Context, after int64) (accounts []guid.ID, upTo int64, err error)
	// ClaimWebhooks takes the leases of accounts that nobody has at now, keeps those that the owner has, until a time,
	// and gives all that it has then. ReleaseWebhooks gives them back.
	ClaimWebhooks(ctx context.Context, owner guid.ID, accounts []guid.ID, now, until time.Time) ([]guid.ID, error)
	ReleaseWebhooks(ctx context.Context, owner guid.ID) error
	// WebhookStates reads how far the endpoints of an account have come; SaveWebhooks writes that, and attempts, in one
	// transaction. Saving an attempt again changes nothing.
	WebhookStates(ctx context.Context, account guid.ID) ([]event.WebhookState, error)
	SaveWebhooks(ctx context.Context, states []event.WebhookState, attempts []event.WebhookAttempt) error
}

// Deliverer sends the events of all accounts to their endpoints. Several, in as many processes, share the work: each
// account is delivered by the one that has its lease. Every event reaches each endpoint that wants it at least once,
// unless it is given up after the last retry.
type Deliverer struct {
	Store Store
	Send  func(ctx context.Context, url string, secrets []merchant.WebhookSecret, m Message) Outcome
	// Destination is where the calls of a URL end, so that endpoints at one machine share a rate.
	Destination func(url string) string
	Directory   func() *merchant.Directory
	Render      func(context.Context, *event.Event) []byte
	// SwitchOff switches an endpoint off for good, and tells the account where it was for failing.
	SwitchOff func(context.Context, *merchant.Webhook, merchant.WebhookOff) error
	Log       *slog.Logger
	Observe   func(Outcome)  // told of every attempt; nil: nobody is
	Tracer    *span.Tracer   // begins a span for every attempt; nil: none
	Random    func() float64 // in [0, 1), for jitter
	Every     time.Duration  // how often it looks for new events; 0: readEvery

	leases       *lease.Keeper
	dir          *merchant.Directory
	position     int64 // up to which new events were noticed
	streams      map[guid.ID]*stream
	calls        *fair.Places  // of calls in flight
	slow         *fair.Places  // of those of them to endpoints that may be slow
	busy         chan struct{} // has a value for each of them that may be using the processor
	backlogReads *fair.Places  // of lanes that read for themselves
	flushAt      time.Time
	moveAt       time.Time // when the places of idle lanes are written
	seen         atomic.Pointer[healthSnapshot]

	mu       sync.Mutex
	attempts []event.WebhookAttempt // to be saved
}

// Every is the time between two calls of Look.
const Every = 100 * time.Millisecond

const (
	// busyEvery is how often the events of an account are read that has new ones all the time, give or take a half, so
	// that accounts take turns: a read costs as much as some calls.
	busyEvery    = 500 * time.Millisecond
	pagesAtOnce  = 64 // accounts that are read together
	flushEvery   = time.Second
	moveEvery    = 30 * time.Second
	flushTimeout = 10 * time.Second
	maxCalls     = 512 // in flight
	// maxSlow of them are to endpoints that took nothing yet, or whose last call failed or was slow: however many there
	// are of these, the others have places.
	maxSlow = 384
	// placesLeft has an account take at most a ninth of the places that others leave: so dozens of accounts whose
	// endpoints never answer leave one at once to the next account.
	placesLeft = 8
	// accountCalls are those of one account: all of its endpoints but one may be slow, with a call each, and leave room
	// for as many of the last as it may have.
	accountCalls = merchant.MaxWebhooks - 1 + atOnce
	// maxUnsaved is how many attempts wait to be saved, if the database is away. saveAtOnce of them are saved in one
	// transaction, and do not wait for flushEvery.
	maxUnsaved, saveAtOnce = 10_000, 100
	// A call is busy for so long, then it waits for its endpoint; for each processor so many are at once. Deliveries that
	// are more than the machine can do take no more of it from redemptions than so many callers would.
	busyCalls = 2
	busyFor   = time.Millisecond
	// ownReadPause follows every read of a lane that is out of step: so many of them in a second, however many lanes.
	ownReadPause = 25 * time.Millisecond
)

// Look begins to deliver what is new, keeps the leases, and saves how far it came. It is called every Every, never
// twice at once. What fails is made up for by the next call.
func (d *Deliverer) Look(ctx context.Context) error {
	if d.streams == nil {
		d.begin()
	}
	return errors.Join(d.follow(ctx), d.read(ctx), d.flush(ctx))
}

func (d *Deliverer) begin() {
	d.leases = lease.New(d.Store.ClaimWebhooks)
	d.streams, d.position = map[guid.ID]*stream{}, -1
	d.calls, d.slow = fair.NewShared(maxCalls, placesLeft), fair.NewShared(maxSlow, placesLeft)
	d.backlogReads = fair.New(1)
	d.busy = make(chan struct{}, busyCalls*runtime.GOMAXPROCS(0))
}

// Stop breaks off the calls in flight, which whoever has the lease next makes again, and gives the leases back. Look is
// not called after it.
func (d *Deliverer) Stop(ctx context.Context) error {
	for account := range d.streams {
		if err := d.drop(account); err != nil {
			d.complain(ctx, "how far webhooks came could not be saved", err)
		}
	}
	if d.leases == nil || !d.leases.Had() {
		return nil // it never had anything to deliver
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := d.Store.ReleaseWebhooks(ctx, d.leases.Owner); err != nil {
		return fmt.Errorf("giving back the leases of webhooks, which end by themselves: %w", err)
	}
	return nil
}

// drop stops the lanes of an account and saves how far they came.
func (d *Deliverer) drop(account guid.ID) error {
	s := d.streams[account]
	s.sync(context.Background(), nil)
	delete(d.streams, account)
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	return d.save(ctx, s.unsavedStates(true))
}

// follow keeps leases and lanes as the set-up has them.
func (d *Deliverer) follow(ctx context.Context) error {
	dir := d.Directory()
	owned, due, failed := d.leases.Keep(ctx, time.Now(), dir != d.dir, len(d.streams) > 0, func() (all []guid.ID) {
		for account, hooks := range dir.Webhooks {
			if slices.ContainsFunc(hooks, func(w *merchant.Webhook) bool { return w.Enabled }) {
				all = append(all, account)
			}
		}
		return all
	})
	if failed == nil {
		d.dir = dir
	}
	if !due {
		return failed
	}
	for account := range d.streams {
		if !slices.Contains(owned, account) {
			failed = errors.Join(failed, d.drop(account))
		}
	}
	for _, account := range owned {
		if err := d.keep(ctx, account, dir.Webhooks[account]); err != nil {
			failed = errors.Join(failed, fmt.Errorf("reading the state of webhooks: %w", err))
			d.leases.Again()
		}
	}
	return failed
}

// keep has the lanes of an account be those of its endpoints.
func (d *Deliverer) keep(ctx context.Context, account guid.ID, hooks []*merchant.Webhook) error {
	s := d.streams[account]
	if s == nil {
		states, err := d.Store.WebhookStates(ctx, account)
		if err != nil {
			return err
		}
		s = newStream(d, account, states)
		d.streams[account] = s
	}
	locations := 0
	if a := d.dir.Accounts[account]; a != nil {
		locations = len(a.Locations)
	}
	s.paces.allow(locations)
	s.sync(ctx, hooks)
	return nil
}

// read notices new events, and reads those that a lane in step waits for.
func (d *Deliverer) read(ctx context.Context) (failed error) {
	if len(d.streams) == 0 {
		return nil
	}
	accounts, upTo, err := d.Store.NewEvents(ctx, d.position)
	if err != nil {
		return fmt.Errorf("looking for new events: %w", err)
	}
	for _, account := range accounts {
		if s := d.streams[account]; s != nil {
			s.behind = true
		}
	}
	d.position = upTo
	var behind []*stream
	for _, s := range d.streams {
		if now := time.Now(); s.behind && s.waits() && !now.Before(s.readNext) {
			s.readNext = now.Add(busyEvery/2 + time.Duration(d.Random()*float64(busyEvery)))
			behind = append(behind, s)
		}
	}
	for some := range slices.Chunk(behind, pagesAtOnce) {
		if err := d.readSome(ctx, some); err != nil {
			failed = errors.Join(failed, fmt.Errorf("reading events: %w", err))
		}
	}
	return failed
}

// readSome reads the next pages of some accounts together.
func (d *Deliverer) readSome(ctx context.Context, streams []*stream) error {
	for range maxPages {
		queries := make([]event.Query, len(streams))
		for n, s := range streams {
			queries[n] = s.query()
		}
		pages, err := d.Store.EventPages(ctx, queries)
		if err != nil {
			return err
		}
		var more []*stream
		for n, s := range streams {
			if s.remember(ctx, queries[n].After, &pages[n]); pages[n].More {
				more = append(more, s)
			}
		}
		if streams = more; len(streams) == 0 {
			return nil
		}
	}
	return nil
}

// flush saves attempts and how far lanes came, every now and then, for all lanes at once.
func (d *Deliverer) flush(ctx context.Context) error {
	now := time.Now()
	d.mu.Lock()
	many := len(d.attempts) >= saveAtOnce
	d.mu.Unlock()
	if now.Before(d.flushAt) {
		if many {
			return d.save(ctx, nil)
		}
		return nil
	}
	d.flushAt = now.Add(flushEvery)
	d.look()
	idle := !now.Before(d.moveAt)
	if idle {
		d.moveAt = now.Add(moveEvery)
	}
	var states []event.WebhookState
	for _, s := range d.streams {
		states = append(states, s.unsavedStates(idle)...)
	}
	return d.save(ctx, states)
}

// save writes what is to be saved, a little at a time, as redemptions wait for the same writer: attempts, then states.
// What cannot be saved now, is with the next states.
func (d *Deliverer) save(ctx context.Context, states []event.WebhookState) error {
	d.mu.Lock()
	attempts := d.attempts
	d.attempts = nil
	d.mu.Unlock()
	var err error
	for err == nil && len(states)+len(attempts) > 0 {
		some, few := min(saveAtOnce, len(attempts)), 0
		if some < saveAtOnce {
			few = min(saveAtOnce, len(states))
		}
		if err = d.Store.SaveWebhooks(ctx, states[:few], attempts[:some]); err == nil {
			states, attempts = states[few:], attempts[some:]
		}
	}
	if err == nil {
		return nil
	}
	for i := range states {
		if s := d.streams[states[i].AccountID]; s != nil {
			s.markUnsaved(states[i].WebhookID)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attempts = append(attempts, d.attempts...)
	d.attempts = d.attempts[max(0, len(d.attempts)-maxUnsaved):]
	return fmt.Errorf("saving how far webhooks came: %w", err)
}

func (d *Deliverer) note(a event.WebhookAttempt, o Outcome) {
	if d.Observe != nil {
		d.Observe(o)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.attempts) < maxUnsaved {
		d.attempts = append(d.attempts, a)
	}
}

func (d *Deliverer) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		d.Log.Error(what+"; this is tried again", "error", err)
	}
}

// readBacklog reads for a lane that is out of step: one at a time, in turns by account, and with a pause, whatever the
// number of lanes.
func (l *lane) readBacklog(ctx context.Context, q event.Query) (page event.Page, err error) {
	done, err := l.backlogReads.Take(ctx, l.account, l.hook.ID)
	if err != nil {
		return page, err
	}
	defer done()
	page, err = l.Store.Events(ctx, q)
	pause(ctx, ownReadPause)
	return page, err
}
