package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"boon.example/internal/ledger"
)

// newAuditor makes what looks gifts over beside the service, and the metrics that tell how far it is.
func (h *house) newAuditor() *ledger.Auditor {
	gifts := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "boon_audit_gifts_total", Help: "Gifts whose balance and status were recomputed from their histories, beside the service.",
	})
	faults := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "boon_audit_faults_total", Help: "What was wrong with them. Each is in the log, as an error.",
	})
	complete := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "boon_audit_last_complete", Help: "When all gifts of the store had been looked over, in seconds since 1970; 0: not yet since the start.",
	})
	long := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "boon_audit_long_total", Help: "Gifts that were passed over, as they have too many entries: boon verify looks at these.",
	})
	h.metrics.registry.MustRegister(gifts, faults, long, complete)
	return &ledger.Auditor{
		Shelf: h.store, Pace: h.AuditPace,
		Seen:  func(n int) { gifts.Add(float64(n)) },
		Long:  func(n int) { long.Add(float64(n)) },
		Round: func() { complete.Set(float64(time.Now().Unix())) },
		Fault: func(finding string) {
			faults.Inc()
			h.Logger.Error("a gift does not add up", "finding", finding)
		},
		Away: func(err error) { h.Logger.Warn("gifts could not be looked over; this is tried again", "error", err) },
	}
}

// committed is told of every transaction of the engine.
func (h *house) committed(g ledger.GroupStats) {
	h.metrics.group(g)
	h.auditor.Changed(g.Done)
}
