package setup

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup/document"
	"boon.example/internal/setup/told"
)

// NewWebhook is an endpoint that was made.
type NewWebhook struct {
	Owner  string // "account Harbor Coffee"
	URL    string
	Secret merchant.WebhookSecret
}

// webhookName is what endpoints are matched by: their account and their address.
type webhookName struct {
	account guid.ID
	url     string
}

// drawWebhooks draws what new endpoints need of chance, before it is known which will be made, and looks from where on
// they are sent events.
func (f *File) drawWebhooks(ctx context.Context, store Store, random io.Reader) (map[webhookName]merchant.Webhook,
	error) {
	drawn := make(map[webhookName]merchant.Webhook)
	for i := range f.Accounts {
		a := &f.Accounts[i]
		if len(a.Webhooks) == 0 {
			continue
		}
		start, err := store.EventsEnd(ctx, a.Record.ID)
		if err != nil {
			return nil, err
		}
		for _, w := range a.Webhooks {
			id, err := uuid.NewV7FromReader(random)
			if err != nil {
				return nil, fmt.Errorf("drawing the id of a webhook: %w", err)
			}
			secret, err := merchant.NewWebhookSecret(random)
			if err != nil {
				return nil, err
			}
			drawn[webhookName{a.Record.ID, w.URL}] = merchant.Webhook{ID: guid.ID(id), AccountID: a.Record.ID, URL: w.URL,
				Enabled: true, Start: start, Secret: secret}
		}
	}
	return drawn, nil
}

// webhooks plans what is to be done for the endpoints of an account. Where the file names some, or an empty list, it is
// the whole truth about them.
func (p *plan) webhooks(a *document.Account, label string) {
	if a.Webhooks == nil {
		return
	}
	there, kept := p.current.Webhooks[a.Record.ID], make(map[guid.ID]bool)
	for i := range a.Webhooks {
		w := &a.Webhooks[i]
		at := slices.IndexFunc(there, func(is *merchant.Webhook) bool { return is.URL == w.URL })
		if at < 0 {
			p.addWebhook(a.Record.ID, w, label)
			continue
		}
		kept[there[at].ID] = true
		p.changeWebhook(there[at], w, label)
	}
	for _, is := range there {
		if !kept[is.ID] {
			gone := *is
			gone.Deleted = true
			p.changes.Webhooks = append(p.changes.Webhooks, &gone)
			p.Changes = append(p.Changes, of(label, phrase.Kept("removed %v").Say(webhookWords(is))))
		}
	}
}

// webhookWords names an endpoint. Of its address it tells the host: what follows may be a secret of the receiver's.
func webhookWords(w *merchant.Webhook) string {
	host := phrase.Kept("its address").Say()
	if u, err := url.Parse(w.URL); err == nil {
		host = u.Host
	}
	return phrase.Kept("webhook %-s at %+v").Say(w.ID, host)
}

func (p *plan) addWebhook(account guid.ID, w *document.Webhook, label string) {
	made := p.hooks[webhookName{account, w.URL}]
	made.CreatedAt = moment(p.now)
	said := merchant.WebhookChange{Types: w.Types, Description: &w.Description, Enabled: w.Enabled}
	made = said.Apply(made, made.CreatedAt)
	p.changes.Webhooks = append(p.changes.Webhooks, &made)
	p.Changes = append(p.Changes, of(label, phrase.Kept("added %v").Say(webhookWords(&made))))
	p.Webhooks = append(p.Webhooks, NewWebhook{Owner: label, URL: w.URL, Secret: made.Secret})
}

// Rotation gives a webhook another secret, at the request of somebody who has seen it.
type Rotation struct {
	Account   guid.ID
	URL       string
	Seen      time.Time // the time of its latest change, as it was seen
	By        merchant.Actor
	RequestID string
}

// Apply makes the secret and gives it. A Conflict: the webhook is not there any more, or was changed since it was seen,
// such as by the same request before. Two secrets in a row would end the one that its receiver has.
func (r *Rotation) Apply(ctx context.Context, store Store, now time.Time, random io.Reader) (NewWebhook, error) {
	secret, err := merchant.NewWebhookSecret(random)
	if err != nil {
		return NewWebhook{}, err
	}
	err = store.Configure(ctx, func(d *merchant.Directory, _ Uses) (Changes, error) {
		hooks := d.Webhooks[r.Account]
		at := slices.IndexFunc(hooks, func(w *merchant.Webhook) bool { return w.URL == r.URL })
		if at < 0 || !hooks[at].ChangedAt.Equal(r.Seen) {
			return Changes{}, Conflict{}
		}
		changed := hooks[at].Rotate(secret, moment(now))
		return Changes{Webhooks: []*merchant.Webhook{&changed}, By: r.By, RequestID: r.RequestID,
			What: of(labelOf(d.Accounts[r.Account]), phrase.Kept("rotated the secret of %v").Say(webhookWords(&changed)))}, nil
	})
	return NewWebhook{URL: r.URL, Secret: secret}, err
}

// changeWebhook makes an endpoint what the file says. One that the service switched off stays so, unless the file says
// that it is on.
func (p *plan) changeWebhook(is *merchant.Webhook, w *document.Webhook, label string) {
	var change merchant.WebhookChange
	already := len(p.Changes)
	tell := func(f, to told.Field) {
		if f.Value != to.Value {
			p.Changes = append(p.Changes, of(label, phrase.Kept("changed %v: %v from %+v to %+v").Say(webhookWords(is), f.Name,
				f.Words, to.Words)))
		}
	}
	if !slices.Equal(is.Types, w.Types) {
		change.Types = slices.Concat([]string{}, w.Types)
		tell(told.Types(is.Types), told.Types(w.Types))
	}
	if is.Description != w.Description {
		change.Description = &w.Description
		tell(told.Plain("description", is.Description), told.Plain("description", w.Description))
	}
	switch {
	case w.Enabled != nil && *w.Enabled != is.Enabled:
		change.Enabled = w.Enabled
		tell(told.OnOff("delivery", is.Enabled), told.OnOff("delivery", *w.Enabled))
	case is.Off != "" && w.Enabled == nil:
		p.note(label, "%s was switched off by the service (%s); it stays so. Say enabled: true once it works.",
			webhookWords(is), is.Off)
	}
	if len(p.Changes) > already {
		changed := change.Apply(*is, moment(p.now))
		p.changes.Webhooks = append(p.changes.Webhooks, &changed)
	}
}
