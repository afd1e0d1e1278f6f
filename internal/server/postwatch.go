package server

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"boon.example/internal/delivery"
	"boon.example/internal/gift"
	"boon.example/internal/store"
)

// methodLabels are how delivery methods are told in metrics.
var methodLabels = map[gift.Method]string{gift.Email: "email", gift.SMS: "sms"}

// newAttempts counts attempts at sending; all that can be counted is there from the start, at 0.
func newAttempts() *prometheus.CounterVec {
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "boon_delivery_attempts_total", Help: "Attempts at sending a message, by method and outcome: " +
			"accepted, given_up (for good), put_off (made again), not_asked (the gateway rests), abandoned (we were stopping).",
	}, []string{"method", "outcome"})
	for _, method := range methodLabels {
		for _, a := range delivery.Attempts() {
			attempts.WithLabelValues(method, string(a))
		}
	}
	return attempts
}

// sent is told of every attempt.
func (m *metrics) sent(method gift.Method, a delivery.Attempt) {
	m.attempts.WithLabelValues(methodLabels[method], string(a)).Inc()
}

// watchPost adds what is read when asked for: the messages that wait, and whether the gateways work.
func (m *metrics) watchPost(p *post, s *store.Store) {
	m.registry.MustRegister(&backlog{
		store:   s,
		waiting: prometheus.NewDesc("boon_delivery_jobs_waiting", "Messages that are still to be sent, the scheduled ones too.", nil, nil),
		overdue: prometheus.NewDesc("boon_delivery_jobs_overdue", "Messages that are due and that nobody has taken.", nil, nil),
		oldest:  prometheus.NewDesc("boon_delivery_oldest_seconds", "For how long the oldest of those could have been taken; 0: there is none.", nil, nil),
	})
	for label, carrier := range map[string]delivery.Carrier{methodLabels[gift.Email]: p.email, methodLabels[gift.SMS]: p.sms} {
		breaker, ok := carrier.(*delivery.Breaker)
		if !ok {
			continue // there is no gateway, or it is the outbox, which does not fail so
		}
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "boon_delivery_gateway_resting", ConstLabels: prometheus.Labels{"method": label},
			Help: "1 while a gateway that does not work is left alone, or asked with one message at a time; else 0.",
		}, func() float64 {
			if breaker.Resting() {
				return 1
			}
			return 0
		}))
	}
}

// backlog reads the messages that wait, once for all its figures. While the store cannot be read there are none.
type backlog struct {
	store                    *store.Store
	waiting, overdue, oldest *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	to <- b.waiting
	to <- b.overdue
	to <- b.oldest
}

// Collect implements prometheus.Collector.
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	now := time.Now()
	read, err := b.store.Backlog(ctx, now)
	if err != nil {
		return
	}
	age := 0.0
	if !read.Oldest.IsZero() {
		age = now.Sub(read.Oldest).Seconds()
	}
	gauge := func(d *prometheus.Desc, v float64) { to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	gauge(b.waiting, float64(read.Waiting))
	gauge(b.overdue, float64(read.Overdue))
	gauge(b.oldest, age)
}
