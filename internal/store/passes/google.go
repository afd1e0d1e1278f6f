package passes

import (
	"context"
	"fmt"
	"slices"

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
)

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
