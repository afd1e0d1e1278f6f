// Package check finds what is wrong with a store: it follows the hash chains, reads every gift with its history, and
// looks for records that do not open, lead nowhere or do not add up. Package ledger judges the histories.
package check

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"

	"boon.example/internal/chain"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
	"boon.example/internal/store/setup"
)

// Verifier is a store as it is verified. It implements verify.VoucherReader.
type Verifier struct{ db *db.DB }

// NewVerifier is that of an open database.
func NewVerifier(d *db.DB) Verifier { return Verifier{d} }

// CountVouchers is the number of all vouchers.
func (v Verifier) CountVouchers(ctx context.Context) (n int64, err error) {
	err = v.db.Get(ctx, `SELECT CAST(coalesce(sum(vouchers), 0) AS BIGINT) FROM tally`, nil, &n)
	if err != nil {
		return 0, fmt.Errorf("counting vouchers: %w", err)
	}
	return n, nil
}

// Check begins a check of all that is committed by now, and tells found of each problem.
func (v Verifier) Check(found func(problem string)) verify.Check { return v.CheckSince(nil, found) }

// CheckSince begins a check that also finds what is gone since an earlier check gave a checkpoint.
func (v Verifier) CheckSince(checkpoint []chain.Head, found func(problem string)) *Check {
	return New(v.db, checkpoint, found, found)
}

// Check is a check of a store. It implements verify.Check: its pages may be read by several goroutines at once.
type Check struct {
	db           *db.DB
	found        func(problem string)
	mu           sync.Mutex // held by who uses chains while pages are read
	chains       *chain.Check
	acknowledged map[string]bool // by a person; nil: that was not read yet
	reading      bool            // it is being read, and what is found waits for it
	waiting      []func()
}

// remembered is how many entries, and how many of the keys that gifts are found by, a check keeps in memory while it
// reads: 8 and at most 32 bytes for each. What is beyond them is looked up in the database, one by one.
const remembered = 16 << 20

// New begins a check of all that is committed by now, and of what is gone since an earlier check gave a checkpoint.
// found is told of each problem; of those that the hash chains show, inChains is.
func New(d *db.DB, checkpoint []chain.Head, found, inChains func(problem string)) *Check {
	c := &Check{db: d}
	c.found = c.unlessAcknowledged(found)
	c.chains = chain.NewCheck(d.Keys.Authenticator(), c.unlessAcknowledged(inChains))
	for _, h := range checkpoint {
		c.chains.Expect(h)
	}
	return c
}

// Acknowledged implements verify.Check.
func (c *Check) Acknowledged(problem string) bool { return c.acknowledged[setup.OneLine(problem)] }

// unlessAcknowledged tells of what nobody acknowledged, once that is known.
func (c *Check) unlessAcknowledged(tell func(problem string)) func(problem string) {
	return func(problem string) {
		tell := func() {
			if !c.Acknowledged(problem) {
				tell(problem)
			}
		}
		if c.reading {
			c.waiting = append(c.waiting, tell)
			return
		}
		tell()
	}
}

// Quickly has the check use memory, as much as it takes, up to some hundred megabytes, to be done in less time. It is
// called before all else.
func (c *Check) Quickly() { c.chains.Remember(remembered) }

// Checkpoint says how far all chains had come when they were followed.
func (c *Check) Checkpoint() []chain.Head { return c.chains.Checkpoint() }

// Missing implements verify.Check.
func (c *Check) Missing() { c.chains.Missing() }

// The rows of chains after a place; at most $3.
const (
	selectGeneses = `SELECT c.writer, c.n, c.content, c.mac
		FROM chain AS c
		WHERE c.n = 0 AND (c.writer, c.n) > ($1, $2) ORDER BY c.writer, c.n LIMIT $3`
	selectRows = `SELECT c.writer, c.n, c.content, c.mac
		FROM chain AS c
		WHERE (c.writer, c.n) > ($1, $2) ORDER BY c.writer, c.n LIMIT $3`
)

// chainPage is how many rows of chains are read at once: a row has 16 bytes for each entry of its group.
const chainPage = 200

// Chains implements verify.Check.
func (c *Check) Chains(ctx context.Context, pause func(rows int) error) error {
	if err := c.checkSetupChain(ctx); err != nil {
		return err
	}
	if err := c.eachRow(ctx, selectGeneses, c.chains.Genesis, pause); err != nil {
		return err
	}
	if err := c.eachRow(ctx, selectRows, c.chains.Row, pause); err != nil {
		return err
	}
	c.chains.Rows()
	return nil
}

