package lookup

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// lookupBatcher is a data loader for secrets: one statement answers several look-ups. In a database that is in this
// process, most of a look-up is the beginning and the end of its statement; in one elsewhere, the round trip. No
// look-up waits for others to come: those that come while a statement runs are in the next one. A statement sees all
// that was committed before it began.
type lookupBatcher struct {
	mu      sync.Mutex
	waiting []*pendingLookup
	running int
}

// pendingLookup is a look-up without an answer yet.
type pendingLookup struct {
	ctx    context.Context // its caller's
	kind   string
	first  guid.ID  // the account whose gift is meant, if several are found; zero: none in particular
	hashes [][]byte // of which the first one counts that is found, but for that
	asked  string   // the same for the cache; "": there is none
	done   chan struct{}

	// Once done:
	gift     gift.Gift
	replaced int // the number of the entry that took the secret away; 0: it leads to the gift
	best     int // the place of what was found
	err      error
}

// maxRunning is how many statements read at once: two, so that one whose pages come from the disk does not hold up the
// others.
const maxRunning = 2

// lookUpSecret finds the gift whose secret has one of some hashes: in memory, or together with other look-ups, within
// the database's timeout.
func (r *Reader) lookUpSecret(ctx context.Context, kind string, first guid.ID,
	hashes [][]byte) (gift.Gift, int, error) {
	if timeout := r.db.Timeout(); timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if kind == record.CodeSecret {
		r.codes.Add(1)
	}
	asked := ""
	if r.cache != nil {
		asked = question(kind, first, hashes)
		if g, replaced, ok := r.cache.bySecret(asked); ok {
			return g, replaced, nil
		}
	}
	w := &pendingLookup{ctx: ctx, kind: kind, first: first, hashes: hashes, asked: asked, done: make(chan struct{})}
	l := &r.secrets
	l.mu.Lock()
	l.waiting = append(l.waiting, w)
	if l.running < maxRunning {
		l.running++
		go r.lookUpAll()
	}
	l.mu.Unlock()
	select {
	case <-w.done:
		return w.gift, w.replaced, w.err
	case <-ctx.Done():
		return gift.Gift{}, 0, ctx.Err()
	}
}

// lookUpAll looks up until nothing is pending.
func (r *Reader) lookUpAll() {
	for all := r.secrets.next(r.db.BatchSize()); len(all) > 0; all = r.secrets.next(r.db.BatchSize()) {
		err := r.lookUpTogether(context.Background(), all)
		for _, w := range all {
			w.err = cmp.Or(err, w.err)
			close(w.done)
		}
	}
}

// next gives the next look-ups, at most n; none, and the caller runs no longer. Those whose callers have gone are left
// out.
func (l *lookupBatcher) next(n int) (all []*pendingLookup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(w *pendingLookup) bool { return w.ctx.Err() != nil })
	n = min(len(l.waiting), n)
	all, l.waiting = l.waiting[:n:n], l.waiting[n:]
	if n == 0 {
		l.running--
	}
	return all
}

