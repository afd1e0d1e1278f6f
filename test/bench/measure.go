package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"boon.example/internal/command/load"
)

// atRest is how long nobody calls a service whose memory is read: what it does by itself in its first seconds counts.
const atRest = 10 * time.Second

// trial is a service over a store with gifts in it, and an empty handler beside it.
type trial struct {
	ctx     context.Context
	options options
	report  *report
	first   bool // the smallest store
	name    string
	n       int
	place   *place
	service *child
	empty   *child
	target  *load.Target // the service
	nothing *load.Target // the empty handler
	gifts   []load.Gift
	atStart float64       // the service's memory in MB, before the first call
	own     float64       // of that, what is not the program's file
	started time.Duration // until the service listened
}

// open makes a store ready, on a copy of its stock, and starts everything.
func open(ctx context.Context, o options, name string, n int) (_ *trial, err error) {
	stock, err := stocked(ctx, o, name, n)
	if err != nil {
		return nil, err
	}
	h := &trial{ctx: ctx, options: o, name: name, n: n}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	progress("copying %s", stock)
	if h.place, err = copyOf(o, stock); err != nil {
		return nil, err
	}
	if err = h.place.start(name); err != nil {
		return nil, err
	}
	if h.gifts, err = h.place.readGifts(); err != nil {
		return nil, err
	}
	begun := time.Now()
	if h.service, err = h.place.serve(); err != nil {
		return nil, err
	}
	h.started = time.Since(begun)
	if h.empty, err = spawn("empty"); err != nil {
		return nil, err
	}
	settled := 300 * time.Millisecond // what it does at its start is done
	if o.take("memory") {
		settled = atRest
	}
	time.Sleep(settled)
	h.atStart, _, h.own = h.service.resident()
	if h.target, err = load.NewTarget("http://"+h.service.address, key); err != nil {
		return nil, err
	}
	h.nothing, err = load.NewTarget("http://"+h.empty.address, key)
	return h, err
}

func (h *trial) close() (err error) {
	for _, c := range []*child{h.service, h.empty} {
		if c != nil {
			err = errors.Join(err, c.stop())
		}
	}
	if h.place != nil {
		err = errors.Join(err, h.place.stop(), os.RemoveAll(h.place.dir))
	}
	return err
}

// title names the store in headings.
func (h *trial) title() string {
	return fmt.Sprintf("%s, %s gifts", stores[h.name], thousands(h.n))
}

// what is called in a measurement.
type what struct {
	flag   string // its name on the command line
	name   string
	target *load.Target
	next   load.Next
	before func() error // each time; nil: nothing
	beside *what        // measured just before it, in the same store, to compare with; nil: nothing
}

func (h *trial) asked(gifts []load.Gift) *load.Orders {
	return &load.Orders{Gifts: gifts, Amount: "0.01", Sale: load.Sale("25", storefront, "bench-sale")}
}

// whats are the calls of the table, the empty handler first.
func (h *trial) whats() []what {
	many, hot := h.asked(h.gifts), h.asked(h.gifts[:1])
	quarter := func(n int) []load.Gift { return h.gifts[n*len(h.gifts)/4 : (n+1)*len(h.gifts)/4] }
	captured, released := &holds{trial: h, gifts: quarter(1)}, &holds{trial: h, gifts: quarter(2)}
	// Who holds, captures or releases has gifts of its own, and is compared with redemptions of others just before.
	redeem := &what{flag: "beside", name: "redeem, just before", target: h.target,
		next: h.target.Redeem(h.asked(quarter(3)))}
	return []what{
		{flag: "empty", name: "empty handler", target: h.nothing, next: h.nothing.Redeem(many)},
		{flag: "validate", name: "validate", target: h.target, next: h.target.Validate(many)},
		{flag: "ticket", name: "validate, standard ticket of 20 lines", target: h.target,
			next: h.target.Validate(h.withTicket("standard"))},
		{flag: "toast", name: "validate, Toast order of 20 lines", target: h.target,
			next: h.target.Validate(h.withTicket("toast"))},
		{flag: "square", name: "validate, Square order of 20 lines", target: h.target,
			next: h.target.Validate(h.withTicket("square"))},
		{flag: "clover", name: "validate, Clover order of 20 lines", target: h.target,
			next: h.target.Validate(h.withTicket("clover"))},
		{flag: "skipped", name: "validate, as long as Square's, of no line", target: h.target,
			next: h.target.Validate(h.withTicket("skipped"))},
		{flag: "redeem", name: "redeem", target: h.target, next: h.target.Redeem(many)},
		{flag: "hot", name: "redeem, one hot gift", target: h.target, next: h.target.Redeem(hot)},
		{flag: "sale", name: "sale that three gifts pay", target: h.target, next: h.target.Sale(h.asked(quarter(3)), 3),
			beside: redeem},
		{flag: "hold", name: "hold", target: h.target, next: h.target.Hold(h.asked(quarter(0))), beside: redeem},
		{flag: "capture", name: "capture of a hold", target: h.target,
			next: h.target.OfHold("capture-hold", many, captured.next), before: captured.make, beside: redeem},
		{flag: "release", name: "release of a hold", target: h.target,
			next: h.target.OfHold("release-hold", many, released.next), before: released.make, beside: redeem},
		{flag: "send", name: "send, one printed gift", target: h.target, next: h.target.Send(many)},
	}
}

