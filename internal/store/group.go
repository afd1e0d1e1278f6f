package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// Group implements ledger.Store.
func (s *Store) Group(ctx context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	g := group{Store: s}
	ctx = context.WithoutCancel(ctx) // a commit is not abandoned because somebody hung up
	err := s.write(ctx, func(tx *sql.Tx) error {
		g.batcher = s.batcher(tx)
		if err := g.load(ctx, want); err != nil {
			return fmt.Errorf("loading a group: %w", err)
		}
		c := decide(&g.state)
		if err := g.save(ctx, &c); err != nil {
			return fmt.Errorf("saving a group: %w", err)
		}
		return nil
	})
	switch {
	case err == nil:
		s.used.commit(g.newlyUsed)
	case s.dialect.rejected(err):
		return fmt.Errorf("%w: %w", ledger.ErrRejected, err)
	}
	return err
}

// group is one call of Group in its transaction.
type group struct {
	*Store
	*batcher
	state     ledger.State
	before    map[ledger.Ref]before // the vouchers as they were loaded
	newlyUsed []ledger.Ref
}

// before is what a change of a voucher is measured against.
type before struct {
	seq  int
	live bool
}

// live tells whether a guess could hit a voucher and be worth something.
func live(v *gift.Voucher) bool {
	return v.Balance > 0 && v.Status != gift.Cancelled && v.Status != gift.PurchaseFailed
}

var (
	selectVouchers = selectByKey(`SELECT `+voucherColumns+` FROM voucher AS v WHERE v.account_id = $1 AND v.id`, ``)
	selectRequests = selectByKey(`SELECT `+requestColumns+` FROM request AS r WHERE r.account_id = $1 AND r.key`, ``)
)

const (
	selectEntry    = `SELECT ` + entryColumns + ` FROM entry AS e WHERE e.account_id = $1 AND e.id = $2 AND e.kind = 'REDEMPTION'`
	selectReversed = `SELECT coalesce(sum(delta), 0) FROM entry WHERE account_id = $1 AND reverses = $2`
	selectSentBy   = `SELECT delivered_by FROM card WHERE account_id = $1 AND voucher_id = $2`
	selectCode     = `SELECT 1 FROM secret WHERE hash = $1`
	updateVoucher  = `UPDATE voucher SET balance = $1, status = $2, seq = $3 WHERE account_id = $4 AND id = $5 AND seq = $6`
	updateCard     = `UPDATE card SET delivered_at = $1, delivered_by = $2 WHERE account_id = $3 AND voucher_id = $4`
	deleteJob      = `DELETE FROM job WHERE account_id = $1 AND id = $2`
	insertTally    = `INSERT INTO tally (account_id, vouchers, live) VALUES ($1, 0, 0) ON CONFLICT (account_id) DO NOTHING`
	updateTally    = `UPDATE tally SET vouchers = vouchers + $1, live = live + $2 WHERE account_id = $3`
	insertUsed     = `INSERT INTO used_record (account_id, record_id) VALUES ($1, $2) ON CONFLICT (account_id, record_id) DO NOTHING`
)

// hotTexts are the statements that are worth preparing once.
func (s *Store) hotTexts() []string {
	texts := []string{selectEntry, selectReversed, selectSentBy, selectCode, updateVoucher, updateCard, deleteJob, insertTally, updateTally, insertUsed}
	for _, i := range []insertion{insertVoucher, insertCard, insertSecret, insertEntry, insertRequest, insertJob} {
		texts = append(texts, i.one, i.many)
	}
	for _, q := range []selection{selectVouchers, selectRequests} {
		texts = append(texts, s.lock(q).one, s.lock(q).many)
	}
	return texts
}

// lock makes a selection lock its rows.
func (s *Store) lock(q selection) selection {
	return selection{q.one + s.dialect.lockRows, q.many + s.dialect.lockRows}
}

