package check

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"boon.example/internal/chain"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/imported"
	"boon.example/internal/store/record"
	"boon.example/internal/store/setup"
)

// Parts implements verify.Check.
func (c *Check) Parts() []verify.Part { return append(c.ofGifts(), c.ofTheRest()...) }

// ofGifts are the checks of gifts, their cards and what calls did with them.
func (c *Check) ofGifts() []verify.Part {
	return []verify.Part{
		part("the database file", 30, whole(c.db.CheckIntegrity)),
		part("codes and tokens, and what gifts are found by", 35, c.checkCards),
		part("activation codes", 0, whole(c.checkActivations)),
		part("activation codes without a gift", 0, c.nothing("an activation code leads to gift %s, which does not exist",
			`SELECT t.voucher_id FROM activation_code AS t
			WHERE NOT EXISTS (SELECT 1 FROM voucher AS v WHERE v.account_id = t.account_id AND v.id = t.voucher_id)`)),
		part("gifts without a card", 0, c.nothing("gift %s has no card", `SELECT v.id FROM voucher AS v
			WHERE NOT EXISTS (SELECT 1 FROM card AS c WHERE c.account_id = v.account_id AND c.voucher_id = v.id)`)),
		part("cards without a gift", 0, c.nothing("there is a card of gift %s, which does not exist", `SELECT c.voucher_id FROM card AS c
			WHERE NOT EXISTS (SELECT 1 FROM voucher AS v WHERE v.account_id = c.account_id AND v.id = c.voucher_id)`)),
		part("what gifts are good for", 0, c.nothing("what gift %s is good for is lost", `SELECT v.id FROM voucher AS v WHERE v.items_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM item_list AS i WHERE i.account_id = v.account_id AND i.id = v.items_id)`)),
		part("lists of items", 0, whole(c.checkItems)),
		part("entries outside of histories", 0, c.nothing("account %s has other entries than those of its gifts' histories", `SELECT account_id FROM (
			SELECT account_id, count(*) AS entries FROM entry GROUP BY account_id
			UNION ALL SELECT account_id, CAST(-sum(seq) AS BIGINT) FROM voucher GROUP BY account_id) AS t GROUP BY account_id HAVING sum(entries) <> 0`)),
		part("idempotency records", 0, c.nothing("an idempotency record names entry %s, which does not exist", `SELECT r.entry_id FROM request AS r
			WHERE r.entry_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.account_id = r.account_id AND e.id = r.entry_id)`)),
		part("what idempotency records say was done", 5, whole(c.checkAnswers)),
		part("effects of idempotency records", 0, c.nothing("entry %s is named by more than one idempotency record", `SELECT r.entry_id FROM request AS r
			WHERE r.entry_id IS NOT NULL GROUP BY r.account_id, r.entry_id HAVING count(*) > 1`)),
		part("gifts to be delivered", 0, c.nothing("gift %s is PENDING, and no job will deliver it", `SELECT v.id FROM voucher AS v
			WHERE v.status = 1 AND (v.account_id, v.id) NOT IN (SELECT j.account_id, j.voucher_id FROM job AS j)
				AND (v.account_id, v.order_id) NOT IN (SELECT j.account_id, j.order_id FROM job AS j WHERE j.order_id IS NOT NULL)`)),
	}
}

