package setup

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
)

// upsertWebhook leaves the secrets alone that this instance cannot open.
const upsertWebhook = `INSERT INTO webhook (account_id, id, url, types, description, enabled, why_off, created_at, changed_at,
		start, secret, old_secret, old_until, replay)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
	ON CONFLICT (account_id, id) DO UPDATE SET url = excluded.url, types = excluded.types,
		description = excluded.description, enabled = excluded.enabled, why_off = excluded.why_off,
		changed_at = excluded.changed_at, replay = excluded.replay,
		secret = CASE WHEN length(excluded.secret) > 0 THEN excluded.secret ELSE webhook.secret END,
		old_secret = CASE WHEN length(excluded.secret) > 0 THEN excluded.old_secret ELSE webhook.old_secret END,
		old_until = CASE WHEN length(excluded.secret) > 0 THEN excluded.old_until ELSE webhook.old_until END`

// deleteWebhook is followed by the deletion of its state; its attempts are forgotten with time.
const (
	deleteWebhook      = `DELETE FROM webhook WHERE account_id = $1 AND id = $2`
	deleteWebhookState = `DELETE FROM webhook_state WHERE account_id = $1 AND webhook_id = $2`
)

// replay is a merchant.WebhookReplay as a JSON document.
type replay struct {
	ID    guid.ID   `json:"id"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Types []string  `json:"types,omitempty"`
	After []byte    `json:"after"`
	Upto  []byte    `json:"upto"`
}

// webhookDomain is what the secrets of endpoints are sealed in.
const webhookDomain = "webhook secret"

func sealSecret(k *sealed.Keys, s merchant.WebhookSecret, w *merchant.Webhook) []byte {
	if s == "" {
		return []byte{}
	}
	return k.SealOnce(webhookDomain, []byte(s.Reveal()), slices.Concat(w.AccountID[:], w.ID[:]))
}

// openSecret gives "" for a secret that was sealed with a key that this instance lacks.
func openSecret(k *sealed.Keys, sealed []byte, w *merchant.Webhook) merchant.WebhookSecret {
	text, err := k.OpenOnce(webhookDomain, sealed, slices.Concat(w.AccountID[:], w.ID[:]))
	if err != nil {
		return ""
	}
	return merchant.WebhookSecret(text)
}

func webhookRows(k *sealed.Keys, w *merchant.Webhook) ([]setupRow, error) {
	what := "webhook " + w.ID.String()
	if w.Deleted {
		key := []any{db.KeyOf(w.AccountID), db.KeyOf(w.ID)}
		return []setupRow{{what, deleteWebhook, key}, {what, deleteWebhookState, key}}, nil
	}
	again, old := "", any(nil)
	if r := w.Replay; r != nil {
		after, upto := r.After.Bytes(), r.Upto.Bytes()
		text, err := json.Marshal(replay{r.ID, r.From, r.To, r.Types, after[:], upto[:]})
		if err != nil {
			return nil, fmt.Errorf("saving %s: %w", what, err)
		}
		again = string(text)
	}
	if w.Old != "" {
		old = sealSecret(k, w.Old, w)
	}
	start := w.Start.Bytes()
	return []setupRow{{what, upsertWebhook, []any{db.KeyOf(w.AccountID), db.KeyOf(w.ID),
		sealText(k, urlDomain, w.URL, slices.Concat(w.AccountID[:], w.ID[:])), strings.Join(w.Types, " "),
		w.Description, w.Enabled, string(w.Off), db.Micros(w.CreatedAt), db.Micros(w.ChangedAt), start[:],
		sealSecret(k, w.Secret, w), old, db.Micros(w.OldUntil), again}}}, nil
}

func readWebhooks(ctx context.Context, q db.Querier, k *sealed.Keys) (map[guid.ID][]*merchant.Webhook, error) {
	var all map[guid.ID][]*merchant.Webhook
	const query = `SELECT account_id, id, url, types, description, enabled, why_off, created_at, changed_at, start, secret,
			old_secret, old_until, replay
		FROM webhook ORDER BY account_id, created_at, id`
	err := db.Each(ctx, q, query, nil, func(rows *sql.Rows) error {
		w := new(merchant.Webhook)
		var types, again string
		var start, secret, old []byte
		err := rows.Scan(db.ScanID(&w.AccountID), db.ScanID(&w.ID), &w.URL, &types, &w.Description, &w.Enabled, &w.Off,
			db.ScanTime(&w.CreatedAt), db.ScanTime(&w.ChangedAt), &start, &secret, &old, db.ScanTime(&w.OldUntil), &again)
		if err != nil {
			return err
		}
		w.URL = openText(k, urlDomain, w.URL, slices.Concat(w.AccountID[:], w.ID[:]))
		w.Types, w.Start = strings.Fields(types), placeOf(start)
		if w.Secret = openSecret(k, secret, w); len(old) > 0 {
			w.Old = openSecret(k, old, w)
		}
		if again != "" {
			var r replay
			if err := json.Unmarshal([]byte(again), &r); err != nil {
				return fmt.Errorf("the replay of webhook %s is damaged: %w", w.ID, err)
			}
			w.Replay = &merchant.WebhookReplay{ID: r.ID, From: r.From, To: r.To, Types: r.Types,
				After: placeOf(r.After),
				Upto:  placeOf(r.Upto)}
		}
		if all == nil {
			all = map[guid.ID][]*merchant.Webhook{}
		}
		all[w.AccountID] = append(all[w.AccountID], w)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading webhooks: %w", err)
	}
	return all, nil
}

// placeOf reads a place; what is none is before all.
func placeOf(b []byte) merchant.EventPlace {
	if len(b) != 16 {
		return merchant.EventPlace{}
	}
	return event.ParsePlace([16]byte(b))
}
