package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/load"
	"boon.example/internal/setup"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// What the webhooks part does.
const (
	hookAccounts = 1_000
	hookGifts    = 20    // of each account
	hookRate     = 1_000 // redemptions a second, of all accounts together
	hookNetwork  = "127.0.0.0/8"
)

// hookUse is what some accounts have webhooks for.
type hookUse struct {
	name     string
	accounts int
	each     int    // endpoints of an account; of all of them one in ten is dead, where there are a thousand
	types    string // of events that they want
}

// dead gives the number, of twenty endpoints, of one that is dead; -1: none is.
func (u hookUse) dead(number int) int {
	if u.accounts*u.each < 1_000 {
		return -1
	}
	return number
}

// hookUses come one after the other in every round. All redemptions are of these accounts.
var hookUses = []hookUse{
	{"none", 50, 0, ""}, {"one for other events", 50, 1, "key.*"}, {"one", 50, 1, "gift.*"},
	{"one of each of a thousand accounts", hookAccounts, 1, "gift.*"},
	{"twenty", 50, gift.MaxWebhooks, "gift.*"},
}

// hookReading is one measurement.
type hookReading struct {
	rate, p99    float64 // of redemptions
	service      float64 // microseconds of the service's processor time for each
	arrived, due float64 // deliveries at healthy endpoints, a second
	delays       [2]float64
}

// hooks is a service of its own with fifty merchants, and the receivers of what happens to their gifts.
type hooks struct {
	*trial
	place    *place
	service  *child
	healthy  net.Listener
	silent   net.Listener // takes connections and says nothing
	refusing int          // a port at which nobody listens
	at       *load.Target
	next     load.Next
	accounts atomic.Uint64                  // of this measurement
	delays   atomic.Pointer[load.Histogram] // of the deliveries that arrived in this measurement
}

// webhooks compares redemptions at one rate without webhooks, with one for each of fifty accounts, and with a thousand,
// of which a hundred are dead, and tells how soon events arrive at the healthy ones. Every endpoint has an address of
// its own, by http. A delay counts from the time of the entry, which is decided just before its commit.
func (h *trial) webhooks() (err error) {
	w := &hooks{trial: h}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.open(); err != nil {
		return err
	}
	all := make([][]hookReading, len(hookUses))
	for round := range h.options.repeat {
		progress("%s: webhooks, %d of %d", h.title(), round+1, h.options.repeat)
		for n := range hookUses {
			stop := w.profiled(n, round)
			r, err := w.take(n)
			err = errors.Join(err, stop())
			if err != nil {
				return fmt.Errorf("with webhooks: %s: %w", hookUses[n].name, err)
			}
			all[n] = append(all[n], r)
		}
	}
	figure := func(n int, of func(hookReading) float64) float64 { return median(all[n], of) }
	p99, cost := func(r hookReading) float64 { return r.p99 }, func(r hookReading) float64 { return r.service }
	for n, use := range hookUses {
		told := ""
		if due := figure(n, func(r hookReading) float64 { return r.due }); due > 0 {
			told = fmt.Sprintf("; %.0f deliveries/s of %.0f, p50 %.0f ms, p99 %.0f ms after the entry",
				figure(n, func(r hookReading) float64 { return r.arrived }), due,
				figure(n, func(r hookReading) float64 { return r.delays[0] }),
				figure(n, func(r hookReading) float64 { return r.delays[1] }))
		}
		h.report.note("**webhooks of each account: %s**: %.0f redemptions/s, p99 %.2f ms (%.2f times none), %.0f µs of the "+
			"service each (**%.2f times none**)%s.", use.name, figure(n, func(r hookReading) float64 { return r.rate }),
			figure(n, p99), figure(n, p99)/figure(0, p99), figure(n, cost), figure(n, cost)/figure(0, cost), told)
	}
	return nil
}

// open starts receivers and service, and makes the gifts.
func (w *hooks) open() (err error) {
	if w.healthy, err = net.Listen("tcp4", ":0"); err != nil {
		return err
	}
	if w.silent, err = net.Listen("tcp4", ":0"); err != nil {
		return err
	}
	away, err := net.Listen("tcp4", ":0")
	if err != nil {
		return err
	}
	w.refusing = away.Addr().(*net.TCPAddr).Port
	if err := away.Close(); err != nil {
		return err
	}
	w.delays.Store(new(load.Histogram))
	go http.Serve(w.healthy, http.HandlerFunc(w.receive))
	if w.place, err = newPlace(w.options.stock); err != nil {
		return err
	}
	if w.name == "postgres" {
		if w.place.server, err = pgtest.Start(postgresSettings...); err != nil {
			return err
		}
	}
	if err := w.apply(0); err != nil {
		return err
	}
	w.service, err = spawn("serve", "-data", w.place.data(), "-database", w.place.database(), "-webhooks-allow",
		hookNetwork)
	if err != nil {
		return err
	}
	if w.at, err = load.NewTarget("http://"+w.service.address, hookKey(0)); err != nil {
		return err
	}
	nexts := make([]load.Next, hookAccounts)
	err = inParallel(hookAccounts, func(n int) error {
		gifts, err := newShop(w.service, hookKey(n), hookID(n, 3)).orderSurely(w.ctx, hookGifts, stockKey(n))
		if err != nil {
			return err
		}
		target, err := load.NewTarget("http://"+w.service.address, hookKey(n))
		if err == nil {
			nexts[n] = target.Redeem(&load.Orders{Gifts: gifts, Amount: "0.01"})
		}
		return err
	})
	var turn atomic.Uint64
	w.next = func(b []byte) ([]byte, load.Note) { return nexts[turn.Add(1)%w.accounts.Load()](b) }
	return err
}

