package manage

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"boon.example/internal/base/phrase"
	"boon.example/internal/base/ratelimit"
	"boon.example/internal/contact"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// Hooks is what the operations of webhooks need beside the set-up.
type Hooks interface {
	// Directory is the set-up as it is in the store, Configure changes it.
	Directory(context.Context) (*merchant.Directory, error)
	Configure(ctx context.Context, change func(*merchant.Directory, merchant.Uses) (merchant.Changes, error)) error
	// WebhookAttempts reads attempts at an endpoint, the newest first.
	WebhookAttempts(context.Context, event.WebhookAttempts) ([]event.WebhookAttempt, error)
	// EventsEnd is the place after the newest event of an account; EventsBefore is one after which all of its events come
	// that were made at a time or later, EventsUntil one up to which all come that were made before, and few others.
	EventsEnd(ctx context.Context, account guid.ID) (merchant.EventPlace, error)
	EventsBefore(ctx context.Context, account guid.ID, at time.Time) (merchant.EventPlace, error)
	EventsUntil(ctx context.Context, account guid.ID, at time.Time) (merchant.EventPlace, error)
}

// changeRate is how often the endpoints, tills, PINs and imports of an account can be changed, and breakage can be
// booked: each changes the set-up or its log, which all instances read anew.
var changeRate = ratelimit.Rate{Burst: 60, Refill: 30 * time.Second}

// changeLimiter has the buckets of accounts that changed some of these lately.
type changeLimiter struct {
	mu      sync.Mutex
	buckets map[guid.ID]ratelimit.Bucket
}

func (l *changeLimiter) count(account guid.ID, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buckets == nil {
		l.buckets = map[guid.ID]ratelimit.Bucket{}
	}
	for id, b := range l.buckets {
		if changeRate.Full(b, now) {
			delete(l.buckets, id)
		}
	}
	if wait := changeRate.Wait(l.buckets[account], now); wait > 0 {
		refused := refusal.New(refusal.RateLimited, "The tills, PINs, webhooks and imports of this account were "+
			"changed, or its breakage was booked, too often.")
		refused.RetryAfter = wait
		return refused
	}
	l.buckets[account] = changeRate.Take(l.buckets[account], now, 1)
	return nil
}

// CountChange counts a change of an account's set-up, or refuses it where there were too many lately.
func (o *Operations) CountChange(account guid.ID, now time.Time) error {
	return o.changes.count(account, now)
}

// webhookID reads which endpoint the path names.
func (c *Call) webhookID() (guid.ID, error) {
	var q wire.Query
	id := q.ParseID("webhookID", c.HTTP.PathValue("webhookID"))
	return id, q.Err()
}

// found finds an endpoint of the account in the store, where another instance may have put it just now.
func (c *Call) found(id guid.ID) (*merchant.Webhook, error) {
	d, err := c.Hooks.Directory(c.Context())
	if err != nil {
		return nil, service.Stored(err)
	}
	return c.webhook(d, id)
}

// webhook finds an endpoint of the account. One of another account is as good as not there.
func (c *Call) webhook(d *merchant.Directory, id guid.ID) (*merchant.Webhook, error) {
	if w := d.Webhook(c.Account.ID, id); w != nil {
		return w, nil
	}
	return nil, service.RefuseAt(refusal.NotFound, "webhookID", "This account has no webhook with that webhookID.")
}

// configure saves a change of an endpoint, with a line for the log of the set-up.
func (c *Call) configure(change func(*merchant.Directory) (*merchant.Webhook, string, error)) error {
	if err := c.changes.count(c.Account.ID, c.MachineTime()); err != nil {
		return err
	}
	return service.Stored(c.Hooks.Configure(c.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes,
		error) {
		w, what, err := change(d)
		if err != nil {
			return merchant.Changes{}, err
		}
		return merchant.Changes{Webhooks: []*merchant.Webhook{w}, By: c.Actor(guid.ID{}).Actor, RequestID: c.RequestID,
			What: byKey.Say(c.Account.Name, c.Caller.Name, what)}, nil
	}))
}

// edit changes one endpoint that there is.
func (c *Call) edit(id guid.ID, what phrase.Kept, change func(merchant.Webhook) merchant.Webhook) (*merchant.Webhook,
	error) {
	var changed merchant.Webhook
	err := c.configure(func(d *merchant.Directory) (*merchant.Webhook, string, error) {
		w, err := c.webhook(d, id)
		if err != nil {
			return nil, "", err
		}
		changed = change(*w)
		saved := changed
		return &saved, what.Say(id), nil
	})
	return &changed, err
}