// ofTheRest are the checks of the set-up, of histories beside gifts, and of what is noted about many gifts.
func (c *Check) ofTheRest() []verify.Part {
	return []verify.Part{
		part("records in use", 0, c.nothing("location %s is in use, but is not noted to be", `SELECT p.location_id FROM (
			SELECT account_id, location_id FROM voucher UNION SELECT account_id, location_id FROM entry) AS p
			WHERE p.location_id IS NOT NULL
			  AND NOT EXISTS (SELECT 1 FROM used_record AS u WHERE u.account_id = p.account_id AND u.record_id = p.location_id)`)),
		part("the set-up", 0, whole(c.checkSetup)),
		part("the outbox", 0, whole(c.checkOutbox)),
		part("pictures", 0, whole(c.checkAssets)),
		part("resends without an entry", 0, c.nothing("gift %s was sent again, and its history does not say so", `SELECT r.voucher_id FROM resend AS r
			WHERE NOT EXISTS (SELECT 1 FROM entry AS e
				WHERE e.account_id = r.account_id AND e.voucher_id = r.voucher_id AND e.seq = r.seq AND e.id = r.id AND e.kind = 'RESENT')`)),
		part("entries without a resend", 0, c.nothing("the history of gift %s says that it was sent again, and where it "+
			"went before is lost",
			`SELECT DISTINCT e.voucher_id FROM entry AS e WHERE e.kind = 'RESENT' AND NOT EXISTS (SELECT 1 FROM resend AS r
				WHERE r.account_id = e.account_id AND r.voucher_id = e.voucher_id AND r.seq = e.seq)`)),
		part("redemptions reversed too far", 0, c.nothing("of entry %s more was undone than it did", `SELECT r.id FROM (
			SELECT account_id, reverses AS id, kind, sum(abs(delta)) AS amount FROM entry WHERE reverses IS NOT NULL GROUP BY account_id, reverses, kind) AS r
			LEFT JOIN entry AS e ON e.account_id = r.account_id AND e.id = r.id
				AND (r.kind, e.kind) IN (VALUES `+undoings()+`)
			WHERE r.amount > coalesce(abs(e.delta), 0)`)),
		part("what was given back", 0, c.nothing("of entry %s another amount was undone, or in other parts, than is noted", `SELECT t.id FROM (
			SELECT account_id, reverses AS id, sum(abs(delta)) AS amount, count(*) AS parts FROM entry WHERE reverses IS NOT NULL GROUP BY account_id, reverses
			UNION ALL SELECT account_id, redemption_id, -amount, -parts FROM given_back) AS t
			GROUP BY t.account_id, t.id HAVING sum(t.amount) <> 0 OR sum(t.parts) <> 0`)),
		part("holds", 0, whole(c.checkHolds)),
		part("transfers", 0, whole(c.checkTransfers)),
		part("replaced cards", 0, whole(c.checkReplaced)),
		part("events", 5, whole(c.checkEvents)),
		part("the sums of closed days", 0, whole(c.checkBooks)),
		part("booked breakage", 0, whole(c.checkBreakage)),
		part("the counts of gifts", 0, c.nothing("account %s has another number of gifts than is noted", `SELECT DISTINCT v.account_id
			FROM voucher AS v WHERE NOT EXISTS (SELECT 1 FROM tally AS t WHERE t.account_id = v.account_id)
				AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
					WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))
			UNION ALL SELECT t.account_id FROM tally AS t
			WHERE t.vouchers <> (SELECT count(*) FROM voucher AS v WHERE v.account_id = t.account_id)
				- (SELECT coalesce(sum(m.staged), 0) FROM gift_import AS m WHERE m.account_id = t.account_id AND m.state <> 'FINISHED')`)),
		part("imports", 0, c.checkImports),
		part("states of imports", 0, whole(c.checkSteps)),
	}
}

func part(name string, work int, run func(context.Context, func(string), func(int64)) error) verify.Part {
	return verify.Part{Name: name, Work: work, Run: run}
}

// whole is a part that does not walk the vouchers.
func whole(run func(context.Context, func(string)) error) func(context.Context, func(string), func(int64)) error {
	return func(ctx context.Context, found func(string), _ func(int64)) error { return run(ctx, found) }
}

// checkImports looks for gifts that were moved into an import or out of one, and for those that something happened to
// while they were not there.
func (c *Check) checkImports(ctx context.Context, found func(string), walked func(int64)) error {
	without := c.nothing("gift %s was brought by an import that does not exist", `SELECT v.id FROM voucher AS v
		WHERE v.import_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM gift_import AS m
			WHERE m.account_id = v.account_id AND m.id = v.import_id)`)
	if err := without(ctx, found, walked); err != nil {
		return err
	}
	query := importsOfOtherGifts
	if c.db.Spread {
		query = importsOfOtherGiftsOnCitus
	}
	return c.nothing("import %s has other gifts than it says, or something happened to them before it was finished",
		query)(ctx, found, walked)
}

