package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
)

// toldFor is how long what one instance told of a database that went back is not told by another.
const toldFor = time.Minute

// NoteWentBack tells that the database went back to an earlier state, in words: as an event and in the audit trail of
// every account, and in the log of the set-up. Several instances find it; what one of them told a moment ago stands.
func (s *Setup) NoteWentBack(ctx context.Context, what string) error {
	d, err := s.Directory(ctx)
	if err != nil {
		return err
	}
	var told error
	err = s.logWords(ctx, what, func(tx *sql.Tx) error {
		told = nil
		for account := range d.Accounts {
			var before int
			err := tx.QueryRowContext(ctx, `SELECT count(*) FROM trail WHERE account_id = $1 AND id >= $2 AND action = $3`,
				db.KeyOf(account), db.KeyOf(gift.IDsFrom(time.Now().Add(-toldFor))), string(event.WentBack)).Scan(&before)
			if err != nil {
				return fmt.Errorf("reading the audit trail: %w", err)
			}
			if before > 0 {
				told = errTold
				return told
			}
			e := event.TrailEntry{AccountID: account, Action: event.WentBack, What: what}
			if err := s.addTrail(ctx, tx, &e); err != nil {
				return err
			}
			err = feed.AddNow(ctx, tx, event.Event{Type: event.WentBack, AccountID: account, At: time.Now()})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(told, errTold) {
		return fmt.Errorf("telling that the database went back: %w", err)
	}
	return nil
}

// errTold ends a transaction in which nothing is left to be told.
var errTold = errors.New("another instance has told of it")
