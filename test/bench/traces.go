package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"boon.example/internal/command/load"
)

// What the traces part does.
const (
	traceRate = 2_000 // redemptions a second
	traceTurn = 4     // times the duration of other parts
)

// traced are the services that the traces part compares: the second is like the first, and tells how much chance makes.
var traced = []struct {
	name string
	env  []string
}{
	{"off", nil},
	{"off again", nil},
	{"1 %", []string{"OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.01"}},
}

// traces compares the processor time of the service for a redemption, at one rate, without telemetry and with metrics
// and one trace in a hundred sent to a collector. They are processes over one store, measured in turn.
func (h *trial) traces() (err error) {
	var received atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		received.Add(n)
	}))
	defer collector.Close()
	var services []*child
	defer func() {
		for _, c := range services {
			err = errors.Join(err, c.stop())
		}
	}()
	nexts, targets := make([]load.Next, len(traced)), make([]*load.Target, len(traced))
	for n, of := range traced {
		env := of.env
		if env != nil {
			env = append(env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
		}
		c, err := spawnIn(env, "serve", "-data", h.place.data(), "-database", h.place.database())
		if err != nil {
			return err
		}
		services = append(services, c)
		if targets[n], err = load.NewTarget("http://"+c.address, key); err != nil {
			return err
		}
		nexts[n] = targets[n].Redeem(h.asked(h.gifts))
	}
	costs := make([][]float64, len(traced))
	for round := range h.options.repeat * 3 {
		progress("%s: traces, %d of %d", h.title(), round+1, h.options.repeat*3)
		for i := range traced {
			n := (i + round) % len(traced)
			cost, err := h.costOf(services[n], load.Plan{Target: targets[n], Next: nexts[n], Connections: 64, Rate: traceRate,
				Duration: traceTurn * h.options.duration})
			if err != nil {
				return err
			}
			costs[n] = append(costs[n], cost)
		}
	}
	if received.Load() == 0 {
		return errors.New("the collector was sent nothing")
	}
	itself := func(c float64) float64 { return c }
	for n, of := range traced {
		h.report.note("**telemetry: %s**: %.1f µs of the service for each redemption at %d a second, **%.3f times off**.",
			of.name, median(costs[n], itself), traceRate, median(costs[n], itself)/median(costs[0], itself))
	}
	return nil
}

// costOf is the processor time of a service for each call of a plan, in microseconds, after a moment to warm up.
func (h *trial) costOf(c *child, p load.Plan) (float64, error) {
	warm := p
	warm.Duration = min(p.Duration, time.Second)
	run, err := load.Start(h.ctx, warm)
	if err != nil {
		return 0, err
	}
	run.Wait()
	used := ticks(c.cmd.Process.Pid).own
	if run, err = load.Start(h.ctx, p); err != nil {
		return 0, err
	}
	run.Wait()
	if err := failure(run.Stats()); err != nil {
		return 0, fmt.Errorf("at %d a second: %w", traceRate, err)
	}
	return (ticks(c.cmd.Process.Pid).own - used) * 1e6 / float64(run.Stats().OK.Count()), nil
}
