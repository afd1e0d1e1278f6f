package bench

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"boon.example/internal/command/load"
	"boon.example/internal/command/remote"
	"boon.example/internal/command/terminal"
)

// benchReport is what boon bench tells.
type benchReport struct {
	What        string           `json:"what"`
	Target      string           `json:"target"`
	Connections int              `json:"connections"`
	Rate        float64          `json:"rate,omitzero"` // asked for
	Seconds     float64          `json:"seconds"`
	Vouchers    int              `json:"vouchers"`
	Hot         int              `json:"hot,omitzero"`
	Calls       int64            `json:"calls"` // that succeeded
	PerSecond   float64          `json:"callsPerSecond"`
	Latency     latencies        `json:"latency"`
	Refused     *latencies       `json:"refused,omitzero"` // of calls that were refused, from when they were really made
	Failures    map[string]int64 `json:"failures"`
	Unsent      int64            `json:"notSent"`
	Verified    *verified        `json:"verified"` // null: it could not be
}

// latencies are in milliseconds.
type latencies struct {
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99.9"`
	P9999 float64 `json:"p99.99"`
	Max   float64 `json:"max"`
	Mean  float64 `json:"mean"`
}

func latenciesOf(h *load.Histogram) latencies {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return latencies{ms(h.Quantile(0.5)), ms(h.Quantile(0.9)), ms(h.Quantile(0.99)), ms(h.Quantile(0.999)),
		ms(h.Quantile(0.9999)), ms(h.Max()), ms(h.Mean())}
}

func (l *latencies) String() string {
	parts := []string{}
	for _, p := range []struct {
		name string
		ms   float64
	}{{"p50", l.P50}, {"p90", l.P90}, {"p99", l.P99}, {"p99.9", l.P999}, {"p99.99", l.P9999}, {"longest", l.Max}} {
		parts = append(parts, p.name+" "+short(time.Duration(p.ms*float64(time.Millisecond))))
	}
	return strings.Join(parts, ", ")
}

// short writes a duration in three figures.
func short(d time.Duration) string {
	ms := d.Seconds() * 1000
	switch {
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

func (c *Command) report(run *load.Run) *benchReport {
	s := run.Stats()
	r := &benchReport{
		What: c.What, Target: c.Target, Connections: c.Connections, Rate: c.Rate, Seconds: run.Took().Seconds(),
		Vouchers: c.Vouchers, Hot: c.Hot,
		Calls: s.OK.Count(), Latency: latenciesOf(&s.OK), Failures: s.Failures(), Unsent: run.Unsent(),
	}
	r.PerSecond = float64(r.Calls) / r.Seconds
	if s.Refused.Count() > 0 {
		refused := latenciesOf(&s.Refused)
		r.Refused = &refused
	}
	return r
}

func (r *benchReport) print(t *terminal.Terminal, asJSON bool) error {
	if asJSON {
		text, err := json.MarshalIndent(r, "", "  ")
		if err == nil {
			_, err = fmt.Fprintln(t.Stdout, string(text))
		}
		return err
	}
	loop, unsent := "closed loop", ""
	if r.Rate > 0 {
		loop, unsent = fmt.Sprintf("open loop of %.0f calls/s", r.Rate), fmt.Sprint(r.Unsent)
	}
	failures := []string{}
	for _, why := range slices.Sorted(maps.Keys(r.Failures)) {
		failures = append(failures, fmt.Sprintf("%d %s", r.Failures[why], why))
	}
	refused := ""
	if r.Refused != nil {
		refused = r.Refused.String()
	}
	gifts := fmt.Sprintf("%d gifts", r.Vouchers)
	if r.Hot > 0 {
		gifts += fmt.Sprintf(", %d of them hot", r.Hot)
	}
	terminal.Facts(t.Stdout, "load", fmt.Sprintf("%s over %d connections, %s, %.1f s, %s", r.What, r.Connections, loop,
		r.Seconds,
		gifts),
		"succeeded", fmt.Sprintf("%d calls, %.0f a second", r.Calls, r.PerSecond), "latency", r.Latency.String(),
		"failed", strings.Join(failures, ", "), "refusals took", refused, "not sent", unsent, "verified", r.Verified.String())
	return nil
}

// String tells whether the money is where it should be.
func (v *verified) String() string {
	if v == nil {
		return "no: the service could not be asked"
	}
	all := fmt.Sprintf("%s redeemed and acknowledged", remote.Money(v.Acknowledged, v.currency))
	if v.AtMost.Cmp(v.Acknowledged) > 0 {
		all = fmt.Sprintf("from %s to %s redeemed", v.Acknowledged, remote.Money(v.AtMost, v.currency))
	}
	all += fmt.Sprintf(", %s gone from the gifts", remote.Money(v.Gone, v.currency))
	if v.Sent > 0 || v.Found > 0 {
		all += fmt.Sprintf("; %d gifts sent, %d found", v.Sent, v.Found)
	}
	if v.Unsure > 0 {
		all += fmt.Sprintf("; of %d calls no answer told the outcome, %d of them are settled since", v.Unsure, v.Settled)
	}
	switch {
	case v.OK:
		return "yes: " + all
	case v.none:
		return "no: not one call succeeded; " + all
	}
	return "NO, THIS DOES NOT ADD UP: " + all
}
