package setup

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
)

// AddTrail writes what was done that changes neither a gift nor the set-up. That a PIN is paused is an event as well.
func (s *Setup) AddTrail(ctx context.Context, e event.TrailEntry) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		if e.Action == event.PINLimited {
			err := feed.AddNow(ctx, tx, event.Event{Type: e.Action, AccountID: e.AccountID, At: time.Now().UTC(),
				Note: event.Note{KeyID: e.Actor.KeyID}})
			if err != nil {
				return err
			}
		}
		return s.addTrail(ctx, tx, &e)
	})
}

// addTrail writes what was done, in the transaction that does it. Without a key, it was the user of this process.
func (s *Setup) addTrail(ctx context.Context, tx *sql.Tx, e *event.TrailEntry) error {
	by := ""
	if e.Actor.KeyID.IsZero() {
		by = s.db.By
	}
	_, err := tx.ExecContext(ctx,
		`INSERT INTO trail (account_id, id, made_at, key_id, action, made_by, person, address, request_id, what)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		db.KeyOf(e.AccountID), db.KeyOf(guid.ID(uuid.Must(uuid.NewV7()))), db.Micros(time.Now()), db.OrNull(e.Actor.KeyID),
		string(e.Action), by, e.Actor.Person, e.Actor.Address, e.RequestID, strings.TrimSpace(e.What))
	if err != nil {
		return fmt.Errorf("writing the audit trail: %w", err)
	}
	return nil
}

// AddTrailWithin is AddTrail in a transaction of the caller's, for what is no event.
func (s *Setup) AddTrailWithin(ctx context.Context, tx *sql.Tx, e event.TrailEntry) error {
	return s.addTrail(ctx, tx, &e)
}
