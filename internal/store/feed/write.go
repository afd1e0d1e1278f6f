package feed

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// Insert writes rows that Rows made.
var Insert = &db.Query{What: "writing into event",
	Each: `INSERT INTO event (account_id, made_at, kinds, entries, body) VALUES ($1, $2, $3, $4, $5)`,
	Postgres: `INSERT INTO event (account_id, made_at, kinds, entries, body)
		SELECT * FROM unnest($1::BYTEA[], $2::BIGINT[], $3::TEXT[], $4::BYTEA[], $5::TEXT[])`}

// Rows are the entries of a commit as events, a row for each account. On PostgreSQL a guard on entries writes them.
func Rows(entries []gift.Entry) (rows [][]any) {
	byAccount := map[guid.ID][]*gift.Entry{}
	var accounts []guid.ID
	for i := range entries {
		account := entries[i].AccountID
		if entries[i].Kind == gift.Imported { // the events of the import tell of it
			continue
		}
		if byAccount[account] == nil {
			accounts = append(accounts, account)
		}
		byAccount[account] = append(byAccount[account], &entries[i])
	}
	for _, account := range accounts {
		var ids []byte
		var kinds []string
		for _, e := range byAccount[account] {
			ids = append(ids, e.ID[:]...)
			if !slices.Contains(kinds, string(e.Kind)) {
				kinds = append(kinds, string(e.Kind))
			}
		}
		rows = append(rows, []any{db.KeyOf(account), db.Micros(byAccount[account][0].At),
			" " + strings.Join(kinds, " ") + " ", ids, ""})
	}
	return rows
}

// body is an event without an entry as it is kept, for 90 days: members may be added, not changed.
type body struct {
	ID        keptID `json:"id"`
	GiftID    keptID `json:"gift,omitzero"`
	KeyID     keptID `json:"key,omitzero"`
	WebhookID keptID `json:"webhook,omitzero"`
	Host      string `json:"host,omitzero"`
	ImportID  keptID `json:"import,omitzero"`
}

// keptID is an ID as a list of 16 numbers, which is how every release keeps it here.
type keptID [16]byte

func bodyOf(id guid.ID, n event.Note) body {
	return body{keptID(id), keptID(n.GiftID), keptID(n.KeyID), keptID(n.WebhookID), n.Host, keptID(n.ImportID)}
}

func (b *body) note() event.Note {
	return event.Note{GiftID: guid.ID(b.GiftID), KeyID: guid.ID(b.KeyID), WebhookID: guid.ID(b.WebhookID), Host: b.Host,
		ImportID: guid.ID(b.ImportID)}
}

// Add writes events that have no entry, in the transaction of their cause.
func Add(ctx context.Context, tx *sql.Tx, events ...event.Event) error {
	for i := range events {
		e := &events[i]
		text, err := newBody(e)
		if err == nil {
			_, err = tx.ExecContext(ctx, Insert.Each, db.KeyOf(e.AccountID), db.Micros(e.At), " "+string(e.Type)+" ",
				[]byte{}, text)
		}
		if err != nil {
			return fmt.Errorf("writing an event: %w", err)
		}
	}
	return nil
}

// newBody is the body of a new event.
func newBody(e *event.Event) (string, error) {
	text, err := json.Marshal(bodyOf(guid.ID(uuid.Must(uuid.NewV7())), e.Note))
	return string(text), err
}

// insertSame writes events that differ in their bodies only.
const insertSame = `INSERT INTO event (account_id, made_at, kinds, entries, body)
	SELECT $1, $2, $3, ''::BYTEA, b.body FROM unnest($4::TEXT[]) AS b (body)`

// add is Add for events of one account, type and time: on PostgreSQL in one statement.
func (f *Feed) add(ctx context.Context, tx *sql.Tx, events []event.Event) error {
	if f.db.File != "" || f.db.Spread || len(events) == 0 {
		return Add(ctx, tx, events...)
	}
	bodies := make([]string, len(events))
	for i := range events {
		var err error
		if bodies[i], err = newBody(&events[i]); err != nil {
			return fmt.Errorf("writing events: %w", err)
		}
	}
	e := &events[0]
	_, err := tx.ExecContext(ctx, insertSame, db.KeyOf(e.AccountID), db.Micros(e.At), " "+string(e.Type)+" ", bodies)
	if err != nil {
		return fmt.Errorf("writing events: %w", err)
	}
	return nil
}

// AddNow is Add for events that were made now by the machine's clock: like entries, those of test accounts are dated by
// the clocks of these.
func AddNow(ctx context.Context, tx *sql.Tx, events ...event.Event) error {
	ahead := map[guid.ID]time.Duration{}
	for _, e := range events {
		if _, known := ahead[e.AccountID]; !known {
			var by int64
			err := tx.QueryRowContext(ctx, `SELECT ahead FROM test_clock WHERE account_id = $1`, db.KeyOf(e.AccountID)).Scan(&by)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return fmt.Errorf("reading the clock of account %s: %w", e.AccountID, err)
			}
			ahead[e.AccountID] = time.Duration(by) * time.Microsecond
		}
		e.At = e.At.Add(ahead[e.AccountID])
		if err := Add(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// What is forgotten are the oldest rows that were made before an instant. Those that a clock dated later than now are
// passed over: they would keep all behind them.
const (
	countForgettable = `SELECT count(*) FROM (
		SELECT o.position FROM (SELECT t.position, t.made_at FROM event AS t
			WHERE t.account_id = $1 AND t.made_at <= $3 ORDER BY t.position LIMIT $4) AS o
		WHERE o.made_at < $2 AND o.position < (SELECT max(m.position) FROM event AS m WHERE m.account_id = $1)) AS one`
	deleteForgettable = `DELETE FROM event WHERE account_id = $1 AND position IN (
		SELECT o.position FROM (SELECT t.position, t.made_at FROM event AS t
			WHERE t.account_id = $1 AND t.made_at <= $3 ORDER BY t.position LIMIT $4) AS o
		WHERE o.made_at < $2 AND o.position < (SELECT max(m.position) FROM event AS m WHERE m.account_id = $1))`
)

// ForgetEvents deletes at most limit of the oldest rows of an account that were made before an instant, and tells how
// many there were. The newest stays: a place after it is known for ever.
func (f *Feed) ForgetEvents(ctx context.Context, account guid.ID, before, now time.Time, limit int) (n int64,
	err error) {
	args := []any{db.KeyOf(account), before.UnixMicro(), now.UnixMicro(), limit}
	n, err = f.db.Delete(ctx, countForgettable, args, deleteForgettable, args...)
	if err != nil {
		return 0, fmt.Errorf("forgetting old events: %w", err)
	}
	return n, nil
}