const (
	importsOfOtherGifts = `SELECT m.id FROM gift_import AS m WHERE m.staged <> (SELECT count(*) FROM voucher AS v
		WHERE v.import_id = m.id AND v.account_id = m.account_id AND (v.seq = 1 OR m.state = 'FINISHED' AND m.used))`
	// Citus has no guard that notes the first use. What is finished there is not undone, used or not.
	importsOfOtherGiftsOnCitus = `SELECT m.id FROM gift_import AS m WHERE m.staged <> (SELECT count(*) FROM voucher AS v
		WHERE v.import_id = m.id AND v.account_id = m.account_id AND (v.seq = 1 OR m.state = 'FINISHED'))`
)

// checkSteps holds the state of each import against the log of the set-up, which has the same steps: whoever writes
// past Boon to the database puts no older state back unseen.
func (c *Check) checkSteps(ctx context.Context, found func(string)) error {
	return c.db.Snapshot(ctx, func(tx *sql.Tx) error {
		said, err := imported.Said(ctx, tx)
		if err != nil {
			return err
		}
		newest := map[guid.ID]string{}
		err = setup.EachChange(ctx, tx, func(change chain.SetupChange) {
			if id, is := imported.StepOf(change.What); is {
				newest[id] = change.What
			}
		})
		for _, id := range slices.SortedFunc(maps.Keys(said), guid.ID.Compare) {
			if newest[id] != said[id] {
				found("it is \"" + said[id] + "\", and the log of the set-up does not say so last")
			}
			delete(newest, id)
		}
		for _, id := range slices.SortedFunc(maps.Keys(newest), guid.ID.Compare) {
			found("the log of the set-up says \"" + newest[id] + "\", and that import is not there")
		}
		return err
	})
}

// nothing is a check that a query of one id finds no row; problem says what one means.
func (c *Check) nothing(problem, query string) func(context.Context, func(string), func(int64)) error {
	return whole(func(ctx context.Context, found func(string)) error {
		return db.Each(ctx, c.db.Readers, query, nil, func(rows *sql.Rows) error {
			var record guid.ID
			err := rows.Scan(db.ScanID(&record))
			found(fmt.Sprintf(problem, record))
			return err
		})
	})
}

// checkCards opens every card's code and token and compares them with what they are found by: each has one hash, which
// leads to its gift. It looks for gifts that are not found by what their cards say; what they were found by earlier may
// find them, too. Cards and hashes are read side by side, a page at a time, and met here: Citus keeps them on different
// nodes and does not join them.
func (c *Check) checkCards(ctx context.Context, found func(string), done func(vouchers int64)) error {
	finds, err := c.searchRows(ctx)
	if err != nil {
		return err
	}
	const size = 500
	var after [2]guid.ID
	read := int64(0)
	for n := size; n == size; {
		var page []openedCard
		var hashes map[[2]guid.ID][]secretHash
		last := after
		// as of one moment: gifts are made and sent elsewhere meanwhile
		err := c.db.Snapshot(ctx, func(tx *sql.Tx) (err error) {
			if page, err = c.cardPage(ctx, tx, after, size); err != nil {
				return err
			}
			upTo := [2]guid.ID{guid.Max(), guid.Max()} // the last page looks for hashes beyond the last gift, too
			for _, card := range page {
				last = card.of
			}
			if len(page) == size {
				upTo = last
			}
			hashes, err = hashesOf(ctx, tx, after, upTo)
			return err
		})
		if err != nil {
			return fmt.Errorf("checking codes and tokens: %w", err)
		}
		var unfound []gift.Gift
		for _, card := range page {
			c.checkCard(card, hashes[card.of], found)
			delete(hashes, card.of)
			if card.closed == nil && !c.finds(finds, &card.Gift) { // of one that does not open the other check tells
				unfound = append(unfound, card.Gift)
			}
		}
		for lost := range hashes {
			found(fmt.Sprintf("a code or token leads to gift %s, which does not exist", lost[1]))
		}
		if err := c.checkSearchOf(ctx, unfound, found); err != nil {
			return err
		}
		n, after = len(page), last
		read += int64(n)
		done(read)
	}
	return nil
}

