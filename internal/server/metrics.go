package server

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"boon.example/internal/base/admission"
	"boon.example/internal/base/certificate"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/store"
)

// metrics are what an operator watches. Every label comes from a closed set: routes and statuses.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	groups   prometheus.Histogram
	commits  prometheus.Histogram
	failures prometheus.Counter
	refused  *prometheus.CounterVec
	attempts *prometheus.CounterVec
	guessing prometheus.Counter
	pins     prometheus.Counter
	codes    prometheus.Counter
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "boon_requests_total", Help: "Answered requests by route and HTTP status.",
		}, []string{"route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "boon_request_seconds", Help: "Time from the request's headers to the end of the answer, by route.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 2, 16),
		}, []string{"route"}),
		groups: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "boon_engine_group_commands", Help: "Commands that shared one transaction.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 10),
		}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "boon_engine_group_seconds", Help: "Time of one transaction, from load to commit.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 16),
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "boon_engine_group_failures_total", Help: "Transactions that failed.",
		}),
	}
	m.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "boon_requests_refused_total", Help: "Requests refused under overload, by priority; they are in no other " +
			"count.",
	}, []string{"priority"})
	for p := range admission.Priorities {
		m.refused.WithLabelValues(p.String())
	}
	m.attempts = newAttempts()
	m.guessing = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "boon_guess_alarms_total", Help: "Times that an API key tried too many wrong voucher codes within an " +
			"hour; the log names the key.",
	})
	m.pins = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "boon_pins_limited_total", Help: "Times that a person's PIN is paused after too many wrong ones, once an " +
			"hour for a person and a till; the log names the till.",
	})
	m.codes = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "boon_codes_read_total", Help: "Gifts whose codes were shown to keys that look them up; the log names the " +
			"key of each call.",
	})
	m.registry.MustRegister(m.pins, m.codes)
	m.registry.MustRegister(m.guessing, m.attempts, m.refused, m.requests, m.latency, m.groups, m.commits, m.failures,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// build tells which program this is.
func (m *metrics) build(version, commit string) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "boon_build_info",
		Help: "Always 1; its labels tell the program.", ConstLabels: prometheus.Labels{"version": version,
			"commit": commit, "goversion": runtime.Version()}}, func() float64 { return 1 }))
}

// certificate tells until when the one that is shown is valid; 0: there is none yet.
func (m *metrics) certificate(source *certificate.Source) {
	if source == nil {
		return
	}
	m.gauge("boon_certificate_expiry_timestamp_seconds", "Until when the certificate that clients see is valid; 0: "+
		"there is none yet.", func() float64 {
		leaf, err := source.Leaf()
		if err != nil {
			return 0
		}
		return float64(leaf.NotAfter.Unix())
	})
}

// group is told of every transaction of the engine.
func (m *metrics) group(g engine.GroupStats) {
	m.groups.Observe(float64(g.Commands))
	m.commits.Observe(g.Took.Seconds())
	if g.Err != nil {
		m.failures.Inc()
	}
}

func (m *metrics) request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(route).Observe(took.Seconds())
}

// gauge adds a gauge that is read when asked for.
func (m *metrics) gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// outcomes adds a counter of each outcome, which are all there from the start, at 0, and gives what counts one more.
func (m *metrics) outcomes(name, help string, all ...string) func(outcome string) {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"outcome"})
	for _, outcome := range all {
		c.WithLabelValues(outcome)
	}
	m.registry.MustRegister(c)
	return func(outcome string) { c.WithLabelValues(outcome).Inc() }
}

// counter adds a counter, and gives what counts one more.
func (m *metrics) counter(name, help string) func() {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.registry.MustRegister(c)
	return c.Inc
}

// watch adds the gauges that are read when asked for.
func (m *metrics) watch(a *admission.Control, e *engine.Engine, s *store.Store) {
	gauge := m.gauge
	gauge("boon_engine_queue_depth", "Commands that wait for a transaction.", func() float64 { return float64(e.Depth()) })
	gauge("boon_requests_in_flight", "Requests that are handled.", func() float64 { n, _ := a.State(); return float64(n) })
	gauge("boon_requests_waiting", "Requests that wait until fewer are in flight.",
		func() float64 { _, n := a.State(); return float64(n) })
	size := func(of func(store.Sizes) int64) func() float64 {
		return func() float64 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			sizes, err := s.Sizes(ctx)
			if err != nil {
				return -1
			}
			return float64(of(sizes))
		}
	}
	gauge("boon_store_vouchers", "Gifts in the store.", size(func(s store.Sizes) int64 { return s.Vouchers }))
	gauge("boon_store_database_bytes", "Size of the database file.", size(func(s store.Sizes) int64 { return s.Database }))
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "boon_store_code_lookups_total",
		Help: "Look-ups of gifts by a voucher code, with one key of the key file each. Who has no attempt left causes none."},
		func() float64 { return float64(s.CodeLookUps()) }))
	for name, of := range map[string]func(hits, misses int64) int64{
		"boon_store_cache_hits_total":   func(hits, _ int64) int64 { return hits },
		"boon_store_cache_misses_total": func(_, misses int64) int64 { return misses },
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name,
			Help: "Look-ups of one gift that found it in memory, or did not (misses). On PostgreSQL both stay 0."},
			func() float64 { return float64(of(s.CacheUse())) }))
	}
	gauge("boon_store_wal_bytes", "Size of the write-ahead log.", size(func(s store.Sizes) int64 { return s.Log }))
}

// refusal counts a call that found no place.
func (m *metrics) refusal(p admission.Priority) { m.refused.WithLabelValues(p.String()).Inc() }

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, MaxRequestsInFlight: 2})
}
