package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/command/load"
)

// beside compares validations at a steady, low rate on an idle service with the same while sixteen writers redeem.
func (h *trial) beside() error {
	all := h.asked(h.gifts)
	lookUps := load.Plan{Target: h.target, Next: h.target.Validate(all), Connections: 16, Duration: 3 * time.Second,
		Rate: 200}
	writers := load.Plan{Target: h.target, Next: h.target.Redeem(all), Connections: 16, Duration: lookUps.Duration +
		500*time.Millisecond}
	nobody := load.Plan{Target: h.nothing, Next: h.nothing.Redeem(all), Connections: 16, Duration: lookUps.Duration +
		500*time.Millisecond}
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
	h.report.note("**validate beside sixteen writers**, 200 a second: p50 %.2f ms, p99 %.2f ms; idle: p50 %.2f ms, p99 "+
		"%.2f ms; "+
		"**%.1f times** the idle p99; beside sixteen callers of the empty handler: p99 %.2f ms.",
		figure(p50[1]), figure(p99[1]), figure(p50[0]), figure(p99[0]), figure(p99[1])/figure(p99[0]), figure(p99[2]))
	return nil
}

// during measures one load while another is on; nil: none is.
func (h *trial) during(other *load.Plan, p load.Plan) (*load.Stats, error) {
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

// flood is what came of one overload.
type flood struct {
	peak     float64 // redemptions a second that 256 callers reach, of before and after
	made     float64 // calls a second that the load came to
	good     float64 // of those, redeemed while it is useful
	refused  [2]time.Duration
	back     time.Duration // after the flood's end
	failures map[string]int64
}

func (f flood) goodput() float64 { return 100 * f.good / f.peak }

// overload offers five times what the service can take, and watches how it comes to itself afterwards.
func (h *trial) overload() error {
	all := make([]flood, h.options.repeat)
	for n := range all {
		var err error
		if all[n], err = h.flood(h.asked(h.gifts)); err != nil {
			return err
		}
	}
	figure := func(of func(flood) float64) float64 { return median(all, of) }
	peak, goodput := figure(func(f flood) float64 { return f.peak }), figure(flood.goodput)
	h.report.note("**overload**, %d times the peak of %s a second, over %d connections for %s, %d times: "+
		"of %s calls a second that the load made, %s were redeemed within a second, **%.0f %% of the peak** (%s); "+
		"refusals took p50 %.0f ms, p99 %.0f ms; %.0f ms after the end all calls took less than 100 ms again; failures of "+
		"the last: %v.",
		overloadTimes, thousands(int(peak)), overloadConnections, overloadTime, len(all),
		thousands(int(figure(func(f flood) float64 { return f.made }))),
		thousands(int(figure(func(f flood) float64 { return f.good }))),
		goodput, each(all, flood.goodput),
		figure(func(f flood) float64 { return ms(f.refused[0]) }), figure(func(f flood) float64 { return ms(f.refused[1]) }),
		figure(func(f flood) float64 { return ms(f.back) }), all[len(all)-1].failures)
	if goodput < h.options.goodput {
		return fmt.Errorf("%s: under overload %.0f %% of the peak were redeemed within a second, and %.0f %% are asked for",
			h.title(), goodput, h.options.goodput)
	}
	refused := time.Duration(figure(func(f flood) float64 { return float64(f.refused[0]) }))
	if most := h.options.refusals; most > 0 && refused > most {
		return fmt.Errorf("%s: under overload the median refusal took %s, and at most %s is allowed", h.title(), refused,
			most)
	}
	return nil
}

// each lists a figure of all.
func each[T any](all []T, figure func(T) float64) string {
	said := make([]string, len(all))
	for n := range all {
		said[n] = fmt.Sprintf("%.0f", figure(all[n]))
	}
	return strings.Join(said, ", ")
}

// flood measures the peak, the overload, and the peak once more, as a shared machine does not keep its speed.
func (h *trial) flood(gifts *load.Orders) (f flood, err error) {
	if f.peak, err = h.peak(gifts); err != nil {
		return f, err
	}
	var good atomic.Int64
	run, err := load.Start(h.ctx, load.Plan{Target: h.target, Next: h.target.Redeem(gifts),
		Connections: overloadConnections,
		Duration:    overloadTime, Rate: overloadTimes * f.peak,
		Each: func(e load.Event) {
			if e.Status == http.StatusOK && e.Took <= useful {
				good.Add(1)
			}
		}})
	if err != nil {
		return f, err
	}
	time.Sleep(time.Until(run.Begun().Add(overloadTime)))
	if f.back, err = h.recovery(gifts, f.peak/2); err != nil {
		return f, err
	}
	run.Wait()
	s := run.Stats()
	f.failures = s.Failures()
	made := s.OK.Count()
	for _, n := range f.failures {
		made += n
	}
	f.made, f.good = float64(made)/run.Took().Seconds(), float64(good.Load())/run.Took().Seconds()
	if s.Refused.Count() > 0 {
		f.refused = [2]time.Duration{s.Refused.Quantile(0.5), s.Refused.Quantile(0.99)}
	}
	after, err := h.peak(gifts)
	f.peak = (f.peak + after) / 2
	return f, err
}

// peak is how many redemptions a second 256 callers reach.
func (h *trial) peak(gifts *load.Orders) (float64, error) {
	t, err := h.take(what{name: "redeem", target: h.target, next: h.target.Redeem(gifts)}, 256, 3*time.Second)
	return t.rate, err
}

// recovery watches calls at half the peak, from the moment the overload ends, until for a tenth of a second all
// succeed, each within a tenth: when that began.
func (h *trial) recovery(all *load.Orders, rate float64) (time.Duration, error) {
	const window, seconds = 100 * time.Millisecond, 4
	var mu sync.Mutex
	good, bad := [seconds * 10]int{}, [seconds * 10]int{}
	run, err := load.Start(h.ctx, load.Plan{Target: h.target, Next: h.target.Redeem(all), Connections: 256,
		Duration: seconds * time.Second, Rate: rate,
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
		return 0, err
	}
	run.Wait()
	for n := range good {
		if good[n] > 0 && bad[n] == 0 {
			return time.Duration(n) * window, nil
		}
	}
	return 0, fmt.Errorf("calls at half the peak did not all succeed within 100 ms in any tenth of the %d s after the "+
		"overload's end", seconds)
}