// openedCard is a gift with its code and token. It is named by its account's id and its own.
type openedCard struct {
	of [2]guid.ID
	gift.Gift
	closed error // why code and token do not open
	undone bool  // its import is: its code and token are free
}

// cardPage gives the gifts that follow one, at most limit.
func (c *Check) cardPage(ctx context.Context, tx *sql.Tx, after [2]guid.ID, limit int) (page []openedCard, err error) {
	args := []any{db.KeyOf(after[0]), db.KeyOf(after[1]), limit}
	err = c.db.EachWithin(ctx, tx, selectCardPage, args, func(rows *sql.Rows) error {
		var undone bool
		g, closed, err := record.ScanGift(c.db.Keys, rows, &undone)
		page = append(page, openedCard{[2]guid.ID{g.AccountID, g.ID}, g, closed, undone})
		return err
	})
	return page, err
}

// searchRows reads all that gifts are found by; nil: it is too much to be kept.
func (c *Check) searchRows(ctx context.Context) (*pairs, error) {
	all := newPairs()
	err := db.Each(ctx, c.db.Readers, `SELECT f.key, f.voucher_id FROM gift_search AS f`, nil, func(rows *sql.Rows) error {
		var key, voucher sql.RawBytes
		err := rows.Scan(&key, &voucher)
		if err == nil && all.n >= remembered {
			return errTooMuch
		}
		all.add(key, voucher)
		return err
	})
	if errors.Is(err, errTooMuch) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what gifts are found by: %w", err)
	}
	return all, nil
}

var errTooMuch = errors.New("there are too many")

// finds tells whether a gift was found by all that its card says when rows were read. A key is its account's.
func (c *Check) finds(rows *pairs, g *gift.Gift) bool {
	for _, text := range record.SearchTexts(g) {
		if rows == nil || !slices.ContainsFunc(c.db.Keys.SearchHashes(g.AccountID, text), func(key []byte) bool {
			return rows.has(key, g.ID[:])
		}) {
			return false
		}
	}
	return true
}

// secretHash is what a code or a token is found by.
type secretHash struct {
	kind     string
	hash     []byte
	replaced int // by the entry of this number; 0: it was not
}

const selectHashes = `SELECT s.account_id, s.voucher_id, s.kind, s.hash, s.replaced FROM secret AS s
	WHERE (s.account_id, s.voucher_id) > ($1, $2) AND (s.account_id, s.voucher_id) <= ($3, $4)`

// hashesOf gives the hashes that lead to gifts after one and up to another.
func hashesOf(ctx context.Context, q db.Querier, after, last [2]guid.ID) (map[[2]guid.ID][]secretHash, error) {
	args := []any{db.KeyOf(after[0]), db.KeyOf(after[1]), db.KeyOf(last[0]), db.KeyOf(last[1])}
	hashes := map[[2]guid.ID][]secretHash{}
	err := db.Each(ctx, q, selectHashes, args, func(rows *sql.Rows) error {
		var of [2]guid.ID
		var h secretHash
		err := rows.Scan(db.ScanID(&of[0]), db.ScanID(&of[1]), &h.kind, &h.hash, &h.replaced)
		hashes[of] = append(hashes[of], h)
		return err
	})
	return hashes, err
}