// selectBySecrets finds gifts by the hashes of their secrets. On SQLite, the joins are made in the order in which they
// are written; on PostgreSQL, what is in brackets is found by a whole key: see db.Query.
var selectBySecrets = &db.Query{What: "looking up secrets",
	SQLite: `SELECT s.hash, s.kind, s.replaced, v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item,
			v.promotional, v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
			v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
			v.wrong_codes, v.blocked, v.extended, v.replaced,
			(SELECT i.items FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items, NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare,
			c.secrets, c.label,
			CASE WHEN c.terms_of_order THEN (SELECT o.terms
				FROM order_terms AS o WHERE o.account_id = v.account_id
					AND o.order_id = v.order_id) ELSE c.terms END AS terms,
			CASE WHEN c.terms_of_order THEN (SELECT o.promotional_terms
				FROM order_terms AS o WHERE o.account_id = v.account_id
					AND o.order_id = v.order_id) ELSE c.promotional_terms END AS promotional_terms,
			c.equivalent_value, c.sender, c.recipient, c.contact, c.message, c.method, c.design_id, c.scheduled,
			c.delivery_date, c.delivery_zone, c.delivered_at, c.recipient_index, c.reference, c.first_name,
			c.last_name, c.email_address, c.storefront_id, c.notes, c.related_order_id, c.related_order_number,
			c.language, c.vat_treatment, c.vat_rate, NULLIF(c.price || c.attachment, '0') AS bought, c.sealed_message
		FROM json_each($1) AS w CROSS JOIN secret AS s ON s.hash = unhex(w.value)
		CROSS JOIN voucher AS v ON v.account_id = s.account_id AND v.id = s.voucher_id
		CROSS JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id
		WHERE (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
			WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))`,
	Postgres: `SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL (
			SELECT s.hash, s.kind, s.replaced, g.* FROM secret AS s CROSS JOIN LATERAL (
				SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
					v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
					v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
					v.wrong_codes, v.blocked, v.extended, v.replaced,
					(SELECT i.items
						FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items, NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare,
					c.secrets, c.label,
					CASE WHEN c.terms_of_order THEN (SELECT o.terms
						FROM order_terms AS o WHERE o.account_id = v.account_id
							AND o.order_id = v.order_id) ELSE c.terms END AS terms,
					CASE WHEN c.terms_of_order THEN (SELECT o.promotional_terms
						FROM order_terms AS o WHERE o.account_id = v.account_id
							AND o.order_id = v.order_id) ELSE c.promotional_terms END AS promotional_terms,
					c.equivalent_value, c.sender, c.recipient, c.contact, c.message, c.method, c.design_id,
					c.scheduled, c.delivery_date, c.delivery_zone, c.delivered_at, c.recipient_index, c.reference,
					c.first_name, c.last_name, c.email_address, c.storefront_id, c.notes, c.related_order_id,
					c.related_order_number, c.language, c.vat_treatment, c.vat_rate, NULLIF(c.price || c.attachment, '0') AS bought, c.sealed_message
				FROM voucher AS v JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id
				WHERE v.account_id = s.account_id AND v.id = s.voucher_id AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
					WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))
				OFFSET 0) AS g
			WHERE s.hash = w.key OFFSET 0) AS found`}

// lookUpTogether answers look-ups in one round trip; in two where accounts are spread over machines. The error is none
// of theirs alone.
func (r *Reader) lookUpTogether(ctx context.Context, all []*pendingLookup) error {
	if r.db.Spread {
		return r.lookUpInSteps(ctx, all)
	}
	w := db.Batch{Query: selectBySecrets, Rows: make([][]any, 0, len(all))}
	for _, asked := range all {
		for _, hash := range asked.hashes {
			w.Rows = append(w.Rows, []any{hash})
		}
	}
	stamp := r.cache.stamp()
	return r.db.Retry(ctx, func(ctx context.Context) error {
		var found []foundSecret
		w.Scan = func(from db.Scanner) (err error) {
			var f foundSecret
			f.gift, f.err, err = record.ScanGift(r.db.Keys, from, &f.hash, &f.kind, &f.replaced)
			found = append(found, f)
			return err
		}
		err := r.db.Read(ctx, []db.Batch{w})
		answer(all, found)
		if err == nil {
			r.remember(stamp, all)
		}
		return err
	})
}

// remember puts what was found into the cache.
func (r *Reader) remember(stamp uint64, all []*pendingLookup) {
	if r.cache == nil {
		return
	}
	for _, w := range all {
		if w.err != nil {
			continue
		}
		by := foundBy{question: w.asked, replaced: w.replaced}
		if w.best > 0 { // one of the others may come to lead to a gift that is meant more
			for _, hash := range w.hashes {
				by.others = append(by.others, string(hash))
			}
		}
		r.cache.put(stamp, &w.gift, by)
	}
}

// foundSecret is the gift that a secret leads to.
type foundSecret struct {
	hash     []byte
	kind     string
	gift     gift.Gift
	replaced int
	err      error // it does not open
}