// eachRow reads rows of chains, page by page.
func (c *Check) eachRow(ctx context.Context, query string, take func(chain.Row), pause func(rows int) error) error {
	after := chain.Place{N: -1}
	for n := chainPage; n == chainPage; {
		n = 0
		err := db.Each(ctx, c.db.Readers, query, []any{db.KeyOf(after.Writer), after.N, chainPage},
			func(rows *sql.Rows) error {
				var r chain.Row
				err := rows.Scan(record.ChainFields(&r)...)
				if after = r.Place; err == nil {
					take(r)
				}
				n++
				return err
			})
		if err != nil {
			return err
		}
		if err := pause(n); err != nil {
			return err
		}
	}
	return nil
}

// checkSetupChain follows the chain of the set-up to what the set-up is now, and learns what a person acknowledged.
func (c *Check) checkSetupChain(ctx context.Context) error {
	return c.db.Snapshot(ctx, func(tx *sql.Tx) error {
		var open setup.NotTaken
		acknowledged := map[string]bool{}
		c.reading = true
		err := setup.EachChange(ctx, tx, func(change chain.SetupChange) {
			if open.Add(change); !c.chains.SetupChange(change) {
				return
			}
			for _, problem := range setup.Acknowledged(&change) {
				acknowledged[problem] = true
			}
		})
		if err != nil {
			return err
		}
		c.acknowledged, c.reading = acknowledged, false
		for _, tell := range c.waiting {
			tell()
		}
		c.waiting = nil
		open.Problems(c.found)
		version, err := setup.Version(ctx, tx)
		if err != nil {
			c.found(err.Error())
			return nil
		}
		hash, err := setup.Hash(ctx, tx)
		if err != nil {
			return err
		}
		older, err := setup.OlderHash(ctx, tx)
		if err == nil {
			c.chains.Setup(hash, older, version)
		}
		return err
	})
}

// placed is an entry with what its chain must have of it.
type placed struct {
	gift.Entry
	at     chain.Place
	digest chain.Digest
}

// selectPage gives the first vouchers, at most $3, at or after ($1, $2).
const selectPage = `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional, v.promotion_id,
		v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last, v.valid_from, v.valid_until,
		v.created_at, v.made_by, v.holds, v.fixed, v.verification, v.wrong_codes, v.blocked, v.extended,
		v.replaced,
		(SELECT i.items FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items, NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare, v.items_id
	FROM voucher AS v
	WHERE (v.account_id, v.id) >= ($1, $2) ORDER BY v.account_id, v.id LIMIT $3`

// selectOne gives the voucher ($1, $2). A cluster looks for it on one node, for a page on all.
const selectOne = `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional, v.promotion_id,
		v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last, v.valid_from, v.valid_until,
		v.created_at, v.made_by, v.holds, v.fixed, v.verification, v.wrong_codes, v.blocked, v.extended,
		v.replaced,
		(SELECT i.items FROM item_list AS i WHERE i.account_id = $1 AND i.id = v.items_id) AS items, NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare, v.items_id
	FROM voucher AS v
	WHERE v.account_id = $1 AND v.id = $2`

// selectPageHistories gives the histories of the vouchers of account $1 from $2 to $3, of those that have no more
// than $4 entries. What is said of selectHistory holds here.
var selectPageHistories = db.Text{
	SQLite: `WITH RECURSIVE e AS (
		SELECT e.* FROM voucher AS v CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = v.last
		WHERE v.account_id = $1 AND v.id BETWEEN $2 AND $3 AND v.seq <= $4
		UNION ALL
		SELECT e.* FROM e AS n CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = n.previous WHERE e.id < n.id
	) SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status, e.made_at,
		e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference, e.reason, e.request_id,
		e.details, e.held_after, e.address, e.till, e.writer, e.n FROM e ORDER BY e.voucher_id, e.seq`,
	Postgres: `WITH RECURSIVE e AS (
		SELECT e.* FROM voucher AS v
			CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1 AND e.id = v.last OFFSET 0) AS e
		WHERE v.account_id = $1 AND v.id BETWEEN $2 AND $3 AND v.seq <= $4
		UNION ALL
		SELECT e.* FROM e AS n
			CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1
				AND e.id = n.previous OFFSET 0) AS e
		WHERE e.id < n.id
	) SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status, e.made_at,
		e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference, e.reason, e.request_id,
		e.details, e.held_after, e.address, e.till, e.writer, e.n FROM e ORDER BY e.voucher_id, e.seq`,
}

// Page implements verify.Check. Vouchers of two accounts may be on a page; should they share an id, the page ends
// between them.
func (c *Check) Page(ctx context.Context, from ledger.Ref, limit, longest int) (
	page []gift.Voucher, histories map[guid.ID][]gift.Entry, err error) {
	return c.read(ctx, longest, selectPage, db.KeyOf(from.AccountID), db.KeyOf(from.ID), limit)
}