// load reads what want names. Vouchers come last and in the order of their ids, so that groups of several writers wait for
// each other and never in a circle.
func (g *group) load(ctx context.Context, want ledger.Want) error {
	g.before = make(map[ledger.Ref]before, len(want.Vouchers))
	g.state = ledger.State{
		Requests:    make(map[ledger.RequestKey]*ledger.Request),
		Redemptions: make(map[ledger.Ref]*gift.Taken),
		Vouchers:    make(map[ledger.Ref]*gift.Voucher, len(want.Vouchers)),
		Codes:       make(map[gift.VoucherCode]bool),
		SentBy:      make(map[ledger.Ref]gift.ID),
	}
	if err := g.loadRequests(ctx, slices.Concat(want.Requests, want.Undo)); err != nil {
		return err
	}
	redemptions := slices.Clone(want.Redemptions)
	for _, k := range want.Undo {
		if r := g.state.Requests[k]; r != nil && !r.EntryID.IsZero() {
			redemptions = append(redemptions, ledger.Ref{AccountID: k.AccountID, ID: r.EntryID})
		}
	}
	vouchers := slices.Clone(want.Vouchers)
	for _, ref := range redemptions {
		v, err := g.loadRedemption(ctx, ref)
		if err != nil {
			return fmt.Errorf("redemption %s: %w", ref.ID, err)
		}
		if !v.ID.IsZero() {
			vouchers = append(vouchers, v)
		}
	}
	if err := g.loadVouchers(ctx, vouchers); err != nil {
		return err
	}
	for ref, taken := range g.state.Redemptions {
		err := g.each(ctx, selectReversed, []any{bare(ref.AccountID), bare(ref.ID)}, func(rows *sql.Rows) error { return rows.Scan(&taken.Reversed) })
		if err != nil {
			return fmt.Errorf("reversals of %s: %w", ref.ID, err)
		}
	}
	for _, ref := range want.SentBy {
		err := g.each(ctx, selectSentBy, []any{bare(ref.AccountID), bare(ref.ID)}, func(rows *sql.Rows) error {
			var job gift.ID
			err := rows.Scan(scanID{&job})
			g.state.SentBy[ref] = job
			return err
		})
		if err != nil {
			return fmt.Errorf("who delivered gift %s: %w", ref.ID, err)
		}
	}
	for _, c := range want.Codes {
		err := g.each(ctx, selectCode, []any{g.keys.CodeHash(c)}, func(*sql.Rows) error { g.state.Codes[c] = true; return nil })
		if err != nil {
			return fmt.Errorf("codes: %w", err)
		}
	}
	return nil
}

func (g *group) loadRequests(ctx context.Context, wanted []ledger.RequestKey) error {
	slices.SortFunc(wanted, func(a, b ledger.RequestKey) int {
		return cmp.Or(slices.Compare(a.AccountID[:], b.AccountID[:]), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Operation, b.Operation))
	})
	wanted = slices.Compact(wanted)
	return byAccount(wanted, func(k ledger.RequestKey) gift.ID { return k.AccountID }, func(account gift.ID, of []ledger.RequestKey) error {
		keys := make([]any, len(of))
		for i := range of {
			keys[i] = of[i].Key
		}
		return g.selectKeys(ctx, g.lock(selectRequests), account, keys, func(rows *sql.Rows) error {
			r, err := g.scanRequest(rows)
			if err != nil {
				return err
			}
			// The key may have served other operations too, and those may be wanted or not.
			if slices.Contains(of, r.RequestKey) {
				g.state.Requests[r.RequestKey] = &r
			}
			return nil
		})
	})
}

// loadRedemption reads a redemption and gives its voucher; what does not exist has none.
func (g *group) loadRedemption(ctx context.Context, ref ledger.Ref) (voucher ledger.Ref, err error) {
	err = g.each(ctx, selectEntry, []any{bare(ref.AccountID), bare(ref.ID)}, func(rows *sql.Rows) error {
		t := new(gift.Taken)
		if err := rows.Scan(entryFields(&t.Entry)...); err != nil {
			return err
		}
		g.state.Redemptions[ref] = t
		voucher = ledger.Ref{AccountID: ref.AccountID, ID: t.Entry.VoucherID}
		return nil
	})
	return voucher, err
}