// answer hands what was found to the look-ups.
func answer(all []*pendingLookup, found []foundSecret) {
	for _, w := range all {
		w.err = refusal.NotFound
		w.best = -1
		for i := range found {
			place := w.place(found[i].kind, found[i].hash, found[i].gift.AccountID)
			if f := &found[i]; place >= 0 && (w.best < 0 || place < w.best) {
				w.best, w.gift, w.replaced, w.err = place, f.gift, f.replaced, f.err
			}
		}
	}
}

// place is 0 for what a look-up means most of all, more for what it means less; -1: it does not mean that.
func (w *pendingLookup) place(kind string, hash []byte, account guid.ID) int {
	at := slices.IndexFunc(w.hashes, func(h []byte) bool { return bytes.Equal(h, hash) })
	switch {
	case at < 0 || kind != w.kind:
		return -1
	case !w.first.IsZero() && account != w.first:
		return at + len(w.hashes)
	}
	return at
}

var (
	selectOwners = &db.Query{What: "reading owners",
		Each: `SELECT s.hash, s.kind, s.account_id, s.voucher_id, s.replaced FROM secret AS s WHERE s.hash = $1`,
		SQLite: `SELECT s.hash, s.kind, s.account_id, s.voucher_id, s.replaced
			FROM json_each($1) AS w CROSS JOIN secret AS s
			WHERE s.hash = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[]) AS w (key) CROSS JOIN LATERAL (
				SELECT s.hash, s.kind, s.account_id, s.voucher_id, s.replaced
				FROM secret AS s
				WHERE s.hash = w.key OFFSET 0) AS found`}
	selectGifts = &db.Query{What: "reading gifts", Scoped: true,
		SQLite: `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
				v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
				v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
				v.wrong_codes, v.blocked, v.extended, v.replaced,
				(SELECT i.items
					FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items, NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare,
				c.secrets, c.label,
				CASE WHEN c.terms_of_order THEN (SELECT o.terms
					FROM order_terms AS o WHERE o.account_id = v.account_id
						AND o.order_id = v.order_id) ELSE c.terms END AS terms,
				CASE WHEN c.terms_of_order THEN (SELECT o.promotional_terms
					FROM order_terms AS o WHERE o.account_id = v.account_id
						AND o.order_id = v.order_id) ELSE c.promotional_terms END AS promotional_terms,
				c.equivalent_value, c.sender, c.recipient, c.contact, c.message, c.method, c.design_id,
				c.scheduled, c.delivery_date, c.delivery_zone, c.delivered_at, c.recipient_index, c.reference,
				c.first_name, c.last_name, c.email_address, c.storefront_id, c.notes, c.related_order_id,
				c.related_order_number, c.language, c.vat_treatment, c.vat_rate, NULLIF(c.price || c.attachment, '0') AS bought, c.sealed_message
			FROM json_each($2) AS w CROSS JOIN voucher AS v
			CROSS JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id
			WHERE v.account_id = $1 AND v.id = unhex(w.value) AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
					v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
					v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
					v.wrong_codes, v.blocked, v.extended, v.replaced,
					(SELECT i.items
						FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id) AS items, NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare,
					c.secrets, c.label,
					CASE WHEN c.terms_of_order THEN (SELECT o.terms
						FROM order_terms AS o WHERE o.account_id = v.account_id
							AND o.order_id = v.order_id) ELSE c.terms END AS terms,
					CASE WHEN c.terms_of_order THEN (SELECT o.promotional_terms
						FROM order_terms AS o WHERE o.account_id = v.account_id
							AND o.order_id = v.order_id) ELSE c.promotional_terms END AS promotional_terms,
					c.equivalent_value, c.sender, c.recipient, c.contact, c.message, c.method, c.design_id,
					c.scheduled, c.delivery_date, c.delivery_zone, c.delivered_at, c.recipient_index,
					c.reference, c.first_name, c.last_name, c.email_address, c.storefront_id, c.notes,
					c.related_order_id, c.related_order_number, c.language, c.vat_treatment, c.vat_rate, NULLIF(c.price || c.attachment, '0') AS bought, c.sealed_message
				FROM voucher AS v JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id
				WHERE v.account_id = w.account_id AND v.id = w.key AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
					WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))
				OFFSET 0) AS found`,
		Citus: `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
				v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last,
				v.valid_from, v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification,
				v.wrong_codes, v.blocked, v.extended, v.replaced,
				(SELECT i.items FROM item_list AS i WHERE i.account_id = $1 AND i.id = v.items_id) AS items, NULLIF(v.buyer_notices || ' ' || v.grace || ' ' || v.buyer_language || ' ' || v.customer, '0 0  ') AS rare,
				c.secrets, c.label,
				CASE WHEN c.terms_of_order THEN (SELECT o.terms
					FROM order_terms AS o WHERE o.account_id = $1
						AND o.order_id = v.order_id) ELSE c.terms END AS terms,
				CASE WHEN c.terms_of_order THEN (SELECT o.promotional_terms
					FROM order_terms AS o WHERE o.account_id = $1
						AND o.order_id = v.order_id) ELSE c.promotional_terms END AS promotional_terms,
				c.equivalent_value, c.sender, c.recipient, c.contact, c.message, c.method, c.design_id,
				c.scheduled, c.delivery_date, c.delivery_zone, c.delivered_at, c.recipient_index, c.reference,
				c.first_name, c.last_name, c.email_address, c.storefront_id, c.notes, c.related_order_id,
				c.related_order_number, c.language, c.vat_treatment, c.vat_rate, NULLIF(c.price || c.attachment, '0') AS bought, c.sealed_message
			FROM voucher AS v JOIN card AS c ON c.account_id = $1 AND c.voucher_id = v.id
			WHERE v.account_id = $1 AND v.id = ANY($2::BYTEA[]) AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = $1 AND m.id = v.import_id AND m.state = 'FINISHED'))`}
)

