package server

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"boon.example/internal/ledger"
)

// newAuditor makes what audits gifts beside the service, and the metrics that tell how far it is.
func (h *house) newAuditor() *ledger.Auditor {
	a := &ledger.Auditor{Books: h.store, Logger: h.Logger, Pace: h.AuditPace}
	counter := func(name, help string, n *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(n.Load()) })
	}
	h.metrics.registry.MustRegister(
		counter("boon_audit_gifts_total", "Gifts whose balance, status and hash chains were checked, beside the service.", &a.Audited.Gifts),
		counter("boon_audit_faults_total", "What was wrong with them. Each problem is in the log, as an error.", &a.Audited.Problems),
		counter("boon_audit_long_total", "Gifts that were left out, as they have too many entries: boon verify checks these.", &a.Audited.TooLong),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "boon_audit_last_complete", Help: "When all gifts of the store had been checked, in seconds since 1970; 0: not yet since the start.",
		}, func() float64 { return float64(a.Audited.LastRound.Load()) }),
	)
	return a
}

// committed is told of every transaction of the engine.
func (h *house) committed(g ledger.GroupStats) {
	h.metrics.group(g)
	h.auditor.Changed(g.Done)
}