// One implements verify.Check.
func (c *Check) One(ctx context.Context, voucher ledger.Ref, longest int) (
	page []gift.Voucher, histories map[guid.ID][]gift.Entry, err error) {
	return c.read(ctx, longest, selectOne, db.KeyOf(voucher.AccountID), db.KeyOf(voucher.ID))
}

// read gives the vouchers that a query selects, and their histories.
func (c *Check) read(ctx context.Context, longest int, query string, args ...any) (
	page []gift.Voucher, histories map[guid.ID][]gift.Entry, err error) {
	histories = map[guid.ID][]gift.Entry{}
	vouchers := map[guid.ID]*gift.Voucher{}
	items := map[guid.ID]guid.ID{}
	var entries []placed
	err = c.db.Snapshot(ctx, func(tx *sql.Tx) error {
		full := false
		err := c.db.EachWithin(ctx, tx, query, args, func(rows *sql.Rows) error {
			var v gift.Voucher
			var list guid.ID
			err := rows.Scan(append(record.VoucherFields(c.db.Keys, &v), db.ScanID(&list))...)
			if full = full || vouchers[v.ID] != nil; !full {
				page, vouchers[v.ID], items[v.ID] = append(page, v), &v, list
			}
			return err
		})
		for rest := page; err == nil && len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].AccountID == rest[0].AccountID {
				n++
			}
			args := []any{db.KeyOf(rest[0].AccountID), db.KeyOf(rest[0].ID), db.KeyOf(rest[n-1].ID), longest}
			err = c.db.EachWithin(ctx, tx, c.db.Text(selectPageHistories), args, func(rows *sql.Rows) error {
				var e placed
				err := rows.Scan(append(record.EntryFields(&e.Entry), db.ScanID(&e.at.Writer), &e.at.N)...)
				e.digest = chain.DigestOf(e.at, &e.Entry, vouchers[e.VoucherID], items[e.VoucherID])
				histories[e.VoucherID] = append(histories[e.VoucherID], e.Entry)
				entries = append(entries, e)
				return err
			})
			rest = rest[n:]
		}
		return err
	})
	if err == nil {
		err = c.checkEntries(ctx, entries)
	}
	return page, histories, err
}

// checkEntries holds entries against their chains.
func (c *Check) checkEntries(ctx context.Context, entries []placed) error {
	digests := make(map[chain.Digest]bool)
	w := db.Batch{Query: record.SelectDigest, Scan: func(from db.Scanner) error {
		var digest []byte
		err := from.Scan(&digest)
		if len(digest) == len(chain.Digest{}) {
			digests[chain.Digest(digest)] = true
		}
		return err
	}}
	for i := range entries {
		if _, known := c.chains.Has(entries[i].at, entries[i].digest); !known {
			w.Rows = append(w.Rows, []any{db.KeyOf(entries[i].at.Writer), entries[i].at.N})
		}
	}
	if err := c.db.Read(ctx, []db.Batch{w}); err != nil {
		return fmt.Errorf("reading hash chains: %w", err)
	}
	has := func(e *placed, d chain.Digest) bool { // a digest is over the place, too
		has, known := c.chains.Has(e.at, d)
		return has || !known && digests[d]
	}
	erased, err := c.erasures(ctx, entries, has)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range entries {
		e := &entries[i]
		c.chains.Entry(e.at, &e.Entry, has(e, e.digest) || erased[e.digest])
	}
	return nil
}

// erasures gives the digests of what is left of those entries whose chains have what an erasure says they were.
func (c *Check) erasures(ctx context.Context, entries []placed, has func(*placed, chain.Digest) bool) (
	erased map[chain.Digest]bool, err error) {
	changed := map[ledger.Ref]*placed{}
	for i := range entries {
		if e := &entries[i]; !has(e, e.digest) {
			changed[ledger.Ref{AccountID: e.AccountID, ID: e.ID}] = e
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	erased = map[chain.Digest]bool{}
	err = c.db.Read(ctx, record.ByRef(record.SelectErasures, slices.Collect(maps.Keys(changed)),
		func(from db.Scanner) error {
			x, err := record.ScanErasure(from)
			if left := changed[ledger.Ref{AccountID: x.AccountID, ID: x.EntryID}]; err == nil && has(left, x.Before) {
				c.mu.Lock()
				defer c.mu.Unlock()
				erased[left.digest] = erased[left.digest] || c.chains.Erased(&x, left.digest)
			}
			return err
		}))
	if err != nil {
		return nil, fmt.Errorf("reading erasures: %w", err)
	}
	return erased, nil
}

// Statements are the statements that find by a key or read on from one: those that are worth preparing.
func Statements(d *db.DB) []string {
	return append(d.Texts(record.SelectDigest, selectSearch, record.SelectErasures), selectPage,
		d.Text(selectPageHistories), selectCardPage, selectGeneses, selectRows)
}
