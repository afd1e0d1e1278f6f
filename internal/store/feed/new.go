package feed

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

// maxNew is how many rows NewEvents looks at.
const maxNew = 1_000

// NewEvents tells which accounts have events after a position, and up to which it looked; it passes no transaction that
// is open. Before 0, it tells of none, and where the newest is.
func (f *Feed) NewEvents(ctx context.Context, after int64) (accounts []guid.ID, upTo int64, err error) {
	safe, err := f.safe(ctx)
	if err != nil {
		return nil, after, fmt.Errorf("looking for new events: %w", err)
	}
	if after < 0 {
		upTo, err = f.newest(ctx, safe)
		return nil, upTo, err
	}
	const query = `SELECT t.position, t.account_id FROM event AS t WHERE t.position > $1 AND t.position <= $2
		ORDER BY t.position LIMIT $3`
	type found struct {
		position int64
		account  guid.ID
	}
	rows, err := db.Collect(ctx, f.db, query, []any{after, safe, maxNew}, func(from db.Scanner) (r found, err error) {
		err = from.Scan(&r.position, db.ScanID(&r.account))
		return r, err
	})
	if err != nil {
		return nil, after, fmt.Errorf("looking for new events: %w", err)
	}
	seen := map[guid.ID]bool{}
	for _, r := range rows {
		if !seen[r.account] {
			seen[r.account] = true
			accounts = append(accounts, r.account)
		}
	}
	if upTo = min(after, safe); len(rows) > 0 { // below after: the database was restored
		upTo = rows[len(rows)-1].position
	}
	return accounts, upTo, nil
}

// newest is the position of the newest row up to one; 0: there is none.
func (f *Feed) newest(ctx context.Context, safe int64) (position int64, err error) {
	err = f.db.Get(ctx, `SELECT coalesce(max(t.position), 0) FROM event AS t WHERE t.position <= $1`, []any{safe}, &position)
	if err != nil {
		return 0, fmt.Errorf("looking for the newest event: %w", err)
	}
	return position, nil
}

// clockTolerance is how far the times of events may be out of the order of their commits.
const clockTolerance = 10 * time.Minute

// EventsBefore is a place after which all events of an account come that were made at a time or later, and few others.
func (f *Feed) EventsBefore(ctx context.Context, account guid.ID, at time.Time) (merchant.EventPlace, error) {
	place, _, err := f.lastBefore(ctx, account, at.Add(-clockTolerance))
	return place, err
}

// EventsUntil is a place up to which all events of an account come that were made before a time, and few others.
func (f *Feed) EventsUntil(ctx context.Context, account guid.ID, at time.Time) (place merchant.EventPlace, err error) {
	_, next, err := f.lastBefore(ctx, account, at.Add(clockTolerance))
	if err == nil {
		place, err = f.endUpTo(ctx, account, next-1)
	}
	return place, err
}

// selectDated passes over events of the set-up: in test accounts too, the version before dated them by the machine's
// clock.
const selectDated = `SELECT t.position, t.made_at, t.kinds, t.entries, t.body FROM event AS t
	WHERE t.account_id = $1 AND t.position >= $2 AND t.position <= $3 AND (t.body = '' OR t.kinds LIKE ' gift.%')
	ORDER BY t.position LIMIT 1`

// lastBefore is the place after an event of a gift of an account that was made before a time, and the position of the
// next one of a gift, which was not. Where events of gifts were made in the order of their positions, to within
// clockTolerance, there is one such place; where a clock was set back, any of several. It looks as often as halving all
// positions takes.
func (f *Feed) lastBefore(ctx context.Context, account guid.ID, at time.Time) (place merchant.EventPlace, next int64,
	err error) {
	high, err := f.safe(ctx)
	if err == nil {
		high, err = f.newest(ctx, high)
	}
	if err != nil {
		return place, 0, fmt.Errorf("looking for the events of a time: %w", err)
	}
	next = high + 1
	for low := int64(0); low <= high; {
		middle := low + (high-low)/2
		rows, err := f.rows(ctx, selectDated, account, middle, high)
		if err != nil {
			return place, 0, fmt.Errorf("looking for the events of a time: %w", err)
		}
		if len(rows) == 0 || !rows[0].madeAt.Before(at) {
			if high = middle - 1; len(rows) > 0 {
				next = rows[0].position
			}
			continue
		}
		r := &rows[0]
		place = event.After(r.position, r.size(), r.id(r.size()-1))
		low = r.position + 1
	}
	return place, next, nil
}

// Drawn is the newest position that was drawn; its transaction may be open. In the embedded database, which has one
// writer, Drawn waits until whoever writes is done, so that what was dated before is committed.
func (f *Feed) Drawn(ctx context.Context) (position int64, err error) {
	if f.db.File != "" {
		err = f.db.Write(ctx, func(tx *sql.Tx) error {
			return tx.QueryRowContext(ctx, `SELECT coalesce(max(t.position), 0) FROM event AS t`).Scan(&position)
		})
		return position, err
	}
	err = f.db.Retry(ctx, func(ctx context.Context) error {
		return f.db.Read(ctx, []db.Batch{number(selectDrawn, &position)})
	})
	if err != nil {
		return 0, fmt.Errorf("reading the newest position: %w", err)
	}
	return position, nil
}

// Committed reports whether everything up to a position is committed that ever will be.
func (f *Feed) Committed(ctx context.Context, position int64) (bool, error) {
	safe, err := f.safe(ctx)
	if err != nil {
		return false, fmt.Errorf("looking up to where events are committed: %w", err)
	}
	return position <= safe, nil
}
