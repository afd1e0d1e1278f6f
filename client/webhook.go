package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const webhooksPath = integrationPath + "webhooks"

// SwitchedOff says why the service switched a webhook off; "": it did not.
type SwitchedOff string

// Why webhooks are switched off.
const (
	SwitchedOffGone    SwitchedOff = "GONE"    // it answered 410
	SwitchedOffFailing SwitchedOff = "FAILING" // it took nothing for five days
)

// Webhook is an endpoint to which the events of the key's account are sent.
type Webhook struct {
	WebhookID      string      `json:"webhookID"`
	URL            string      `json:"url"`
	Types          []string    `json:"types"` // of the events; empty: all
	Description    string      `json:"description"`
	Enabled        bool        `json:"enabled"`
	SwitchedOff    SwitchedOff `json:"switchedOff"`
	CreatedAt      time.Time   `json:"createdAt"`
	OldSecretUntil time.Time   `json:"oldSecretUntil"` // until when messages are signed with the secret before, too
	Meta           Meta        `json:"-"`
}

// CreateWebhookRequest asks for a new webhook.
type CreateWebhookRequest struct {
	URL         string   `json:"url,omitzero"`
	Types       []string `json:"types,omitzero"` // such as gift.redeemed, or gift.* for all of gifts; empty: all
	Description string   `json:"description,omitzero"`
	Enabled     *bool    `json:"enabled,omitzero"` // nil: it is
}

// NewWebhook is a webhook that was made. Its secret is told this once.
type NewWebhook struct {
	Webhook
	Secret string `json:"secret"`
}

// CreateWebhook makes a webhook, which is sent what happens from now on. The call is not repeated, for no key would
// keep a repeat from making a second one: after an error that is not [Refused], [Client.Webhooks] tells whether it was
// made.
func (c *Client) CreateWebhook(ctx context.Context, r CreateWebhookRequest) (*NewWebhook, error) {
	var a NewWebhook
	return answered(ctx, c, hook(http.MethodPost, "", r, 1), &a, &a.Meta)
}

// Webhooks lists the webhooks of the key's account, in the order in which they were made.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	var page struct {
		Webhooks []json.RawMessage `json:"webhooks"`
	}
	meta, err := c.do(ctx, hook(http.MethodGet, "", nil, 0), &page)
	if err != nil {
		return nil, err
	}
	all := make([]Webhook, len(page.Webhooks))
	for i, text := range page.Webhooks {
		if err := json.Unmarshal(text, &all[i]); err != nil {
			return nil, err
		}
		all[i].Meta = Meta{RequestID: meta.RequestID, Body: text}
	}
	return all, nil
}

// Webhook looks one up.
func (c *Client) Webhook(ctx context.Context, webhookID string) (*Webhook, error) {
	var a Webhook
	return answered(ctx, c, hook(http.MethodGet, one(webhookID), nil, 0), &a, &a.Meta)
}

// ChangeWebhookRequest asks to change a webhook; what is nil, or "" for the URL, stays.
type ChangeWebhookRequest struct {
	WebhookID string `json:"-"`

	URL         string   `json:"url,omitzero"`
	Types       []string `json:"types,omitzero"` // not nil, but empty: all
	Description *string  `json:"description,omitzero"`
	// Enabled true also takes back that the service switched it off; it goes on where it stood.
	Enabled *bool `json:"enabled,omitzero"`
}

// ChangeWebhook changes a webhook.
func (c *Client) ChangeWebhook(ctx context.Context, r ChangeWebhookRequest) (*Webhook, error) {
	var a Webhook
	return answered(ctx, c, hook(http.MethodPatch, one(r.WebhookID), r, 0), &a, &a.Meta)
}

// DeleteWebhook deletes a webhook. [NotFound] may be good news: an attempt whose answer was lost deleted it.
func (c *Client) DeleteWebhook(ctx context.Context, webhookID string) (Meta, error) {
	var a struct{}
	return c.do(ctx, hook(http.MethodDelete, one(webhookID), nil, 0), &a)
}

// RotatedSecret is the new secret of a webhook. It is told this once.
type RotatedSecret struct {
	WebhookID      string    `json:"webhookID"`
	Secret         string    `json:"secret"`
	OldSecretUntil time.Time `json:"oldSecretUntil"` // until when messages are signed with the one before, too
	Meta           Meta      `json:"-"`
}

// RotateWebhook gives a webhook a new secret; for a day, messages are signed with both. The call is not repeated: two
// rotations would leave the receiver with none of the two.
func (c *Client) RotateWebhook(ctx context.Context, webhookID string) (*RotatedSecret, error) {
	var a RotatedSecret
	return answered(ctx, c, hook(http.MethodPost, one(webhookID)+"/rotate-secret", struct{}{}, 1), &a, &a.Meta)
}

// ReplayWebhookRequest asks that events are sent once more.
type ReplayWebhookRequest struct {
	WebhookID string `json:"-"`

	From  time.Time `json:"from,omitzero"`
	To    time.Time `json:"to,omitzero"`    // zero: now
	Types []string  `json:"types,omitzero"` // empty: those that the webhook wants
}

// Replay is what will be sent once more.
type Replay struct {
	WebhookID string    `json:"webhookID"`
	ReplayID  string    `json:"replayID"`
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Meta      Meta      `json:"-"`
}

// ReplayWebhook sends the events of a time once more, beside what happens now. It takes the place of an earlier replay.
func (c *Client) ReplayWebhook(ctx context.Context, r ReplayWebhookRequest) (*Replay, error) {
	var a Replay
	return answered(ctx, c, hook(http.MethodPost, one(r.WebhookID)+"/replay", r, 0), &a, &a.Meta)
}

// Attempt is one call of a webhook.
type Attempt struct {
	AttemptID    string    `json:"attemptID"`
	EventID      string    `json:"eventID"`
	Type         string    `json:"type"`
	AttemptedAt  time.Time `json:"attemptedAt"`
	Milliseconds int       `json:"milliseconds"`
	Status       int       `json:"status"`  // of the answer; 0: there was none
	Answer       string    `json:"answer"`  // its first KiB
	Failure      string    `json:"failure"` // why there was none
	Meta         Meta      `json:"-"`
}

// Attempts goes through the calls of a webhook in the last 30 days, the newest first, fetching pages of pageSize as
// they are needed; 0: the service's choice. The first error ends it.
func (c *Client) Attempts(ctx context.Context, webhookID string, pageSize int) iter.Seq2[Attempt, error] {
	fetch := func(cursor string) (list []json.RawMessage, next string, meta Meta, err error) {
		var page struct {
			Attempts   []json.RawMessage `json:"attempts"`
			NextCursor string            `json:"nextCursor"`
		}
		q := url.Values{}
		if pageSize != 0 {
			q.Set("limit", strconv.Itoa(pageSize))
		}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		path := one(webhookID) + "/attempts"
		if len(q) > 0 {
			path += "?" + q.Encode()
		}
		meta, err = c.do(ctx, hook(http.MethodGet, path, nil, 0), &page)
		return page.Attempts, page.NextCursor, meta, err
	}
	return pages(fetch, func(a *Attempt) *Meta { return &a.Meta })
}

// hook is a call about webhooks. None of them takes an Idempotency-Key.
func hook(method, path string, request any, attempts int) call {
	return call{method: method, path: webhooksPath + path, request: request, limit: smallAnswer, attempts: attempts}
}

func one(webhookID string) string { return "/" + url.PathEscape(webhookID) }
