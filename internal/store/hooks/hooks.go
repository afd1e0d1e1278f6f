// Package hooks keeps what becomes of webhooks: how far each endpoint has come in the events, every attempt, and which
// process delivers for an account.
package hooks

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
	"boon.example/internal/store/lease"
)

// Hooks keeps what becomes of webhooks.
type Hooks struct {
	db     *db.DB
	leases *lease.Leases

	mu    sync.Mutex
	saved map[guid.ID]int // attempts at an endpoint that were saved here since its old ones were looked for
}

// New works on an open database.
func New(d *db.DB) *Hooks {
	return &Hooks{db: d, leases: lease.New(d, "webhook_lease", claim), saved: map[guid.ID]int{}}
}

var (
	claim     = lease.Claim("webhook_lease")
	saveState = &db.Query{What: "writing into webhook_state",
		Each: `INSERT INTO webhook_state (account_id, webhook_id, state)
			VALUES ($1, $2, $3) ON CONFLICT (account_id, webhook_id) DO UPDATE SET state = excluded.state`,
		Postgres: `INSERT INTO webhook_state (account_id, webhook_id, state)
			SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::TEXT[])
			ON CONFLICT (account_id, webhook_id) DO UPDATE SET state = excluded.state`}
	saveAttempt = &db.Query{What: "writing into webhook_attempt",
		Each: `INSERT INTO webhook_attempt (account_id, webhook_id, id, event_id, type, made_at, took, status,
				words, answer)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		Postgres: `INSERT INTO webhook_attempt (account_id, webhook_id, id, event_id, type, made_at, took, status,
				words, answer)
			SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[], $4::BYTEA[], $5::TEXT[], $6::BIGINT[],
				$7::BIGINT[], $8::BIGINT[], $9::TEXT[], $10::BYTEA[]) ON CONFLICT DO NOTHING`}
)

// Queries are those that write rows in batches.
func Queries() []*db.Query { return []*db.Query{claim, saveState, saveAttempt} }

// ClaimWebhooks takes the leases of accounts that nobody has at now, keeps those that the owner has, until a time, and
// gives all of these accounts that it has then.
func (h *Hooks) ClaimWebhooks(ctx context.Context, owner guid.ID, accounts []guid.ID,
	now, until time.Time) (owned []guid.ID, err error) {
	return h.leases.Claim(ctx, owner, accounts, now, until)
}

// ReleaseWebhooks gives all leases of an owner back.
func (h *Hooks) ReleaseWebhooks(ctx context.Context, owner guid.ID) error {
	return h.leases.Release(ctx, owner)
}

// state is a event.WebhookState as a JSON document.
type state struct {
	After       []byte    `json:"after"`
	Aside       []aside   `json:"aside,omitempty"`
	Failing     time.Time `json:"failing,omitzero"`
	Replay      []byte    `json:"replay,omitempty"`
	ReplayAfter []byte    `json:"replayAfter,omitempty"`
	Replayed    bool      `json:"replayed,omitempty"`
}

type aside struct {
	Event    []byte         `json:"event"`
	Type     gift.EventType `json:"type"`
	Before   []byte         `json:"before"`
	Attempts int            `json:"attempts"`
	Due      time.Time      `json:"due"`
}

func bytesOf(p merchant.EventPlace) []byte {
	b := p.Bytes()
	return b[:]
}

func formatState(s *event.WebhookState) (string, error) {
	d := state{After: bytesOf(s.After), Failing: s.FailingSince, Replayed: s.Replayed}
	if !s.Replay.IsZero() {
		d.Replay, d.ReplayAfter = s.Replay[:], bytesOf(s.ReplayAfter)
	}
	for _, a := range s.Aside {
		d.Aside = append(d.Aside, aside{a.Event[:], a.Type, bytesOf(a.Before), a.Attempts, a.Due})
	}
	text, err := json.Marshal(d)
	return string(text), err
}

func parseState(text string) (s event.WebhookState, err error) {
	var d state
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return s, errors.New("the state of a webhook is damaged")
	}
	id := func(b []byte) (id guid.ID) { copy(id[:], b); return id }
	place := func(b []byte) merchant.EventPlace { return event.ParsePlace([16]byte(id(b))) }
	s = event.WebhookState{After: place(d.After), FailingSince: d.Failing, Replay: id(d.Replay),
		ReplayAfter: place(d.ReplayAfter), Replayed: d.Replayed}
	for _, a := range d.Aside {
		s.Aside = append(s.Aside, event.WebhookAside{Event: id(a.Event), Type: a.Type, Before: place(a.Before),
			Attempts: a.Attempts, Due: a.Due})
	}
	return s, nil
}

// WebhookStates reads how far the endpoints of an account have come; those that never had anything to do have none.
func (h *Hooks) WebhookStates(ctx context.Context, account guid.ID) ([]event.WebhookState, error) {
	states, err := db.Collect(ctx, h.db, `SELECT webhook_id, state FROM webhook_state WHERE account_id = $1`,
		[]any{db.KeyOf(account)}, func(from db.Scanner) (s event.WebhookState, err error) {
			var id guid.ID
			var text string
			if err = from.Scan(db.ScanID(&id), &text); err != nil {
				return s, err
			}
			s, err = parseState(text)
			s.AccountID, s.WebhookID = account, id
			return s, err
		})
	if err != nil {
		return nil, fmt.Errorf("reading how far webhooks came: %w", err)
	}
	return states, nil
}

// answerDomain is what answers of endpoints are sealed in.
const answerDomain = "webhook answer"

// AttemptsKept is how many attempts at an endpoint are kept, the newest; a few more until old ones are looked for.
const AttemptsKept = 1_000

// When attempts beyond those are looked for: after so many new ones; and how many are deleted at a time, which is more,
// so that what an earlier version left becomes less.
const (
	trimEvery = 100
	trimBatch = 200
)

// SaveWebhooks writes how far endpoints came, and attempts, in one transaction. Saving an attempt again changes
// nothing. Of attempts at an endpoint the newest stay: see AttemptsKept.
func (h *Hooks) SaveWebhooks(ctx context.Context, states []event.WebhookState, attempts []event.WebhookAttempt) error {
	came, made := db.Batch{Query: saveState}, db.Batch{Query: saveAttempt}
	for i := range states {
		text, err := formatState(&states[i])
		if err != nil {
			return fmt.Errorf("writing how far a webhook came: %w", err)
		}
		came.Rows = append(came.Rows, []any{db.KeyOf(states[i].AccountID), db.KeyOf(states[i].WebhookID), text})
	}
	slices.SortFunc(came.Rows, func(a, b []any) int {
		return slices.Compare(slices.Concat(a[0].([]byte), a[1].([]byte)), slices.Concat(b[0].([]byte), b[1].([]byte)))
	})
	for i := range attempts {
		a := &attempts[i]
		answer := []byte{}
		if len(a.Answer) > 0 {
			answer = h.db.Keys.SealOnce(answerDomain, a.Answer, a.ID[:])
		}
		made.Rows = append(made.Rows, []any{db.KeyOf(a.AccountID), db.KeyOf(a.WebhookID), db.KeyOf(a.ID), db.KeyOf(a.Event),
			string(a.Type), a.At.UnixMicro(), int64(a.Took), int64(a.Status), a.Words, answer})
	}
	if err := lease.Write(ctx, h.db, came, made); err != nil {
		return fmt.Errorf("writing how far webhooks came: %w", err)
	}
	for endpoint := range h.full(attempts) {
		if err := h.trim(ctx, endpoint.account, endpoint.webhook); err != nil {
			return fmt.Errorf("forgetting old attempts of webhook %s: %w", endpoint.webhook, err)
		}
	}
	return nil
}

type endpoint struct{ account, webhook guid.ID }

// full counts attempts that were saved, and gives the endpoints whose old ones are to be looked for.
func (h *Hooks) full(attempts []event.WebhookAttempt) map[endpoint]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	full := map[endpoint]bool{}
	for i := range attempts {
		at := endpoint{attempts[i].AccountID, attempts[i].WebhookID}
		if h.saved[at.webhook]++; h.saved[at.webhook] >= trimEvery {
			delete(h.saved, at.webhook)
			full[at] = true
		}
	}
	return full
}

const (
	countBeyond = `SELECT count(*) FROM (SELECT a.id FROM webhook_attempt AS a
		WHERE a.account_id = $1 AND a.webhook_id = $2 ORDER BY a.id DESC LIMIT 1 OFFSET $3) AS one`
	deleteBeyond = `DELETE FROM webhook_attempt WHERE account_id = $1 AND webhook_id = $2 AND id IN (
		SELECT o.id FROM webhook_attempt AS o WHERE o.account_id = $1 AND o.webhook_id = $2 AND o.id <= (
			SELECT a.id FROM webhook_attempt AS a
			WHERE a.account_id = $1 AND a.webhook_id = $2 ORDER BY a.id DESC LIMIT 1 OFFSET $3)
		ORDER BY o.id LIMIT $4)`
	selectAttempts = `SELECT webhook_id, id, event_id, type, made_at, took, status, words, answer FROM webhook_attempt
		WHERE account_id = $1 AND webhook_id = $2 ORDER BY id DESC LIMIT $3`
	selectAttemptsBefore = `SELECT webhook_id, id, event_id, type, made_at, took, status, words, answer FROM webhook_attempt
		WHERE account_id = $1 AND webhook_id = $2 AND id < $4 ORDER BY id DESC LIMIT $3`
	countOldAttempts = `SELECT count(*) FROM (
		SELECT webhook_id, id FROM webhook_attempt WHERE account_id = $1 AND made_at < $2 LIMIT $3) AS one`
	deleteOldAttempts = `DELETE FROM webhook_attempt WHERE account_id = $1 AND (webhook_id, id) IN (
		SELECT webhook_id, id FROM webhook_attempt WHERE account_id = $1 AND made_at < $2 LIMIT $3)`
)

// trim deletes some of the attempts at an endpoint that are older than the newest AttemptsKept.
func (h *Hooks) trim(ctx context.Context, account, webhook guid.ID) error {
	args := []any{db.KeyOf(account), db.KeyOf(webhook), AttemptsKept}
	// Most calls find nothing; they should not wait for the writer.
	var n int64
	if err := h.db.Get(ctx, countBeyond, args, &n); err != nil || n == 0 {
		return err
	}
	return h.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, deleteBeyond, append(args, trimBatch)...)
		return err
	})
}

// WebhookAttempts reads attempts at an endpoint, the newest first. An answer that was sealed with a key that this
// instance lacks is left out.
func (h *Hooks) WebhookAttempts(ctx context.Context, q event.WebhookAttempts) ([]event.WebhookAttempt, error) {
	query, args := selectAttempts, []any{db.KeyOf(q.AccountID), db.KeyOf(q.WebhookID), q.Limit}
	if !q.Before.IsZero() {
		query, args = selectAttemptsBefore, append(args, db.KeyOf(q.Before))
	}
	attempts, err := db.Collect(ctx, h.db, query, args, func(from db.Scanner) (a event.WebhookAttempt, err error) {
		var took int64
		var answer []byte
		err = from.Scan(db.ScanID(&a.WebhookID), db.ScanID(&a.ID), db.ScanID(&a.Event), &a.Type, db.ScanTime(&a.At), &took,
			&a.Status, &a.Words, &answer)
		if err != nil {
			return a, err
		}
		a.AccountID, a.Took = q.AccountID, time.Duration(took)
		if len(answer) > 0 {
			a.Answer, err = h.db.Keys.OpenOnce(answerDomain, answer, a.ID[:])
			if errors.Is(err, sealed.ErrUnknownKey) {
				err = nil
			}
		}
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the attempts of a webhook: %w", err)
	}
	return attempts, nil
}

// ForgetAttempts deletes at most limit attempts of an account from before a time, and the states of endpoints that
// there are no more, and tells how many attempts there were.
func (h *Hooks) ForgetAttempts(ctx context.Context, account guid.ID, before time.Time, limit int) (n int64, err error) {
	args := []any{db.KeyOf(account), before.UnixMicro(), limit}
	n, err = h.db.Delete(ctx, countOldAttempts, args, deleteOldAttempts, args...)
	if err != nil {
		return 0, fmt.Errorf("forgetting old attempts of webhooks: %w", err)
	}
	return n, nil
}
