package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/command/load"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/post/pass"
	"boon.example/internal/post/pass/passtest"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// publicURL is how phones would reach a service that updates their passes: by HTTPS only.
const publicURL = "https://gifts.example.com"

// pushSettle is how long pushes have to come after the last redemption.
const pushSettle = 3 * time.Second

// phones are those with a pass of each gift, at a service that pushes to a stand-in for Apple in this process.
type phones struct {
	*trial
	place   *place
	service *child
	apple   *httptest.Server
	files   passtest.Files
	known   bool // they are registered

	begun  []atomic.Int64 // when the redemption of a gift was sent; 0: it was not
	pushed []atomic.Int64 // when the first push after that arrived; 0: none did
	count  atomic.Int64   // pushes
}

// pushReading is one measurement.
type pushReading struct {
	rate, p50, p99 float64
	service        float64 // microseconds of processor time of the service, for each redemption
	all            float64 // likewise, of the service and of this process, which is Apple and all tills
	pushes         float64 // a second
	delays         [3]float64
	lost           int
}

// pushes compares redemptions at one rate, each of another gift, without wallet and with one, where a phone is
// registered for each gift of the store. Apple is a server in this process that takes every push, by HTTP/2. A delay
// counts from when the redemption was sent, which is before its commit.
//
// Whatever uses the cores makes tills wait, as Apple in this process does. So a third measurement is without wallet,
// beside a program that uses as much processor time as the pushes of the round did, evenly.
func (h *trial) pushes() (err error) {
	p := &phones{trial: h, begun: make([]atomic.Int64, len(h.gifts)), pushed: make([]atomic.Int64, len(h.gifts))}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(); err != nil {
		return err
	}
	var all [2][]pushReading
	var control []pushReading
	for round := range h.options.repeat {
		progress("%s: pushes, %d of %d", h.title(), round+1, h.options.repeat)
		for n := range all {
			with := (n + round) % 2
			r, err := p.take(with == 1, round, 0)
			if err != nil {
				return err
			}
			all[with] = append(all[with], r)
		}
		r, err := p.take(false, round, all[1][round].all-all[0][round].all)
		if err != nil {
			return err
		}
		control = append(control, r)
	}
	return p.tell(all[0], all[1], control)
}

func (p *phones) tell(without, with, control []pushReading) error {
	is := func(all []pushReading, figure func(pushReading) float64) float64 { return median(all, figure) }
	rate := func(r pushReading) float64 { return r.rate }
	p50, p99 := func(r pushReading) float64 { return r.p50 }, func(r pushReading) float64 { return r.p99 }
	service := func(r pushReading) float64 { return r.service }
	delay := func(n int) float64 { return is(with, func(r pushReading) float64 { return r.delays[n] }) }
	times, longest, lost := is(with, p99)/is(without, p99), 0.0, 0
	for _, r := range with {
		longest, lost = max(longest, r.delays[2]), lost+r.lost
	}
	p.report.note("**pushes to %s phones**: %.0f redemptions/s and %.0f pushes/s, a push p50 %.0f ms, p99 %.0f ms, "+
		"at most **%.0f ms** after its redemption was sent; %d never came. Redemptions without wallet (%.0f/s): "+
		"p50 %.2f ms, p99 %.2f ms, %.0f µs of the service; with it p50 %.2f ms, p99 %.2f ms (**%.2f times**), %.0f µs.",
		thousands(len(p.gifts)),
		is(with, rate), is(with, func(r pushReading) float64 { return r.pushes }), delay(0), delay(1), longest, lost,
		is(without, rate), is(without, p50), is(without, p99), is(without, service), is(with, p50), is(with, p99), times,
		is(with, service))
	all := func(r pushReading) float64 { return r.all }
	p.report.note("With wallet, the service and Apple used %.0f µs more for each redemption. Redemptions beside a "+
		"program that used as much (%.0f µs): p50 %.2f ms, p99 %.2f ms (**%.2f times**).", is(with, all)-is(without, all),
		is(control, all)-is(without, all), is(control, p50), is(control, p99), is(control, p99)/is(without, p99))
	if most := p.options.pushes; most > 0 && (longest > ms(most) || lost > 0) {
		return fmt.Errorf("%s: a push came after %.0f ms, and %v is allowed; %d never came", p.title(), longest, most, lost)
	}
	return nil
}

