package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"boon.example/internal/chain"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
	"boon.example/internal/store/lookup"
	"boon.example/internal/store/record"
)

// save writes what was decided. The order of the batches is part of what keeps groups from waiting in a circle, and
// several tables need the rows of another one:
//
//  1. The check of the set-up, which locks, before anything is written (checkSetup).
//  2. Vouchers that were loaded. Their rows are locked already, so that nobody is waited for.
//  3. New gifts: terms and items before the vouchers that name them, vouchers before their cards and secrets.
//  4. The row of the hash chain, then entries, then events. The guard on entries looks for the voucher (3), and for
//     the entry before; entries of one voucher stand in c.Entries in the order in which they were decided.
//  5. Records of requests and their answers, by key. A second record of a key is refused here, which is how a repeat
//     is noticed that was taken for new (invariant 12).
//  6. Jobs, resends and what else hangs on a gift whose voucher is locked.
//  7. Counts, used records and, last of all, the tally of the account or the count of an import. Many groups of an
//     account write to these rows, and each waits from here until the commit of the one before. Whatever is written
//     after them lengthens that wait.
//
// Rows of each kind are in the order of their keys. A heavy group asks, after the counts, whether it is still within
// the limits (invariant 10); all others get no answer from save, and PostgreSQL gets it together with the COMMIT.
func (g *group) save(ctx context.Context, c *ledger.Changes) error {
	used := g.saveUsed(c)
	if err := g.checkSetup(ctx); err != nil {
		return err
	}
	g.prepared.complete(g.Store, c.Gifts)
	row, first, err := g.chainEntries(ctx, c)
	if err != nil {
		return err
	}
	batches, err := g.saveVouchers(c.Vouchers)
	if err != nil {
		return err
	}
	batches = append(batches, g.saveGifts(c.Gifts)...)
	batches = append(batches, g.saveSearch(c))
	batches = append(batches, g.saveRekeyed(c.Rekeyed)...)
	batches = append(batches, saveSold(c.Sold)...)
	slices.SortStableFunc(c.Requests, func(a, b ledger.Request) int {
		return record.CompareKeys(a.RequestKey,
			b.RequestKey)
	})
	requests, answers := record.RequestRows(g.db.Keys, c.Requests, g.prepared.answers)
	batches = append(batches, row, entryRows(c.Entries, first), g.saveEvents(c.Entries), requests, answers)
	batches = append(batches, g.saveGivenBack(c.Entries), record.RowsOf(insertJob, c.Jobs, jobRow),
		record.RowsOf(insertSheet, c.Sheets,
			g.sheetRow))
	batches = append(batches, saveReplays(c.Replays)...)
	batches = append(batches, saveResends(c)...)
	batches = append(batches, saveRescheduled(c.Rescheduled)...)
	batches = append(batches, saveDone(c.Done)...)
	batches = append(batches, g.saveCounts(c.Counts))
	if len(c.Most) > 0 {
		if err := g.runWithin(ctx, withRows(batches), c.Most); err != nil {
			return err
		}
		batches = nil
	}
	batches = append(batches, used)
	if c.Staged != nil {
		batches = append(batches, stagedBatch(c.Staged))
	} else {
		batches = append(batches, saveTally(c.Gifts))
	}
	return g.run(ctx, withRows(batches))
}

// withRows leaves out batches with nothing to do, of which a group has many.
func withRows(batches []db.Batch) []db.Batch {
	return slices.DeleteFunc(batches, func(w db.Batch) bool { return len(w.Rows) == 0 })
}

// saveGifts writes new gifts, of which prepare has made the rows before the transaction: sealing and hashing need no
// lock, and others would wait for them. Terms of an order stand once, with its first gift.
// Hashes are sorted, as they are random: two groups that insert the same two into a unique index in different orders
// would wait for each other.
func (g *group) saveGifts(gifts []gift.Gift) []db.Batch {
	terms, vouchers := db.Batch{Query: record.InsertTerms}, db.Batch{Query: record.InsertVoucher}
	cards, secrets := db.Batch{Query: record.InsertCard}, db.Batch{Query: record.InsertSecret}
	activations := db.Batch{Query: record.InsertActivation}
	for i := range gifts {
		r := g.prepared.gifts[record.RefOf(&gifts[i].Voucher)]
		if r.terms != nil {
			terms.Rows = append(terms.Rows, r.terms)
		}
		vouchers.Rows, cards.Rows = append(vouchers.Rows, r.voucher), append(cards.Rows, r.card)
		secrets.Rows = append(secrets.Rows, r.code, r.token)
		if r.activation != nil {
			activations.Rows = append(activations.Rows, r.activation)
		}
	}
	slices.SortFunc(terms.Rows, func(a, b []any) int { return bytes.Compare(a[1].([]byte), b[1].([]byte)) })
	slices.SortFunc(secrets.Rows, func(a, b []any) int { return bytes.Compare(a[0].([]byte), b[0].([]byte)) })
	slices.SortFunc(activations.Rows, func(a, b []any) int { return bytes.Compare(a[1].([]byte), b[1].([]byte)) })
	return []db.Batch{terms, record.SaveItems(gifts), vouchers, cards, secrets, activations}
}

