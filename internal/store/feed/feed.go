// Package feed reads the events of accounts in the order of commits. Entries are events by being entries: a table of
// positions has, for each commit, which entries it made. What happens without an entry is written into that table.
package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// Gifts finds the gifts that events are about.
type Gifts interface {
	GiftsNamed(ctx context.Context, account gift.ID, ids []gift.ID) ([]gift.Gift, error)
}

// Feed reads events.
type Feed struct {
	db    *db.DB
	gifts Gifts
	fence fence
	watch watch
}

// New reads from an open database.
func New(d *db.DB, gifts Gifts) *Feed { return &Feed{db: d, gifts: gifts, watch: newWatch()} }

// MaxRead is how many commits one page looks at. Where few events fit the query, a page comes with fewer than its
// limit, or none, and says where the next one begins.
const MaxRead = 1_000

// row is what stands at a position.
type row struct {
	position int64
	madeAt   time.Time
	kinds    string
	entries  []byte
	body     string
}

// size is how many events the row has.
func (r *row) size() int { return max(1, len(r.entries)/len(gift.ID{})) }

// id is that of one of its events.
func (r *row) id(n int) (id gift.ID) {
	if r.body == "" {
		copy(id[:], r.entries[n*len(id):])
		return id
	}
	var b body
	_ = json.Unmarshal([]byte(r.body), &b) // what is no event is found by reading it
	return b.ID
}

// wanted tells that there may be events of the query in the row.
func (r *row) wanted(q *gift.EventQuery) bool {
	if r.body != "" || len(q.Types) == 0 {
		return q.Wants(gift.EventType(strings.TrimSpace(r.kinds)))
	}
	for kind := range strings.FieldsSeq(r.kinds) {
		if k := gift.Kind(kind); q.Wants(k.EventType()) || k == gift.Redemption && q.Wants(gift.EventHoldCaptured) {
			return true
		}
	}
	return false
}

const selectRows = `SELECT t.position, t.made_at, t.kinds, t.entries, t.body FROM event AS t
	WHERE t.account_id = $1 AND t.position >= $2 AND t.position <= $3 ORDER BY t.position LIMIT $4`

// Statements are those that are worth preparing.
func Statements(d *db.DB) []string {
	texts := append(d.Texts(selectEntries), selectRows)
	for i := range expiries {
		texts = append(texts, expiries[i].due)
	}
	return texts
}

func (f *Feed) rows(ctx context.Context, account gift.ID, from, to int64, limit int) ([]row, error) {
	return db.Collect(ctx, f.db, selectRows, []any{db.KeyOf(account), from, to, limit},
		func(from db.Scanner) (r row, err error) {
			err = from.Scan(&r.position, db.ScanTime(&r.madeAt), &r.kinds, &r.entries, &r.body)
			return r, err
		})
}

// Events gives at most q.Limit events of an account after a place, in the order of the commits that made them: whoever
// goes on from Next every time sees each event once, and those of a gift in the order of its history. It does not give
// what was committed while a transaction that began earlier is still open. A place that is not known any more is
// refused with gift.NoSuchPlace.
func (f *Feed) Events(ctx context.Context, q gift.EventQuery) (page gift.EventPage, err error) {
	safe, err := f.safe(ctx)
	if err != nil {
		return page, fmt.Errorf("reading events: %w", err)
	}
	limit := MaxRead
	if len(q.Types) == 0 && len(q.Locations) == 0 {
		limit = min(limit, q.Limit+2) // the row of the place before them, and one that tells that there is more
	}
	if safe < q.After.Position {
		safe = q.After.Position // another instance has come further; its row is there
	}
	rows, err := f.rows(ctx, q.AccountID, q.After.Position, safe, limit)
	if err != nil {
		return page, fmt.Errorf("reading events: %w", err)
	}
	if !q.After.IsZero() && (len(rows) == 0 || !rows[0].has(q.After)) {
		return page, gift.NoSuchPlace()
	}
	w := walk{feed: f, query: &q, rows: rows, at: q.After}
	if err := w.fill(ctx, &page); err != nil {
		return page, fmt.Errorf("reading events: %w", err)
	}
	page.Next, page.More = w.at, page.More || len(w.rows) > 0 || len(rows) == limit
	return page, nil
}

// has tells that a place is in the row.
func (r *row) has(p gift.EventPlace) bool {
	return r.position == p.Position && p.Part >= 1 && p.Part <= r.size() &&
		gift.After(p.Position, p.Part, r.id(p.Part-1)) == p
}

// EventsEnd is the place after the newest event of an account.
func (f *Feed) EventsEnd(ctx context.Context, account gift.ID) (end gift.EventPlace, err error) {
	safe, err := f.safe(ctx)
	if err != nil {
		return end, fmt.Errorf("looking for the newest event: %w", err)
	}
	const newest = `SELECT t.position, t.made_at, t.kinds, t.entries, t.body FROM event AS t
		WHERE t.account_id = $1 AND t.position <= $2 ORDER BY t.position DESC LIMIT 1`
	rows, err := db.Collect(ctx, f.db, newest, []any{db.KeyOf(account), safe}, func(from db.Scanner) (r row, err error) {
		err = from.Scan(&r.position, db.ScanTime(&r.madeAt), &r.kinds, &r.entries, &r.body)
		return r, err
	})
	if err != nil {
		return end, fmt.Errorf("looking for the newest event: %w", err)
	}
	for i := range rows {
		end = gift.After(rows[i].position, rows[i].size(), rows[i].id(rows[i].size()-1))
	}
	return end, nil
}