func (w *hooks) close() (err error) {
	if w.service != nil {
		err = w.service.stop()
	}
	for _, l := range []net.Listener{w.healthy, w.silent} {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	if w.place != nil {
		err = errors.Join(err, w.place.stop(), os.RemoveAll(w.place.dir))
	}
	return err
}

func hookKey(account int) string {
	return fmt.Sprintf("boon_live_hooks%03d_0123456789abcdef0123456789abcdef", account)
}

func hookID(account, of int) string {
	return fmt.Sprintf("0199a000-0000-7000-8%03x-%012d", account, of)
}

// apply gives every account the webhooks of a use.
func (w *hooks) apply(use int) error {
	u, text := hookUses[use], &strings.Builder{}
	text.WriteString("accounts:\n")
	for n := range hookAccounts {
		each := u.each
		if n >= u.accounts {
			each = 0
		}
		fmt.Fprintf(text, `  - id: %s
    name: Merchant %d
    currency: USD
    timeZone: UTC
    language: en
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}]
    locations: [{id: %s, name: Here}]
    storefronts: [{id: %s, name: Web}]
    keys: [{name: till, role: all, secret: %s}]
    webhooks: [`, hookID(n, 1), n, hookID(n, 2), hookID(n, 3), hookKey(n))
		for e := range each {
			port := w.healthy.Addr().(*net.TCPAddr).Port
			switch (n*u.each + e) % 20 {
			case u.dead(10):
				port = w.silent.Addr().(*net.TCPAddr).Port
			case u.dead(19):
				port = w.refusing
			}
			fmt.Fprintf(text, "{url: 'http://127.%d.%d.%d:%d/', types: [%s]}, ", 1+n/250, 1+n%250, e+1, port, u.types)
		}
		text.WriteString("]\n")
	}
	s, err := store.Open(w.ctx, store.Options{Dir: w.place.data(), Database: w.place.database()})
	if err != nil {
		return err
	}
	allowed := gift.WebhookNetworks{netip.MustParsePrefix(hookNetwork)}
	file, err := setup.ParseBeside("bench", []byte(text.String()), nil, allowed)
	if err == nil {
		_, err = file.Apply(w.ctx, s, time.Now(), rand.Reader)
	}
	return errors.Join(err, s.Close())
}

// receive is a healthy endpoint.
func (w *hooks) receive(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	_, after, found := bytes.Cut(body, []byte(`"occurredAt":"`))
	text, _, whole := bytes.Cut(after, []byte(`"`))
	at, wrong := time.Parse(time.RFC3339, string(text))
	if err == nil && found && whole && wrong == nil {
		w.delays.Load().Add(time.Since(at))
	}
}

// profiled takes a profile of the service beside the webhooks of a use, where one is asked for.
func (w *hooks) profiled(use, round int) (wait func() error) {
	if w.options.profile == "" || round > 0 {
		return func() error { return nil }
	}
	file := fmt.Sprintf("%s-%s-webhooks-%d.pprof", w.options.profile, w.name, use)
	done := make(chan error, 1)
	go func() {
		time.Sleep(hookPause + hookTime(w.options)/5)
		done <- w.service.profile(file, max(1, int(hookTime(w.options).Seconds())))
	}()
	return func() error { return <-done }
}

// hookPause is what the service has to see other webhooks.
const hookPause = 3 * time.Second

// take measures redemptions beside the webhooks of a use.
func (w *hooks) take(use int) (r hookReading, _ error) {
	if err := w.apply(use); err != nil {
		return r, err
	}
	time.Sleep(hookPause)
	w.accounts.Store(uint64(hookUses[use].accounts))
	plan := load.Plan{Target: w.at, Next: w.next, Connections: 64, Rate: hookRate, Duration: hookTime(w.options) / 5}
	run, err := load.Start(w.ctx, plan)
	if err != nil {
		return r, err
	}
	run.Wait()
	delays := new(load.Histogram)
	w.delays.Store(delays)
	used := ticks(w.service.cmd.Process.Pid).own
	plan.Duration = hookTime(w.options)
	if run, err = load.Start(w.ctx, plan); err != nil {
		return r, err
	}
	run.Wait()
	arrived, s := float64(delays.Count()), run.Stats()
	seconds, redeemed := run.Took().Seconds(), float64(s.OK.Count())
	r = hookReading{rate: redeemed / seconds, p99: ms(s.OK.Quantile(0.99)), arrived: arrived / seconds,
		service: (ticks(w.service.cmd.Process.Pid).own - used) * 1e6 / max(1, redeemed)}
	if u := hookUses[use]; u.types == "gift.*" {
		r.due = redeemed / seconds * float64(u.each)
		if u.accounts*u.each == 1_000 {
			r.due *= 0.9
		}
	}
	r.delays = [2]float64{ms(delays.Quantile(0.5)), ms(delays.Quantile(0.99))}
	return r, failure(s)
}

// hookTime is how long is measured: 20 s, unless other parts are measured for longer or shorter than they are.
func hookTime(o options) time.Duration { return 20 * o.duration }
