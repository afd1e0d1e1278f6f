package erase

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/message"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// selectAnswers gives the records of calls that were made within a time, with those of their answers that are long.
const selectAnswers = `SELECT ` + record.RequestColumns + `, a.body FROM request AS r
	LEFT JOIN answer AS a ON a.account_id = r.account_id AND a.key = r.key AND a.operation = r.operation
	WHERE (r.account_id, r.key, r.operation) IN (SELECT account_id, key, operation FROM request
		WHERE account_id = $1 AND made_at >= $2 AND made_at <= $3 AND ` + record.Forgettable + `)`

// answeredWithin is how long after the time that a gift is given an order is recorded: it may wait that long for tills.
const answeredWithin = 90 * time.Second

// answers takes what the gift said of people out of the answers that are kept of it: those of the calls that sent it.
// They are recorded soon after their entry; those of test accounts, whose clock is another, at any time.
func (e *Eraser) answers(ctx context.Context, tx *sql.Tx, p *plan) (n int, err error) {
	times := map[int64]int64{}
	for _, at := range p.history {
		switch at.Kind {
		case gift.Issued, gift.Resent, gift.Rescheduled, gift.Replaced:
			times[at.At.UnixMicro()] = at.At.Add(answeredWithin).UnixMicro()
		}
	}
	if p.ask.Account.Test {
		times = map[int64]int64{0: math.MaxInt64}
	}
	for from, to := range times {
		kept, err := e.kept(ctx, tx, p, from, to)
		if err != nil {
			return n, err
		}
		for i := range kept {
			if err := e.rewrite(ctx, tx, &kept[i]); err != nil {
				return n, err
			}
		}
		n += len(kept)
	}
	return n, nil
}

// kept gives the records of calls within a time whose answers tell of people in the gift, without that.
func (e *Eraser) kept(ctx context.Context, tx *sql.Tx, p *plan, from, to int64) (all []ledger.Request, err error) {
	id := p.gift.ID.AppendText(nil)
	err = db.Each(ctx, tx, selectAnswers, []any{db.KeyOf(p.gift.AccountID), from, to},
		func(rows *sql.Rows) error {
			var long []byte
			r, sealed, err := record.ScanRequest(e.db.Keys, rows, &long)
			if err == nil && r.Answer.Long.Size > 0 {
				r.Answer.Body, err = record.UnpackAnswer(e.db.Keys, r.Answer.Long, long, sealed)
			}
			if err != nil || !bytes.Contains(r.Answer.Body, id) {
				return err
			}
			body, err := without(nil, r.Answer.Body, string(id), p)
			if err != nil {
				return fmt.Errorf("the answer to a %s request: %w", r.Operation, err)
			}
			if !bytes.Equal(body, r.Answer.Body) {
				r.Answer.Body = body
				all = append(all, r)
			}
			return nil
		})
	return all, err
}

// rewrite keeps another answer in the place of one.
func (e *Eraser) rewrite(ctx context.Context, tx *sql.Tx, r *ledger.Request) (err error) {
	key := []any{db.KeyOf(r.AccountID), r.Key, string(r.Operation)}
	if r.Answer.Long.Size == 0 {
		_, err = tx.ExecContext(ctx, `UPDATE request SET answer = $4 WHERE account_id = $1 AND key = $2 AND operation = $3`,
			append(key, record.KeepAnswer(e.db.Keys, r, r.Answer.Body, false))...)
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE answer SET body = $4 WHERE account_id = $1 AND key = $2 AND operation = $3`,
		append(key, record.KeepAnswer(e.db.Keys, r, r.Answer.Body, true))...)
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE request SET size = $4 WHERE account_id = $1 AND key = $2 AND operation = $3`,
			append(key, len(r.Answer.Body))...)
	}
	return err
}

// without appends a value as it stands, but what objects about the gift say of people as the card says it now.
func without(to []byte, v jsontext.Value, id string, p *plan) ([]byte, error) {
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
		if string(parts[i]) == `"voucherID"` && string(parts[i+1]) == `"`+id+`"` {
			now = map[string]string{`"senderDescription"`: p.card.Sender, `"recipientDescription"`: p.card.Recipient,
				`"message"`: p.card.Message}
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
		} else if to, err = without(to, part, id, p); err != nil {
			return nil, err
		}
	}
	if object {
		return append(to, '}'), nil
	}
	return append(to, ']'), nil
}

// reworded appends what a card says in the place of what it said.
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
// events, which may repeat them, and the outbox.
func (e *Eraser) beside(ctx context.Context, ask Request, id gift.ID, entries []gift.Entry) (attempts, messages int,
	err error) {
	of := map[gift.ID]bool{}
	for i := range entries {
		of[entries[i].ID] = true
	}
	if len(entries) == 0 {
		return 0, 0, nil
	}
	const answered = `SELECT t.webhook_id, t.id, t.event_id, t.type FROM webhook_attempt AS t
		WHERE t.account_id = $1 AND t.made_at >= $2 AND length(t.answer) > 0`
	type attempt struct{ webhook, id gift.ID }
	var told []attempt
	account := db.KeyOf(ask.Account.ID)
	since := int64(0)
	if !ask.Account.Test {
		since = entries[0].At.UnixMicro()
	}
	err = db.Each(ctx, e.db.Readers, answered, []any{account, since}, func(rows *sql.Rows) error {
		var a attempt
		var event gift.ID
		var kind gift.EventType
		err := rows.Scan(db.ScanID(&a.webhook), db.ScanID(&a.id), db.ScanID(&event), &kind)
		if of[event] || kind == gift.EventExpiring || kind == gift.EventExpired {
			told = append(told, a)
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	sent, err := e.outbox(ctx, ask, id)
	if err != nil || len(told)+len(sent) == 0 {
		return 0, 0, err
	}
	err = e.write(ctx, false, func(tx *sql.Tx) error {
		for _, a := range told {
			if _, err := tx.ExecContext(ctx, `UPDATE webhook_attempt SET answer = $4
				WHERE account_id = $1 AND webhook_id = $2 AND id = $3`, account, db.KeyOf(a.webhook), db.KeyOf(a.id), []byte{}); err != nil {
				return err
			}
		}
		for _, m := range sent {
			if _, err := tx.ExecContext(ctx, `DELETE FROM outbox WHERE id = $1`, db.KeyOf(m)); err != nil {
				return err
			}
		}
		return nil
	})
	return len(told), len(sent), err
}

// outbox gives the messages about a gift, by any person's contact that is asked for or by none. It also looks into
// those of which the program before did not write what they are about.
func (e *Eraser) outbox(ctx context.Context, ask Request, id gift.ID) (ids []gift.ID, err error) {
	const about = `SELECT o.id, o.message FROM outbox AS o WHERE o.account_id = $1 AND o.voucher_id = $2
		UNION ALL SELECT o.id, o.message FROM outbox AS o WHERE o.account_id = $3`
	args := []any{db.KeyOf(ask.Account.ID), db.KeyOf(id), []byte{}}
	err = db.Each(ctx, e.db.Readers, about, args, func(rows *sql.Rows) error {
		var key gift.ID
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
		if m.GiftID == id && m.AccountID == ask.Account.ID {
			ids = append(ids, key)
		}
		return nil
	})
	return ids, err
}
