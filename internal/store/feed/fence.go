package feed

import (
	"context"
	"math"
	"sync"

	"boon.example/internal/store/db"
)

// fence knows up to which position all is committed that ever will be. A writer has the number of its transaction
// before it draws a position. So whatever drew one up to some last_value has a number below one that is drawn
// afterwards, here; once a snapshot says that all numbers below that are done with, every position up to that
// last_value is there to be read, or never will be.
type fence struct {
	mu      sync.Mutex
	upTo    int64 // all of it can be read
	pending int64 // can be, once all transactions below number are done
	number  int64 // 0: nothing is pending
}

// One after the other, as each must come after what the one before it saw. A snapshot's own upper bound would not do:
// transactions beyond it can be open.
var (
	selectDrawn = &db.Query{What: "reading the newest position",
		One: `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM event_position`}
	drawNumber = &db.Query{What: "drawing the number of a transaction",
		One: `SELECT pg_current_xact_id()::TEXT::BIGINT`}
	selectOldest = &db.Query{What: "reading the oldest open transaction",
		One: `SELECT pg_snapshot_xmin(pg_current_snapshot())::TEXT::BIGINT`}
)

// number reads one.
func number(q *db.Query, to *int64) db.Batch {
	return db.Batch{Query: q, Rows: [][]any{{}}, Scan: func(from db.Scanner) error { return from.Scan(to) }}
}

// safe is the position up to which events can be read. In the embedded database, which has one writer, that is all.
func (f *Feed) safe(ctx context.Context) (int64, error) {
	if f.db.File != "" {
		return math.MaxInt64, nil
	}
	f.fence.mu.Lock()
	defer f.fence.mu.Unlock()
	err := f.db.Retry(ctx, func(ctx context.Context) error { return f.fence.move(ctx, f.db) })
	return f.fence.upTo, err
}

// move brings the fence up to date.
func (f *fence) move(ctx context.Context, d *db.DB) error {
	var drawn, own, oldest int64
	if err := d.Read(ctx, []db.Batch{number(selectDrawn, &drawn), number(selectOldest, &oldest)}); err != nil {
		return err
	}
	if drawn < f.upTo || drawn < f.pending { // an older state of the database came back: a standby, or a backup
		f.upTo, f.pending, f.number = 0, 0, 0
	}
	if f.number > 0 && oldest >= f.number {
		f.upTo, f.number = f.pending, 0
	}
	if drawn <= f.upTo || f.number > 0 {
		return nil
	}
	err := d.Read(ctx, []db.Batch{number(selectDrawn, &drawn), number(drawNumber, &own), number(selectOldest, &oldest)})
	if err != nil {
		return err
	}
	if f.pending, f.number = drawn, own; oldest >= own {
		f.upTo, f.number = drawn, 0
	}
	return nil
}
