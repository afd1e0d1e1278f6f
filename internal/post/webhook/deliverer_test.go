package webhook_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"boon.example/internal/contact"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/webhook"
	"boon.example/internal/store"
)

func newID() guid.ID { return guid.ID(uuid.Must(uuid.NewV7())) }

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a real store whose events go to receivers.
type world struct {
	t         testing.TB
	store     *store.Store
	account   guid.ID
	voucher   gift.Voucher
	directory atomic.Pointer[merchant.Directory]
	reads     atomic.Int64 // of pages of events
	rendered  atomic.Int64 // events
	own       atomic.Int64
	killed    atomic.Bool // nothing is written
	forgets   atomic.Bool // the store knows no place of before, until somebody reads from the oldest event on
	inFlight  atomic.Int64
	most      atomic.Int64 // calls in flight
	receivers map[string]*receiver
	at        func(url string) string       // where calls end
	deliverer *webhook.Deliverer            // the last that was started
	still     atomic.Pointer[chan struct{}] // if it is set, the deliverer waits for it
}

// receiver is an endpoint.
type receiver struct {
	secret merchant.WebhookSecret
	answer func(n int) webhook.Outcome // to its nth call; nil: 200

	refuses guid.ID
	refused []time.Time

	mu    sync.Mutex
	calls int
	signs int // signatures of its last message
	most  int // calls in flight
	now   int
	taken []guid.ID // the events that it took, in order
}

func newWorld(t testing.TB) *world {
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	w := &world{t: t, store: s, account: newID(), receivers: map[string]*receiver{},
		at: func(url string) string { return url }}
	w.directory.Store(&merchant.Directory{Webhooks: map[guid.ID][]*merchant.Webhook{}})
	w.issue()
	return w
}

// issue makes the gift that all is taken from.
func (w *world) issue() {
	code, err := codes.NewVoucherCode(rand.Reader)
	check(w.t, err)
	token, err := codes.NewToken(rand.Reader)
	check(w.t, err)
	g := gift.Gift{
		Voucher: gift.Voucher{ID: newID(), AccountID: w.account, ProgramID: merchant.BusinessProgram.ID,
			Currency: money.Currency{Code: "USD", Decimals: 2}, Funded: 1_000_000, Balance: 1_000_000, Status: gift.Delivered,
			CreatedAt: time.Now()},
		Card: gift.Card{Code: code, Token: token, Sender: "Ben", Method: contact.Printed, DeliveryZone: "UTC",
			DesignID: newID()},
	}
	g, entry := g.Begin(gift.Context{EntryID: newID(), Now: g.CreatedAt})
	w.voucher = g.Voucher
	check(w.t, w.store.Group(context.Background(), ledger.Want{}, func(*ledger.State) ledger.Changes {
		return ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{entry}}
	}))
}

// redeem makes an event.
func (w *world) redeem() guid.ID {
	ref := ledger.Ref{AccountID: w.account, ID: w.voucher.ID}
	var entry gift.Entry
	check(w.t, w.store.Group(context.Background(), ledger.Want{Vouchers: []ledger.Ref{ref}},
		func(st *ledger.State) ledger.Changes {
			after, e, err := st.Vouchers[ref].Redeem(gift.Redeem{Amount: 1,
				Context: gift.Context{EntryID: newID(), Now: time.Now().UTC()}})
			check(w.t, err)
			entry = e
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		}))
	return entry.ID
}

// change changes the endpoints of the account.
func (w *world) change(change func([]*merchant.Webhook) []*merchant.Webhook) {
	all := maps.Clone(w.directory.Load().Webhooks)
	all[w.account] = change(slices.Clone(all[w.account]))
	w.directory.Store(&merchant.Directory{Webhooks: all})
}

// hook adds an endpoint and its receiver.
func (w *world) hook(answer func(n int) webhook.Outcome, types ...string) *receiver {
	secret, err := merchant.NewWebhookSecret(rand.Reader)
	check(w.t, err)
	url := fmt.Sprintf("https://%d.example/", len(w.receivers))
	r := &receiver{secret: secret, answer: answer}
	w.receivers[url] = r
	start, err := w.store.EventsEnd(context.Background(), w.account)
	check(w.t, err)
	w.change(func(hooks []*merchant.Webhook) []*merchant.Webhook {
		return append(hooks, &merchant.Webhook{ID: newID(), AccountID: w.account, URL: url, Types: types, Enabled: true,
			Secret: secret, Start: start})
	})
	return r
}

