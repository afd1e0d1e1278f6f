package server

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"boon.example/internal/ledger/engine"
	"boon.example/internal/ledger/verify"
)

// newAuditor makes what audits gifts beside the service, and the metrics that tell how far it is.
func (a *app) newAuditor() *verify.Auditor {
	auditor := &verify.Auditor{Store: a.store, Logger: a.Logger, Pace: a.AuditPace}
	counter := func(name, help string, n *atomic.Int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(n.Load()) })
	}
	a.metrics.registry.MustRegister(
		counter("boon_audit_gifts_total", "Gifts whose balance, status and hash chains were checked, beside the service.",
			&auditor.Audited.Gifts),
		counter("boon_audit_faults_total", "What was wrong with them. Each problem is in the log, as an error.",
			&auditor.Audited.Problems),
		counter("boon_audit_long_total", "Gifts that were left out, as they have too many entries: boon verify checks "+
			"these.", &auditor.Audited.TooLong),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "boon_audit_last_complete", Help: "When all gifts of the store had been checked, in seconds since 1970; 0: " +
				"not yet since the start.",
		}, func() float64 { return float64(auditor.Audited.LastRound.Load()) }),
	)
	return auditor
}

// committed is told of every transaction of the engine.
func (a *app) committed(g engine.GroupStats) {
	a.metrics.group(g)
	a.auditor.Changed(g.Done)
}
