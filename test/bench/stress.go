package main

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/load"
)

// beside compares validations at a steady, low rate on an idle service with the same while sixteen writers redeem.
func (h *house) beside() error {
	all := h.asked(h.gifts)
	lookUps := load.Plan{Target: h.target, Next: h.target.Validate(all), Connections: 16, Duration: 3 * time.Second, Rate: 200}
	writers := load.Plan{Target: h.target, Next: h.target.Redeem(all), Connections: 16, Duration: lookUps.Duration + 500*time.Millisecond}
	nobody := load.Plan{Target: h.nothing, Next: h.nothing.Redeem(all), Connections: 16, Duration: lookUps.Duration + 500*time.Millisecond}
	var p50, p99 [3][]time.Duration
	for range h.options.repeat {
		for i, load := range []*load.Plan{nil, &writers, &nobody} {
			s, err := h.during(load, lookUps)
			if err != nil {
				return err
			}
			p50[i], p99[i] = append(p50[i], s.OK.Quantile(0.5)), append(p99[i], s.OK.Quantile(0.99))
		}
	}
	figure := func(all []time.Duration) float64 { return median(all, ms) }
	h.report.printf("\n%s: **validate while sixteen writers redeem**, 200 a second: p50 %.2f ms, p99 %.2f ms; idle: p50 %.2f ms, p99 %.2f ms; "+
		"**%.1f times** the idle p99. "+
		"(While sixteen callers keep the empty handler busy instead, so that only the cores are shared: p99 %.2f ms.)\n",
		h.title(), figure(p50[1]), figure(p99[1]), figure(p50[0]), figure(p99[0]), figure(p99[1])/figure(p99[0]), figure(p99[2]))
	return nil
}

// during measures one load while another is on; nil: none is.
func (h *house) during(other *load.Plan, p load.Plan) (*load.Stats, error) {
	if other != nil {
		beside, err := load.Start(h.ctx, *other)
		if err != nil {
			return nil, err
		}
		defer beside.Wait()
		time.Sleep(250 * time.Millisecond)
	}
	run, err := load.Start(h.ctx, p)
	if err != nil {
		return nil, err
	}
	run.Wait()
	return run.Stats(), failure(run.Stats())
}

// How the overload is made.
const (
	overloadTimes       = 5
	overloadConnections = 4096
	overloadTime        = 5 * time.Second
	useful              = time.Second // after which a till has given up
)

// overload offers five times what the service can take, and watches how it comes to itself afterwards.
func (h *house) overload() error {
	all := h.asked(h.gifts)
	peak, err := h.take(what{"redeem", "redeem", h.target, h.target.Redeem(all)}, 256, 3*time.Second)
	if err != nil {
		return err
	}
	beside, err := h.cores(all, overloadTimes*peak.rate)
	if err != nil {
		return err
	}
	var good atomic.Int64
	plan := load.Plan{Target: h.target, Next: h.target.Redeem(all), Connections: overloadConnections,
		Duration: overloadTime, Rate: overloadTimes * peak.rate,
		Each: func(e load.Event) {
			if e.Status == http.StatusOK && e.Took <= useful {
				good.Add(1)
			}
		}}
	run, err := load.Start(h.ctx, plan)
	if err != nil {
		return err
	}
	time.Sleep(time.Until(run.Begun().Add(overloadTime)))
	back, err := h.recovery(all, peak.rate/2)
	if err != nil {
		return err
	}
	run.Wait()
	s := run.Stats()
	made := s.OK.Count()
	for _, n := range s.Failures() {
		made += n
	}
	refused := "none was refused"
	if s.Refused.Count() > 0 {
		refused = fmt.Sprintf("refusals took p50 %.1f ms, p99 %.1f ms, from when they were sent", ms(s.Refused.Quantile(0.5)), ms(s.Refused.Quantile(0.99)))
	}
	h.report.printf("\n%s: **overload**, redemptions at %s calls a second, %d times the %s a second that 256 callers reach, "+
		"over %d connections for %s: the load came to %s calls a second "+
		"(it shares the cores), of which %s were redeemed within a second, **%.0f %% of the peak**, and %.0f %% of the %s a second that 256 callers "+
		"reach while others call the empty handler as often; failures %v; %s; %s.\n",
		h.title(), thousands(int(plan.Rate)), overloadTimes, thousands(int(peak.rate)),
		overloadConnections, overloadTime, thousands(int(float64(made)/run.Took().Seconds())),
		thousands(int(float64(good.Load())/run.Took().Seconds())), 100*float64(good.Load())/run.Took().Seconds()/peak.rate,
		100*float64(good.Load())/run.Took().Seconds()/beside, thousands(int(beside)), s.Failures(), refused, back)
	return nil
}

// cores tells what is left of the peak when only the cores are shared: what 256 callers redeem a second while the empty handler, which can do
// no less for a call than answer it, gets what is offered beyond the peak.
func (h *house) cores(all *load.Orders, offered float64) (float64, error) {
	flood, err := load.Start(h.ctx, load.Plan{Target: h.nothing, Next: h.nothing.Redeem(all), Connections: overloadConnections,
		Duration: 3 * time.Second, Rate: offered * (overloadTimes - 1) / overloadTimes})
	if err != nil {
		return 0, err
	}
	defer flood.Wait()
	run, err := load.Start(h.ctx, load.Plan{Target: h.target, Next: h.target.Redeem(all), Connections: 256, Duration: 2500 * time.Millisecond})
	if err != nil {
		return 0, err
	}
	run.Wait()
	return float64(run.Stats().OK.Count()) / run.Took().Seconds(), failure(run.Stats())
}

// recovery watches calls at half the peak, from the moment the overload ends, until for a tenth of a second all succeed, each within a tenth.
func (h *house) recovery(all *load.Orders, rate float64) (string, error) {
	const window, seconds = 100 * time.Millisecond, 4
	var mu sync.Mutex
	good, bad := [seconds * 10]int{}, [seconds * 10]int{}
	run, err := load.Start(h.ctx, load.Plan{Target: h.target, Next: h.target.Redeem(all), Connections: 256, Duration: seconds * time.Second, Rate: rate,
		Each: func(e load.Event) {
			mu.Lock()
			defer mu.Unlock()
			n := int((e.At - e.Latency) / window) // when it was meant to be made
			switch {
			case n < 0 || n >= len(good):
			case e.Status == http.StatusOK && e.Latency <= window:
				good[n]++
			default:
				bad[n]++
			}
		}})
	if err != nil {
		return "", err
	}
	run.Wait()
	for n := range good {
		if good[n] > 0 && bad[n] == 0 {
			return fmt.Sprintf("calls at half the peak succeeded within 100 ms, all of them, %d ms after the overload's end", n*100), nil
		}
	}
	return fmt.Sprintf("calls at half the peak did not all succeed within 100 ms in any tenth of the %d s after the overload's end", seconds), nil
}