func (g *group) loadVouchers(ctx context.Context, wanted []ledger.Ref) error {
	slices.SortFunc(wanted, compareRefs)
	wanted = slices.Compact(wanted)
	return byAccount(wanted, func(r ledger.Ref) gift.ID { return r.AccountID }, func(account gift.ID, of []ledger.Ref) error {
		keys := make([]any, len(of))
		for i := range of {
			keys[i] = bare(of[i].ID)
		}
		return g.selectKeys(ctx, g.lock(selectVouchers), account, keys, func(rows *sql.Rows) error {
			v := new(gift.Voucher)
			if err := rows.Scan(voucherFields(v)...); err != nil {
				return err
			}
			ref := ledger.Ref{AccountID: v.AccountID, ID: v.ID}
			g.state.Vouchers[ref] = v
			g.before[ref] = before{v.Seq, live(v)}
			return nil
		})
	})
}

func compareRefs(a, b ledger.Ref) int {
	return cmp.Or(slices.Compare(a.AccountID[:], b.AccountID[:]), slices.Compare(a.ID[:], b.ID[:]))
}

// byAccount hands sorted items to fn, account by account.
func byAccount[T any](sorted []T, account func(T) gift.ID, fn func(gift.ID, []T) error) error {
	for len(sorted) > 0 {
		of := account(sorted[0])
		n := 1
		for n < len(sorted) && account(sorted[n]) == of {
			n++
		}
		if err := fn(of, sorted[:n]); err != nil {
			return err
		}
		sorted = sorted[n:]
	}
	return nil
}

// save writes what was decided.
func (g *group) save(ctx context.Context, c *ledger.Changes) error {
	if err := g.saveGifts(ctx, c.Gifts); err != nil {
		return err
	}
	for i := range c.Vouchers {
		if err := g.saveVoucher(ctx, &c.Vouchers[i]); err != nil {
			return err
		}
	}
	if err := g.insert(ctx, insertEntry, len(c.Entries), func(i int) []any { return entryRow(&c.Entries[i]) }); err != nil {
		return err
	}
	if err := g.insert(ctx, insertRequest, len(c.Requests), func(i int) []any { return g.requestRow(&c.Requests[i]) }); err != nil {
		return err
	}
	if err := g.insert(ctx, insertJob, len(c.Jobs), func(i int) []any { return jobRow(&c.Jobs[i]) }); err != nil {
		return err
	}
	for _, d := range c.Done {
		if err := g.saveDone(ctx, d); err != nil {
			return err
		}
	}
	if err := g.saveTally(ctx, c); err != nil {
		return err
	}
	return g.saveUsed(ctx, c)
}

func (g *group) saveGifts(ctx context.Context, gifts []gift.Gift) error {
	if err := g.insert(ctx, insertVoucher, len(gifts), func(i int) []any { return voucherRow(&gifts[i].Voucher) }); err != nil {
		return err
	}
	if err := g.insert(ctx, insertCard, len(gifts), func(i int) []any { return g.cardRow(&gifts[i]) }); err != nil {
		return err
	}
	return g.insert(ctx, insertSecret, 2*len(gifts), func(i int) []any {
		v := &gifts[i/2]
		if i%2 == 0 {
			return []any{g.keys.CodeHash(v.Card.Code), codeSecret, bare(v.AccountID), bare(v.ID)}
		}
		return []any{g.keys.TokenHash(v.Card.Token), tokenSecret, bare(v.AccountID), bare(v.ID)}
	})
}

// saveVoucher writes a voucher that was loaded and is still as it was then.
func (g *group) saveVoucher(ctx context.Context, v *gift.Voucher) error {
	was, ok := g.before[ledger.Ref{AccountID: v.AccountID, ID: v.ID}]
	if !ok {
		return fmt.Errorf("voucher %s was changed without having been loaded", v.ID)
	}
	err := g.execOne(ctx, updateVoucher, int64(v.Balance), int64(v.Status), v.Seq, bare(v.AccountID), bare(v.ID), was.seq)
	if err != nil {
		return fmt.Errorf("writing voucher %s: %w", v.ID, err)
	}
	return nil
}