// saveVouchers writes vouchers that were loaded and are still as they were then (invariant 4). A redemption changes
// few columns, and SQLite writes the index of every column that is named, whether or not it changes. So there are
// three statements: for the balance, for holds, and for everything (partOf).
func (g *group) saveVouchers(changed []gift.Voucher) ([]db.Batch, error) {
	for i := range changed {
		if _, ok := g.loaded[record.RefOf(&changed[i])]; !ok {
			return nil, fmt.Errorf("voucher %s was changed without having been loaded", changed[i].ID)
		}
	}
	var by [wholeOf + 1][]*gift.Voucher // which part of them changed
	for i := range changed {
		v := &changed[i]
		part := partOf(g.loaded[record.RefOf(v)], v)
		by[part] = append(by[part], v)
	}
	moved := make([]lookup.Moved, len(by[balanceOf]))
	for i, v := range by[balanceOf] {
		moved[i] = lookup.Moved{Account: v.AccountID, ID: v.ID, Was: g.loaded[record.RefOf(v)].Seq, Seq: v.Seq, Last: v.Last,
			Balance: v.Balance, Status: v.Status}
	}
	g.Saving(moved) // gifts in memory follow after the commit; the others are read anew
	return slices.Concat(g.update(updateBalance, by[balanceOf], func(v *gift.Voucher, seq int) []any {
		return []any{int64(v.Balance), int64(v.Status), v.Seq, db.KeyOf(v.Last), db.KeyOf(v.ID), seq}
	}), g.update(updateHolds, by[holdsOf], func(v *gift.Voucher, seq int) []any {
		held, end, list := record.HoldColumns(v.Holds)
		return []any{int64(v.Balance), int64(v.Status), v.Seq, db.KeyOf(v.Last), held, end, list, db.KeyOf(v.ID), seq}
	}), g.update(updateVoucher, by[wholeOf], func(v *gift.Voucher, seq int) []any {
		held, end, list := record.HoldColumns(v.Holds)
		return []any{int64(v.Balance), int64(v.Status), v.Seq, db.KeyOf(v.Last), held, end, list, int64(v.Funded),
			v.WrongCodes, string(v.Blocked), db.Micros(v.Extended), v.Replaced, v.CustomerID, db.KeyOf(v.ID), seq}
	})), nil
}

// part says how much of a voucher changed, and so which statement writes it. Each writes what those before it write.
type part int

const (
	balanceOf part = iota // with its status and its newest entry, which every command changes
	holdsOf
	wholeOf
)

// partOf tells which part of a voucher changed. A field that a command comes to change has to stand here and in
// updateVoucher, or the change is lost.
func partOf(before, v *gift.Voucher) part {
	switch {
	case v.Funded != before.Funded || v.WrongCodes != before.WrongCodes || v.Blocked != before.Blocked ||
		!v.Extended.Equal(before.Extended) || v.Replaced != before.Replaced || v.CustomerID != before.CustomerID:
		return wholeOf
	case v.Holds != nil || before.Holds != nil:
		return holdsOf
	}
	return balanceOf
}

// update writes vouchers in the order of their keys, as rows of what changed and of the number of the entry that each
// had when it was loaded.
func (g *group) update(q *db.Query, changed []*gift.Voucher, row func(v *gift.Voucher, seq int) []any) []db.Batch {
	slices.SortFunc(changed, func(a, b *gift.Voucher) int {
		return record.CompareRefs(record.RefOf(a), record.RefOf(b))
	})
	return record.ByAccount(changed, func(v *gift.Voucher) guid.ID { return v.AccountID },
		func(account guid.ID, of []*gift.Voucher) db.Batch {
			w := record.RowsOf(q, of, func(v **gift.Voucher) []any { return row(*v, g.loaded[record.RefOf(*v)].Seq) })
			w.Account = account
			return w
		})
}

