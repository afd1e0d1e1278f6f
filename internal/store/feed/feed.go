// Package feed reads the events of accounts in the order of commits. Entries are events by being entries: a table of
// positions has, for each commit, which entries it made. What happens without an entry is written into that table.
package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// Gifts finds the gifts that events are about.
type Gifts interface {
	GiftsByRef(ctx context.Context, refs []ledger.Ref) ([]gift.Gift, error)
}

// Feed reads events.
type Feed struct {
	db        *db.DB
	gifts     Gifts
	watermark watermark
	watch     watch
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
func (r *row) size() int { return max(1, len(r.entries)/len(guid.ID{})) }

// id is that of one of its events.
func (r *row) id(n int) (id guid.ID) {
	if r.body == "" {
		copy(id[:], r.entries[n*len(id):])
		return id
	}
	var b body
	_ = json.Unmarshal([]byte(r.body), &b) // what is no event is found by reading it
	return guid.ID(b.ID)
}

// wanted tells that there may be events of the query in the row.
func (r *row) wanted(q *event.Query) bool {
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

var selectPage = &db.Query{What: "reading the order of events", Scoped: true,
	Each: `SELECT t.position, t.made_at, t.kinds, t.entries, t.body FROM event AS t
	WHERE t.account_id = $1 AND t.position >= $2 AND t.position <= $3 ORDER BY t.position LIMIT $4`}

// common are the kinds of entry that most rows have. The rows of others have an index, event_rare: whoever asks for
// rare types only reads no row of a million redemptions.
var common = []gift.Kind{gift.Issued, gift.Sent, gift.Redemption}

// selectRare is selectPage for rare types: the row of the place, those of rare kinds after it, and the newest row, so
// that the place moves on where nothing fits. The condition on kinds is that of the index, word for word.
var selectRare = &db.Query{What: "reading the order of rare events", Scoped: true,
	Each: `SELECT p.position, p.made_at, p.kinds, p.entries, p.body FROM (
		SELECT * FROM (SELECT t.position, t.made_at, t.kinds, t.entries, t.body FROM event AS t
			WHERE t.account_id = $1 AND t.position = $2 AND t.position <= $3) AS a
		UNION ALL SELECT * FROM (SELECT t.position, t.made_at, t.kinds, t.entries, t.body FROM event AS t
			WHERE t.account_id = $1 AND t.position > $2 AND t.position <= $3 
				AND trim(replace(replace(replace(t.kinds, 'ISSUED', ''), 'DELIVERED', ''), 'REDEMPTION', '')) <> ''
			ORDER BY t.position LIMIT $4) AS b
		UNION ALL SELECT * FROM (SELECT t.position, t.made_at, t.kinds, t.entries, t.body FROM event AS t
			WHERE t.account_id = $1 AND t.position > $2 AND t.position <= $3
			ORDER BY t.position DESC LIMIT 1) AS c
	) AS p ORDER BY p.position LIMIT $4`}

// asksForRare reports whether no event of a common kind is wanted.
func asksForRare(q *event.Query) bool {
	return len(q.Types) > 0 && !q.Wants(gift.EventHoldCaptured) &&
		!slices.ContainsFunc(common, func(k gift.Kind) bool { return q.Wants(k.EventType()) })
}

// Statements are those that are worth preparing.
func Statements(d *db.DB) []string {
	texts := d.Texts(selectEntries, selectPage, selectRare, selectGiftsOf)
	for i := range expiries {
		texts = append(texts, expiries[i].count)
	}
	return texts
}

// rows reads rows by one of the queries that select all of their columns.
func (f *Feed) rows(ctx context.Context, query string, account guid.ID, args ...any) ([]row, error) {
	return db.Collect(ctx, f.db, query, append([]any{db.KeyOf(account)}, args...),
		func(from db.Scanner) (r row, err error) {
			err = from.Scan(&r.position, db.ScanTime(&r.madeAt), &r.kinds, &r.entries, &r.body)
			return r, err
		})
}

// Events gives at most q.Limit events of an account after a place, in the order of the commits that made them: whoever
// goes on from Next every time sees each event once, and those of a gift in the order of its history. It does not give
// what was committed while a transaction that began earlier is still open. A place that is not known any more is
// refused with event.NoSuchPlace, or with event.LostPlace after the database was put back to an earlier state.
func (f *Feed) Events(ctx context.Context, q event.Query) (event.Page, error) {
	pages, err := f.EventPages(ctx, []event.Query{q})
	if err != nil {
		return event.Page{}, err
	}
	if pages[0].Forgotten {
		return event.Page{}, f.refuse(ctx, &q)
	}
	return pages[0], nil
}

// refuse says why a place is not there. Events are forgotten from the oldest on, and the newest never is: a place that
// is later than the oldest, or of an account without any, is of a later state of the database than there is.
func (f *Feed) refuse(ctx context.Context, q *event.Query) error {
	const oldest = `SELECT coalesce(min(t.position), 0) FROM event AS t WHERE t.account_id = $1`
	var first int64
	if err := f.db.Get(ctx, oldest, []any{db.KeyOf(q.AccountID)}, &first); err != nil {
		return fmt.Errorf("looking for the oldest event: %w", err)
	}
	if first <= q.After.Position {
		return event.LostPlace()
	}
	return event.NoSuchPlace()
}

// EventPages is Events for several accounts, with as many look-ups as for one. A page whose place is not known any more
// says that it is Forgotten.
func (f *Feed) EventPages(ctx context.Context, queries []event.Query) ([]event.Page, error) {
	pages := make([]event.Page, len(queries))
	safe, err := f.safe(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	walks := make([]*walk, len(queries))
	for n := range queries {
		walks[n] = &walk{query: &queries[n], page: &pages[n], at: queries[n].After}
	}
	if err := f.readRows(ctx, walks, safe); err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	for _, w := range walks {
		w.more = len(w.rows) == w.limit()
		if after := w.query.After; !after.IsZero() && (len(w.rows) == 0 || !w.rows[0].has(after)) {
			w.page.Forgotten, w.rows, w.more = true, nil, false
		}
	}
	if err := f.fill(ctx, walks); err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	for _, w := range walks {
		w.page.Next, w.page.More = w.at, w.page.More || len(w.rows) > 0 || w.more
	}
	return pages, nil
}

// readRows reads the rows that walks begin with.
func (f *Feed) readRows(ctx context.Context, walks []*walk, safe int64) error {
	return f.db.Retry(ctx, func(ctx context.Context) error {
		batches := make([]db.Batch, len(walks))
		for n, w := range walks {
			w.rows = nil
			upTo := max(safe, w.query.After.Position) // another instance may have come further; its row is there
			query := selectPage
			if asksForRare(w.query) {
				query = selectRare
			}
			batches[n] = db.Batch{Query: query, Account: w.query.AccountID,
				Rows: [][]any{{w.query.After.Position, upTo, w.limit()}}, Scan: func(from db.Scanner) error {
					var r row
					err := from.Scan(&r.position, db.ScanTime(&r.madeAt), &r.kinds, &r.entries, &r.body)
					if last := len(w.rows) - 1; last < 0 || w.rows[last].position < r.position { // the newest may be a rare one
						w.rows = append(w.rows, r)
					}
					return err
				}}
		}
		return f.db.Read(ctx, batches)
	})
}

// has tells that a place is in the row.
func (r *row) has(p merchant.EventPlace) bool {
	return r.position == p.Position && p.Part >= 1 && p.Part <= r.size() &&
		event.After(p.Position, p.Part, r.id(p.Part-1)) == p
}

// EventsEnd is the place after the newest event of an account.
func (f *Feed) EventsEnd(ctx context.Context, account guid.ID) (end merchant.EventPlace, err error) {
	safe, err := f.safe(ctx)
	if err != nil {
		return end, fmt.Errorf("looking for the newest event: %w", err)
	}
	return f.endUpTo(ctx, account, safe)
}

// endUpTo is the place after the newest event of an account up to a position.
func (f *Feed) endUpTo(ctx context.Context, account guid.ID, position int64) (end merchant.EventPlace, err error) {
	const newest = `SELECT t.position, t.made_at, t.kinds, t.entries, t.body FROM event AS t
		WHERE t.account_id = $1 AND t.position <= $2 ORDER BY t.position DESC LIMIT 1`
	rows, err := f.rows(ctx, newest, account, position)
	if err != nil {
		return end, fmt.Errorf("looking for the newest event: %w", err)
	}
	for i := range rows {
		end = event.After(rows[i].position, rows[i].size(), rows[i].id(rows[i].size()-1))
	}
	return end, nil
}

// walk goes through rows from a place on.
type walk struct {
	query *event.Query
	page  *event.Page // that it fills
	rows  []row       // those that were not gone through
	part  int         // how many events of the first of them were
	at    merchant.EventPlace
	more  bool // there may be more rows
	steps []step
}

// step is an event that is looked at, or the end of a row of which none is.
type step struct {
	place       merchant.EventPlace
	id          guid.ID // zero: of none
	madeAt      time.Time
	kinds, body string
}

// maxSteps is how many steps are read at a time, atOnce how many at first.
const (
	maxSteps = 200
	atOnce   = 50
)

// limit is how many rows a page looks at.
func (w *walk) limit() int {
	if q := w.query; len(q.Types) == 0 && len(q.Locations) == 0 && q.From.IsZero() && q.To.IsZero() {
		return min(MaxRead, q.Limit+2) // the row of the place before them, and one that tells that there is more
	}
	return MaxRead
}

// fill adds events to the pages of walks until each is full or its rows are gone through; or until half of the time is
// over that the caller has: then a page has what was read, and says that there is more. A slow database would else
// never give a page, and who follows would stand still.
func (f *Feed) fill(ctx context.Context, walks []*walk) error {
	late := db.Late(ctx)
	// more at a time where few of them fit, so that a small page takes few look-ups
	for times := 1; ; times = min(2*times, maxSteps) {
		some := false
		for _, w := range walks {
			w.steps = nil
			if n := w.query.Limit; len(w.rows) > 0 && len(w.page.Events) < n {
				w.steps, some = w.next(min(max(times*min(n, atOnce), min(n, atOnce)), maxSteps)), true
			}
		}
		if !some {
			return nil
		}
		events, err := f.read(ctx, walks)
		if err != nil {
			return err
		}
		for _, w := range walks {
			w.add(events)
		}
		if late() {
			return nil
		}
	}
}

// add adds those of the events that were looked at to the page that are wanted.
func (w *walk) add(events map[guid.ID]*event.Event) {
	for _, s := range w.steps {
		if len(w.page.Events) == w.query.Limit {
			w.page.More = true
			return
		}
		w.at = s.place
		if e := events[s.id]; e != nil && w.query.Wants(e.Type) && w.query.Within(e.At) && e.TellsOf(w.query.Locations) {
			e.Place = s.place
			w.page.Events = append(w.page.Events, *e)
		}
	}
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
			steps = append(steps, step{place: event.After(r.position, size, r.id(size-1))})
		}
		for ; w.part < size && n > 0; n-- {
			id := r.id(w.part)
			w.part++
			steps = append(steps, step{event.After(r.position, w.part, id), id, r.madeAt, r.kinds, r.body})
		}
		if w.part == size {
			w.rows, w.part = w.rows[1:], 0
		}
	}
	return steps
}

var selectEntries = &db.Query{What: "reading entries", Scoped: true,
	SQLite: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
			e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
			e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM json_each($2) AS w CROSS JOIN entry AS e
		WHERE e.account_id = $1 AND e.id = unhex(w.value)`,
	Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
			SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
				e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
				e.reason, e.request_id, e.details, e.held_after, e.address, e.till
			FROM entry AS e
			WHERE e.account_id = w.account_id AND e.id = w.key OFFSET 0) AS found`,
	Citus: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
			e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
			e.reason, e.request_id, e.details, e.held_after, e.address, e.till
		FROM entry AS e
		WHERE e.account_id = $1 AND e.id = ANY($2::BYTEA[])`}

// read gives the events of the steps of walks by their ids, with their gifts: two look-ups for all of them.
func (f *Feed) read(ctx context.Context, walks []*walk) (map[guid.ID]*event.Event, error) {
	events := map[guid.ID]*event.Event{}
	var entries []ledger.Ref
	for _, w := range walks {
		account := w.query.AccountID
		for _, s := range w.steps {
			switch {
			case s.id.IsZero():
			case s.body == "":
				entries = append(entries, ledger.Ref{AccountID: account, ID: s.id})
			default:
				var b body
				if err := json.Unmarshal([]byte(s.body), &b); err != nil {
					return nil, fmt.Errorf("event %d: %w: %w; run boon verify", s.place.Position, refusal.UnexpectedError, err)
				}
				events[s.id] = &event.Event{ID: s.id, Type: gift.EventType(strings.TrimSpace(s.kinds)), AccountID: account,
					At: s.madeAt, Note: b.note()}
			}
		}
	}
	err := f.db.Retry(ctx, func(ctx context.Context) error {
		return f.db.Read(ctx, record.ByRef(selectEntries, entries, func(from db.Scanner) error {
			e := new(gift.Entry)
			err := from.Scan(record.EntryFields(e)...)
			events[e.ID] = &event.Event{ID: e.ID, Type: e.EventType(), AccountID: e.AccountID, At: e.At, Entry: e,
				Note: event.Note{GiftID: e.VoucherID}}
			return err
		}))
	})
	if err != nil {
		return nil, fmt.Errorf("reading entries: %w", err)
	}
	return events, f.addGifts(ctx, events)
}

// addGifts gives events their gifts. What is about a gift that is not there is no event.
func (f *Feed) addGifts(ctx context.Context, events map[guid.ID]*event.Event) error {
	var refs []ledger.Ref
	for _, e := range events {
		if !e.Note.GiftID.IsZero() {
			refs = append(refs, ledger.Ref{AccountID: e.AccountID, ID: e.Note.GiftID})
		}
	}
	gifts, err := f.gifts.GiftsByRef(ctx, refs)
	if err != nil {
		return err
	}
	byID := make(map[guid.ID]*gift.Gift, len(gifts))
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
