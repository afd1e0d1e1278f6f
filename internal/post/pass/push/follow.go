// Package push tells phones that have passes that these changed: a follower of the events of each account, and pushes
// by way of Apple. A push says only that something changed; the phone asks the service for the rest. What fails here
// changes nothing at a till.
package push

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/lease"
	"boon.example/internal/post/pass"
	"boon.example/internal/refusal"
)

// Store is what a follower needs of a store.
type Store interface {
	// NewEvents tells which accounts have events after a position, and up to which it looked.
	NewEvents(ctx context.Context, after int64) (accounts []guid.ID, upTo int64, err error)
	// Touched tells which gifts of an account something happened to after a place; EventsEnd is the newest place.
	Touched(ctx context.Context, account guid.ID, after merchant.EventPlace, commits int) (event.Touched, error)
	EventsEnd(ctx context.Context, account guid.ID) (merchant.EventPlace, error)
	Gift(ctx context.Context, account, voucher guid.ID) (gift.Gift, error)
	// PassDevices gives the devices that have passes of some gifts, TouchPasses writes that these changed, and
	// UnregisterPass forgets one.
	PassDevices(ctx context.Context, account guid.ID, vouchers []guid.ID) ([]event.PassDevice, error)
	TouchPasses(ctx context.Context, devices []event.PassDevice) error
	UnregisterPass(ctx context.Context, d *event.PassDevice) error
	// ClaimPasses takes and keeps leases of accounts, ReleasePasses gives them back. PassPlace reads how far an account
	// was followed, SavePassPlaces writes that.
	ClaimPasses(ctx context.Context, owner guid.ID, accounts []guid.ID, now, until time.Time) ([]guid.ID, error)
	ReleasePasses(ctx context.Context, owner guid.ID) error
	PassPlace(ctx context.Context, account guid.ID) (place merchant.EventPlace, known bool, err error)
	SavePassPlaces(ctx context.Context, places map[guid.ID]merchant.EventPlace) error
}

// Beside is told of gifts that changed beside phones, and works on what it was told of.
type Beside interface {
	Touched(ctx context.Context, account guid.ID, gifts []event.TouchedGift) error
	Work(account guid.ID) // of which this process has the lease; it returns at once
}

// Follower tells phones of what happens to gifts. Several, in as many processes, share the work: each account is
// followed by the one that has its lease. A phone is told at least once of each change, unless Apple takes no push for
// an hour; several changes are told together.
type Follower struct {
	Store     Store
	Send      func(ctx context.Context, w *merchant.AppleWallet, token string) (Outcome, error)
	Directory func() *merchant.Directory
	Log       *slog.Logger
	Random    func() float64 // in [0, 1), for jitter
	Observe   func(Outcome)  // told of every push; nil: nobody is
	Beside    Beside         // nil: nobody is told beside phones

	ctx      context.Context // of pushes
	cancel   context.CancelFunc
	places   *fair.Places
	leases   *lease.Keeper
	dir      *merchant.Directory
	position int64 // up to which new events were noticed
	streams  map[guid.ID]*stream
	saveAt   time.Time
	seen     atomic.Pointer[Health]

	mu      sync.Mutex
	fresh   map[guid.ID]*queue // pushes to phones that have just registered, whoever has the lease
	toldAt  time.Time          // when the log was told last that pushes fail
	unknown int                // how many failures it was not told of
}

// stream is an account that is followed.
type stream struct {
	queue    *queue
	behind   bool // there are events after place
	readNext time.Time
	place    merchant.EventPlace // up to here the gifts that changed are known
	saved    merchant.EventPlace
}

// Every is the time between two calls of Look.
const Every = 100 * time.Millisecond

const (
	busyEvery  = 500 * time.Millisecond // an account that has new events all the time is read so often
	commits    = 200                    // of a page
	maxPages   = 8                      // that are read of an account before others have their turn
	saveEvery  = time.Second
	lastWrites = 5 * time.Second
	complainAt = time.Minute // between two lines of the log about pushes that fail
	maxPushes  = 2 * most    // in flight
	placesLeft = 1           // an account takes at most half of what others leave
	maxFresh   = 1_000       // phones of an account that have just registered and wait to be told
)

// Begin makes the follower ready, before any other call.
func (f *Follower) Begin() {
	f.leases = lease.New(f.Store.ClaimPasses)
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.streams, f.fresh, f.position = map[guid.ID]*stream{}, map[guid.ID]*queue{}, -1
	f.places = fair.NewShared(maxPushes, placesLeft)
	f.seen.Store(&Health{})
}