// readWebhook reads what a request says of an endpoint.
func (c *Call) readWebhook(o *wire.Object) (r merchant.WebhookChange) {
	if url := o.Text("url"); url != "" {
		if err := c.HooksAllow.CheckURL(url); err != nil {
			o.Add("url", "%s", err)
		}
		r.URL = &url
	}
	// An empty text takes it away.
	if d := o.Text("description"); d != "" || o.EmptyText("description") {
		if err := contact.CheckText(d, merchant.MaxWebhookDescription, false); err != nil {
			o.Add("description", "%s", err)
		}
		r.Description = &d
	}
	r.Types = readTypes(o)
	r.Enabled = o.Boolean("enabled")
	return r
}

// readTypes reads types of events; nil: there are none.
func readTypes(o *wire.Object) []string {
	types, ok := o.Texts("types", 2*len(event.Types()))
	if !ok {
		return nil
	}
	if at, err := event.CheckTypes(types); err != nil {
		o.Add(fmt.Sprintf("types[%d]", at), "%s", err)
	}
	return types
}

// CreateWebhook makes an endpoint. It is sent what happens from now on.
func CreateWebhook(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) merchant.WebhookChange {
		r := c.readWebhook(o)
		if !o.Given("url") {
			o.Add("url", "Say where events are to be sent.")
		}
		return r
	})
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	secret, err := merchant.NewWebhookSecret(rand.Reader)
	if err != nil {
		return ledger.Answer{}, err
	}
	start, err := c.Hooks.EventsEnd(c.Context(), c.Account.ID)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	made := asked.Apply(merchant.Webhook{ID: guid.ID(uuid.Must(uuid.NewV7())), AccountID: c.Account.ID, Enabled: true,
		CreatedAt: c.Now.Truncate(time.Microsecond), Start: start, Secret: secret}, c.MachineTime())
	err = c.configure(func(d *merchant.Directory) (*merchant.Webhook, string, error) {
		saved := made
		return &saved, "added webhook " + made.ID.String(), d.RoomForWebhook(c.Account.ID)
	})
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.Answer(ledger.Created, func(w *wire.Writer) {
		writeWebhook(w, &made)
		w.Text("secret", made.Secret.Reveal())
	}), nil
}

// ListWebhooks lists the endpoints of the account.
func ListWebhooks(c *Call) (ledger.Answer, error) {
	d, err := c.Hooks.Directory(c.Context())
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("webhooks")
		for _, hook := range d.Webhooks[c.Account.ID] {
			w.Open()
			writeWebhook(w, hook)
			w.Close()
		}
		w.EndList()
	}), nil
}

// ShowWebhook shows one endpoint.
func ShowWebhook(c *Call) (ledger.Answer, error) {
	id, err := c.webhookID()
	if err != nil {
		return ledger.Answer{}, err
	}
	hook, err := c.found(id)
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) { writeWebhook(w, hook) }), nil
}

// ChangeWebhook changes what the request names.
func ChangeWebhook(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, c.readWebhook)
	id, err := c.webhookID()
	problems.Refuse(err)
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	hook, err := c.edit(id, "changed webhook %-s", func(w merchant.Webhook) merchant.Webhook {
		return asked.Apply(w, c.MachineTime())
	})
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) { writeWebhook(w, hook) }), nil
}

// DeleteWebhook deletes an endpoint.
func DeleteWebhook(c *Call) (ledger.Answer, error) {
	id, err := c.webhookID()
	if err == nil {
		_, err = c.edit(id, "deleted webhook %-s", func(w merchant.Webhook) merchant.Webhook {
			w.Deleted = true
			return w
		})
	}
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) { w.ID("webhookID", id) }), nil
}

// RotateWebhook gives an endpoint a new secret; the one before signs beside it for a day.
func RotateWebhook(c *Call) (ledger.Answer, error) {
	_, problems := decode(c, func(*wire.Object) struct{} { return struct{}{} })
	id, err := c.webhookID()
	problems.Refuse(err)
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	secret, err := merchant.NewWebhookSecret(rand.Reader)
	if err != nil {
		return ledger.Answer{}, err
	}
	hook, err := c.edit(id, "rotated the secret of webhook %-s", func(w merchant.Webhook) merchant.Webhook {
		return w.Rotate(secret, c.MachineTime())
	})
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.ID("webhookID", id)
		w.Text("secret", secret.Reveal())
		w.InstantOrNull("oldSecretUntil", hook.OldUntil)
	}), nil
}