// replay has the events of a time sent again to the first endpoint.
func (w *world) replay(from, to time.Time, types ...string) {
	after, err := w.store.EventsBefore(context.Background(), w.account, from)
	check(w.t, err)
	upto, err := w.store.EventsUntil(context.Background(), w.account, to)
	check(w.t, err)
	w.change(func(hooks []*merchant.Webhook) []*merchant.Webhook {
		changed := *hooks[0]
		changed.Replay = &merchant.WebhookReplay{ID: newID(), From: from, To: to, Types: types, After: after, Upto: upto}
		return []*merchant.Webhook{&changed}
	})
}

// counting counts the pages of events that are read, and writes nothing for who was killed.
type counting struct {
	*store.Store
	reads  *atomic.Int64
	own    *atomic.Int64 // those of them that a lane made for itself
	killed *atomic.Bool

	forgets *atomic.Bool
}

func (c counting) Events(ctx context.Context, q event.Query) (event.Page, error) {
	c.reads.Add(1)
	c.own.Add(1)
	if c.forgets.Load() && !q.After.IsZero() {
		return event.Page{}, event.NoSuchPlace()
	}
	c.forgets.Store(false)
	return c.Store.Events(ctx, q)
}

func (c counting) EventPages(ctx context.Context, q []event.Query) ([]event.Page, error) {
	c.reads.Add(1)
	if c.forgets.Load() {
		return slices.Repeat([]event.Page{{Forgotten: true}}, len(q)), nil
	}
	return c.Store.EventPages(ctx, q)
}

func (c counting) SaveWebhooks(ctx context.Context, states []event.WebhookState,
	attempts []event.WebhookAttempt) error {
	if c.killed.Load() {
		return errors.New("killed")
	}
	return c.Store.SaveWebhooks(ctx, states, attempts)
}

func (c counting) ReleaseWebhooks(ctx context.Context, owner guid.ID) error {
	if c.killed.Load() {
		return errors.New("killed")
	}
	return c.Store.ReleaseWebhooks(ctx, owner)
}

// start starts a deliverer; stop ends it.
func (w *world) start(every time.Duration) (stop func()) {
	d := &webhook.Deliverer{
		Store: counting{w.store, &w.reads, &w.own, &w.killed, &w.forgets}, Send: w.send,
		Directory: func() *merchant.Directory {
			if still := w.still.Load(); still != nil {
				<-*still
			}
			return w.directory.Load()
		},
		Destination: func(url string) string { return w.at(url) },
		Render: func(_ context.Context, e *event.Event) []byte {
			w.rendered.Add(1)
			return []byte(`{"type":"` + string(e.Type) + `"}`)
		},
		SwitchOff: w.switchOff, Log: slog.New(slog.DiscardHandler), Random: func() float64 { return 0.5 },
	}
	w.deliverer = d
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for ctx.Err() == nil {
			_ = d.Look(ctx) // it is called again
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
		_ = d.Stop(context.WithoutCancel(ctx)) // which fails for those that were killed
	}()
	return func() {
		cancel()
		<-done
	}
}

func (w *world) switchOff(_ context.Context, off *merchant.Webhook, why merchant.WebhookOff) error {
	w.change(func(hooks []*merchant.Webhook) []*merchant.Webhook {
		for i, h := range hooks {
			if h.ID == off.ID {
				changed := *h
				changed.Enabled, changed.Off = false, why
				hooks[i] = &changed
			}
		}
		return hooks
	})
	return nil
}

