package feed

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"boon.example/internal/store/db"
)

// watermark knows up to which position all is committed that ever will be: the watermark of the events on PostgreSQL.
//
// # Why it is hard
//
// Readers of events go on from the last position that they saw, and must miss none. A writer draws its position from a
// sequence and commits later, and writers commit in any order:
//
//	writer A   draws 11 .................... commits
//	writer B        draws 12 ... commits
//	reader                               reads 12, goes on after 12: 11 is lost
//
// A lock from the drawing to the commit would keep positions in order, and would put all commits of all accounts in a
// row. Waiting for a while is no help, as nobody knows how long a transaction takes. To read only up to the first gap
// would stand still for ever at a position whose writer rolled back.
//
// # How it works
//
// Every transaction that writes has a number, and PostgreSQL deals numbers out in ascending order. move reads, one
// after the other: the newest position (drawn); a number that it draws for itself (own); the oldest number that is
// still open. Whatever drew a position up to drawn had its number before, and so a smaller one than own. Once no number
// below own is open, each of those positions has been committed or never will be, and readers may go up to drawn.
//
// # Invariants
//
//  1. A writer has the number of its transaction before it draws a position. next_event_position and the trigger
//     entries_are_events (migration 0002) see to that; whoever adds another way to draw a position must, too.
//  2. drawn is read before own is drawn, in one connection. In the other order a writer could get its number and its
//     position in between, and be open below the watermark.
//  3. Everything up to upTo can be read, or was rolled back. Gaps are usual, and say nothing.
//  4. upTo only grows, but where the newest position is smaller than one that was seen before: then the database is an
//     older one, put back from a backup or a standby, and the watermark begins anew.
//  5. At most one pair of position and number is pending. A newer pair waits until the pending one is done, so that a
//     server on which transactions overlap all the time still moves the watermark.
//  6. A snapshot counts the transactions of all databases of the server, and one of them may be open for hours. After
//     askAfter the watermark asks which open transactions are of this database (doneHere), prepared ones among
//     them, and waits for these only. That list has the lower half of each number, which is compared as numbers that
//     go round.
//  7. Watermarks of several processes know nothing of each other. Whoever comes with a place beyond this watermark has
//     it from a process whose watermark was further, so up to there everything is committed: see Feed.readRows.
//
// # What shows it
//
// testFollowers of package store has writers on two instances commit late and lose their connections, and demands that
// whoever follows gets every entry once (3). TestFeedWaitsForItsOwnDatabase leaves transactions open, in this database
// and in another one of the server (6).
//
// The embedded database needs no watermark: it has one writer, so positions are committed in the order in which they
// are drawn.
type watermark struct {
	mu      sync.Mutex
	upTo    int64 // all of it can be read
	pending int64 // can be, once all transactions below number are done
	number  int64 // 0: nothing is pending
	since   time.Time
}

// askAfter is how long the watermark waits for all transactions of the server before it asks which of them matter.
const askAfter = time.Second

// One after the other, as each must come after what the one before it saw. A snapshot's own upper bound would not do:
// transactions beyond it can be open.
var (
	selectDrawn = &db.Query{What: "reading the newest position",
		Postgres: `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM event_position`}
	drawNumber = &db.Query{What: "drawing the number of a transaction",
		Postgres: `SELECT pg_current_xact_id()::TEXT::BIGINT`}
	selectOldest = &db.Query{What: "reading the oldest open transaction",
		Postgres: `SELECT pg_snapshot_xmin(pg_current_snapshot())::TEXT::BIGINT`}
	// A snapshot counts the transactions of all databases of a server. Only those of this one write here. Their numbers
	// come without the upper half.
	selectOpen = &db.Query{What: "reading the open transactions of this database",
		Postgres: `SELECT backend_xid::TEXT::BIGINT FROM pg_stat_activity
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
	f.watermark.mu.Lock()
	defer f.watermark.mu.Unlock()
	err := f.db.Retry(ctx, func(ctx context.Context) error { return f.watermark.move(ctx, f.db) })
	return f.watermark.upTo, err
}

// move brings the watermark up to date.
func (f *watermark) move(ctx context.Context, d *db.DB) error {
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
func (f *watermark) doneHere(ctx context.Context, d *db.DB) (bool, error) {
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