// reading is one measurement.
type reading struct {
	rate      float64
	p50, p99  time.Duration
	perCommit float64 // commands; 0: there was no commit
	cpu       cpu     // microseconds of each call
}

// failure tells of the calls that should have succeeded.
func failure(s *load.Stats) error {
	if all := s.Failures(); len(all) > 0 {
		return fmt.Errorf("%d calls succeeded, but others failed: %v", s.OK.Count(), all)
	}
	return nil
}

// take measures once: a moment to warm up, then in earnest.
func (h *trial) take(w what, connections int, d time.Duration) (r reading, _ error) {
	plan := load.Plan{Target: w.target, Next: w.next, Connections: connections, Duration: d / 5}
	run, err := load.Start(h.ctx, plan)
	if err != nil {
		return r, err
	}
	run.Wait()
	before, err := h.service.metrics()
	if err != nil {
		return r, err
	}
	used := h.cpu(w)
	plan.Duration = d
	if run, err = load.Start(h.ctx, plan); err != nil {
		return r, err
	}
	run.Wait()
	used = h.cpu(w).since(used, run.Stats().OK.Count())
	after, err := h.service.metrics()
	if err != nil {
		return r, err
	}
	s := run.Stats()
	seconds := run.Took().Seconds()
	r = reading{rate: float64(s.OK.Count()) / seconds, p50: s.OK.Quantile(0.5), p99: s.OK.Quantile(0.99), cpu: used}
	const commands = "boon_engine_group_commands"
	if groups := after[commands+"_count"] - before[commands+"_count"]; groups > 0 {
		r.perCommit = (after[commands+"_sum"] - before[commands+"_sum"]) / groups
	}
	return r, failure(s)
}

// rates is the table of the standing comparison. The repetitions go round and round, so that what disturbs the machine
// for a while disturbs all of them alike.
func (h *trial) rates() error {
	whats := slices.DeleteFunc(h.whats(), func(w what) bool {
		return !slices.Contains(h.options.calls, w.flag) &&
			w.target != h.nothing
	})
	all := map[string][]reading{}
	at := func(w what, connections int) string { return fmt.Sprint(w.name, connections) }
	beside := func(w what, connections int) string { return at(w, connections) + " beside" }
	for round := range h.options.repeat {
		progress("%s: rates, %d of %d", h.title(), round+1, h.options.repeat)
		for _, connections := range h.options.connections {
			for _, w := range whats {
				if w.before != nil {
					if err := w.before(); err != nil {
						return fmt.Errorf("making holds: %w", err)
					}
				}
				if w.beside != nil {
					r, err := h.take(*w.beside, connections, h.options.duration)
					if err != nil {
						return fmt.Errorf("%s over %d connections: %w", w.beside.name, connections, err)
					}
					all[beside(w, connections)] = append(all[beside(w, connections)], r)
				}
				stop := h.profiled(w, connections, round)
				r, err := h.take(w, connections, h.options.duration)
				if err = errors.Join(err, stop()); err != nil {
					return fmt.Errorf("%s over %d connections: %w", w.name, connections, err)
				}
				all[at(w, connections)] = append(all[at(w, connections)], r)
			}
		}
	}
	for _, connections := range h.options.connections {
		base := median(all[at(whats[0], connections)], func(r reading) float64 { return r.rate })
		for i, w := range whats {
			h.row(w, connections, all[at(w, connections)], base, i == 0)
		}
	}
	return h.costs(whats, all)
}

