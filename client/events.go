package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// EventsFilter selects events; what is zero selects all.
type EventsFilter struct {
	After    string   // an Event's Cursor; "": the oldest that is kept; EventsFromNow: none that is there already
	Types    []string // such as gift.redeemed, or gift.* for all of gifts
	PageSize int      // how many events one call fetches, 1 to 200; 0: the service's choice
	// Wait is for how long each call waits for an event, 1 to 25 s; 0: the events end with those that are there.
	Wait time.Duration
}

// EventsFromNow is the After of whoever wants new events only.
const EventsFromNow = "now"

// Event is one thing that happened in the key's account.
type Event struct {
	ID         string    `json:"id"`
	Type       string    `json:"type"`
	AccountID  string    `json:"accountID"`
	OccurredAt time.Time `json:"occurredAt"`
	Mode       string    `json:"mode"`
	Sequence   int       `json:"sequence"` // of its entry in the history of its gift; 0: it has none
	Data       struct {
		Gift    *Voucher      `json:"gift"`
		Entry   *Entry        `json:"entry"`
		Key     *EventKey     `json:"key"`
		Webhook *EventWebhook `json:"webhook"`
		Import  *EventImport  `json:"import"`
	} `json:"data"`
	// Cursor is the After from which every event of this one's page comes again, and all that follow.
	Cursor string `json:"-"`
	Meta   Meta   `json:"-"`
}

// EventKey is the API key that an event is about.
type EventKey struct {
	KeyID   string `json:"keyID"`
	KeyName string `json:"keyName"`
}

// EventImport is the import of gifts of another system that an event is about.
type EventImport struct {
	ImportID string `json:"importID"`
}

// EventWebhook is the webhook that an event is about.
type EventWebhook struct {
	WebhookID string `json:"webhookID"`
	Host      string `json:"host"` // where its events went then
}

// Events goes through the events of the key's account in the order in which they were committed, fetching pages as
// they are needed. With f.Wait it never ends by itself. The first error ends it.
func (c *Client) Events(ctx context.Context, f EventsFilter) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for after := f.After; ; {
			ask, now := f, after == EventsFromNow
			if now { // which is another time later: first comes the cursor of this moment
				ask.Wait = 0
			}
			var page struct {
				Events     []json.RawMessage `json:"events"`
				NextCursor string            `json:"nextCursor"`
				HasMore    bool              `json:"hasMore"`
			}
			meta, err := c.do(ctx, ask.call(after), &page)
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, text := range page.Events {
				if now { // it happened while the service was asked
					break
				}
				e := Event{Cursor: after, Meta: Meta{RequestID: meta.RequestID, Body: text}}
				if err := json.Unmarshal(text, &e); !yield(e, err) || err != nil {
					return
				}
			}
			if after = page.NextCursor; !page.HasMore && f.Wait <= 0 {
				return
			}
		}
	}
}

// call is the look-up of the page after a cursor.
func (f EventsFilter) call(after string) call {
	q := url.Values{}
	for name, value := range map[string]string{"after": after, "type": strings.Join(f.Types, ",")} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.PageSize != 0 {
		q.Set("limit", strconv.Itoa(f.PageSize))
	}
	k := call{method: "GET", path: integrationPath + "events", limit: largeAnswer}
	if f.Wait > 0 {
		q.Set("wait", strconv.Itoa(max(1, int(f.Wait/time.Second)))) // none would be a call after the other
		k.perAttempt = f.Wait + waitMore
	}
	if len(q) > 0 {
		k.path += "?" + q.Encode()
	}
	return k
}

// waitMore is how long the answer to a call that waits may take beyond its wait.
const waitMore = 15 * time.Second
