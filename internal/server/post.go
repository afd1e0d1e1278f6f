package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"boon.example/internal/delivery"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/mail"
	"boon.example/internal/sms"
	"boon.example/internal/store"
)

// post is how messages leave: through real gateways, each behind a breaker, or into the outbox.
type post struct {
	email, sms delivery.Carrier // nil: there is none
	texts      *sms.Carrier     // which hears what became of its messages
	hangUp     []func()
}

func newPost(c Config, s *store.Store) (p post) {
	if c.Outbox {
		outbox := delivery.OutboxCarrier{Outbox: s}
		p.email, p.sms = outbox, outbox
	}
	if c.SMTP != nil {
		server := *c.SMTP
		server.SetSender(c.PublicURL)
		carrier := mail.NewCarrier(server)
		p.email = &delivery.Breaker{Carrier: carrier}
		p.hangUp = append(p.hangUp, carrier.Close)
	}
	if c.SMS != nil {
		p.texts = sms.NewCarrier(*c.SMS, c.PublicURL)
		p.sms = &delivery.Breaker{Carrier: p.texts}
		p.hangUp = append(p.hangUp, p.texts.Close)
	}
	return p
}

func (p *post) close() {
	for _, hangUp := range p.hangUp {
		hangUp()
	}
}

// worker sends through the post.
func (h *house) worker() *delivery.Worker {
	return &delivery.Worker{
		Jobs: h.store, Log: h.Logger, Record: h.record, RetryFor: h.RetryFor, SendTimeout: mail.SendTimeout, Senders: senders, Observe: h.metrics.sent,
		Gateway: h.gateways(), Allow: h.mayNotify,
	}
}

func (h *house) gateways() *delivery.Gateways {
	return &delivery.Gateways{Email: h.post.email, SMS: h.post.sms, Directory: h.directory.Load, PublicURL: h.PublicURL, Asset: h.store.Asset, Entry: h.store.Entry}
}

// senders is how many messages are on their way at once.
const senders = 16

// hooks adds where gateways report.
func (h *house) hooks(mux *http.ServeMux) {
	if h.post.texts != nil {
		mux.Handle(sms.Pattern, h.post.texts.Reports(h.bounced))
	}
}

// How long a report waits that overtakes our own record of the message's acceptance, and how often it looks.
const (
	bouncePatience = 10 * time.Second
	bounceAgain    = 200 * time.Millisecond
)

// bounced has the engine write that a message did not arrive after all.
func (h *house) bounced(ctx context.Context, r sms.Report) error {
	ctx, cancel := context.WithTimeout(ctx, bouncePatience)
	defer cancel()
	for {
		err := h.bounce(ctx, r)
		if errors.Is(err, gift.NotFound) {
			return nil // there is nothing to be done about it, now or later
		}
		if !errors.Is(err, ledger.ErrTooEarly) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(bounceAgain):
		}
	}
}

func (h *house) bounce(ctx context.Context, r sms.Report) error {
	call := ledger.Call{
		AccountID: r.AccountID, Operation: "bounce",
		Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} },
	}
	_, err := h.engine.Do(ctx, call, &ledger.Bounce{AccountID: r.AccountID, VoucherID: r.GiftID, JobID: r.JobID, Reason: r.Words})
	return err
}