// send is the network between the deliverer and the receivers, each of which checks what it gets.
func (w *world) send(ctx context.Context, url string, secrets []merchant.WebhookSecret,
	m webhook.Message) webhook.Outcome {
	r := w.receivers[url]
	for now := w.inFlight.Add(1); ; {
		if most := w.most.Load(); now <= most || w.most.CompareAndSwap(most, now) {
			break
		}
	}
	defer w.inFlight.Add(-1)
	r.mu.Lock()
	r.calls++
	r.signs = len(secrets)
	n := r.calls
	r.now++
	r.most = max(r.most, r.now)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.now--
		r.mu.Unlock()
	}()
	o := webhook.Outcome{Status: http.StatusOK}
	if r.answer != nil {
		o = r.answer(n)
	}
	if o.Took > 0 {
		select {
		case <-ctx.Done():
			return webhook.Outcome{Words: "The attempt was broken off."}
		case <-time.After(o.Took):
		}
	}
	at := time.Now()
	hook, err := standardwebhooks.NewWebhook(r.secret.Reveal())
	check(w.t, err)
	if err := hook.Verify(m.Body, http.Header{"Webhook-Id": {m.ID},
		"Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
		"Webhook-Signature": {webhook.Sign(secrets, m.ID, at, m.Body)}}); err != nil {
		w.t.Errorf("the receiver does not take it: %v", err)
	}
	id, err := guid.Parse(m.ID)
	check(w.t, err)
	if id == r.refuses {
		o.Status = http.StatusBadRequest
		r.refused = append(r.refused, at)
	}
	if o.Succeeded() {
		r.mu.Lock()
		r.taken = append(r.taken, id)
		r.mu.Unlock()
	}
	return o
}

func (r *receiver) got() []guid.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.taken)
}

// TestEveryEventArrives: endpoints get what they want from when they were made, in order while all goes well, and once.
func TestEveryEventArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		stop := w.start(time.Second)
		defer func() { stop() }()
		w.redeem()
		all, redeemed, keys := w.hook(nil), w.hook(nil, "gift.redeemed"), w.hook(nil, "key.*")
		var want []guid.ID
		for range 30 {
			want = append(want, w.redeem())
		}
		time.Sleep(3 * time.Second)
		late := w.hook(nil)
		last := w.redeem()
		want = append(want, last)
		time.Sleep(3 * time.Second)
		for name, r := range map[string]*receiver{"all": all, "redeemed": redeemed} {
			got := r.got()
			slices.SortFunc(got, func(a, b guid.ID) int { return slices.Index(want, a) - slices.Index(want, b) })
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d events, want %d", name, len(got), len(want))
			}
		}
		if len(keys.got()) != 0 || !slices.Equal(late.got(), []guid.ID{last}) {
			t.Errorf("%d events of keys, %d of the late one", len(keys.got()), len(late.got()))
		}
		if n := w.reads.Load(); n > 12 {
			t.Errorf("%d pages were read for four endpoints", n)
		}
		if all.most > 8 {
			t.Errorf("%d calls at once", all.most)
		}
		// What happens while nobody delivers comes later.
		stop()
		next := w.redeem()
		stop = w.start(time.Second)
		time.Sleep(3 * time.Second)
		if got := all.got(); got[len(got)-1] != next || len(got) != len(want)+1 {
			t.Errorf("%d events, want %d", len(got), len(want)+1)
		}
	})
}

// TestThreeBadDays: a receiver that fails, stalls, lies and comes back gets every event at least once within three
// days, and one beside it gets them at once.
func TestThreeBadDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		begun := time.Now()
		bad := w.hook(func(n int) webhook.Outcome {
			switch past := time.Since(begun); {
			case past < time.Hour:
			case past < 7*time.Hour:
				return webhook.Outcome{Status: 500}
			case past < 16*time.Hour:
				return webhook.Outcome{Words: "There was no whole answer within 15 seconds.", Took: 15 * time.Second}
			case past < 24*time.Hour:
				return webhook.Outcome{Words: "The connection could not be made, or broke.", Took: time.Second}
			case past < 26*time.Hour && n%3 > 0:
				return webhook.Outcome{Status: 503}
			}
			return webhook.Outcome{Status: 204}
		})
		good := w.hook(nil)
		stop := w.start(5 * time.Minute)
		defer func() { stop() }()
		var want []guid.ID
		for n := range 120 {
			if n == 60 { // with a restart in between
				stop()
				stop = w.start(5 * time.Minute)
			}
			want = append(want, w.redeem())
			time.Sleep(15 * time.Minute)
			if len(good.got()) != len(want) {
				t.Fatalf("%d of %d events arrived at the good one", len(good.got()), len(want))
			}
		}
		time.Sleep(72*time.Hour - time.Since(begun))
		got := map[guid.ID]int{}
		for _, id := range bad.got() {
			got[id]++
		}
		for i, id := range want {
			if got[id] == 0 {
				t.Errorf("event %d of %s never arrived", i, begun)
			}
		}
		if len(got) != len(want) || len(bad.got()) > len(want)+1 {
			t.Errorf("%d events came %d times, want %d", len(got), len(bad.got()), len(want))
		}
		if bad.calls > 600 {
			t.Errorf("%d calls", bad.calls)
		}
		if n := w.reads.Load(); n > 1_000 {
			t.Errorf("%d pages were read", n)
		}
	})
}