// readReplay reads which events are to be sent again.
func (c *Call) readReplay(o *wire.Object) (r merchant.WebhookReplay) {
	r.From, r.To, r.Types = o.Instant("from"), o.Instant("to"), readTypes(o)
	if !o.Given("to") {
		r.To = c.Now
	}
	switch {
	case !o.Given("from"):
		o.Add("from", "Say from when on events are to be sent again.")
	case o.Has("from") || o.Has("to"):
	case !r.From.Before(r.To):
		o.Add("to", "This must be after from.")
	case r.From.Before(c.Now.Add(-event.Kept)):
		o.Add("from", "Events are kept for 90 days.")
	}
	return r
}

// ReplayWebhook sends the events of some time again, beside what happens. It takes the place of an earlier one.
func ReplayWebhook(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, c.readReplay)
	id, err := c.webhookID()
	problems.Refuse(err)
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	if _, err := c.found(id); err != nil {
		return ledger.Answer{}, err
	}
	asked.ID = guid.ID(uuid.Must(uuid.NewV7()))
	if asked.After, err = c.Hooks.EventsBefore(c.Context(), c.Account.ID, asked.From); err == nil {
		asked.Upto, err = c.Hooks.EventsUntil(c.Context(), c.Account.ID, asked.To)
	}
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	_, err = c.edit(id, "asked for a replay to webhook %-s", func(w merchant.Webhook) merchant.Webhook {
		w.Replay = &asked
		return w
	})
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.ID("webhookID", id)
		w.ID("replayID", asked.ID)
		w.Instant("from", asked.From)
		w.Instant("to", asked.To)
	}), nil
}

// ListAttempts lists the calls of an endpoint, the newest first.
func ListAttempts(c *Call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	filter := event.WebhookAttempts{AccountID: c.Account.ID, Limit: q.Limit()}
	copy(filter.Before[:], q.Cursor("attempts", len(filter.Before)))
	id, err := c.webhookID()
	q.Refuse(err)
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	if _, err := c.found(id); err != nil {
		return ledger.Answer{}, err
	}
	filter.WebhookID = id
	filter.Limit++
	attempts, err := c.Hooks.WebhookAttempts(c.Context(), filter)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	var next guid.ID
	if len(attempts) == filter.Limit {
		attempts = attempts[:filter.Limit-1]
		next = attempts[len(attempts)-1].ID
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.List("attempts")
		for i := range attempts {
			w.Open()
			writeAttempt(w, &attempts[i])
			w.Close()
		}
		w.EndList()
		w.NextCursor("attempts", next)
	}), nil
}

// writeWebhook writes the members of an endpoint; never its secret.
func writeWebhook(w *wire.Writer, h *merchant.Webhook) {
	w.ID("webhookID", h.ID)
	w.Text("url", h.URL)
	w.Texts("types", slices.Concat([]string{}, h.Types))
	w.TextOrNull("description", h.Description)
	w.Boolean("enabled", h.Enabled)
	w.TextOrNull("switchedOff", string(h.Off))
	w.Instant("createdAt", h.CreatedAt)
	w.InstantOrNull("oldSecretUntil", h.OldUntil)
}

// writeAttempt writes the members of an attempt. Of an answer that is no text, what is none is shown as U+FFFD.
func writeAttempt(w *wire.Writer, a *event.WebhookAttempt) {
	w.ID("attemptID", a.ID)
	w.ID("eventID", a.Event)
	w.Text("type", string(a.Type))
	w.Instant("attemptedAt", a.At)
	w.Integer("milliseconds", int(a.Took.Milliseconds()))
	if a.Status == 0 {
		w.Null("status")
	} else {
		w.Integer("status", a.Status)
	}
	answer := a.Answer
	for n := 1; n < utf8.UTFMax && n <= len(answer) && len(answer) == 1<<10; n++ { // cut within a character
		if r := answer[len(answer)-n]; utf8.RuneStart(r) && !utf8.FullRune(answer[len(answer)-n:]) {
			answer = answer[:len(answer)-n]
		}
	}
	w.TextOrNull("answer", string(answer))
	w.TextOrNull("failure", a.Words)
}
