package record

import (
	"encoding/json"
	"fmt"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
)

// storedHold is a gift.OpenHold as JSON. Its member names are a storage format: they may be added to, not changed.
type storedHold struct {
	ID    string `json:"id"`
	Left  int64  `json:"left"`
	Until int64  `json:"until"` // microseconds since 1970
	At    string `json:"at,omitzero"`
}

// SelectHolds finds holds by their ids, and reads what captures and releases need of them: half of what an entry has.
var SelectHolds = &db.Query{What: "reading holds", Scoped: true,
	SQLite: `SELECT e.account_id, e.id, e.voucher_id, e.kind, e.location_id, e.held_until, e.reference
		FROM json_each($2) AS w CROSS JOIN entry AS e
		WHERE e.account_id = $1 AND e.id = unhex(w.value) AND e.kind = 'HOLD'`,
	Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
			SELECT e.account_id, e.id, e.voucher_id, e.kind, e.location_id, e.held_until, e.reference
			FROM entry AS e
			WHERE e.account_id = w.account_id AND e.id = w.key AND e.kind = 'HOLD' OFFSET 0) AS found`,
	Citus: `SELECT e.account_id, e.id, e.voucher_id, e.kind, e.location_id, e.held_until, e.reference
		FROM entry AS e
		WHERE e.account_id = $1 AND e.id = ANY($2::BYTEA[]) AND e.kind = 'HOLD'`}

// HoldFields are where the columns of SelectHolds are read into.
func HoldFields(e *gift.Entry) []any {
	return []any{db.ScanID(&e.AccountID), db.ScanID(&e.ID), db.ScanID(&e.VoucherID), &e.Kind,
		db.ScanID(&e.Actor.LocationID), db.ScanTime(&e.Until), &e.Reference}
}

// HoldColumns are open holds as they are stored: their sum, the end of the first of them, and themselves.
func HoldColumns(holds []gift.OpenHold) (held int64, end, list any) {
	if len(holds) == 0 {
		return 0, nil, nil
	}
	stored, first := make([]storedHold, len(holds)), holds[0].Until
	for i, h := range holds {
		stored[i] = storedHold{ID: h.ID.String(), Left: int64(h.Left), Until: h.Until.UnixMicro()}
		if !h.LocationID.IsZero() {
			stored[i].At = h.LocationID.String()
		}
		held += int64(h.Left)
		if h.Until.Before(first) {
			first = h.Until
		}
	}
	text, err := json.Marshal(stored)
	if err != nil {
		panic(err) // texts and numbers do not fail
	}
	return held, db.Micros(first), string(text)
}

// ScanHolds reads a column into open holds.
func ScanHolds(to *[]gift.OpenHold) any { return scanHolds{to} }

type scanHolds struct{ to *[]gift.OpenHold }

// Scan implements sql.Scanner.
func (s scanHolds) Scan(column any) error {
	list, err := readJSON[[]storedHold](column)
	if err != nil {
		return fmt.Errorf("the list of holds is damaged: %w", err)
	}
	*s.to = nil
	for _, h := range list {
		hold := gift.OpenHold{Left: money.Amount(h.Left), Until: time.UnixMicro(h.Until).UTC()}
		if hold.ID, err = guid.Parse(h.ID); err == nil && h.At != "" {
			hold.LocationID, err = guid.Parse(h.At)
		}
		if err != nil {
			return fmt.Errorf("the list of holds is damaged: %w", err)
		}
		*s.to = append(*s.to, hold)
	}
	return nil
}
