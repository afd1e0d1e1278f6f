package erase

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"boon.example/internal/chain"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// historyPage is how many entries are read at a time.
const historyPage = 1_000

// history reads all entries of a gift.
func (e *Eraser) history(ctx context.Context, account, id guid.ID) (all []gift.Entry, err error) {
	for {
		page, err := e.reader.History(ctx, account, id, len(all), historyPage)
		if all = append(all, page...); err != nil || len(page) < historyPage {
			return all, err
		}
	}
}

// entry writes what is left of an entry, and an erasure beside it. The chain cannot be changed: its rows hold the
// digest of every entry, and each is authenticated with the one before. So the erasure says: this entry had the
// digest before, which is that of the chain, and has the digest after now. boon verify follows it.
//
//  1. Read the entry in this transaction, as it stands, and its place in the chain.
//  2. Read the digest that it should have: the one that the last erasure left, or that of the chain (erasure).
//  3. Compare. An entry that is not what its chain has, or what an erasure left of it, is refused: else an erasure
//     would make whatever stands there good, and boon erase would be the way to forge an entry.
//  4. Change only the reason and the details, in memory; take the digest of that; authenticate both digests.
//  5. Write the erasure, then the entry. The database refuses to change an entry without one (trigger entry_erased),
//     and any other column at all.
func (e *Eraser) entry(ctx context.Context, tx *sql.Tx, p *plan, left *gift.Entry) error {
	var is gift.Entry
	var at chain.Place
	key := []any{db.KeyOf(left.AccountID), db.KeyOf(left.ID)}
	err := db.Each(ctx, tx, `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
			e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
			e.reason, e.request_id, e.details, e.held_after, e.address, e.till, e.writer, e.n
		FROM entry AS e
		WHERE e.account_id = $1 AND e.id = $2`, key,
		func(rows *sql.Rows) error {
			return rows.Scan(append(record.EntryFields(&is), db.ScanID(&at.Writer), &at.N)...)
		})
	if err != nil {
		return err
	}
	x, err := e.erasure(ctx, tx, at, key)
	if err != nil {
		return err
	}
	terms, items := &p.gift.Voucher, record.ItemsID(&p.gift.Voucher)
	if chain.DigestOf(at, &is, terms, items) != x.After {
		return fmt.Errorf("its entry %d is not as it was written; run boon verify", is.Seq)
	}
	is.Reason, is.Details = left.Reason, left.Details
	x.AccountID, x.EntryID, x.After = is.AccountID, is.ID, chain.DigestOf(at, &is, terms, items)
	x.Authenticate(e.db.Keys.Authenticator())
	const note = `INSERT INTO erasure (account_id, entry_id, before, after, made_at, mac) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (account_id, entry_id) DO UPDATE SET after = excluded.after, made_at = excluded.made_at, mac = excluded.mac`
	_, err = tx.ExecContext(ctx, note, key[0], key[1], x.Before[:], x.After[:], time.Now().UnixMicro(), x.MAC[:])
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE entry SET reason = $3, details = $4 WHERE account_id = $1 AND id = $2`, key[0],
			key[1], is.Reason, record.DetailsText(&is))
	}
	return err
}

// erasure is the one that an entry has. Where it has none, nothing was taken out of what its chain has. An erasure is
// trusted only with its MAC, and only if it begins at the digest of the chain: one of another entry, copied here, has
// a MAC that is right for that entry.
func (e *Eraser) erasure(ctx context.Context, tx *sql.Tx, at chain.Place, key []any) (x chain.Erasure, err error) {
	found := false
	err = db.Each(ctx, tx, record.SelectErasure, key, func(rows *sql.Rows) (err error) {
		x, err = record.ScanErasure(rows)
		found = true
		return err
	})
	if err != nil {
		return x, err
	}
	if found && x.Check(e.db.Keys.Authenticator()) != nil {
		return x, fmt.Errorf("what was erased of it before: %w", sealed.ErrTampered)
	}
	var digest []byte
	if err = tx.QueryRowContext(ctx, record.SelectDigest.Each, db.KeyOf(at.Writer), at.N).Scan(&digest); err != nil {
		return x, fmt.Errorf("reading its hash chain: %w", err)
	}
	has := chain.Digest{}
	copy(has[:], digest)
	if !found {
		x.Before, x.After = has, has
	}
	if x.Before != has {
		return x, fmt.Errorf("what was erased of it before: %w", sealed.ErrTampered)
	}
	return x, nil
}
