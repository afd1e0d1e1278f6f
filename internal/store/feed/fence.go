package feed

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

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
	since   time.Time
}

// askAfter is how long the fence waits for all transactions of the server before it asks which of them matter.
const askAfter = time.Second

// One after the other, as each must come after what the one before it saw. A snapshot's own upper bound would not do:
// transactions beyond it can be open.
var (
	selectDrawn = &db.Query{What: "reading the newest position",
		One: `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM event_position`}
	drawNumber = &db.Query{What: "drawing the number of a transaction",
		One: `SELECT pg_current_xact_id()::TEXT::BIGINT`}
	selectOldest = &db.Query{What: "reading the oldest open transaction",
		One: `SELECT pg_snapshot_xmin(pg_current_snapshot())::TEXT::BIGINT`}
	// A snapshot counts the transactions of all databases of a server. Only those of this one write here. Their numbers
	// come without the upper half.
	selectOpen = &db.Query{What: "reading the open transactions of this database",
		One: `SELECT backend_xid::TEXT::BIGINT FROM pg_stat_activity
				WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()
			UNION ALL SELECT transaction::TEXT::BIGINT FROM pg_prepared_xacts WHERE database = current_database()`}
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
	if f.number > 0 {
		done := oldest >= f.number
		if !done && time.Since(f.since) > askAfter {
			var err error
			if done, err = f.doneHere(ctx, d); err != nil {
				return err
			}
		}
		if done {
			f.upTo, f.number = f.pending, 0
		}
	}
	if drawn <= f.upTo || f.number > 0 {
		return nil
	}
	err := d.Read(ctx, []db.Batch{number(selectDrawn, &drawn), number(drawNumber, &own), number(selectOldest, &oldest)})
	if err != nil {
		return err
	}
	if f.pending, f.number, f.since = drawn, own, time.Now(); oldest >= own {
		f.upTo, f.number = drawn, 0
	}
	return nil
}

// doneHere reports whether all transactions of this database below the number are done.
func (f *fence) doneHere(ctx context.Context, d *db.DB) (bool, error) {
	var open []int64
	err := d.Read(ctx, []db.Batch{{Query: selectOpen, Rows: [][]any{{}}, Scan: func(from db.Scanner) error {
		var number int64
		err := from.Scan(&number)
		open = append(open, number)
		return err
	}}})
	return !slices.ContainsFunc(open, func(number int64) bool {
		return int32(uint32(f.number)-uint32(number)) > 0 // they go round
	}), err
}