// lookUpInSteps answers look-ups in two round trips: the first asks the machines that have the hashes whose gifts they
// are, the second those that have the accounts. Which of its gifts a look-up means most is judged after the second: the
// first finds gifts of imports, too, that are not there. The error is none of theirs alone.
func (r *Reader) lookUpInSteps(ctx context.Context, all []*pendingLookup) error {
	return r.db.Retry(ctx, func(ctx context.Context) error {
		owners, err := r.lookUpOwners(ctx, all)
		if err != nil {
			return fmt.Errorf("looking up secrets: %w", err)
		}
		refs := slices.Collect(maps.Keys(owners))
		var found []foundSecret
		err = r.db.Read(ctx, record.ByRef(selectGifts, refs, func(from db.Scanner) error {
			g, closed, err := record.ScanGift(r.db.Keys, from)
			for _, f := range owners[record.RefOf(&g.Voucher)] {
				f.gift, f.err = g, closed
				found = append(found, f)
			}
			return err
		}))
		if err != nil {
			return fmt.Errorf("reading gifts: %w", err)
		}
		answer(all, found)
		return nil
	})
}

// lookUpOwners tells which secrets that are looked up lead to which gifts.
func (r *Reader) lookUpOwners(ctx context.Context, all []*pendingLookup) (map[ledger.Ref][]foundSecret, error) {
	owners, asked := db.Batch{Query: selectOwners}, map[string]bool{}
	for _, w := range all {
		for _, hash := range w.hashes {
			if !asked[string(hash)] {
				asked[string(hash)] = true
				owners.Rows = append(owners.Rows, []any{hash})
			}
		}
	}
	found := make(map[ledger.Ref][]foundSecret, len(owners.Rows))
	owners.Scan = func(from db.Scanner) error {
		var f foundSecret
		var ref ledger.Ref
		err := from.Scan(&f.hash, &f.kind, db.ScanID(&ref.AccountID), db.ScanID(&ref.ID), &f.replaced)
		found[ref] = append(found[ref], f)
		return err
	}
	err := r.db.Read(ctx, []db.Batch{owners})
	return found, err
}
