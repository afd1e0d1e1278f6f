package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/post/delivery"
	"boon.example/internal/post/mail"
	"boon.example/internal/post/message"
	"boon.example/internal/post/print"
	"boon.example/internal/post/sms"
	"boon.example/internal/refusal"
	"boon.example/internal/store"
)

// carriers are how messages leave: through real gateways, each behind a breaker, or into the outbox.
type carriers struct {
	email, sms delivery.Carrier // nil: there is none
	texts      *sms.Carrier     // which hears what became of its messages
	closers    []func()
}

func newCarriers(c Config, s *store.Store) (p carriers) {
	if c.Outbox {
		outbox := delivery.OutboxCarrier{Outbox: s}
		p.email, p.sms = outbox, outbox
	}
	if c.SMTP != nil {
		server := *c.SMTP
		server.SetSender(c.PublicURL)
		carrier := mail.NewCarrier(server)
		p.email = &delivery.Breaker{Carrier: carrier}
		p.closers = append(p.closers, carrier.Close)
	}
	if c.SMS != nil {
		p.texts = sms.NewCarrier(*c.SMS, c.PublicURL)
		p.sms = &delivery.Breaker{Carrier: p.texts}
		p.closers = append(p.closers, p.texts.Close)
	}
	return p
}

func (p *carriers) close() {
	for _, closeOne := range p.closers {
		closeOne()
	}
}

// worker sends through the carriers what is due of some jobs.
func (a *app) worker(jobs delivery.Jobs, senders int) *delivery.Worker {
	return &delivery.Worker{
		Jobs: jobs, Log: a.Logger, Record: a.record, RetryFor: a.RetryFor, SendTimeout: mail.SendTimeout,
		Senders: senders, Tracer: a.telemetry.Tracer, Observe: a.metrics.sent,
		Gateway: a.gateways(), Allow: a.mayNotify,
	}
}

func (a *app) gateways() *delivery.Gateways {
	return &delivery.Gateways{Email: a.carriers.email, SMS: a.carriers.sms,
		Test:      delivery.OutboxCarrier{Outbox: a.store},
		Directory: a.directory.Load, PublicURL: a.PublicURL, Asset: a.store.Asset, Entry: a.store.Entry,
		Gifts: a.store.Gifts, Fonts: cmp.Or(a.Fonts, print.BuiltIn()), Printer: a.printer}
}

// How many messages are on their way at once: of live accounts, and of test accounts.
const (
	senders     = 16
	testSenders = 2
)

// hooks adds where gateways report.
func (a *app) hooks(mux *http.ServeMux) {
	if a.carriers.texts != nil {
		mux.Handle(sms.Pattern, a.carriers.texts.Reports(a.bounced))
	}
}

// How long a report waits that overtakes our own record of the message's acceptance, and how often it looks.
const (
	reportTimeout = 10 * time.Second
	reportRetry   = 200 * time.Millisecond
)

// bounced has the engine write that a message did not arrive after all.
func (a *app) bounced(ctx context.Context, r sms.Report) error {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	for {
		err := a.bounce(ctx, r)
		if errors.Is(err, refusal.NotFound) {
			return nil // there is nothing to be done about it, now or later
		}
		if !errors.Is(err, ledger.ErrTooEarly) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(reportRetry):
		}
	}
}

func (a *app) bounce(ctx context.Context, r sms.Report) error {
	call := ledger.Call{
		AccountID: r.AccountID, Operation: "bounce",
		Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} },
	}
	_, err := a.engine.Do(ctx, call, &ledger.Bounce{AccountID: r.AccountID,
		VoucherID: r.GiftID, JobID: r.JobID, Reason: r.Words})
	return err
}

// methodLabels are how delivery methods are told in metrics.
var methodLabels = map[contact.Method]string{contact.Email: "email", contact.SMS: "sms"}

// newAttempts counts attempts at sending; all that can be counted is there from the start, at 0.
func newAttempts() *prometheus.CounterVec {
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "boon_delivery_attempts_total", Help: "Attempts at sending a message, by method and outcome: " +
			"accepted, given_up (for good), put_off (made again), not_asked (the gateway is paused), abandoned (we were " +
			"stopping).",
	}, []string{"method", "outcome"})
	for _, method := range methodLabels {
		for _, a := range delivery.Attempts() {
			attempts.WithLabelValues(method, string(a))
		}
	}
	return attempts
}

// sent is told of every attempt.
func (m *metrics) sent(method contact.Method, a delivery.Attempt) {
	m.attempts.WithLabelValues(methodLabels[method], string(a)).Inc()
}

// watchCarriers adds what is read when asked for: the messages that wait, and whether the gateways work.
func (m *metrics) watchCarriers(p *carriers, s *store.Store) {
	m.registry.MustRegister(&backlog{
		store: s,
		waiting: prometheus.NewDesc("boon_delivery_jobs_waiting",
			"Messages that are still to be sent, the scheduled ones too.", nil, nil),
		overdue: prometheus.NewDesc("boon_delivery_jobs_overdue",
			"Messages that are due and that no instance has taken.", nil, nil),
		oldest: prometheus.NewDesc("boon_delivery_oldest_seconds",
			"For how long the oldest of those could have been taken; 0: there is none.", nil, nil),
	})
	for label, carrier := range map[string]delivery.Carrier{methodLabels[contact.Email]: p.email,
		methodLabels[contact.SMS]: p.sms} {
		breaker, ok := carrier.(*delivery.Breaker)
		if !ok {
			continue // there is no gateway, or it is the outbox, which does not fail so
		}
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "boon_delivery_gateway_resting", ConstLabels: prometheus.Labels{"method": label},
			Help: "1 while a gateway that does not work is left alone, or asked with one message at a time; else 0.",
		}, func() float64 {
			if breaker.Paused() {
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

// outbox is what the pages show instead of the world's mailboxes: the store's, with the mails as they would have left.
type outbox struct {
	*store.Store
	gateways *delivery.Gateways
	sender   string
}

func newOutbox(s *store.Store, g *delivery.Gateways) outbox {
	var server mail.Server
	server.SetSender(g.PublicURL)
	return outbox{s, g, server.From}
}

// Message implements web.Outbox.
func (o outbox) Message(ctx context.Context, id guid.ID) (message.Message, error) {
	m, err := o.Store.Message(ctx, id)
	if err == nil {
		err = o.gateways.Complete(ctx, &m)
	}
	return m, err
}

// Source implements web.Outbox.
func (o outbox) Source(m *message.Message) ([]byte, error) { return mail.Source(m, o.sender) }