// Look tells phones of what is new, and keeps the leases. It is called every Every, never twice at once. What fails is
// made up for by the next call.
func (f *Follower) Look(ctx context.Context) error {
	err := errors.Join(f.follow(ctx), f.read(ctx), f.save(ctx))
	for account, s := range f.streams {
		if s.queue.tick(); f.Beside != nil {
			f.Beside.Work(account)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for account, q := range f.fresh {
		q.tick()
		if _, _, n := q.oldest(); n == 0 {
			q.stop()
			delete(f.fresh, account)
		}
	}
	return err
}

// Stop breaks off the pushes in flight, which whoever has the lease next makes again, and gives the leases back. Look
// is not called after it.
func (f *Follower) Stop(ctx context.Context) error {
	f.cancel()
	f.mu.Lock()
	fresh := slices.Collect(maps.Values(f.fresh))
	f.mu.Unlock()
	for _, q := range fresh {
		q.close()
	}
	for account := range f.streams {
		f.drop(account)
	}
	if !f.leases.Had() {
		return nil
	}
	return f.Store.ReleasePasses(ctx, f.leases.Owner)
}

// drop stops what is sent of an account, and saves how far it came.
func (f *Follower) drop(account guid.ID) {
	s := f.streams[account]
	s.queue.close()
	delete(f.streams, account)
	ctx, cancel := context.WithTimeout(context.Background(), lastWrites)
	defer cancel()
	if place := s.done(); place != s.saved {
		if err := f.Store.SavePassPlaces(ctx, map[guid.ID]merchant.EventPlace{account: place}); err != nil {
			f.Log.Error("how far phones were told of passes could not be saved; some are told twice", "error", err)
		}
	}
}

// done is up to where all phones were told.
func (s *stream) done() merchant.EventPlace {
	if since, _, n := s.queue.oldest(); n > 0 {
		return since
	}
	return s.place
}

// Registered tells a phone at once that has just registered: it may have its pass from before a change, and nobody
// knows. A phone that is not told asks by itself, or is told of the next change.
func (f *Follower) Registered(d event.PassDevice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return
	}
	q := f.fresh[d.AccountID]
	if q == nil {
		q = newQueue(f, d.AccountID)
		f.fresh[d.AccountID] = q
	}
	if _, _, n := q.oldest(); n < maxFresh {
		q.add([]event.PassDevice{d}, merchant.EventPlace{})
	}
}

// follow keeps leases and streams as the set-up has them.
func (f *Follower) follow(ctx context.Context) error {
	dir := f.Directory()
	owned, due, failed := f.leases.Keep(ctx, time.Now(), dir != f.dir, len(f.streams) > 0, func() (all []guid.ID) {
		for id, a := range dir.Accounts {
			if a.Wallet.Apple.Certificate != "" || a.Wallet.Google.Issuer != "" {
				all = append(all, id)
			}
		}
		return all
	})
	if failed == nil {
		f.dir = dir
	}
	if !due {
		return failed
	}
	for account := range f.streams {
		if !slices.Contains(owned, account) {
			f.drop(account)
		}
	}
	for _, account := range owned {
		if f.streams[account] != nil {
			continue
		}
		if err := f.begin(ctx, account); err != nil {
			failed = errors.Join(failed, err)
			f.leases.Again()
		}
	}
	return failed
}

// begin follows an account from where it was followed to, or from now on.
func (f *Follower) begin(ctx context.Context, account guid.ID) error {
	place, known, err := f.Store.PassPlace(ctx, account)
	if err == nil && !known {
		if place, err = f.Store.EventsEnd(ctx, account); err == nil {
			err = f.Store.SavePassPlaces(ctx, map[guid.ID]merchant.EventPlace{account: place})
		}
	}
	if err != nil {
		return fmt.Errorf("reading how far phones were told of passes: %w", err)
	}
	f.streams[account] = &stream{queue: newQueue(f, account), place: place, saved: place, behind: true}
	return nil
}

// read notices new events, and tells phones of them.
func (f *Follower) read(ctx context.Context) (failed error) {
	if len(f.streams) == 0 {
		return nil
	}
	accounts, upTo, err := f.Store.NewEvents(ctx, f.position)
	if err != nil {
		return fmt.Errorf("looking for new events: %w", err)
	}
	for _, account := range accounts {
		if s := f.streams[account]; s != nil {
			s.behind = true
		}
	}
	f.position = upTo
	for account, s := range f.streams {
		if now := time.Now(); s.behind && !now.Before(s.readNext) {
			s.readNext = now.Add(busyEvery/2 + time.Duration(f.Random()*float64(busyEvery)))
			if err := f.readSome(ctx, account, s); err != nil {
				failed = errors.Join(failed, fmt.Errorf("reading which passes changed: %w", err))
			}
		}
	}
	return failed
}

// readSome reads the next pages of an account.
func (f *Follower) readSome(ctx context.Context, account guid.ID, s *stream) error {
	for range maxPages {
		t, err := f.Store.Touched(ctx, account, s.place, commits)
		if err != nil {
			return err
		}
		if t.Forgotten { // the database was put back, or nobody followed for months
			s.place, err = f.Store.EventsEnd(ctx, account)
			s.behind = err != nil
			return err
		}
		devices, err := f.changed(ctx, account, t.Gifts)
		if err == nil && f.Beside != nil {
			err = f.Beside.Touched(ctx, account, t.Gifts)
		}
		if err != nil {
			return err
		}
		s.queue.add(devices, s.place)
		s.place, s.behind = t.Next, t.More
		if !t.More {
			return nil
		}
	}
	return nil
}

// changed writes which passes changed, and gives the devices that have them.
func (f *Follower) changed(ctx context.Context, account guid.ID, gifts []event.TouchedGift) ([]event.PassDevice,
	error) {
	if len(gifts) == 0 {
		return nil, nil
	}
	ids, of := make([]guid.ID, len(gifts)), make(map[guid.ID]event.TouchedGift, len(gifts))
	for n, g := range gifts {
		ids[n], of[g.VoucherID] = g.VoucherID, g
	}
	devices, err := f.Store.PassDevices(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	told := devices[:0]
	for _, d := range devices {
		g := of[d.VoucherID]
		if d.Over {
			continue
		}
		if g.Moved {
			has, err := f.Store.Gift(ctx, account, d.VoucherID)
			if errors.Is(err, refusal.UnexpectedError) { // it is the same at the next try, and the others wait
				f.Log.Error("phones are not told that a pass changed", "account", account, "gift", d.VoucherID, "error", err)
				continue
			}
			if err != nil && !errors.Is(err, refusal.NotFound) {
				return nil, err
			}
			d.Over = err != nil || pass.CardOf(&has) != d.Card
		}
		d.Changed = max(d.Changed, g.Position)
		told = append(told, d)
	}
	return told, f.Store.TouchPasses(ctx, told)
}

// save writes how far phones were told, every now and then.
func (f *Follower) save(ctx context.Context) error {
	now := time.Now()
	if now.Before(f.saveAt) {
		return nil
	}
	f.saveAt = now.Add(saveEvery)
	places, health := map[guid.ID]merchant.EventPlace{}, Health{}
	for account, s := range f.streams {
		_, begun, n := s.queue.oldest()
		health.add(begun, n)
		if place := s.done(); place != s.saved {
			places[account] = place
		}
	}
	f.seen.Store(&health)
	if err := f.Store.SavePassPlaces(ctx, places); err != nil {
		return err
	}
	for account, place := range places {
		f.streams[account].saved = place
	}
	return nil
}

// complain tells the log that pushes fail, once a minute.
func (f *Follower) complain(account guid.ID, o Outcome, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unknown++
	if now := time.Now(); now.Sub(f.toldAt) >= complainAt {
		f.Log.Warn("Apple takes no pushes for passes; this is tried again", "account", account, "status", o.Status,
			"reason", o.Reason, "error", err, "failures", f.unknown)
		f.toldAt, f.unknown = now, 0
	}
}

// Health is how pushes fare.
type Health struct {
	Waiting int       // pushes that were not taken yet
	begun   time.Time // of the oldest of them
}

func (h *Health) add(begun time.Time, n int) {
	h.Waiting += n
	if n > 0 && (h.begun.IsZero() || begun.Before(h.begun)) {
		h.begun = begun
	}
}

// Behind is for how long the oldest push has waited; 0: none does.
func (h *Health) Behind() time.Duration {
	if h.begun.IsZero() {
		return 0
	}
	return time.Since(h.begun)
}

// Health tells how pushes fare.
func (f *Follower) Health() *Health { return f.seen.Load() }
