package passes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
	"boon.example/internal/store/lease"
)

var (
	touchGoogle = &db.Query{What: "writing into google_object",
		Each: `INSERT INTO google_object (account_id, voucher_id, card, changed, told)
			VALUES ($1, $2, $3, $4, 0)
			ON CONFLICT (account_id, voucher_id) DO UPDATE SET changed = excluded.changed
			WHERE google_object.changed < excluded.changed`,
		Postgres: `INSERT INTO google_object (account_id, voucher_id, card, changed, told)
			SELECT w.account_id, w.voucher_id, w.card, w.changed, 0
			FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[], $4::BIGINT[]) AS w (account_id, voucher_id, card, changed)
			ON CONFLICT (account_id, voucher_id) DO UPDATE SET changed = excluded.changed
			WHERE google_object.changed < excluded.changed`}
	// saveGoogle has an object be written once more if somebody else was at it since it was read.
	saveGoogle = &db.Query{What: "writing into google_object",
		Each: `UPDATE google_object SET card = $3,
				told = CASE WHEN told = $5 THEN $4 WHEN told < 0 THEN told - 1 ELSE -1 END
			WHERE account_id = $1 AND voucher_id = $2`,
		Postgres: `UPDATE google_object AS p SET card = w.card,
				told = CASE WHEN p.told = w.seen THEN w.told WHEN p.told < 0 THEN p.told - 1 ELSE -1 END
			FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[], $4::BIGINT[], $5::BIGINT[])
				AS w (account_id, voucher_id, card, told, seen)
			WHERE p.account_id = w.account_id AND p.voucher_id = w.voucher_id`}
)

const (
	selectDue = `SELECT p.voucher_id, p.card, p.changed, p.told FROM google_object AS p
		WHERE p.account_id = $1 AND p.told < p.changed ORDER BY p.changed LIMIT $2`
	selectGoogle = `SELECT p.card FROM google_object AS p
		WHERE p.account_id = $1 AND p.voucher_id = $2 AND p.told > 0`
	// selectWithout reads a page of gifts, and counts the objects of each that a guest can use: 0 is of one that was never
	// touched. A gift of an import is left out as long as nothing happened to it: the import may still be taken back. An
	// object is counted by its key, and is not joined: to join a page, a planner may read all objects of the account.
	selectWithout = `SELECT v.id, CASE WHEN NOT v.item AND v.status IN (3, 4, 5) AND v.blocked = ''
				AND (v.import_id IS NULL OR v.seq > 1)
				AND (v.valid_until IS NULL OR coalesce(v.extended, v.valid_until) > $3)
			THEN (SELECT count(*) FROM google_object AS p WHERE p.account_id = v.account_id AND p.voucher_id = v.id)
			ELSE 1 END
		FROM voucher AS v WHERE v.account_id = $1 AND v.id < $2 ORDER BY v.id DESC LIMIT $4`
)

// pageOfGifts is how many gifts GoogleWithout looks at.
const pageOfGifts = 500

// TouchGoogle notes that Google is to know of gifts as they are after an event.
func (p *Passes) TouchGoogle(ctx context.Context, account guid.ID, gifts []event.TouchedGift) error {
	for some := range slices.Chunk(gifts, atOnce) {
		b := db.Batch{Query: touchGoogle}
		for _, g := range some {
			b.Rows = append(b.Rows, []any{db.KeyOf(account), db.KeyOf(g.VoucherID), make([]byte, len(event.PassCard{})),
				g.Position})
		}
		if err := lease.Write(ctx, p.db, b); err != nil {
			return fmt.Errorf("writing which passes of Google changed: %w", err)
		}
	}
	return nil
}

// GoogleDue gives passes of which Google does not know the newest event, those first that changed first.
func (p *Passes) GoogleDue(ctx context.Context, account guid.ID, limit int) ([]event.GooglePass, error) {
	all, err := db.Collect(ctx, p.db, selectDue, []any{db.KeyOf(account), limit},
		func(from db.Scanner) (g event.GooglePass, err error) {
			var card []byte
			g.AccountID = account
			err = from.Scan(db.ScanID(&g.VoucherID), &card, &g.Changed, &g.Told)
			copy(g.Card[:], card)
			return g, err
		})
	if err != nil {
		return nil, fmt.Errorf("reading which passes of Google changed: %w", err)
	}
	return all, nil
}

// GoogleWithout looks through some gifts of an account that were made before one of them, the newest first; zero: from
// the newest on. Of those that a guest can use, it gives at most limit that were never touched: they were sold before
// the merchant had a service account. next is where to go on; zero: nowhere.
func (p *Passes) GoogleWithout(ctx context.Context, account, before guid.ID, now time.Time, limit int) (
	without []guid.ID, next guid.ID, err error) {
	if before.IsZero() {
		before = newest
	}
	type looked struct {
		id      guid.ID
		without bool
	}
	page, err := db.Collect(ctx, p.db, selectWithout, []any{db.KeyOf(account), db.KeyOf(before), now.UnixMicro(),
		pageOfGifts}, func(from db.Scanner) (l looked, err error) {
		var objects int64
		err = from.Scan(db.ScanID(&l.id), &objects)
		l.without = objects == 0
		return l, err
	})
	if err != nil {
		return nil, next, fmt.Errorf("looking for gifts without a pass of Google: %w", err)
	}
	for _, l := range page {
		if l.without {
			without = append(without, l.id)
		}
		if len(without) == limit {
			return without, l.id, nil
		}
	}
	if len(page) == pageOfGifts {
		next = page[len(page)-1].id
	}
	return without, next, nil
}

// newest is after the ids of all gifts.
var newest = guid.ID(slices.Repeat([]byte{0xff}, len(guid.ID{})))

// SaveGoogle notes what Google knows. A pass whose Told is another by now is due once more: nobody knows which of two
// wrote last.
func (p *Passes) SaveGoogle(ctx context.Context, passes []event.GooglePass) error {
	b := db.Batch{Query: saveGoogle}
	for i := range passes {
		g := &passes[i]
		b.Rows = append(b.Rows, []any{db.KeyOf(g.AccountID), db.KeyOf(g.VoucherID), g.Card[:], g.Changed, g.Told})
	}
	if err := lease.Write(ctx, p.db, b); err != nil {
		return fmt.Errorf("writing which passes Google has: %w", err)
	}
	return nil
}

// GooglePass is the card of which Google has an object of a gift; zero: it has none.
func (p *Passes) GooglePass(ctx context.Context, account, voucher guid.ID) (c event.PassCard, err error) {
	found, err := db.Collect(ctx, p.db, selectGoogle, []any{db.KeyOf(account), db.KeyOf(voucher)},
		func(from db.Scanner) (b []byte, err error) {
			err = from.Scan(&b)
			return b, err
		})
	if err != nil {
		return c, fmt.Errorf("reading the pass that Google has: %w", err)
	}
	if len(found) > 0 {
		copy(c[:], found[0])
	}
	return c, nil
}