// costs notes what each call costs of the one that it is compared with, in the same round. It fails where a sale costs
// more than -sale allows.
func (h *trial) costs(whats []what, all map[string][]reading) (dear error) {
	at := func(w what, connections int) string { return fmt.Sprint(w.name, connections) }
	for _, connections := range h.options.connections {
		for _, w := range whats {
			unit, with := "validate", all[fmt.Sprint("validate", connections)]
			if w.beside != nil {
				unit, with = "redemption just before it", all[at(w, connections)+" beside"]
			}
			other := all[at(w, connections)]
			if w.beside == nil && !strings.HasPrefix(w.name, "validate, ") || len(with) != len(other) {
				continue
			}
			costs, busy := make([]float64, len(other)), make([]float64, len(other)) // within the same round
			for n := range other {
				costs[n] = with[n].rate / other[n].rate
				busy[n] = (other[n].cpu.service + other[n].cpu.database) / (with[n].cpu.service + with[n].cpu.database)
			}
			itself := func(c float64) float64 { return c }
			cost := median(costs, itself)
			h.report.note("**a %s** over %d connections costs %.2f of a %s, %.2f to %.2f; %.2f of its CPU.", w.name,
				connections, cost, unit, slices.Min(costs), slices.Max(costs), median(busy, itself))
			if most := h.options.sale; w.flag == "sale" && most > 0 && cost > most {
				dear = errors.Join(dear, fmt.Errorf("a sale that three gifts pay costs %.2f redemptions over %d connections, "+
					"more than %g", cost, connections, most))
			}
		}
	}
	return dear
}

func (h *trial) row(w what, connections int, all []reading, base float64, empty bool) {
	rate := func(r reading) float64 { return r.rate }
	figure := median(all, rate)
	low, high := slices.MinFunc(all, byRate).rate, slices.MaxFunc(all, byRate).rate
	perCommit, database := "", ""
	if n := median(all, func(r reading) float64 { return r.cpu.database }); n > 0 && !empty {
		database = fmt.Sprintf("%.0f", n)
	}
	if n := median(all, func(r reading) float64 { return r.perCommit }); n > 0 {
		perCommit = fmt.Sprintf("%.1f", n)
	}
	h.report.row("%.0f%% | %s | %d | %s | %s-%s | %.0f %% | %.2f | %.2f | %s | %.0f | %s",
		100*fromThousands(h.n), w.name, connections, thousands(int(figure)), thousands(int(low)), thousands(int(high)),
		100*figure/base,
		median(all, func(r reading) float64 { return ms(r.p50) }), median(all, func(r reading) float64 { return ms(r.p99) }),
		perCommit, median(all, func(r reading) float64 { return r.cpu.service }), database)
}

func byRate(a, b reading) int { return cmp.Compare(a.rate, b.rate) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// median is that of a figure of all.
func median[T any](all []T, figure func(T) float64) float64 {
	figures := make([]float64, len(all))
	for i := range all {
		figures[i] = figure(all[i])
	}
	slices.Sort(figures)
	return (figures[(len(figures)-1)/2] + figures[len(figures)/2]) / 2
}

// profiled takes a profile of the service under a call over the most connections, where one is asked for. What it gives
// waits for it.
func (h *trial) profiled(w what, connections, round int) (wait func() error) {
	wait = func() error { return nil }
	if h.options.profile == "" || round > 0 || connections != slices.Max(h.options.connections) || w.target != h.target {
		return wait
	}
	file := fmt.Sprintf("%s-%s-%d-%s.pprof", h.options.profile, h.name, h.n, w.flag)
	done := make(chan error, 1)
	go func() { done <- h.service.profile(file, "profile", max(1, int(h.options.duration.Seconds()))) }()
	return func() error { return <-done }
}

// orders measures calls with a thousand recipients each, one after the other, and what they allocate.
func (h *trial) orders() error {
	shop := newShop(h.service, key, storefront)
	before, err := h.service.metrics()
	if err != nil {
		return err
	}
	const calls = 11
	took := make([]time.Duration, calls)
	for i := range took {
		begun := time.Now()
		if _, err := shop.order(h.ctx, 1000, ""); err != nil {
			return err
		}
		took[i] = time.Since(begun)
	}
	after, err := h.service.metrics()
	if err != nil {
		return err
	}
	slices.Sort(took)
	allocated := (after["go_memstats_alloc_bytes_total"] - before["go_memstats_alloc_bytes_total"]) / calls
	h.report.note("**1,000 printed gifts in one call**: %.0f ms, %.0f to %.0f of %d; it allocates %.1f MB.",
		ms(took[calls/2]), ms(took[0]), ms(took[calls-1]), calls, allocated/1e6)
	return nil
}

// memory tells what the service holds, and how soon after its start it listened.
func (h *trial) memory() error {
	now, most, _ := h.service.resident()
	h.report.note("**resident memory of the service** %.0f MB at its start, of which %.0f are not its program's file; "+
		"%.0f MB after the measurements, %.0f MB at most. **It listened** %.2f s after its start.",
		h.atStart, h.own, now, most, h.started.Seconds())
	if limit := h.options.idle; limit > 0 && h.own > limit {
		return fmt.Errorf("%s: an idle service has %.0f MB, and %.0f are allowed", h.title(), h.own, limit)
	}
	if limit := h.options.start; limit > 0 && h.started > limit {
		return fmt.Errorf("%s: the service listened after %s, and %s are allowed", h.title(), h.started, limit)
	}
	return nil
}