// TestSlowOnesDelayNoOther: beside endpoints that take 15 s for nothing, and one that takes ten for an answer, another
// gets each event within a second of its commit. Each of the slow has one call at a time, the first ones too.
func TestSlowOnesDelayNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var slow []*receiver
		for n := range merchant.MaxWebhooks - 1 {
			slow = append(slow, w.hook(func(int) webhook.Outcome {
				if n == 0 {
					return webhook.Outcome{Status: 200, Took: 10 * time.Second}
				}
				return webhook.Outcome{Words: "There was no whole answer within 15 seconds.", Took: 15 * time.Second}
			}))
		}
		good := w.hook(nil)
		stop := w.start(250 * time.Millisecond)
		defer stop()
		time.Sleep(time.Second)
		for n := range 100 {
			id := w.redeem()
			time.Sleep(time.Second)
			if got := good.got(); len(got) != n+1 || got[n] != id {
				t.Fatalf("%d of %d events arrived", len(got), n+1)
			}
		}
		for _, r := range slow {
			r.mu.Lock()
			most := r.most
			r.mu.Unlock()
			if most > 1 {
				t.Errorf("%d calls at once of a slow one", most)
			}
		}
	})
}

// TestSlowAccountsDelayNoOther: beside accounts that all have as many endpoints as they may, none of which answers for
// 15 s, an account whose endpoint is new gets its event at once.
func TestSlowAccountsDelayNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		good := w.hook(nil)
		account, voucher := w.account, w.voucher
		for range 25 {
			w.account = newID()
			w.issue()
			for range merchant.MaxWebhooks {
				w.hook(func(int) webhook.Outcome {
					return webhook.Outcome{Words: "There was no whole answer within 15 seconds.", Took: 15 * time.Second}
				})
			}
			w.redeem()
		}
		stop := w.start(250 * time.Millisecond)
		defer stop()
		time.Sleep(14 * time.Second) // all have read their events, one after the other
		if n := w.inFlight.Load(); n < 300 {
			t.Fatalf("%d calls are in flight: too few to be in the way", n)
		}
		w.account, w.voucher = account, voucher
		w.redeem()
		if time.Sleep(time.Second); len(good.got()) != 1 {
			t.Errorf("%d calls are in flight, and the event of the other account has not arrived", w.inFlight.Load())
		}
	})
}

