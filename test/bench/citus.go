package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"boon.example/internal/command/load"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// spread is a way to keep the gifts of many merchants.
type spread struct {
	name    string
	workers int // of a cluster of Citus; below 0: plain PostgreSQL
}

var spreads = []spread{
	{"PostgreSQL, one node", -1}, {"Citus, one node", 0}, {"Citus, a coordinator and two workers", 2},
}

const (
	shards         = 32
	spreadAccounts = 200
)

// citus compares calls of spreadAccounts merchants on plain PostgreSQL, on one node of Citus and on a coordinator with
// two workers. All nodes share this machine, so that a cluster shows what Citus costs and not what more machines bring.
func (h *trial) citus() error {
	switch {
	case h.name != "postgres":
		return nil
	case !pgtest.HasCitus():
		h.report.note("There is no Citus here: docs/operating/scale.md tells how to get it.")
		return nil
	}
	for _, s := range spreads {
		progress("%s", s.name)
		if err := h.onNodes(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// onNodes measures calls on one kind of database.
func (h *trial) onNodes(s spread) (err error) {
	w := &hooks{trial: h}
	defer func() { err = errors.Join(err, w.close()) }()
	if w.place, err = newPlace(h.options.stock); err != nil {
		return err
	}
	settings := append(postgresSettings[:len(postgresSettings):len(postgresSettings)], "shared_buffers=512MB")
	if s.workers < 0 {
		w.place.server, err = pgtest.Start(settings...)
	} else {
		var c *pgtest.Cluster
		if c, err = pgtest.StartCluster(s.workers, settings...); err == nil {
			defer func() { err = errors.Join(err, c.Close()) }()
			w.place.cluster, err = w.distribute(c)
		}
	}
	if err != nil {
		return err
	}
	if err := w.apply(0); err != nil {
		return err
	}
	if w.sender, err = w.serve(); err != nil {
		return err
	}
	if err := w.stock(spreadAccounts); err != nil {
		return err
	}
	for _, call := range []string{"validate", "redeem"} {
		for _, connections := range h.options.connections {
			if err := w.rate(s.name, call, connections); err != nil {
				return err
			}
		}
	}
	return nil
}

// distribute makes a database of a cluster that is spread over its nodes, and gives its URL.
func (w *hooks) distribute(c *pgtest.Cluster) (url string, err error) {
	if url, err = c.Database(shards); err != nil {
		return "", err
	}
	if err := os.MkdirAll(w.place.data(), 0o700); err != nil {
		return "", err
	}
	s, err := store.Open(w.ctx, store.Options{Dir: w.place.data(), Database: url})
	if err != nil {
		return "", err
	}
	return url, errors.Join(s.Distribute(w.ctx, func(string) {}), s.Close())
}

// rate measures a call over so many connections.
func (w *hooks) rate(name, call string, connections int) error {
	plan, err := w.calls(w.sender, call, spreadAccounts)
	if err != nil {
		return err
	}
	plan.Connections, plan.Rate = connections, 0
	var all []hookReading
	for range w.options.repeat {
		plan.Duration = max(time.Second, w.options.duration)
		run, err := load.Start(w.ctx, plan)
		if err != nil {
			return err
		}
		run.Wait()
		s := run.Stats()
		if err := failure(s); err != nil {
			return err
		}
		all = append(all, hookReading{rate: float64(s.OK.Count()) / run.Took().Seconds(),
			latency: [2]float64{ms(s.OK.Quantile(0.5)), ms(s.OK.Quantile(0.99))}})
	}
	w.report.note("**%s**: %s, %d callers: %.0f calls/s, p50 %.1f ms, p99 %.1f ms", name, call, connections,
		median(all, func(r hookReading) float64 { return r.rate }),
		median(all, func(r hookReading) float64 { return r.latency[0] }),
		median(all, func(r hookReading) float64 { return r.latency[1] }))
	return nil
}