// walk goes through rows from a place on.
type walk struct {
	feed  *Feed
	query *gift.EventQuery
	rows  []row // those that were not gone through
	part  int   // how many events of the first of them were
	at    gift.EventPlace
}

// step is an event that is looked at, or the end of a row of which none is.
type step struct {
	place       gift.EventPlace
	id          gift.ID // zero: of none
	madeAt      time.Time
	kinds, body string
}

// maxSteps is how many steps are read at a time, unless the page has more.
const maxSteps = 200

// fill adds events to a page until it is full or the rows are gone through.
func (w *walk) fill(ctx context.Context, page *gift.EventPage) error {
	// more at a time where few of them fit, so that a small page takes few look-ups
	for n := w.query.Limit; len(w.rows) > 0 && len(page.Events) < w.query.Limit; n = max(n, min(2*n, maxSteps)) {
		steps := w.next(n)
		events, err := w.read(ctx, steps)
		if err != nil {
			return err
		}
		for _, s := range steps {
			if len(page.Events) == w.query.Limit {
				page.More = true
				return nil
			}
			w.at = s.place
			if e := events[s.id]; e != nil && w.query.Wants(e.Type) && e.TellsOf(w.query.Locations) {
				e.Place = s.place
				page.Events = append(page.Events, *e)
			}
		}
	}
	return nil
}

// next gives the next steps, of which at most n are events.
func (w *walk) next(n int) (steps []step) {
	for len(w.rows) > 0 && n > 0 {
		r := &w.rows[0]
		size := r.size()
		if r.position == w.query.After.Position {
			w.part = max(w.part, w.query.After.Part)
		}
		if !r.wanted(w.query) && w.part < size {
			w.part = size
			steps = append(steps, step{place: gift.After(r.position, size, r.id(size-1))})
		}
		for ; w.part < size && n > 0; n-- {
			id := r.id(w.part)
			w.part++
			steps = append(steps, step{gift.After(r.position, w.part, id), id, r.madeAt, r.kinds, r.body})
		}
		if w.part == size {
			w.rows, w.part = w.rows[1:], 0
		}
	}
	return steps
}

var selectEntries = db.SelectByKeys("entries", `SELECT `+record.EntryColumns+` FROM entry AS e
	WHERE e.account_id = $1 AND e.id {keys}`, "B", true)

// read gives the events of steps by their ids, with their gifts: two look-ups for all of them.
func (w *walk) read(ctx context.Context, steps []step) (map[gift.ID]*gift.Event, error) {
	account, events := w.query.AccountID, map[gift.ID]*gift.Event{}
	var entries []ledger.Ref
	for _, s := range steps {
		switch {
		case s.id.IsZero():
		case s.body == "":
			entries = append(entries, ledger.Ref{AccountID: account, ID: s.id})
		default:
			var b body
			if err := json.Unmarshal([]byte(s.body), &b); err != nil {
				return nil, fmt.Errorf("event %d: %w: %w; run boon verify", s.place.Position, gift.UnexpectedError, err)
			}
			events[s.id] = &gift.Event{ID: s.id, Type: gift.EventType(strings.TrimSpace(s.kinds)), AccountID: account,
				At: s.madeAt, Note: b.EventNote}
		}
	}
	err := w.feed.db.Retry(ctx, func(ctx context.Context) error {
		return w.feed.db.Read(ctx, record.ByRef(selectEntries, entries, func(from db.Scanner) error {
			e := new(gift.Entry)
			err := from.Scan(record.EntryFields(e)...)
			events[e.ID] = &gift.Event{ID: e.ID, Type: e.EventType(), AccountID: account, At: e.At, Entry: e,
				Note: gift.EventNote{GiftID: e.VoucherID}}
			return err
		}))
	})
	if err != nil {
		return nil, fmt.Errorf("reading entries: %w", err)
	}
	return events, w.addGifts(ctx, events)
}

// addGifts gives events their gifts. What is about a gift that is not there is no event.
func (w *walk) addGifts(ctx context.Context, events map[gift.ID]*gift.Event) error {
	var ids []gift.ID
	for _, e := range events {
		if !e.Note.GiftID.IsZero() {
			ids = append(ids, e.Note.GiftID)
		}
	}
	gifts, err := w.feed.gifts.GiftsNamed(ctx, w.query.AccountID, ids)
	if err != nil {
		return err
	}
	byID := make(map[gift.ID]*gift.Gift, len(gifts))
	for i := range gifts {
		byID[gifts[i].ID] = &gifts[i]
	}
	for id, e := range events {
		if e.Gift = byID[e.Note.GiftID]; e.Gift == nil && !e.Note.GiftID.IsZero() {
			delete(events, id)
		}
	}
	return nil
}
