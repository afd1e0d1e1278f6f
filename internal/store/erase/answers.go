package erase

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/post/message"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// selectCalls names the calls that were made within a time, of the operations whose answers tell the words of a card.
// It names no gift, since records have no column for one: an order is one record for many gifts. selectAnswer gives
// the record of one, with its answer as it is kept: a short one in the record, a long one in a row of its own.
const (
	selectCalls = `SELECT r.key, r.operation, r.made_at FROM request AS r
		WHERE r.account_id = $1 AND r.made_at >= $2 AND r.made_at <= $3
			AND (r.operation = 'send-gift' OR r.operation = 'cancel-gift' OR r.operation = 'reinstate-gift'
				OR r.operation = 'resend-gift' OR r.operation = 'reschedule-gift' OR r.operation = 'create-stock'
				OR r.operation = 'block-gift' OR r.operation = 'unblock-gift' OR r.operation = 'extend-gift'
				OR r.operation = 'replace-gift')`
	selectAnswer = `SELECT r.account_id, r.key, r.operation, r.fingerprint, r.code, r.answer, r.sealed, r.entry_id, r.spent,
			r.locations, r.made_at, r.size, a.body, r.answer
		FROM request AS r
		LEFT JOIN answer AS a ON a.account_id = r.account_id AND a.key = r.key AND a.operation = r.operation
		WHERE r.account_id = $1 AND r.key = $2 AND r.operation = $3`
)

// answeredWithin is how long after the time that a gift is given an order is recorded: the time of its entries is
// taken before the order begins, and it may wait that long for tills.
const answeredWithin = 90 * time.Second

// span is a time, from one microsecond to another.
type span struct{ from, to int64 }

func (s span) has(at time.Time) bool { return s.from <= at.UnixMicro() && at.UnixMicro() <= s.to }

// snapshot is what a gift was seen to be before anything was taken out of it. Answers are changed by it, in
// transactions of their own; snapshot.still then tells whether it was still so when the gift itself was changed.
type snapshot struct {
	seq   int       // of its last entry
	waits bool      // it is left alone
	says  *cardText // what answers are to say of it; nil: what they say already
	// When calls were recorded that sent it: soon after their entry; in test accounts, whose clock is another, at any
	// time.
	calls []span
	// failed tells that some of these answers cannot be read.
	failed error
}

// cardText is what a gift says of people.
type cardText struct{ sender, recipient, message, customer string }

func (p *plan) text() cardText {
	c, customer := &p.card, p.gift.CustomerID
	if p.unlinked {
		customer = ""
	}
	return cardText{c.Sender, c.Recipient, c.Message, customer}
}

// cardTexts are what answers are to say, by the id of the gift in quotes.
type cardTexts map[string]*cardText

// look sees what a gift is, and locks nothing. An entry that comes between reading the history and reading the gift
// has the numbers differ (errMoved).
func (e *Eraser) look(ctx context.Context, ask Request, id guid.ID) (s *snapshot, err error) {
	entries, err := e.history(ctx, ask.Account.ID, id)
	if err != nil {
		return nil, err
	}
	s = &snapshot{seq: len(entries)}
	if ask.leavesAlone(entries) {
		return s, nil
	}
	err = e.db.Snapshot(ctx, func(tx *sql.Tx) error {
		g, err := e.load(ctx, tx, ledger.Ref{AccountID: ask.Account.ID, ID: id}, true)
		if err != nil {
			return err
		}
		if g.Seq != len(entries) {
			return errMoved
		}
		p := planFor(ask, g, entries)
		if s.waits = g.waits() && !ask.Force; s.waits || p.nothing() {
			return nil
		}
		is := p.text()
		s.says, s.calls = &is, callsOf(ask, entries)
		return nil
	})
	return s, err
}

// callsOf tells when calls were recorded that sent a gift. An account has a record of each of its calls, and every
// answer that is looked at is read and unsealed. So only those are that were recorded then.
func callsOf(ask Request, entries []gift.Entry) (calls []span) {
	if ask.Account.Test {
		return []span{{0, math.MaxInt64}}
	}
	for i := range entries {
		if e := &entries[i]; operation.TellsCard(e.Kind) {
			calls = append(calls, span{e.At.UnixMicro(), e.At.Add(answeredWithin).UnixMicro()})
		}
	}
	return calls
}