// saveGivenBack notes what was undone, where no guard on entries does: on Citus there is none (citus.go). Elsewhere
// the guard adds to given_back, and refuses more than there was.
func (g *group) saveGivenBack(entries []gift.Entry) db.Batch {
	w := db.Batch{Query: insertGivenBack}
	for i := range entries {
		if e := &entries[i]; g.db.Spread && !e.Reverses.IsZero() {
			w.Rows = append(w.Rows, []any{db.KeyOf(e.AccountID), db.KeyOf(e.Reverses), int64(max(e.Delta, -e.Delta)), 1})
		}
	}
	return w
}

// saveEvents notes which entries the commit makes, where no guard on entries does. On PostgreSQL one does, as an
// event needs the number of the transaction, by which readers of the feed know which commits are still under way: see
// internal/store/feed. SQLite has one writer, whose events come in the order of commits anyway; and a trigger there
// would run for every row, and make an event of every entry.
func (g *group) saveEvents(entries []gift.Entry) db.Batch {
	if g.db.File == "" && !g.db.Spread {
		return db.Batch{}
	}
	return db.Batch{Query: feed.Insert, Rows: feed.Rows(entries)}
}

// saveReplays writes to every record whose answer is given again: only a commit that writes waits for a standby, and
// so shows that the record itself has arrived there.
func saveReplays(replayed []ledger.RequestKey) []db.Batch {
	return record.ByAccount(record.DistinctKeys(replayed), func(k ledger.RequestKey) guid.ID { return k.AccountID },
		func(account guid.ID, of []ledger.RequestKey) db.Batch {
			w := record.RowsOf(updateReplays, of, func(k *ledger.RequestKey) []any { return []any{k.Key, string(k.Operation)} })
			w.Account = account
			return w
		})
}

// saveDone finishes jobs. One that is gone was finished by another worker, after a lease had run out.
func saveDone(done []ledger.Done) []db.Batch {
	jobs := make([]ledger.Ref, 0, len(done))
	delivered := map[ledger.Ref]ledger.Done{}
	for _, d := range done {
		if !d.Open {
			jobs = append(jobs, ledger.Ref{AccountID: d.AccountID, ID: d.JobID})
		}
		if !d.DeliveredAt.IsZero() {
			delivered[ledger.Ref{AccountID: d.AccountID, ID: d.VoucherID}] = d
		}
	}
	cards := slices.SortedFunc(maps.Keys(delivered), record.CompareRefs)
	return append(record.ByRef(deleteJobs, jobs, nil),
		record.ByAccount(cards, func(r ledger.Ref) guid.ID { return r.AccountID },
			func(account guid.ID, of []ledger.Ref) db.Batch {
				w := record.RowsOf(updateCard, of, func(r *ledger.Ref) []any {
					d := delivered[*r]
					return []any{db.Micros(d.DeliveredAt), db.KeyOf(d.JobID), db.KeyOf(r.ID)}
				})
				w.Account = account
				return w
			})...)
}

// saveSold writes what cards say of their purchase; the newest of each card stands.
func saveSold(sold []ledger.Sold) []db.Batch {
	newest := map[ledger.Ref]ledger.Sold{}
	for _, c := range sold {
		newest[ledger.Ref{AccountID: c.AccountID, ID: c.VoucherID}] = c
	}
	return record.ByAccount(slices.SortedFunc(maps.Keys(newest), record.CompareRefs),
		func(r ledger.Ref) guid.ID { return r.AccountID }, func(account guid.ID, of []ledger.Ref) db.Batch {
			w := record.RowsOf(updateSold, of, func(r *ledger.Ref) []any {
				c := newest[*r]
				p := &c.Purchase
				return []any{p.Reference, p.FirstName, p.LastName, p.EmailAddress, db.OrNull(p.StorefrontID), db.Micros(c.At),
					db.KeyOf(r.ID)}
			})
			w.Account = account
			return w
		})
}

// saveTally adds new gifts to the number of their account's.
func saveTally(gifts []gift.Gift) db.Batch {
	added := map[guid.ID]int{}
	for i := range gifts {
		added[gifts[i].AccountID]++
	}
	accounts := slices.SortedFunc(maps.Keys(added), func(a, b guid.ID) int { return slices.Compare(a[:], b[:]) })
	return record.RowsOf(record.AddTally, accounts, func(a *guid.ID) []any { return []any{db.KeyOf(*a), added[*a]} })
}

