package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/command/load"
	"boon.example/internal/merchant"
	"boon.example/internal/setup"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// What the webhooks part does.
const (
	hookAccounts = 1_000
	hookGifts    = 20 // of each account
	hookNetwork  = "127.0.0.0/8"
)

// hookUse is what some accounts have webhooks for.
type hookUse struct {
	name     string
	accounts int
	each     int    // endpoints of an account
	dead     bool   // one in ten of them: half say nothing, half refuse
	types    string // of events that they want
}

// hookUses come one after the other in every round, from another one on in each. All redemptions are of these accounts.
// Those again are like the ones before, and tell how much chance makes; "none of a thousand accounts" is what those
// cost without webhooks.
var hookUses = []hookUse{
	{name: "none", accounts: 50}, {name: "none, again", accounts: 50},
	{name: "none of a thousand accounts", accounts: hookAccounts},
	{"one", 50, 1, false, "gift.*"},
	{"one of each of a thousand accounts", hookAccounts, 1, false, "gift.*"},
	{"one of each of a thousand accounts, a hundred dead", hookAccounts, 1, true, "gift.*"},
	{"one of each of a thousand accounts, again", hookAccounts, 1, false, "gift.*"},
	{"one of each of a thousand accounts, a hundred dead, again", hookAccounts, 1, true, "gift.*"},
	{"twenty", 50, merchant.MaxWebhooks, true, "gift.*"},
}

// hookReading is one measurement.
type hookReading struct {
	rate         float64    // of redemptions
	latency      [2]float64 // p50 and p99 from the call to its answer
	service      float64    // microseconds of processor time of the service that redeems, for each
	sender       float64    // likewise of the one that delivers, and of the database
	database     float64
	arrived, due float64 // deliveries at healthy endpoints, a second
	delays       [2]float64
}

// hooks are two services with fifty merchants: one redeems, the other has the leases of all webhooks. And the receivers
// of what happens to the gifts.
type hooks struct {
	*trial
	place    *place
	sender   *child
	gifts    [][]load.Gift // by account
	healthy  net.Listener
	silent   net.Listener                   // takes connections and says nothing
	refusing int                            // a port at which nobody listens
	delays   atomic.Pointer[load.Histogram] // of the deliveries that arrived in this measurement
	sold     atomic.Int64                   // gifts beside the redemptions
}

// webhooks compares redemptions at one rate without webhooks, with one for each of fifty accounts, with a thousand, of
// which a hundred are dead, and with twenty for each of fifty accounts, and tells how soon events arrive at the healthy
// endpoints. Each has an address of its own, by http. A delay counts from the time of the entry, which is decided just
// before its commit.
//
// What a redemption costs, and what its webhooks cost, are told apart: a process that redeems only, and one that
// delivers what the first one did. In one process their sum is spent. A delivery is an HTTP call and never costs a few
// percent of a redemption; that redemptions may cost 5 % more with webhooks is said of the redemption, from the call to
// its answer, which waits for nothing of webhooks.
func (h *trial) webhooks() (err error) {
	w := &hooks{trial: h}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.open(); err != nil {
		return err
	}
	all := make([][]hookReading, len(hookUses))
	for round := range h.options.repeat {
		progress("%s: webhooks, %d of %d", h.title(), round+1, h.options.repeat)
		for i := range hookUses {
			n := (i + round) % len(hookUses)
			r, err := w.take(n, round)
			if err != nil {
				return fmt.Errorf("with webhooks: %s: %w", hookUses[n].name, err)
			}
			all[n] = append(all[n], r)
		}
	}
	for n, use := range hookUses {
		w.tell(use.name, all[n], all[0])
	}
	return nil
}