// answers takes what gifts say of people out of the answers that are kept of the calls that sent them, and tells what
// it saw of each gift and how many answers it changed. Each answer is changed once for all of the gifts, in a
// transaction that only puts one text in the place of another: what takes time is done before. All this comes before
// the gifts are changed, so that one of which not all answers were is found again.
func (e *Eraser) answers(ctx context.Context, ask Request, ids []guid.ID, pace *pacer) (seen map[guid.ID]*snapshot,
	n int, err error) {
	seen, say := make(map[guid.ID]*snapshot, len(ids)), cardTexts{}
	var calls []span
	for _, id := range ids {
		s, err := e.look(ctx, ask, id)
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		switch {
		case errors.Is(err, errMoved):
			continue // it is looked at again
		case err != nil:
			s = &snapshot{failed: err}
		case s.says != nil:
			say[`"`+id.String()+`"`] = s.says
			calls = append(calls, s.calls...)
		}
		seen[id] = s
	}
	for _, within := range joined(calls) {
		keys, err := e.calls(ctx, ask.Account.ID, within)
		if err != nil {
			return nil, n, err
		}
		for i := range keys {
			changed, err := e.answer(ctx, &keys[i], say)
			if ctx.Err() != nil && !changed {
				return nil, n, ctx.Err()
			}
			// Of the gifts that it may tell of, since what cannot be read does not say which. They are not erased
			// (invariant 3).
			if err != nil {
				for _, s := range seen {
					if slices.ContainsFunc(s.calls, func(c span) bool { return c.has(keys[i].At) }) {
						s.failed = err
					}
				}
			}
			if changed {
				n++
				if err := pace.next(ctx); err != nil {
					return nil, n, err
				}
			}
		}
	}
	return seen, n, nil
}

// joined makes of times those that do not overlap: the gifts of one order have the same, and each record is looked at
// once.
func joined(all []span) (apart []span) {
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, s := range all {
		if last := len(apart) - 1; last >= 0 && s.from <= apart[last].to {
			apart[last].to = max(apart[last].to, s.to)
		} else {
			apart = append(apart, s)
		}
	}
	return apart
}

// calls names the calls that were made within a time.
func (e *Eraser) calls(ctx context.Context, account guid.ID, within span) (keys []ledger.Request, err error) {
	err = db.Each(ctx, e.db.Readers, selectCalls, []any{db.KeyOf(account), within.from, within.to},
		func(rows *sql.Rows) error {
			r := ledger.Request{RequestKey: ledger.RequestKey{AccountID: account}}
			err := rows.Scan(&r.Key, &r.Operation, db.ScanTime(&r.At))
			keys = append(keys, r)
			return err
		})
	return keys, err
}

// answer changes the answer to a call, if it says something else of gifts. The answer is unsealed, changed and sealed
// before the transaction, which only compares and writes. It compares the bytes that are kept (invariant 4): two
// erasures may have the same answer of an order in hand, each for another gift, and the second would otherwise put
// back what the first took out.
func (e *Eraser) answer(ctx context.Context, of *ledger.Request, say cardTexts) (changed bool, err error) {
	const tries = 10
	key := []any{db.KeyOf(of.AccountID), of.Key, string(of.Operation)}
	for range tries {
		var r ledger.Request
		var long, kept []byte
		err := db.Each(ctx, e.db.Readers, selectAnswer, key, func(rows *sql.Rows) (err error) {
			var sealed bool
			r, sealed, err = record.ScanRequest(e.db.Keys, rows, &long, &kept)
			if err == nil && r.Answer.Long.Size > 0 {
				kept = long
				r.Answer.Body, err = record.UnpackAnswer(e.db.Keys, r.Answer.Long, long, sealed)
			}
			return err
		})
		if err != nil || !say.in(r.Answer.Body) { // it may be forgotten meanwhile
			return false, err
		}
		body, err := say.into(nil, r.Answer.Body)
		if err != nil {
			return false, fmt.Errorf("the answer to a %s request: %w", r.Operation, err)
		}
		if bytes.Equal(body, r.Answer.Body) {
			return false, nil
		}
		size := len(body)
		text := record.KeepAnswer(e.db.Keys, &r, body, r.Answer.Long.Size > 0)
		err = e.write(ctx, false, func(tx *sql.Tx) (err error) {
			if r.Answer.Long.Size == 0 {
				changed, err = changes(ctx, tx, `UPDATE request SET answer = $4
					WHERE account_id = $1 AND key = $2 AND operation = $3 AND answer = $5`, append(key, text, kept)...)
				return err
			}
			changed, err = changes(ctx, tx, `UPDATE answer SET body = $4
				WHERE account_id = $1 AND key = $2 AND operation = $3 AND body = $5`, append(key, text, kept)...)
			if err == nil && changed {
				_, err = tx.ExecContext(ctx, `UPDATE request SET size = $4 WHERE account_id = $1 AND key = $2 AND operation = $3`,
					append(key, size)...)
			}
			return err
		})
		if err != nil || changed {
			return changed && err == nil, err
		}
	}
	return false, fmt.Errorf("the answer to a %s request is changed by others again and again", of.Operation)
}