// saveUsed notes which records of the set-up are in use now.
func (g *group) saveUsed(c *ledger.Changes) db.Batch {
	note := func(account, record guid.ID) {
		ref := ledger.Ref{AccountID: account, ID: record}
		if !record.IsZero() && !g.used.has(ref) && !slices.Contains(g.newlyUsed, ref) {
			g.newlyUsed = append(g.newlyUsed, ref)
		}
	}
	for i := range c.Gifts {
		v := &c.Gifts[i]
		for _, record := range []guid.ID{v.ProgramID, v.LocationID, v.PromotionID, v.Card.DesignID,
			v.Card.Purchase.StorefrontID} {
			note(v.AccountID, record)
		}
	}
	for i := range c.Entries {
		note(c.Entries[i].AccountID, c.Entries[i].Actor.LocationID)
		note(c.Entries[i].AccountID, c.Entries[i].Purchase.StorefrontID)
	}
	slices.SortFunc(g.newlyUsed, record.CompareRefs)
	return record.RowsOf(insertUsed, g.newlyUsed, func(r *ledger.Ref) []any {
		return []any{db.KeyOf(r.AccountID), db.KeyOf(r.ID)}
	})
}

// errOtherSetup tells that a group was judged by an account as it was before its last change.
var errOtherSetup = errors.New("the set-up was changed meanwhile")

// checkSetup refuses the first use of records of an account that was changed after the group was judged: they may have
// been removed, or the currency be another. Until the commit nobody changes the set-up; who does then finds the use.
func (g *group) checkSetup(ctx context.Context) error {
	if g.setup == 0 || len(g.newlyUsed) == 0 {
		return nil
	}
	var newest int64
	accounts := db.Batch{Query: selectAccountVersions, Scan: func(from db.Scanner) error {
		var version int64
		err := from.Scan(&version)
		newest = max(newest, version)
		return err
	}}
	for n, r := range g.newlyUsed {
		if n == 0 || r.AccountID != g.newlyUsed[n-1].AccountID {
			accounts.Rows = append(accounts.Rows, []any{db.KeyOf(r.AccountID)})
		}
	}
	err := g.run(ctx, []db.Batch{{Query: lockSetup, Rows: [][]any{{1}}}, accounts})
	if err == nil && newest > g.setup {
		err = errOtherSetup
	}
	return err
}

// usedRecords remembers which records are known to be noted as used, so that they are not written with every
// redemption. Nothing is ever taken out of the table behind it, so what is remembered stays true; only a database
// that went back to an earlier state may have lost it (wentBack).
type usedRecords struct {
	mu    sync.Mutex
	known map[ledger.Ref]bool
}

func (u *usedRecords) has(r ledger.Ref) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.known[r]
}

// commit adds what is in the database now. Before the commit it would be remembered although it may be rolled back,
// and no later group would write it: a location in use could be removed.
func (u *usedRecords) commit(refs []ledger.Ref) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.known == nil {
		u.known = map[ledger.Ref]bool{}
	}
	for _, r := range refs {
		u.known[r] = true
	}
}

// forget reads it all anew.
func (u *usedRecords) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.known = nil
}

// entryRows gives entries their places in the hash chain, one after the other from the first on: the chain's row was
// made over them in this order.
func entryRows(entries []gift.Entry, first chain.Place) db.Batch {
	w := db.Batch{Query: record.InsertEntry, Rows: make([][]any, len(entries))}
	for i := range entries {
		w.Rows[i] = record.EntryRow(&entries[i], chain.Place{Writer: first.Writer, N: first.N + int64(i)})
	}
	return w
}

// saveSearch notes what new gifts are found by, and those that got a rare status, another code or another address.
// What they were found by before finds them still.
func (g *group) saveSearch(c *ledger.Changes) db.Batch {
	w := db.Batch{Query: record.InsertSearch}
	add := func(account, voucher guid.ID, text string) {
		w.Rows = append(w.Rows, []any{db.KeyOf(account), g.db.Keys.SearchHash(account, text), db.KeyOf(voucher)})
	}
	for i := range c.Gifts {
		w.Rows = append(w.Rows, g.prepared.gifts[record.RefOf(&c.Gifts[i].Voucher)].search...)
	}
	for i := range c.Vouchers {
		if v := &c.Vouchers[i]; record.Rare[v.Status] {
			add(v.AccountID, v.ID, record.ByStatus+v.Status.String())
		}
	}
	for _, r := range c.Rekeyed {
		add(r.AccountID, r.VoucherID, record.ByLastFour+r.Code.LastFour())
	}
	for _, r := range c.DeliveryChanges {
		if r.Delivery.Contact != "" {
			add(r.AccountID, r.VoucherID, record.ByContact+contact.Fold(r.Delivery.Contact))
		}
	}
	slices.SortFunc(w.Rows, func(a, b []any) int { return bytes.Compare(a[1].([]byte), b[1].([]byte)) })
	return w
}
