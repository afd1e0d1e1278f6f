package jobs

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what an operator sees of jobs. Prometheus itself uses the label "job".
type metrics struct {
	interval, success, failing *prometheus.GaugeVec
	rounds                     *prometheus.SummaryVec
	failures, done             *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	name := []string{"name"}
	gauge := func(metric, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: metric, Help: help}, name)
	}
	counter := func(metric, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: metric, Help: help}, name)
	}
	m := &metrics{
		interval: gauge("boon_job_interval_seconds", "Time between two rounds of a job."),
		success: gauge("boon_job_last_success_timestamp_seconds", "When a round of a job succeeded last; before the first "+
			"one, when the service started."),
		failing: gauge("boon_job_failing", "How many rounds of a job failed since one succeeded; 0: the last one did."),
		rounds: prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: "boon_job_seconds",
			Help: "Time that rounds of a job took, with the pauses between their batches."}, name),
		failures: counter("boon_job_failures_total", "Rounds of a job that failed."),
		done: counter("boon_job_done_total", "What a job has done: records that it deleted, holds that it entered, and so "+
			"on."),
	}
	registry.MustRegister(m.interval, m.success, m.failing, m.rounds, m.failures, m.done)
	return m
}

// add shows a job before its first round.
func (m *metrics) add(j *Job) {
	m.interval.WithLabelValues(j.Name).Set(j.Every.Seconds())
	m.success.WithLabelValues(j.Name).Set(seconds(time.Now()))
	m.failing.WithLabelValues(j.Name)
	m.rounds.WithLabelValues(j.Name)
	m.failures.WithLabelValues(j.Name)
	m.done.WithLabelValues(j.Name)
}

func (m *metrics) batch(name string, done int) { m.done.WithLabelValues(name).Add(float64(done)) }

func (m *metrics) round(name string, took time.Duration, err error) {
	m.rounds.WithLabelValues(name).Observe(took.Seconds())
	if err != nil {
		m.failures.WithLabelValues(name).Inc()
		m.failing.WithLabelValues(name).Inc()
		return
	}
	m.failing.WithLabelValues(name).Set(0)
	m.success.WithLabelValues(name).Set(seconds(time.Now()))
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
