package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
)

const (
	selectProbed = `SELECT c.probed_at FROM card AS c WHERE c.account_id = $1 AND c.voucher_id = $2`
	// A card of which somebody else told meanwhile is told of once, whoever looked at the clock first.
	updateProbed = `UPDATE card SET probed_at = $3
		WHERE account_id = $1 AND voucher_id = $2 AND NOT (probed_at > $4 AND probed_at < $5)`
)

// NoteProbe tells that a card which is not sold yet was asked for by its code, as an event and in the audit trail, at
// most once in event.ProbedEvery for each card. Where it is due, count is asked before whether so much may be kept.
// Whoever asks again meanwhile costs a read by the key of one row.
func (s *Setup) NoteProbe(ctx context.Context, e event.TrailEntry, now time.Time, count func() error) error {
	var last time.Time
	of := []any{db.KeyOf(e.AccountID), db.KeyOf(e.VoucherID)}
	err := s.db.Get(ctx, selectProbed, of, db.ScanTime(&last))
	switch { // a clock that was far ahead keeps nothing quiet
	case errors.Is(err, sql.ErrNoRows), err == nil && now.Sub(last).Abs() < event.ProbedEvery:
		return nil
	case err != nil:
		return fmt.Errorf("reading when a card was asked for: %w", err)
	}
	if err := count(); err != nil {
		return err
	}
	e.Action = event.Probed
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, updateProbed, append(of, now.UnixMicro(), now.Add(-event.ProbedEvery).UnixMicro(),
			now.Add(event.ProbedEvery).UnixMicro())...)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return err
		}
		err = feed.AddNow(ctx, tx, event.Event{Type: e.Action, AccountID: e.AccountID, At: now,
			Note: event.Note{GiftID: e.VoucherID, KeyID: e.Actor.KeyID}})
		if err != nil {
			return err
		}
		return s.addTrail(ctx, tx, &e)
	})
	if err != nil {
		return fmt.Errorf("telling that a card was asked for: %w", err)
	}
	return nil
}