// open starts Apple and the service, over a copy of the stock.
func (p *phones) open() (err error) {
	p.apple = httptest.NewUnstartedServer(http.HandlerFunc(p.take200))
	p.apple.EnableHTTP2 = true
	p.apple.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	p.apple.StartTLS()
	if p.files, err = passtest.Make(time.Now().AddDate(0, 6, 0)); err != nil {
		return err
	}
	stock, err := stocked(p.ctx, p.options, p.name, p.n)
	if err != nil {
		return err
	}
	if p.place, err = copyOf(p.options, stock); err != nil {
		return err
	}
	if err = p.place.start(p.name); err != nil {
		return err
	}
	roots := filepath.Join(p.place.dir, "apple.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.apple.Certificate().Raw})
	if err = os.WriteFile(roots, text, 0o600); err != nil {
		return err
	}
	if err = p.apply(true); err != nil {
		return err
	}
	p.service, err = spawn("serve", "-data", p.place.data(), "-database", p.place.database(), "-pushes", p.apple.URL,
		"-roots", roots)
	return err
}

func (p *phones) close() (err error) {
	if p.service != nil {
		err = p.service.stop()
	}
	if p.apple != nil {
		p.apple.Close()
	}
	if p.place != nil {
		err = errors.Join(err, p.place.stop(), os.RemoveAll(p.place.dir))
	}
	return err
}

// take200 is Apple.
func (p *phones) take200(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseUint(strings.TrimPrefix(r.URL.Path, "/3/device/"), 16, 32)
	if err != nil || n >= uint64(len(p.pushed)) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	p.count.Add(1)
	if p.begun[n].Load() > 0 {
		p.pushed[n].CompareAndSwap(0, time.Now().UnixNano())
	}
	w.WriteHeader(http.StatusOK)
}

// apply gives the merchant a wallet, or takes it. With the first one, a phone is registered for each gift.
func (p *phones) apply(wallet bool) (err error) {
	s, err := store.Open(p.ctx, store.Options{Dir: p.place.data(), Database: p.place.database()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	text := setupFile
	if wallet {
		text = strings.Replace(text, "    storefronts:", walletOf(p.files)+"    storefronts:", 1)
	}
	file, err := setup.Parse("bench", []byte(text))
	if err != nil {
		return err
	}
	if _, err := file.Apply(p.ctx, s, time.Now(), rand.Reader); err != nil || p.known {
		return err
	}
	p.known = true
	progress("%s: registering %d phones", p.title(), len(p.gifts))
	return p.register(s)
}

// walletOf is what the set-up file of a merchant says of Apple Wallet.
func walletOf(f passtest.Files) string {
	indented := func(pem []byte) string {
		return "|\n          " + strings.ReplaceAll(strings.TrimSpace(string(pem)), "\n", "\n          ") + "\n"
	}
	return "    wallet:\n      apple:\n        certificate: " + indented(f.Certificate) + "        key: " + indented(f.Key)
}

// register has a phone be told of each gift. Its push token is the gift's number in the list.
func (p *phones) register(s *store.Store) error {
	account, err := guid.Parse(benchAccount)
	if err != nil {
		return err
	}
	return inParallel(len(p.gifts), func(n int) error {
		g, err := s.Gift(p.ctx, account, guid.ID(p.gifts[n].ID))
		if err != nil {
			return err
		}
		_, err = s.RegisterPass(p.ctx, event.PassDevice{AccountID: account, VoucherID: g.ID, Card: pass.CardOf(&g),
			Device: sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n))), Push: fmt.Sprintf("%064x", n)}, time.Now())
		return err
	})
}