// tell reports what was measured of a use, beside what was without webhooks.
func (w *hooks) tell(name string, of, none []hookReading) {
	take := func(figure func(hookReading) float64) (is, times float64) {
		is = median(of, figure)
		return is, is / median(none, figure)
	}
	rate, _ := take(func(r hookReading) float64 { return r.rate })
	p50, p50times := take(func(r hookReading) float64 { return r.latency[0] })
	p99, p99times := take(func(r hookReading) float64 { return r.latency[1] })
	service, more := take(func(r hookReading) float64 { return r.service })
	told := ""
	if due, _ := take(func(r hookReading) float64 { return r.due }); due > 0 {
		arrived, _ := take(func(r hookReading) float64 { return r.arrived })
		soon, _ := take(func(r hookReading) float64 { return r.delays[0] })
		late, _ := take(func(r hookReading) float64 { return r.delays[1] })
		cost, _ := take(func(r hookReading) float64 { return r.sender * r.rate / r.arrived })
		whole, times := take(func(r hookReading) float64 { return r.service + r.sender })
		told = fmt.Sprintf(" %.0f deliveries/s of %.0f, p50 %.0f ms, p99 %.0f ms after the entry, %.0f µs each of the "+
			"service that delivers; both services %.0f µs a redemption, %.2f times none.", arrived, due, soon, late, cost, whole,
			times)
	}
	if database, times := take(func(r hookReading) float64 { return r.database }); database > 0 {
		told += fmt.Sprintf(" The database: %.0f µs a redemption, %.2f times none.", database, times)
	}
	w.report.note("**webhooks of each account: %s**: %.0f redemptions/s, p50 %.2f ms (%.2f times none), p99 %.2f ms "+
		"(%.2f), %.0f µs of the service that redeems (**%.2f times none**).%s", name, rate, p50, p50times, p99, p99times,
		service, more, told)
}

// open starts receivers and the service that delivers, and makes the gifts.
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
	if w.sender, err = w.serve(); err != nil {
		return err
	}
	return w.stock(hookAccounts)
}

// stock makes gifts for the first accounts.
func (w *hooks) stock(accounts int) error {
	w.gifts = make([][]load.Gift, accounts)
	return inParallel(accounts, func(n int) (err error) {
		w.gifts[n], err = newShop(w.sender, hookKey(n), hookID(n, 3)).orderSurely(w.ctx, hookGifts, stockKey(n))
		return err
	})
}

// serve starts a service.
func (w *hooks) serve() (*child, error) {
	return spawn("serve", "-data", w.place.data(), "-database", w.place.database(), "-webhooks-allow", hookNetwork)
}

// calls is a load of redemptions, or else validations, by some accounts in turn.
func (w *hooks) calls(c *child, call string, accounts int) (load.Plan, error) {
	plan := load.Plan{Connections: 64, Rate: float64(w.options.hookRate)}
	nexts := make([]load.Next, accounts)
	for n := range nexts {
		target, err := load.NewTarget("http://"+c.address, hookKey(n))
		if err != nil {
			return plan, err
		}
		orders := &load.Orders{Gifts: w.gifts[n], Amount: "0.01"}
		if plan.Target, nexts[n] = target, target.Validate(orders); call == "redeem" {
			nexts[n] = target.Redeem(orders)
		}
	}
	var turn atomic.Uint64
	plan.Next = func(b []byte) ([]byte, load.Note) { return nexts[turn.Add(1)%uint64(accounts)](b) }
	return plan, nil
}

// sell makes gifts for some accounts in turn, as many a second as are asked for, until ctx ends. What it gives waits
// for that and tells what failed.
func (w *hooks) sell(ctx context.Context, c *child, accounts int) (ended func() error) {
	const sellers, size = 4, 10
	var all sync.WaitGroup
	failed := make([]error, sellers)
	for n := range min(sellers, w.options.hookSales) {
		all.Go(func() {
			s := newShop(c, "", "")
			tick := time.NewTicker(sellers * size * time.Second / time.Duration(w.options.hookSales))
			defer tick.Stop()
			for account := n; ; account = (account + sellers) % accounts {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				s.key, s.sale = hookKey(account), load.Sale("10000", hookID(account, 3), "bench-order")
				gifts, err := s.order(ctx, size, "")
				if w.sold.Add(int64(len(gifts))); err != nil && ctx.Err() == nil {
					failed[n] = err
					return
				}
			}
		})
	}
	return func() error {
		all.Wait()
		return errors.Join(failed...)
	}
}