// TestHealth: a deliverer tells how many endpoints fail, for how long events have waited for another, and that it
// stands still itself.
func TestHealth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.hook(nil)
		w.hook(func(n int) webhook.Outcome {
			if n == 2 || n == 3 { // the second event, and again after five seconds
				return webhook.Outcome{Status: 500}
			}
			return webhook.Outcome{Status: 200}
		})
		slow := w.hook(func(int) webhook.Outcome { return webhook.Outcome{Status: 200, Took: 10 * time.Second} })
		stop := w.start(250 * time.Millisecond)
		is := func(when string, want webhook.Health) {
			t.Helper()
			got := w.deliverer.Health()
			if got.Behind -= want.Behind; got.Behind < -2*time.Second || got.Behind > 2*time.Second {
				t.Errorf("%s: %v off what it should be, %v behind", when, got.Behind, want.Behind)
			}
			if got.Behind, want.Behind = 0, 0; got != want {
				t.Errorf("%s: %+v, want %+v", when, got, want)
			}
		}
		time.Sleep(time.Minute)
		is("nothing to do", webhook.Health{Endpoints: 3})
		w.redeem()
		time.Sleep(8 * time.Second)
		is("one is slow", webhook.Health{Endpoints: 3, Behind: 8 * time.Second})
		time.Sleep(time.Minute)
		is("all got it", webhook.Health{Endpoints: 3})
		w.redeem()
		time.Sleep(2 * time.Minute)
		is("one fails", webhook.Health{Endpoints: 3, Failing: 1})
		time.Sleep(4 * time.Minute)
		is("it works again", webhook.Health{Endpoints: 3})
		for range 10 {
			w.redeem()
		}
		time.Sleep(45 * time.Second)
		is("events of a while", webhook.Health{Endpoints: 3, Behind: 45 * time.Second})
		time.Sleep(2 * time.Minute)
		is("all got them", webhook.Health{Endpoints: 3})
		if got := len(slow.got()); got != 12 {
			t.Errorf("the slow one got %d", got)
		}
		still := make(chan struct{})
		w.still.Store(&still)
		time.Sleep(10 * time.Minute)
		is("the deliverer stands still", webhook.Health{Endpoints: 3, Behind: 10 * time.Minute})
		close(still)
		stop()
	})
}

// TestQuickCallsAreFew: calls that are answered at once, and so cost processor time only, are few at once, however many
// endpoints there are; those that wait for their endpoints do not count.
func TestQuickCallsAreFew(t *testing.T) {
	t.Parallel()
	for took, few := range map[time.Duration]bool{time.Millisecond / 2: true, 100 * time.Millisecond: false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			for range merchant.MaxWebhooks {
				w.hook(func(int) webhook.Outcome { return webhook.Outcome{Status: 200, Took: took} })
			}
			stop := w.start(250 * time.Millisecond)
			defer stop()
			time.Sleep(10 * time.Second) // all are in step
			for range 20 {
				w.redeem()
			}
			time.Sleep(10 * time.Second)
			for _, r := range w.receivers {
				if n := len(r.got()); n != 20 {
					t.Errorf("%d events arrived", n)
				}
			}
			most := int(w.most.Load())
			if quick := 2 * runtime.GOMAXPROCS(0); few && most > quick || !few && most < merchant.MaxWebhooks {
				t.Errorf("%d calls at once that took %v", most, took)
			}
		})
	}
}

// TestRotation: for a day after a rotation who knows either secret takes each message, then who knows the new one.
func TestRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.hook(nil)
		stop := w.start(5 * time.Minute)
		defer stop()
		secret, err := merchant.NewWebhookSecret(rand.Reader)
		check(t, err)
		w.change(func(hooks []*merchant.Webhook) []*merchant.Webhook {
			rotated := hooks[0].Rotate(secret, time.Now())
			return []*merchant.Webhook{&rotated}
		})
		for n, step := range []struct {
			after time.Duration
			signs int
		}{{0, 2}, {23 * time.Hour, 2}, {time.Hour, 1}} {
			time.Sleep(step.after)
			if n > 0 {
				r.secret = secret
			}
			w.redeem()
			time.Sleep(11 * time.Minute) // not when the deliverer looks, too
			if len(r.got()) != n+1 || r.signs != step.signs {
				t.Errorf("%d messages, the last with %d signatures; want %d and %d", len(r.got()), r.signs, n+1, step.signs)
			}
		}
	})
}

// TestAccountsAreTakenOverTogether: who takes accounts over reads what happened meanwhile for many of them at a time.
// What an endpoint reads for itself has to wait for all others, which would be minutes for thousands.
func TestAccountsAreTakenOverTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.hook(nil)
		for restart := range 3 {
			for range 10 {
				w.redeem()
			}
			stop := w.start(time.Second)
			time.Sleep(time.Minute)
			stop()
			if got, own := len(r.got()), w.own.Load(); got != 10*(restart+1) || own > 0 {
				t.Errorf("after %d restarts %d events came, and %d pages were read for one endpoint", restart, got, own)
			}
		}
	})
}