// take measures redemptions with a wallet or without, beside a program that uses so many microseconds of processor time
// for each.
func (p *phones) take(wallet bool, round int, beside float64) (r pushReading, err error) {
	if err := p.apply(wallet); err != nil {
		return r, err
	}
	time.Sleep(hookPause)
	target, err := load.NewTarget("http://"+p.service.address, key)
	if err != nil {
		return r, err
	}
	plan := load.Plan{Target: target, Next: p.next(target), Connections: 64, Rate: float64(p.options.hookRate),
		Duration: max(2*time.Second, hookTime(p.options)/5)}
	run, err := load.Start(p.ctx, plan)
	if err != nil {
		return r, err
	}
	run.Wait()
	if err := p.caughtUp(); err != nil {
		return r, err
	}
	stop := p.profiled(wallet, round)
	pushes, used, own := p.count.Load(), ticks(p.service.cmd.Process.Pid).own, ticks(os.Getpid()).own
	plan.Duration = hookTime(p.options)
	idle := burn(time.Second/time.Duration(p.options.hookRate), time.Duration(beside*float64(time.Microsecond)))
	p.forget()
	if run, err = load.Start(p.ctx, plan); err != nil {
		return r, err
	}
	run.Wait()
	idle()
	s := run.Stats()
	r.p50, r.p99 = ms(s.OK.Quantile(0.5)), ms(s.OK.Quantile(0.99))
	r.rate = float64(s.OK.Count()) / run.Took().Seconds()
	time.Sleep(pushSettle) // the pushes of the last redemptions
	r.service = (ticks(p.service.cmd.Process.Pid).own - used) * 1e6 / float64(max(1, s.OK.Count()))
	r.all = r.service + (ticks(os.Getpid()).own-own)*1e6/float64(max(1, s.OK.Count()))
	r.pushes = float64(p.count.Load()-pushes) / run.Took().Seconds()
	if wallet {
		r.delays, r.lost = p.delays()
	}
	return r, errors.Join(failure(s), stop())
}

// burn uses so much processor time at every interval, until it is stopped.
func burn(every, much time.Duration) (stop func()) {
	over := make(chan bool)
	var running sync.WaitGroup
	running.Go(func() {
		for turn := time.Now(); much > 0; turn = turn.Add(every) {
			select {
			case <-over:
				return
			case <-time.After(time.Until(turn)):
			}
			for begun := time.Now(); time.Since(begun) < much; {
				continue // it is the use of a core that counts
			}
		}
	})
	return func() { close(over); running.Wait() }
}

// next redeems one gift after the other, each once, from another one on in each measurement.
func (p *phones) next(target *load.Target) load.Next {
	nexts := make([]load.Next, len(p.gifts))
	for n := range nexts {
		nexts[n] = target.Redeem(p.asked(p.gifts[n : n+1]))
	}
	var turn atomic.Int64
	return func(b []byte) ([]byte, load.Note) {
		n := int(turn.Add(1)) % len(nexts)
		p.pushed[n].Store(0)
		p.begun[n].Store(time.Now().UnixNano())
		return nexts[n](b)
	}
}

func (p *phones) forget() {
	for n := range p.begun {
		p.begun[n].Store(0)
		p.pushed[n].Store(0)
	}
}

// delays are the median, the 99th percentile and the longest time to a push, in milliseconds, and how many never came.
func (p *phones) delays() (figures [3]float64, lost int) {
	all := new(load.Histogram)
	for n := range p.begun {
		begun, pushed := p.begun[n].Load(), p.pushed[n].Load()
		switch {
		case begun > 0 && pushed > 0:
			all.Add(time.Duration(pushed - begun))
		case begun > 0:
			lost++
		}
	}
	return [3]float64{ms(all.Quantile(0.5)), ms(all.Quantile(0.99)), ms(all.Max())}, lost
}

// caughtUp waits until no push waits.
func (p *phones) caughtUp() error {
	for {
		before := p.count.Load()
		wait, stop := context.WithTimeout(p.ctx, 2*time.Second)
		<-wait.Done()
		stop()
		if err := p.ctx.Err(); err != nil {
			return err
		}
		all, err := p.service.metrics()
		if err != nil {
			return err
		}
		if all["boon_pass_pushes_waiting"] == 0 && p.count.Load() == before {
			return nil
		}
	}
}

// profiled takes a profile of the service in the first round, where that is asked for.
func (p *phones) profiled(wallet bool, round int) (wait func() error) {
	if p.options.profile == "" || round > 0 {
		return func() error { return nil }
	}
	file := fmt.Sprintf("%s-%s-pushes-%t.pprof", p.options.profile, p.name, wallet)
	done := make(chan error, 1)
	go func() { done <- p.service.profile(file, "profile", max(1, int(hookTime(p.options).Seconds()))) }()
	return func() error { return <-done }
}