// changes tells whether a statement changed a row.
func changes(ctx context.Context, tx *sql.Tx, text string, args ...any) (bool, error) {
	result, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

const quotedID = len(`"5a0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a01"`)

// in tells whether an answer is about one of the gifts.
func (s cardTexts) in(body []byte) bool {
	for {
		_, after, found := bytes.Cut(body, []byte(`"voucherID"`))
		if !found {
			return false
		}
		body = bytes.TrimLeft(after, ": \t\r\n")
		if len(body) >= quotedID && s[string(body[:quotedID])] != nil {
			return true
		}
	}
}

// into appends a value as it stands, but what objects about the gifts say of people as their cards say it now.
//
// It goes through the text and not through the types of answers. Answers of all releases are kept, with members that
// this program may not know; a repeat has to get the same answer but for the words. An object is about a gift if it
// has its voucherID, wherever in the answer it stands.
func (s cardTexts) into(to []byte, v jsontext.Value) ([]byte, error) {
	if kind := v.Kind(); kind != '[' && kind != '{' {
		return append(to, v...), nil
	}
	parts, err := partsOf(v)
	if err != nil {
		return nil, err
	}
	now := map[string]string{}
	object := v.Kind() == '{'
	for i := 0; object && i < len(parts); i += 2 {
		if card := s[string(parts[i+1])]; card != nil && string(parts[i]) == `"voucherID"` {
			now = map[string]string{`"senderDescription"`: card.sender, `"recipientDescription"`: card.recipient,
				`"message"`: card.message, `"customerID"`: card.customer}
		}
	}
	to = append(to, byte(v.Kind()))
	for i, part := range parts {
		switch {
		case i == 0:
		case object && i%2 == 1:
			to = append(to, ':')
		default:
			to = append(to, ',')
		}
		name := ""
		if object && i%2 == 1 {
			name = string(parts[i-1])
		}
		if text, ours := now[name]; ours && part.Kind() == '"' {
			to = reworded(to, part, text)
		} else if to, err = s.into(to, part); err != nil {
			return nil, err
		}
	}
	if object {
		return append(to, '}'), nil
	}
	return append(to, ']'), nil
}

// reworded appends what a card says in the place of what it said. A text that stays is left in its spelling: an
// answer of which nothing changed must be the same bytes, or it would be written each time.
func reworded(to []byte, was jsontext.Value, text string) []byte {
	if text == "" {
		return append(to, "null"...)
	}
	if said, err := jsontext.AppendUnquote(nil, was); err == nil && string(said) == text {
		return append(to, was...)
	}
	quoted, _ := jsontext.AppendQuote(nil, text) // one of ours
	return append(to, quoted...)
}

// partsOf gives the elements of an array, or the names and values of an object in turn.
func partsOf(v jsontext.Value) (parts []jsontext.Value, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != ']' && d.PeekKind() != '}' {
		part, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part.Clone())
	}
	return parts, nil
}

