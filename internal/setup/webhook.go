package setup

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// webhook is what the file says of one endpoint of an account. Its address is what it is known by.
type webhook struct {
	at          value // where
	url         string
	types       []string // sorted; empty: all
	description string
	enabled     *bool // nil: as it is
}

// NewWebhook is an endpoint that was made.
type NewWebhook struct {
	Owner  string // "account Harbor Coffee"
	URL    string
	Secret merchant.WebhookSecret
}

// webhooks reads where an account's events are sent; nil: the file leaves that to the interface.
func (r *reader) webhooks(f fields) []webhook {
	members, said := f.list("webhooks")
	if !said {
		return nil
	}
	if len(members) > merchant.MaxWebhooks {
		r.problem(f.values["webhooks"], "An account has at most %d webhooks; this one has %d.", merchant.MaxWebhooks,
			len(members))
		return nil
	}
	all, lines := make([]webhook, 0, len(members)), make(map[string]int)
	for _, v := range members {
		f := r.fields(v, "url", "types", "description", "enabled")
		f.require("url")
		w := webhook{at: v, types: f.eventTypes("types")}
		if at, _, ok := f.scalar("url"); ok {
			w.url = at.Value
			if err := r.allow.CheckURL(w.url); err != nil {
				r.problem(at, "%s", err)
			} else if line, double := lines[w.url]; double {
				r.problem(at, "The webhook on line %d has this address already; events would come twice.", line)
			}
			lines[w.url] = v.Line
		}
		if at, _, ok := f.scalar("description"); ok {
			w.description = r.line(at, merchant.MaxWebhookDescription)
		}
		if _, ok := f.get("enabled"); ok {
			on := f.truth("enabled")
			w.enabled = &on
		}
		all = append(all, w)
	}
	return all
}

// eventTypes reads types of events.
func (f fields) eventTypes(name string) (types []string) {
	members, ok := f.list(name)
	if ok && len(f.values[name].Content) == 0 {
		f.problem(f.values[name], "An empty list means no events; name types, or leave the field out for all of them.")
	}
	for _, v := range members {
		if v.kind() != scalarKind {
			f.problem(v, "This must be a type of events, not %s.", v.kind())
			continue
		}
		_, err := event.CheckTypes([]string{v.Value})
		switch {
		case err != nil:
			f.problem(v, "%s", err)
		case slices.Contains(types, v.Value):
			f.problem(v, "This type stands in the list already.")
		}
		types = append(types, v.Value)
	}
	slices.Sort(types)
	return types
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
	for i := range f.accounts {
		a := &f.accounts[i]
		if len(a.webhooks) == 0 {
			continue
		}
		start, err := store.EventsEnd(ctx, a.record.ID)
		if err != nil {
			return nil, err
		}
		for _, w := range a.webhooks {
			id, err := uuid.NewV7FromReader(random)
			if err != nil {
				return nil, fmt.Errorf("drawing the id of a webhook: %w", err)
			}
			secret, err := merchant.NewWebhookSecret(random)
			if err != nil {
				return nil, err
			}
			drawn[webhookName{a.record.ID, w.url}] = merchant.Webhook{ID: guid.ID(id), AccountID: a.record.ID, URL: w.url,
				Enabled: true, Start: start, Secret: secret}
		}
	}
	return drawn, nil
}

// webhooks plans what is to be done for the endpoints of an account. Where the file names some, or an empty list, it is
// the whole truth about them.
func (p *plan) webhooks(a *account, label string) {
	if a.webhooks == nil {
		return
	}
	there, kept := p.current.Webhooks[a.record.ID], make(map[guid.ID]bool)
	for i := range a.webhooks {
		w := &a.webhooks[i]
		at := slices.IndexFunc(there, func(is *merchant.Webhook) bool { return is.URL == w.url })
		if at < 0 {
			p.addWebhook(a.record.ID, w, label)
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
			p.Changes = append(p.Changes, label+": removed "+webhookWords(is))
		}
	}
}

// webhookWords names an endpoint. Of its address it tells the host: what follows may be a secret of the receiver's.
func webhookWords(w *merchant.Webhook) string {
	host := "its address"
	if u, err := url.Parse(w.URL); err == nil {
		host = u.Host
	}
	return fmt.Sprintf("webhook %s at %s", w.ID, host)
}

func (p *plan) addWebhook(account guid.ID, w *webhook, label string) {
	made := p.hooks[webhookName{account, w.url}]
	made.CreatedAt = moment(p.now)
	said := merchant.WebhookChange{Types: w.types, Description: &w.description, Enabled: w.enabled}
	made = said.Apply(made, made.CreatedAt)
	p.changes.Webhooks = append(p.changes.Webhooks, &made)
	p.Changes = append(p.Changes, label+": added "+webhookWords(&made))
	p.Webhooks = append(p.Webhooks, NewWebhook{Owner: label, URL: w.url, Secret: made.Secret})
}

// changeWebhook makes an endpoint what the file says. One that the service switched off stays so, unless the file says
// that it is on.
func (p *plan) changeWebhook(is *merchant.Webhook, w *webhook, label string) {
	var change merchant.WebhookChange
	told := len(p.Changes)
	tell := func(f, to field) {
		if f.value != to.value {
			p.Changes = append(p.Changes, fmt.Sprintf("%s: changed %s: %s from %s to %s", label, webhookWords(is), f.name,
				f.words, to.words))
		}
	}
	if !slices.Equal(is.Types, w.types) {
		change.Types = slices.Concat([]string{}, w.types)
		tell(typesField(is.Types), typesField(w.types))
	}
	if is.Description != w.description {
		change.Description = &w.description
		tell(plainField("description", is.Description), plainField("description", w.description))
	}
	switch {
	case w.enabled != nil && *w.enabled != is.Enabled:
		change.Enabled = w.enabled
		tell(switchField("delivery", is.Enabled), switchField("delivery", *w.enabled))
	case is.Off != "" && w.enabled == nil:
		p.Notes = append(p.Notes, fmt.Sprintf("%s: %s was switched off by the service (%s); it stays so. Say enabled: true "+
			"once it works.", label, webhookWords(is), is.Off))
	}
	if len(p.Changes) > told {
		changed := change.Apply(*is, moment(p.now))
		p.changes.Webhooks = append(p.changes.Webhooks, &changed)
	}
}

func typesField(types []string) field {
	f := plainField("types", strings.Join(types, " and "))
	if len(types) == 0 {
		f.words = "all"
	}
	return f
}
