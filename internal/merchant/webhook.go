package merchant

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// Webhook is an endpoint of an account: where its events are sent.
type Webhook struct {
	ID          guid.ID
	AccountID   guid.ID
	URL         string
	Types       []string // of the events, sorted; gift.* stands for all of gifts. Empty: all
	Description string
	Enabled     bool
	Off         WebhookOff // why the service switched it off
	CreatedAt   time.Time
	ChangedAt   time.Time

	Start    EventPlace    // what comes after it is sent
	Secret   WebhookSecret // "": this instance lacks the key that it is sealed with
	Old      WebhookSecret // the one before; "": there is none
	OldUntil time.Time     // until when messages are signed with both
	Replay   *WebhookReplay
	Deleted  bool // it is to be deleted
}

// WebhookReplay asks for the events of some time once more.
type WebhookReplay struct {
	ID       guid.ID
	From, To time.Time
	Types    []string   // empty: those that the endpoint wants
	After    EventPlace // before the first of them
	Upto     EventPlace // after the last of them; what comes later is of another time, or is sent anyway
}

// WebhookOff says why the service switched an endpoint off; "": it did not.
type WebhookOff string

// Why endpoints are switched off.
const (
	WebhookGone    WebhookOff = "GONE"    // it answered 410
	WebhookFailing WebhookOff = "FAILING" // it took nothing for five days
)

// MaxWebhooks is how many endpoints an account may have.
const MaxWebhooks = 20

// SecretRotation is for how long messages are signed with both secrets after a rotation.
const SecretRotation = 24 * time.Hour

// Limits of what an endpoint says.
const (
	MaxWebhookURL         = 1_000
	MaxWebhookDescription = 200
)

// WebhookSecret is what signs an endpoint's messages: whsec_ and 24 to 64 bytes in base64. It prints masked.
type WebhookSecret string

const (
	webhookSecretPrefix = "whsec_"
	webhookSecretSize   = 32
)

// NewWebhookSecret draws a secret.
func NewWebhookSecret(random io.Reader) (WebhookSecret, error) {
	key := make([]byte, webhookSecretSize)
	if _, err := io.ReadFull(random, key); err != nil {
		return "", fmt.Errorf("drawing the secret of a webhook: %w", err)
	}
	return WebhookSecret(webhookSecretPrefix + base64.StdEncoding.EncodeToString(key)), nil
}

// ParseWebhookSecret reads a secret.
func ParseWebhookSecret(text string) (WebhookSecret, error) {
	encoded, ok := strings.CutPrefix(text, webhookSecretPrefix)
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return "", phrase.New("This must be whsec_ and 24 to 64 bytes in base64.")
	}
	return WebhookSecret(text), nil
}

// Key is what messages are signed with.
func (s WebhookSecret) Key() []byte {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(s), webhookSecretPrefix))
	return key
}

// Reveal gives the secret itself.
func (s WebhookSecret) Reveal() string { return string(s) }

// String masks it.
func (s WebhookSecret) String() string { return webhookSecretPrefix + "***" }

// GoString masks it.
func (s WebhookSecret) GoString() string { return s.String() }

// MarshalText masks it, in logs too.
func (s WebhookSecret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Secrets are those that messages are signed with at a time, the newest first.
func (w *Webhook) Secrets(now time.Time) []WebhookSecret {
	secrets := []WebhookSecret{w.Secret}
	if w.Old != "" && now.Before(w.OldUntil) {
		secrets = append(secrets, w.Old)
	}
	return secrets
}

// Rotate gives the endpoint a new secret; the one that it had signs beside it for SecretRotation.
func (w Webhook) Rotate(secret WebhookSecret, now time.Time) Webhook {
	w.Old, w.OldUntil, w.Secret, w.ChangedAt = w.Secret, now.Add(SecretRotation), secret, now
	return w
}

// WebhookChange is what a request says of an endpoint; nil: nothing.
type WebhookChange struct {
	URL, Description *string
	Types            []string // nil: nothing; empty: all
	Enabled          *bool
}

// Apply makes the change, which was checked before. An endpoint that is switched on again goes on where it stood.
func (c *WebhookChange) Apply(w Webhook, now time.Time) Webhook {
	if c.URL != nil {
		w.URL = *c.URL
	}
	if c.Description != nil {
		w.Description = *c.Description
	}
	if c.Types != nil {
		w.Types = slices.Sorted(slices.Values(c.Types))
	}
	if c.Enabled != nil {
		w.Enabled, w.Off = *c.Enabled, ""
	}
	w.ChangedAt = now
	return w
}

// Webhook finds an endpoint of an account; nil: it is not the account's.
func (d *Directory) Webhook(account, id guid.ID) *Webhook {
	for _, w := range d.Webhooks[account] {
		if w.ID == id {
			return w
		}
	}
	return nil
}

// Host is where its events go, with the port if there is one.
func (w *Webhook) Host() string {
	u, err := url.Parse(w.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// RoomForWebhook refuses one more endpoint than an account may have.
func (d *Directory) RoomForWebhook(account guid.ID) error {
	if len(d.Webhooks[account]) >= MaxWebhooks {
		return refusal.New(refusal.ValidationFailure, "An account has at most %d webhooks; delete one first.", MaxWebhooks)
	}
	return nil
}

// CheckWebhook refuses a key that is limited to locations: an endpoint is told of the whole account.
func (c *Caller) CheckWebhook() error {
	if len(c.Locations) > 0 {
		return refusal.New(refusal.NotAuthorized,
			"Webhooks tell of the whole account; this key is limited to some of its locations.")
	}
	return nil
}