// beside takes the gift out of what is kept beside it and has no place in its history: answers of webhooks to its
// events, which may repeat them, the outbox, and the phones that have its pass.
//
// An attempt names its event, which for most kinds is an entry. Those of ends of gifts and of probes have no entry
// that would tell which gift they were about, so the answers to all of these are emptied, from the making of the gift
// on. They are kept for whoever mends an endpoint, and nothing is decided by them.
func (e *Eraser) beside(ctx context.Context, ask Request, id guid.ID, entries []gift.Entry) (attempts, messages int,
	err error) {
	of := map[guid.ID]bool{}
	for i := range entries {
		of[entries[i].ID] = true
	}
	if len(entries) == 0 {
		return 0, 0, nil
	}
	const answered = `SELECT t.webhook_id, t.id, t.event_id, t.type FROM webhook_attempt AS t
		WHERE t.account_id = $1 AND t.made_at >= $2 AND length(t.answer) > 0`
	type attempt struct{ webhook, id guid.ID }
	var told []attempt
	account := db.KeyOf(ask.Account.ID)
	since := int64(0)
	if !ask.Account.Test {
		since = entries[0].At.UnixMicro()
	}
	err = db.Each(ctx, e.db.Readers, answered, []any{account, since}, func(rows *sql.Rows) error {
		var a attempt
		var about guid.ID
		var kind gift.EventType
		err := rows.Scan(db.ScanID(&a.webhook), db.ScanID(&a.id), db.ScanID(&about), &kind)
		if of[about] || kind == event.Expiring || kind == event.Expired || kind == event.Probed {
			told = append(told, a)
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	sent, err := e.outbox(ctx, ask, id)
	if err != nil {
		return 0, 0, err
	}
	phones, err := e.phones(ctx, account, id)
	if err != nil || len(told)+len(sent)+phones == 0 {
		return 0, 0, err
	}
	err = e.write(ctx, false, func(tx *sql.Tx) error {
		for _, a := range told {
			if _, err := tx.ExecContext(ctx, `UPDATE webhook_attempt SET answer = $4
				WHERE account_id = $1 AND webhook_id = $2 AND id = $3`, account, db.KeyOf(a.webhook), db.KeyOf(a.id), []byte{}); err != nil {
				return err
			}
		}
		if err := forgetPhones(ctx, tx, account, id); err != nil {
			return err
		}
		for _, m := range sent {
			if _, err := tx.ExecContext(ctx, `DELETE FROM outbox WHERE id = $1`, db.KeyOf(m)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	return len(told), len(sent), nil
}

// phones counts the phones that have the pass of a gift.
func (e *Eraser) phones(ctx context.Context, account any, id guid.ID) (n int, err error) {
	const count = `SELECT count(*) FROM pass_device AS p WHERE p.account_id = $1 AND p.voucher_id = $2`
	err = e.db.Get(ctx, count, []any{account, db.KeyOf(id)}, &n)
	return n, err
}

func forgetPhones(ctx context.Context, tx *sql.Tx, account any, id guid.ID) error {
	const forget = `DELETE FROM pass_device WHERE account_id = $1 AND voucher_id = $2`
	_, err := tx.ExecContext(ctx, forget, account, db.KeyOf(id))
	return err
}

// outbox gives the messages about a gift, by any person's contact that is asked for or by none. It also looks into
// those of which the program before did not write what they are about. Of messages about no gift, it gives those to the
// contact that is asked for.
func (e *Eraser) outbox(ctx context.Context, ask Request, id guid.ID) (ids []guid.ID, err error) {
	const about = `SELECT o.id, o.message FROM outbox AS o WHERE o.account_id = $1 AND o.voucher_id = $2
		UNION ALL SELECT o.id, o.message FROM outbox AS o WHERE o.account_id = $3`
	args := []any{db.KeyOf(ask.Account.ID), db.KeyOf(id), []byte{}}
	err = db.Each(ctx, e.db.Readers, about, args, func(rows *sql.Rows) error {
		var key guid.ID
		var kept []byte
		if err := rows.Scan(db.ScanID(&key), &kept); err != nil {
			return err
		}
		text, err := e.db.Keys.Open(kept, db.Bound("outbox", key))
		if err != nil {
			return fmt.Errorf("message %s: %w", key, err)
		}
		var m message.Message
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("message %s is damaged", key)
		}
		if m.GiftID == id && m.AccountID == ask.Account.ID && (!id.IsZero() || ask.is(m.To)) {
			ids = append(ids, key)
		}
		return nil
	})
	return ids, err
}