// saveDone finishes a job. One that is gone was finished by another worker, after a lease had run out.
func (g *group) saveDone(ctx context.Context, d ledger.Done) error {
	if _, err := g.exec(ctx, deleteJob, bare(d.AccountID), bare(d.JobID)); err != nil {
		return fmt.Errorf("finishing job %s: %w", d.JobID, err)
	}
	if d.DeliveredAt.IsZero() {
		return nil
	}
	if err := g.execOne(ctx, updateCard, micros(d.DeliveredAt), bare(d.JobID), bare(d.AccountID), bare(d.VoucherID)); err != nil {
		return fmt.Errorf("noting the delivery of gift %s: %w", d.VoucherID, err)
	}
	return nil
}

// saveTally keeps the number of gifts, and of those that are live.
func (g *group) saveTally(ctx context.Context, c *ledger.Changes) error {
	type tally struct{ vouchers, live int }
	changed := map[gift.ID]tally{}
	for i := range c.Gifts {
		t := changed[c.Gifts[i].AccountID]
		t.vouchers++
		if live(&c.Gifts[i].Voucher) {
			t.live++
		}
		changed[c.Gifts[i].AccountID] = t
	}
	for i := range c.Vouchers {
		v := &c.Vouchers[i]
		was, is := g.before[ledger.Ref{AccountID: v.AccountID, ID: v.ID}].live, live(v)
		t := changed[v.AccountID]
		switch {
		case is && !was:
			t.live++
		case was && !is:
			t.live--
		default:
			continue
		}
		changed[v.AccountID] = t
	}
	accounts := make([]gift.ID, 0, len(changed))
	for a := range changed {
		accounts = append(accounts, a)
	}
	slices.SortFunc(accounts, func(a, b gift.ID) int { return slices.Compare(a[:], b[:]) })
	for _, a := range accounts {
		if changed[a].vouchers > 0 {
			if _, err := g.exec(ctx, insertTally, bare(a)); err != nil {
				return fmt.Errorf("counting gifts: %w", err)
			}
		}
		if err := g.execOne(ctx, updateTally, changed[a].vouchers, changed[a].live, bare(a)); err != nil {
			return fmt.Errorf("counting gifts: %w", err)
		}
	}
	return nil
}

// saveUsed notes which records of the set-up are in use now.
func (g *group) saveUsed(ctx context.Context, c *ledger.Changes) error {
	note := func(account, record gift.ID) {
		ref := ledger.Ref{AccountID: account, ID: record}
		if !record.IsZero() && !g.used.has(ref) && !slices.Contains(g.newlyUsed, ref) {
			g.newlyUsed = append(g.newlyUsed, ref)
		}
	}
	for i := range c.Gifts {
		v := &c.Gifts[i]
		for _, record := range []gift.ID{v.LocationID, v.PromotionID, v.Card.DesignID, v.Card.Purchase.StorefrontID} {
			note(v.AccountID, record)
		}
	}
	for i := range c.Entries {
		note(c.Entries[i].AccountID, c.Entries[i].Actor.LocationID)
	}
	slices.SortFunc(g.newlyUsed, compareRefs)
	for _, ref := range g.newlyUsed {
		if _, err := g.exec(ctx, insertUsed, bare(ref.AccountID), bare(ref.ID)); err != nil {
			return fmt.Errorf("noting what is in use: %w", err)
		}
	}
	return nil
}

// usedRecords remembers which records are known to be noted as used, so that they are not written with every redemption.
// Nothing is ever taken out of the table behind it.
type usedRecords struct {
	mu    sync.Mutex
	known map[ledger.Ref]bool
}

func (u *usedRecords) has(r ledger.Ref) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.known[r]
}

// commit adds what is in the database now.
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