func (w *hooks) close() (err error) {
	if w.sender != nil {
		err = w.sender.stop()
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
			switch number := (n*u.each + e) % 20; {
			case u.dead && number == 10:
				port = w.silent.Addr().(*net.TCPAddr).Port
			case u.dead && number == 19:
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
	allowed := merchant.WebhookNetworks{netip.MustParsePrefix(hookNetwork)}
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

// profiled takes profiles of both services beside the webhooks of a use, where they are asked for.
func (w *hooks) profiled(use, round int, redeems *child) (wait func() error) {
	if w.options.profile == "" || round > 0 {
		return func() error { return nil }
	}
	done := make(chan error, 2)
	for name, c := range map[string]*child{"redeems": redeems, "delivers": w.sender} {
		file := fmt.Sprintf("%s-%s-webhooks-%d-%s.pprof", w.options.profile, w.name, use, name)
		go func() { done <- c.profile(file, "profile", max(1, int(hookTime(w.options).Seconds()))) }()
	}
	return func() error { return errors.Join(<-done, <-done) }
}

// hookPause is what the service that delivers has to see other webhooks and to take their leases.
const hookPause = 2 * time.Second

// take measures redemptions beside the webhooks of a use. The service that redeems begins when the other one has the
// leases, which it keeps.
func (w *hooks) take(use, round int) (r hookReading, err error) {
	if err := w.apply(use); err != nil {
		return r, err
	}
	time.Sleep(hookPause)
	redeems, err := w.serve()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, redeems.stop()) }()
	plan, err := w.calls(redeems, "redeem", hookUses[use].accounts)
	if err != nil {
		return r, err
	}
	selling, stopSelling := context.WithCancel(w.ctx)
	defer stopSelling()
	soldAll := w.sell(selling, redeems, hookUses[use].accounts)
	plan.Duration = max(2*time.Second, hookTime(w.options)/5)
	run, err := load.Start(w.ctx, plan)
	if err != nil {
		return r, err
	}
	run.Wait()
	stop := w.profiled(use, round, redeems)
	delays := new(load.Histogram)
	w.delays.Store(delays)
	before, sold := w.used(redeems), w.sold.Load()
	plan.Duration = hookTime(w.options)
	if run, err = load.Start(w.ctx, plan); err != nil {
		return r, err
	}
	run.Wait()
	after, s := w.used(redeems), run.Stats()
	sold = w.sold.Load() - sold
	seconds, redeemed, arrived := run.Took().Seconds(), float64(max(1, s.OK.Count())), float64(delays.Count())
	each := func(n int) float64 { return (after[n] - before[n]) * 1e6 / redeemed }
	r = hookReading{rate: redeemed / seconds, latency: [2]float64{ms(s.OK.Quantile(0.5)), ms(s.OK.Quantile(0.99))},
		service: each(0), sender: each(1), database: each(2), arrived: arrived / seconds,
		delays: [2]float64{ms(delays.Quantile(0.5)), ms(delays.Quantile(0.99))}}
	if u := hookUses[use]; u.types == "gift.*" {
		r.due = (redeemed + float64(sold)) / seconds * float64(u.each)
		if u.dead {
			r.due *= 0.9
		}
	}
	stopSelling()
	return r, errors.Join(failure(s), stop(), soldAll())
}

// used is the processor time so far of the service that redeems, of the one that delivers, and of the database.
func (w *hooks) used(redeems *child) (seconds [3]float64) {
	seconds = [3]float64{ticks(redeems.cmd.Process.Pid).own, ticks(w.sender.cmd.Process.Pid).own}
	if server := w.place.server; server != nil {
		seconds[2] = family(server.PID())
	}
	return seconds
}

// hookTime is how long is measured: 10 s, unless other parts are measured for longer or shorter than they are.
func hookTime(o options) time.Duration { return 10 * o.duration }