// checkCard holds a gift's code and token against the hashes that lead to it.
func (c *Check) checkCard(card openedCard, hashes []secretHash, found func(string)) {
	id := card.ID
	hashes = slices.DeleteFunc(hashes, func(h secretHash) bool { return h.replaced > 0 }) // see checkReplaced
	if (len(hashes) != 2 || hashes[0].kind == hashes[1].kind) && !card.undone {
		found(fmt.Sprintf("gift %s has not exactly one code and one token", id))
	}
	if card.closed != nil {
		found(strings.TrimSuffix(card.closed.Error(), "; run boon verify"))
		return
	}
	for _, h := range hashes {
		right := c.db.Keys.CodeHashes(card.Card.Code)
		if h.kind == record.TokenSecret {
			right = c.db.Keys.TokenHashes(card.Card.Token)
		}
		if !slices.ContainsFunc(right, func(r []byte) bool { return bytes.Equal(r, h.hash) }) {
			found(fmt.Sprintf("the %s of gift %s is not found by what it is", h.kind, id))
		}
	}
}

// checkAnswers opens every stored answer, and compares those of calls that move or hold value with the entry they made.
func (c *Check) checkAnswers(ctx context.Context, found func(string)) error {
	const query = `SELECT r.account_id, r.key, r.operation, r.fingerprint, r.code, r.answer, r.sealed, r.entry_id, r.spent,
			r.locations, r.made_at, r.size, coalesce(e.kind, ''), e.hold_id, a.body
		FROM request AS r LEFT JOIN entry AS e ON e.account_id = r.account_id AND e.id = r.entry_id
		LEFT JOIN answer AS a ON a.account_id = r.account_id AND a.key = r.key AND a.operation = r.operation
		WHERE (r.account_id, r.key, r.operation) > ($1, $2, $3)
		ORDER BY r.account_id, r.key, r.operation LIMIT $4`
	const size = 500
	var last ledger.RequestKey
	for n := size; n == size; {
		n = 0
		err := db.Each(ctx, c.db.Readers, query, []any{db.KeyOf(last.AccountID), last.Key, string(last.Operation), size},
			func(rows *sql.Rows) error {
				n++
				var kind gift.Kind
				var hold guid.ID
				var long []byte
				r, sealed, err := record.ScanRequest(c.db.Keys, rows, &kind, db.ScanID(&hold), &long)
				if err == nil && r.Answer.Long.Size > 0 {
					r.Answer.Body, err = record.UnpackAnswer(c.db.Keys, r.Answer.Long, long, sealed)
				}
				if last = r.RequestKey; err == nil {
					err = fits(&r, kind, hold)
				}
				if err != nil {
					found(fmt.Sprintf("the idempotency record of a %s request made at %s: %s", r.Operation,
						r.At.Format(time.RFC3339Nano), err))
				}
				return nil
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// undoings are the pairs of a kind of entry and a kind that it undoes, as rows of SQL.
func undoings() string {
	var pairs []string
	for _, kind := range gift.Kinds() {
		if kind.Undoable() {
			pairs = append(pairs, fmt.Sprintf("('%s', '%s')", kind.UndoneBy(), kind))
		}
	}
	return strings.Join(pairs, ", ")
}

// fits tells what is wrong between the record of a call that moves or holds value and the entry that it names: its
// kind, and the hold that it captured of or ended.
func fits(r *ledger.Request, kind gift.Kind, hold guid.ID) error {
	named := func(id guid.ID) bool { return bytes.Contains(r.Answer.Body, id.AppendText(nil)) }
	want := r.Operation.Makes()
	switch done := r.Answer.Succeeded() && r.Answer.Code != ledger.Nothing; {
	case !record.Free(r.Operation):
		return nil
	case r.Spent && (done || !r.EntryID.IsZero()):
		return errors.New("it is spent and done at once")
	case done != (kind == want):
		return fmt.Errorf("it was answered %s, and its entry is of kind %q", string(r.Answer.Code), kind)
	case r.Foreign(): // its answer names what its protocol does
		return nil
	case done && r.Operation != operation.ReleaseHold && !named(r.EntryID): // a release answers with the hold
		return errors.New("its answer does not name its entry")
	case done && !hold.IsZero() && !named(hold):
		return errors.New("its answer names another hold")
	}
	return nil
}

// checkSetup reads the accounts and keys as a service does, and finds keys that lead nowhere.
func (c *Check) checkSetup(ctx context.Context, found func(string)) error {
	var d *merchant.Directory
	err := c.db.Snapshot(ctx, func(tx *sql.Tx) (err error) {
		d, err = setup.ReadDirectory(ctx, tx, c.db.Keys)
		return err
	})
	if err != nil {
		found(err.Error())
		return nil
	}
	checkWebhooks(d, found)
	checkPeople(d, found)
	checkPasses(d, found)
	for _, k := range d.Keys {
		if k.Kind == merchant.SystemKey {
			continue
		}
		a := d.Accounts[k.AccountID]
		if a == nil {
			found(fmt.Sprintf("key %s (%s) belongs to account %s, which does not exist", k.ID, k.Name, k.AccountID))
			continue
		}
		for _, at := range k.Locations {
			if k.RevokedAt.IsZero() && a.Location(at) == nil {
				found(fmt.Sprintf("key %s (%s) is limited to location %s, which does not exist", k.ID, k.Name, at))
			}
		}
	}
	return nil
}

// checkAssets holds every picture against the hash that it is found by.
func (c *Check) checkAssets(ctx context.Context, found func(string)) error {
	return db.Each(ctx, c.db.Readers, `SELECT a.account_id, a.hash, a.bytes FROM asset AS a ORDER BY a.account_id, a.hash`,
		nil, func(rows *sql.Rows) error {
			var account guid.ID
			var hash, content []byte
			if err := rows.Scan(db.ScanID(&account), &hash, &content); err != nil {
				return err
			}
			if is := merchant.HashAsset(content); !bytes.Equal(hash, is[:]) {
				found(fmt.Sprintf("the picture %x of account %s is not what it is found by", hash, account))
			}
			return nil
		})
}

// checkOutbox opens every message.
func (c *Check) checkOutbox(ctx context.Context, found func(string)) error {
	return db.Each(ctx, c.db.Readers, `SELECT o.id, o.message FROM outbox AS o ORDER BY o.id`, nil,
		func(rows *sql.Rows) error {
			var key guid.ID
			var message []byte
			if err := rows.Scan(db.ScanID(&key), &message); err != nil {
				return err
			}
			if _, err := c.db.Keys.Open(message, db.Bound("outbox", key)); err != nil {
				found(fmt.Sprintf("message %s of the outbox: %s", key, err))
			}
			return nil
		})
}

// checkItems looks for lists that are not what they were.
func (c *Check) checkItems(ctx context.Context, found func(string)) error {
	return db.Each(ctx, c.db.Readers, `SELECT i.account_id, i.id, i.items FROM item_list AS i`, nil,
		func(rows *sql.Rows) error {
			var account, id guid.ID
			var text string
			if err := rows.Scan(db.ScanID(&account), db.ScanID(&id), &text); err != nil {
				return err
			}
			if record.HashItems(text) != id {
				found(fmt.Sprintf("account %s: a list of what gifts are good for, %s, was changed", account, id))
			}
			return nil
		})
}

const selectCardPage = `SELECT EXISTS (SELECT 1 FROM gift_import AS m
			WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state IN ('UNDOING', 'UNDONE')),
		v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional, v.promotion_id,
		v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last, v.valid_from, v.valid_until,
		v.created_at, v.made_by, v.holds, v.fixed, v.verification, v.wrong_codes, v.blocked, v.extended,
		v.replaced,
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
	FROM voucher AS v JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id
	WHERE (v.account_id, v.id) > ($1, $2) ORDER BY v.account_id, v.id LIMIT $3`

// selectSearch gives those of the pairs of a key and a gift that gift_search has.
var selectSearch = &db.Query{What: "reading what gifts are found by", Scoped: true,
	Each: `SELECT f.voucher_id, f.key
		FROM gift_search AS f
		WHERE f.account_id = $1 AND f.key = $2 AND f.voucher_id = $3`,
	Postgres: `SELECT r.*
		FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[]) AS w (account_id, key, voucher_id)
		CROSS JOIN LATERAL (SELECT f.voucher_id, f.key
			FROM gift_search AS f WHERE f.account_id = w.account_id AND f.key = w.key
				AND f.voucher_id = w.voucher_id OFFSET 0) AS r`}

// checkSearchOf looks in the database for what finds these gifts.
func (c *Check) checkSearchOf(ctx context.Context, page []gift.Gift, found func(string)) error {
	has := map[string]bool{} // the key and the gift
	account := func(g gift.Gift) guid.ID { return g.AccountID }
	batches := record.ByAccount(page, account, func(account guid.ID, of []gift.Gift) db.Batch {
		w := db.Batch{Query: selectSearch, Account: account, Scan: func(from db.Scanner) error {
			var voucher guid.ID
			var key []byte
			err := from.Scan(db.ScanID(&voucher), &key)
			has[string(key)+voucher.String()] = true
			return err
		}}
		for i := range of {
			for _, text := range record.SearchTexts(&of[i]) {
				for _, key := range c.db.Keys.SearchHashes(account, text) {
					w.Rows = append(w.Rows, []any{key, db.KeyOf(of[i].ID)})
				}
			}
		}
		return w
	})
	if err := c.db.Read(ctx, batches); err != nil {
		return err
	}
	for i := range page {
		g := &page[i]
		findsIt := func(key []byte) bool { return has[string(key)+g.ID.String()] }
		for _, text := range record.SearchTexts(g) {
			if !slices.ContainsFunc(c.db.Keys.SearchHashes(g.AccountID, text), findsIt) {
				found(fmt.Sprintf("gift %s is not found by something that its card says: a search does not show it", g.ID))
				break
			}
		}
	}
	return nil
}

// checkHolds looks for vouchers whose list of holds is not what is noted beside it. That the list itself is right is
// found with the history.
func (c *Check) checkHolds(ctx context.Context, found func(string)) error {
	const query = `SELECT v.id, v.holds, v.held, v.holds_end FROM voucher AS v
		WHERE v.holds IS NOT NULL OR v.held <> 0 OR v.holds_end IS NOT NULL`
	return db.Each(ctx, c.db.Readers, query, nil, func(rows *sql.Rows) error {
		var id guid.ID
		var holds []gift.OpenHold
		var held int64
		var end time.Time
		err := rows.Scan(db.ScanID(&id), record.ScanHolds(&holds), &held, db.ScanTime(&end))
		if sum, first, _ := record.HoldColumns(holds); err == nil && (sum != held || first != db.Micros(end)) {
			found(fmt.Sprintf("gift %s: its holds do not add up to what is held", id))
		}
		return err
	})
}

// checkPasses finds the keys of passes that do not open.
func checkPasses(d *merchant.Directory, found func(string)) {
	for id, a := range d.Accounts {
		if setup.StillSealed(a.Wallet.Apple.Key) {
			found(fmt.Sprintf("the private key for passes, of account %s, does not open", id))
		}
		if setup.StillSealed(a.Wallet.Google.Key) {
			found(fmt.Sprintf("the service account for passes, of account %s, does not open", id))
		}
	}
}

// checkPeople finds those whose PINs do not open: they cannot sign in.
func checkPeople(d *merchant.Directory, found func(string)) {
	for id, a := range d.Accounts {
		for _, p := range a.People {
			if setup.StillSealed(p.PIN) {
				found(fmt.Sprintf("the PIN of %s, of account %s, does not open", p.Name, id))
			}
		}
	}
}

// checkWebhooks finds endpoints of nobody, and those whose secrets do not open.
func checkWebhooks(d *merchant.Directory, found func(string)) {
	for account, hooks := range d.Webhooks {
		for _, w := range hooks {
			if d.Accounts[account] == nil {
				found(fmt.Sprintf("webhook %s belongs to account %s, which does not exist", w.ID, account))
			}
			if setup.StillSealed(w.URL) {
				found(fmt.Sprintf("the address of webhook %s does not open", w.ID))
			}
			if w.Secret == "" {
				found(fmt.Sprintf("the secret of webhook %s does not open", w.ID))
			}
		}
	}
}
