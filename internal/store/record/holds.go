package record

import (
	"encoding/json"
	"fmt"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/store/db"
)

// storedHold is a gift.OpenHold as JSON. Its member names are a storage format: they may be added to, not changed.
type storedHold struct {
	ID    string `json:"id"`
	Left  int64  `json:"left"`
	Until int64  `json:"until"` // microseconds since 1970
	At    string `json:"at,omitzero"`
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
		hold := gift.OpenHold{Left: gift.Amount(h.Left), Until: time.UnixMicro(h.Until).UTC()}
		if hold.ID, err = gift.ParseID(h.ID); err == nil && h.At != "" {
			hold.LocationID, err = gift.ParseID(h.At)
		}
		if err != nil {
			return fmt.Errorf("the list of holds is damaged: %w", err)
		}
		*s.to = append(*s.to, hold)
	}
	return nil
}
