package feed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

var selectGiftsOf = &db.Query{What: "reading whose entries they are", Scoped: true,
	SQLite: `SELECT e.id, e.voucher_id, e.kind FROM json_each($2) AS w CROSS JOIN entry AS e
		WHERE e.account_id = $1 AND e.id = unhex(w.value)`,
	Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
			SELECT e.id, e.voucher_id, e.kind FROM entry AS e WHERE e.account_id = w.account_id AND e.id = w.key OFFSET 0) AS found`,
	Citus: `SELECT e.id, e.voucher_id, e.kind FROM entry AS e WHERE e.account_id = $1 AND e.id = ANY($2::BYTEA[])`}

// Touched tells which gifts of an account something happened to after a place, in so many commits at most. It costs
// less than the events themselves, which come with their gifts.
func (f *Feed) Touched(ctx context.Context, account guid.ID, after merchant.EventPlace, commits int) (t event.Touched,
	err error) {
	safe, err := f.safe(ctx)
	if err != nil {
		return t, fmt.Errorf("reading which gifts changed: %w", err)
	}
	upTo := max(safe, after.Position) // another instance may have come further; its row is there
	rows, err := f.rows(ctx, f.db.Texts(selectPage)[0], account, after.Position, upTo, commits+1)
	if err != nil {
		return t, fmt.Errorf("reading which gifts changed: %w", err)
	}
	t.Next, t.More = after, len(rows) > commits
	if !after.IsZero() {
		if len(rows) == 0 || !rows[0].has(after) {
			t.Forgotten = true
			return t, nil
		}
		rows = rows[1:]
	}
	gifts, err := f.giftsOf(ctx, account, rows)
	if err != nil {
		return t, fmt.Errorf("reading which gifts changed: %w", err)
	}
	newest := map[guid.ID]event.TouchedGift{}
	for i := range rows {
		r := &rows[i]
		for n := range r.size() {
			if g := gifts[r.id(n)]; !g.VoucherID.IsZero() {
				newest[g.VoucherID] = event.TouchedGift{VoucherID: g.VoucherID, Position: r.position,
					Moved: g.Moved || newest[g.VoucherID].Moved}
			}
		}
		t.Next = event.After(r.position, r.size(), r.id(r.size()-1))
	}
	t.Gifts = slices.SortedFunc(maps.Values(newest), func(a, b event.TouchedGift) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), slices.Compare(a.VoucherID[:], b.VoucherID[:]))
	})
	return t, nil
}

// giftsOf tells which gifts the events of rows are about, by the ids of the events.
func (f *Feed) giftsOf(ctx context.Context, account guid.ID, rows []row) (map[guid.ID]event.TouchedGift,
	error) {
	var entries []ledger.Ref
	noted := map[guid.ID]event.TouchedGift{}
	for i := range rows {
		r := &rows[i]
		if r.body != "" {
			var b body
			_ = json.Unmarshal([]byte(r.body), &b) // what is no event is found by reading it
			noted[guid.ID(b.ID)] = event.TouchedGift{VoucherID: guid.ID(b.GiftID)}
			continue
		}
		for n := range r.size() {
			entries = append(entries, ledger.Ref{AccountID: account, ID: r.id(n)})
		}
	}
	var gifts map[guid.ID]event.TouchedGift
	err := f.db.Retry(ctx, func(ctx context.Context) error {
		gifts = maps.Clone(noted)
		return f.db.Read(ctx, record.ByRef(selectGiftsOf, entries, func(from db.Scanner) error {
			var entry, voucher guid.ID
			var kind gift.Kind
			err := from.Scan(db.ScanID(&entry), db.ScanID(&voucher), &kind)
			gifts[entry] = event.TouchedGift{VoucherID: voucher, Moved: kind == gift.Replaced || kind == gift.Resent}
			return err
		}))
	})
	return gifts, err
}