// TestPlacesThatAreForgotten: after a database went back, or after months of silence, it knows no place of before. The
// endpoints go on with the oldest event that is kept; none stands still.
func TestPlacesThatAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		receivers := []*receiver{w.hook(nil), w.hook(nil, "gift.redeemed")}
		defer w.start(time.Second)()
		for range 3 {
			for range 5 {
				w.redeem()
			}
			time.Sleep(time.Minute)
			w.forgets.Store(true)
			late := w.redeem()
			time.Sleep(10 * time.Minute)
			for n, r := range receivers {
				if !slices.Contains(r.got(), late) {
					t.Fatalf("endpoint %d got nothing after its place was forgotten", n)
				}
			}
		}
		if reads := w.reads.Load(); reads > 5_000 {
			t.Errorf("%d pages were read", reads)
		}
	})
}

// TestAProcessIsKilled: what it had sent but not written down comes again from another, once its lease is over, and so
// does what happened since; nothing is lost.
func TestAProcessIsKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.hook(nil)
		first := w.start(250 * time.Millisecond)
		want := map[guid.ID]bool{}
		for n := range 50 {
			if n == 30 {
				w.killed.Store(true) // it writes nothing any more, and its calls come nowhere
				first()
				w.killed.Store(false)
			}
			want[w.redeem()] = true
			time.Sleep(time.Duration(n%7) * 100 * time.Millisecond)
		}
		second := w.start(250 * time.Millisecond)
		defer second()
		time.Sleep(time.Minute)
		got := map[guid.ID]bool{}
		for _, id := range r.got() {
			got[id] = true
		}
		if !maps.Equal(got, want) || len(r.got()) > len(want)+16 {
			t.Errorf("%d events came %d times, want %d", len(got), len(r.got()), len(want))
		}
	})
}

// TestOneBadEvent: an event that is always refused keeps no other from arriving, comes again by the schedule, and is
// given up after ten attempts, for each of which it alone is read.
func TestOneBadEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.hook(nil)
		bad := w.redeem()
		r.refuses = bad
		stop := w.start(5 * time.Minute)
		defer stop()
		for range 100 {
			time.Sleep(time.Hour)
			w.redeem()
		}
		time.Sleep(11 * time.Minute)
		if got := r.got(); len(got) != 100 || slices.Contains(got, bad) || r.calls != 110 {
			t.Errorf("%d events in %d calls", len(got), r.calls)
		}
		if n := w.rendered.Load(); n != 110 {
			t.Errorf("%d events were read and rendered for 110 calls", n)
		}
		for n := range r.refused[1:] {
			want, _ := webhook.Retry(n+1, 0.5)
			if late := r.refused[n+1].Sub(r.refused[n]) - want; late < 0 || late > time.Second {
				t.Errorf("attempt %d comes %v later than it should", n+2, late)
			}
		}
	})
}

// TestSwitchedOff: 410 at once, five days without a success after them; neither before.
func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		gone := w.hook(func(int) webhook.Outcome { return webhook.Outcome{Status: 410} })
		dead := w.hook(func(int) webhook.Outcome { return webhook.Outcome{Status: 500} })
		stop := w.start(5 * time.Minute)
		defer stop()
		off := func() (why []merchant.WebhookOff) {
			for _, h := range w.directory.Load().Webhooks[w.account] {
				why = append(why, h.Off)
			}
			return why
		}
		for range 40 {
			w.redeem()
		}
		time.Sleep(11 * time.Minute)
		if why := off(); !slices.Equal(why, []merchant.WebhookOff{merchant.WebhookGone, ""}) || gone.calls > 8 {
			t.Errorf("%v, %d calls", why, gone.calls)
		}
		time.Sleep(4 * 24 * time.Hour)
		reads := w.reads.Load()
		if why := off(); why[1] != "" {
			t.Errorf("after four days: %v", why)
		}
		time.Sleep(2 * 24 * time.Hour)
		if why := off(); why[1] != merchant.WebhookFailing {
			t.Errorf("after six days: %v", why)
		}
		if reads > 400 || dead.calls > 400 {
			t.Errorf("%d pages were read and %d calls made for a dead endpoint", reads, dead.calls)
		}
	})
}

