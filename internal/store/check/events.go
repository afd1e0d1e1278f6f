package check

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// eventSlack is how far apart clocks may be: an entry that was made so long after the oldest event that is kept, and
// so long before now, is an event.
const eventSlack = 24 * time.Hour

// eventRow is a row of event, and eventsOf what is known of an account's.
type (
	eventRow struct {
		account  guid.ID
		position int64
		kinds    string
		entries  []guid.ID
		body     string
	}
	eventsOf struct {
		from, to time.Time // of the entries that are counted
		counted  int64
	}
)

// checkEvents looks for events that are none, and for entries that should be events and are not: one after the other
// in the order of positions, a few hundred commits at a time.
func (c *Check) checkEvents(ctx context.Context, found func(string)) error {
	const size = 500
	const query = `SELECT t.account_id, t.position, t.made_at, t.kinds, t.entries, t.body FROM event AS t
		WHERE (t.account_id, t.position) > ($1, $2) ORDER BY t.account_id, t.position LIMIT $3`
	kept, err := c.eventsKeptSince(ctx)
	if err != nil {
		return err
	}
	accounts, last := map[guid.ID]*eventsOf{}, eventRow{}
	for n := size; n == size; {
		var page []eventRow
		args := []any{db.KeyOf(last.account), last.position, size}
		err := db.Each(ctx, c.db.Readers, query, args, func(rows *sql.Rows) error {
			var r eventRow
			var at time.Time
			var ids []byte
			err := rows.Scan(db.ScanID(&r.account), &r.position, db.ScanTime(&at), &r.kinds, &ids, &r.body)
			r.entries = db.SplitIDs(ids)
			if accounts[r.account] == nil {
				if at.Before(kept) { // by a clock that is not that of the entries behind it, some of which are forgotten
					at = kept
				}
				accounts[r.account] = &eventsOf{from: at.Add(eventSlack), to: time.Now().Add(-eventSlack)}
			}
			page, last = append(page, r), r
			return err
		})
		if err == nil {
			err = c.checkEventsOf(ctx, page, accounts, found)
		}
		if err != nil {
			return fmt.Errorf("checking events: %w", err)
		}
		n = len(page)
	}
	for account, of := range accounts {
		const count = `SELECT count(*) FROM entry AS e WHERE e.account_id = $1 AND e.made_at > $2 AND e.made_at < $3
			AND e.kind <> 'IMPORTED'`
		var entries int64
		err := c.db.Get(ctx, count, []any{db.KeyOf(account), of.from.UnixMicro(), of.to.UnixMicro()}, &entries)
		if err != nil {
			return fmt.Errorf("counting entries: %w", err)
		}
		if entries != of.counted {
			found(fmt.Sprintf("account %s: %d entries should be events, and %d are", account, entries, of.counted))
		}
	}
	return nil
}

// eventsKeptSince is an instant since which no event was forgotten, as the service notes it; zero: none ever was.
func (c *Check) eventsKeptSince(ctx context.Context) (since time.Time, err error) {
	var last time.Time
	err = c.db.Get(ctx, `SELECT f.before, f.at FROM forgotten AS f WHERE f.one = 1`, nil, db.ScanTime(&since),
		db.ScanTime(&last))
	if errors.Is(err, sql.ErrNoRows) {
		return since, nil
	}
	if err != nil {
		return since, fmt.Errorf("looking for when events were forgotten: %w", err)
	}
	for _, then := range []time.Time{last, time.Now()} { // a clock that was ahead forgot no more than there was
		if then = then.Add(-event.Kept); then.Before(since) {
			since = then
		}
	}
	return since, nil
}

var selectEventEntries = &db.Query{What: "reading entries of events", Scoped: true,
	SQLite: `SELECT e.account_id, e.id, e.kind, e.made_at
		FROM json_each($2) AS w CROSS JOIN entry AS e
		WHERE e.account_id = $1 AND e.id = unhex(w.value)`,
	Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
			SELECT e.account_id, e.id, e.kind, e.made_at
			FROM entry AS e
			WHERE e.account_id = w.account_id AND e.id = w.key OFFSET 0) AS found`,
	Citus: `SELECT e.account_id, e.id, e.kind, e.made_at
		FROM entry AS e
		WHERE e.account_id = $1 AND e.id = ANY($2::BYTEA[])`}

// checkEventsOf holds rows against the entries that they name.
func (c *Check) checkEventsOf(ctx context.Context, page []eventRow, accounts map[guid.ID]*eventsOf,
	found func(string)) error {
	var refs []ledger.Ref
	for _, r := range page {
		for _, id := range r.entries {
			refs = append(refs, ledger.Ref{AccountID: r.account, ID: id})
		}
	}
	kinds := map[ledger.Ref]string{}
	err := c.db.Read(ctx, record.ByRef(selectEventEntries, refs, func(from db.Scanner) error {
		var ref ledger.Ref
		var kind string
		var at time.Time
		err := from.Scan(db.ScanID(&ref.AccountID), db.ScanID(&ref.ID), &kind, db.ScanTime(&at))
		if of := accounts[ref.AccountID]; kinds[ref] == "" && at.After(of.from) && at.Before(of.to) {
			of.counted++
		}
		kinds[ref] = kind
		return err
	}))
	if err != nil {
		return err
	}
	for _, r := range page {
		said, is := strings.Fields(r.kinds), map[string]bool{}
		for _, id := range r.entries {
			is[kinds[ledger.Ref{AccountID: r.account, ID: id}]] = true
		}
		if r.body != "" {
			is[strings.TrimSpace(r.kinds)] = json.Valid([]byte(r.body)) &&
				slices.Contains(event.Types(), gift.EventType(strings.TrimSpace(r.kinds)))
		}
		slices.Sort(said)
		if !slices.Equal(said, slices.Sorted(maps.Keys(is))) || slices.Contains(slices.Collect(maps.Values(is)), false) {
			found(fmt.Sprintf("account %s: event %d is not what it says", r.account, r.position))
		}
	}
	return nil
}
