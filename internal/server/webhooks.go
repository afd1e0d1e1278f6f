package server

import (
	"context"
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/connections"
	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/jobs"
	"boon.example/internal/merchant"
	"boon.example/internal/post/delivery"
	"boon.example/internal/post/message"
	"boon.example/internal/post/webhook"
	"boon.example/internal/service"
	"boon.example/internal/store"
)

// webhooks makes the job that sends events to webhooks.
func (a *app) webhooks() jobs.Job {
	count := a.metrics.outcomes("boon_webhook_calls_total",
		"Calls of webhooks, by outcome: taken, refused (an answer other than 2xx), failed (none).",
		"taken", "refused", "failed")
	sender := webhook.NewSender(&webhook.Guard{Allow: a.WebhooksAllow}, "Boon/"+service.Version, connections.Descriptors())
	d := &webhook.Deliverer{
		Store: a.store, Send: sender.Send, Destination: sender.Destination, Directory: a.directory.Load,
		Render: a.api.EventBody, SwitchOff: a.switchOff, Log: a.Logger, Random: rand.Float64, Tracer: a.telemetry.Tracer,
		Observe: func(o webhook.Outcome) { count(o.Word()) },
	}
	a.metrics.gauge("boon_webhook_endpoints", "Endpoints that are called.",
		func() float64 { return float64(d.Health().Endpoints) })
	a.metrics.gauge("boon_webhook_endpoints_failing", "Those that fail.",
		func() float64 { return float64(d.Health().Failing) })
	a.metrics.gauge("boon_webhook_behind_seconds", "For how long events have waited for one of the others; 0: none do.",
		func() float64 { return d.Health().Behind.Seconds() })
	return jobs.Job{Name: "send-webhooks", Every: webhook.Every, Batch: jobs.Whole(d.Look),
		Last:   func(ctx context.Context) error { defer sender.Close(); return d.Stop(ctx) },
		Failed: "events could not be sent to webhooks"}
}

// hookStore is what the operations of webhooks ask of the store. A change is seen by this instance at once.
type hookStore struct {
	*store.Store
	app *app
}

// Configure implements manage.Hooks.
func (s hookStore) Configure(ctx context.Context,
	change func(*merchant.Directory, merchant.Uses) (merchant.Changes, error)) error {
	if err := s.Store.Configure(ctx, change); err != nil {
		return err
	}
	return s.app.readSetup(ctx)
}

// switchOff switches an endpoint off, unless it was changed meanwhile. An account that has a contact is told first
// where that is for failing: should the process end in between, it is told twice.
func (a *app) switchOff(ctx context.Context, w *merchant.Webhook, why merchant.WebhookOff) error {
	if why == merchant.WebhookFailing {
		if err := a.tellOfFailing(ctx, w); err != nil {
			return fmt.Errorf("telling an account of its webhook: %w", err)
		}
	}
	return hookStore{a.store, a}.Configure(ctx, func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
		is := d.Webhook(w.AccountID, w.ID)
		if is == nil || !is.Enabled || !is.ChangedAt.Equal(w.ChangedAt) {
			return merchant.Changes{}, nil
		}
		off := *is
		off.Enabled, off.Off = false, why
		return merchant.Changes{Webhooks: []*merchant.Webhook{&off},
			What: phrase.Kept("account %s: %v").Say(w.AccountID,
				phrase.Kept("switched webhook %-s off, %v").Say(w.ID, strings.ToLower(string(why))))}, nil
	})
}

// tellOfFailing sends the mail about an endpoint that took nothing for days. That of a test account reaches nobody.
func (a *app) tellOfFailing(ctx context.Context, w *merchant.Webhook) error {
	account, carrier := a.directory.Load().Accounts[w.AccountID], a.carriers.email
	if account != nil && account.Test {
		carrier = delivery.OutboxCarrier{Outbox: a.store}
	}
	if account == nil || account.Contact == "" || carrier == nil {
		return nil
	}
	subject, text, html := failingNotice(w, account.Name)
	return carrier.Carry(ctx, message.Message{
		ID: guid.ID(uuid.Must(uuid.NewV7())), AccountID: account.ID, Method: contact.Email, Language: merchant.English,
		To: account.Contact, FromName: "Boon", Subject: subject, Text: text, HTML: html, At: time.Now().UTC(),
	})
}

// failingNotice is the mail about an endpoint of a merchant that was switched off for failing.
func failingNotice(w *merchant.Webhook, account string) (subject, text, page string) {
	text = fmt.Sprintf("A webhook of %s took no event for five days, and was switched off:\n\n%s\n\n"+
		"Its webhookID is %s. Its last calls, with what it answered, are at /api/integration/webhooks/%s/attempts. "+
		"Once it works, switch it on again: it then gets what happened meanwhile.\n", account, w.URL, w.ID, w.ID)
	return "A webhook of " + account + " was switched off", text,
		`<!doctype html><html lang="en"><body><p style="white-space:pre-line">` + html.EscapeString(text) + `</p></body></html>`
}