// TestTwoProcesses: an account's events are delivered by one of two, once each, and by the other when it stops; what
// was on its way then may come again.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.hook(nil)
		first, second := w.start(time.Second), w.start(time.Second)
		want := map[guid.ID]bool{}
		for n := range 100 {
			if n == 50 {
				first()
			}
			want[w.redeem()] = true
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		second()
		got := map[guid.ID]bool{}
		for _, id := range r.got() {
			got[id] = true
		}
		if !maps.Equal(got, want) || len(r.got()) > len(want)+1 {
			t.Errorf("%d events came %d times, want %d", len(got), len(r.got()), len(want))
		}
	})
}

// TestReplays: the events of a time come again, those of the types that were asked for, beside new ones, and reading
// them costs as many pages as they fill.
func TestReplays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.hook(nil)
		stop := w.start(10 * time.Second)
		defer stop()
		var all []guid.ID
		for n := range 60 {
			time.Sleep(time.Minute)
			all = append(all, w.redeem())
			if n == 40 {
				w.issue() // of another type
			}
		}
		from := time.Now().Add(-30*time.Minute - 30*time.Second)
		time.Sleep(time.Minute)
		before, reads := len(r.got()), w.reads.Load()
		w.replay(from, time.Now().Add(-10*time.Minute-30*time.Second), "gift.redeemed", "key.*")
		next := w.redeem()
		time.Sleep(time.Minute)
		got := r.got()[before:]
		want := append(slices.Clone(all[29:50]), next)
		for _, id := range want {
			if n := len(slices.DeleteFunc(slices.Clone(got), func(g guid.ID) bool { return g != id })); n != 1 {
				t.Errorf("event %d came %d times", slices.Index(all, id), n)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d events came again, want %d", len(got), len(want))
		}
		if n := w.reads.Load() - reads; n > 20 {
			t.Errorf("%d pages were read", n)
		}
		time.Sleep(time.Hour) // and not once more
		if n := len(r.got()) - before; n != len(want) {
			t.Errorf("%d events, want %d", n, len(want))
		}
	})
}

// TestAReplayReadsLittleBesideItsTime: of the busy time before what is replayed, and of all that came after it, few
// pages are read.
func TestAReplayReadsLittleBesideItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.hook(nil)
		stop := w.start(time.Second)
		defer stop()
		busy := func() {
			for range 100 {
				time.Sleep(3 * time.Second)
				w.redeem()
			}
		}
		busy()
		time.Sleep(time.Second)
		from := time.Now()
		want := []guid.ID{w.redeem(), w.redeem()}
		time.Sleep(time.Second)
		to := time.Now()
		busy()
		time.Sleep(time.Hour)
		busy()
		time.Sleep(time.Minute)
		before, reads := len(r.got()), w.own.Load()
		w.replay(from, to)
		time.Sleep(time.Minute)
		got := r.got()[before:]
		if !slices.Equal(got, want) {
			t.Errorf("%d events came again, want %d", len(got), len(want))
		}
		if n := w.own.Load() - reads; n > 3 {
			t.Errorf("%d pages were read", n)
		}
	})
}

// TestOneAddressUnderManyNames: all endpoints of an account at one address share a rate, whatever they are called, also
// in replays; others have their own.
func TestOneAddressUnderManyNames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var many []*receiver
		for range merchant.MaxWebhooks - 1 {
			many = append(many, w.hook(nil))
		}
		other := w.hook(nil)
		alone := fmt.Sprintf("https://%d.example/", len(w.receivers)-1)
		w.at = func(url string) string {
			if url == alone {
				return alone
			}
			return "203.0.113.9/32"
		}
		stop := w.start(time.Second)
		defer func() { stop() }()
		time.Sleep(10 * time.Second)
		begun := time.Now()
		const events = 60
		for range events {
			w.redeem()
		}
		calls := func() (n int) {
			for _, r := range many {
				n += len(r.got())
			}
			return n
		}
		time.Sleep(5 * time.Second)
		if n := len(other.got()); n != events {
			t.Errorf("%d events at the one beside", n)
		}
		if n, most := calls(), 50*int(time.Since(begun)/time.Second+2)+8*len(many); n < 200 || n > most {
			t.Errorf("%d calls at one address in %v, %d are the most", n, time.Since(begun), most)
		}
		time.Sleep(time.Minute)
		if n := calls(); n != events*len(many) {
			t.Errorf("%d calls in the end, want %d", n, events*len(many))
		}
	})
}
