// Package erase takes names, contacts and messages out of gifts: of one person who asks for it, or of all gifts that
// have ended long ago. Balances, amounts, keys, locations, references and times stay, and so does every entry; what was
// taken out of an entry is told by an erasure beside it, which only the key file can make. It decides what is whose and
// writes it; it knows no command line and no service.
package erase

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/lookup"
	"boon.example/internal/store/record"
)

// Eraser erases in an open database.
type Eraser struct {
	db     *db.DB
	reader *lookup.Reader
}

// New works on an open database.
func New(d *db.DB, reader *lookup.Reader) *Eraser { return &Eraser{d, reader} }

// Request says what is to be erased of an account.
type Request struct {
	Account *merchant.Account
	Contact string // of the one person whose data go; "": see All
	// CustomerID is by which whoever integrates the interface knows the one person: the links of gifts to them go. Beside
	// a Contact, too.
	CustomerID string
	// Force erases also where the message that brings the gift is still to be sent; without, such a gift is left alone.
	Force  bool
	DryRun bool // counts, and changes nothing
	// Ended leaves gifts alone to which something happened since this instant: one that was found to have ended may be in
	// use again. Zero: it leaves none.
	Ended time.Time
	GoOn  bool   // past gifts that cannot be erased; the last of them is told of
	Done  func() // is told after each gift; nil: nobody is
}

// All tells that all that gifts say of people goes, as nobody is named.
func (r *Request) All() bool { return r.Contact == "" && r.CustomerID == "" }

// Counts are what was erased.
type Counts struct {
	Gifts    int // that said something of the person
	Waiting  int // of these: left alone, as their message is still to be sent
	Entries  int // out of which words or a customer were taken
	Answers  int // stored ones, of calls
	Jobs     int // messages that are not sent any more
	Messages int // of the outbox
	Attempts int // answers of webhooks
	Guests   int // links to "my gifts", and sessions there
}

// Add adds up.
func (c *Counts) Add(more Counts) {
	c.Gifts, c.Waiting, c.Entries = c.Gifts+more.Gifts, c.Waiting+more.Waiting, c.Entries+more.Entries
	c.Answers, c.Jobs = c.Answers+more.Answers, c.Jobs+more.Jobs
	c.Messages, c.Attempts = c.Messages+more.Messages, c.Attempts+more.Attempts
	c.Guests += more.Guests
}

// giftsAtOnce is of how many gifts the answers are changed before the gifts themselves are: more than one order has.
const giftsAtOnce = 10_000

// Gifts erases what some gifts of an account say of people, in a transaction for each gift and one for each stored
// answer. A gift that is damaged stops it, unless Request.GoOn is set.
//
// # Why it is hard
//
// A name stands in many places: in the card, in the index that finds gifts, in resends and jobs, in the reasons and
// purchases of entries, in the answers that are kept for repeats, in what endpoints answered to webhooks, and in the
// outbox. Not all of that fits in one transaction, as tills wait for the same writer; so a kill can leave it half done.
// Entries are chained by hashes, so that nobody can change them unseen; here is the one place that has to. And a gift
// may be sent, resent or redeemed while it is erased.
//
// # The order
//
// First the answers of calls, of up to giftsAtOnce gifts together, so that the answer to an order is changed once and
// not once for each of its gifts. Then, for each gift, what stands beside it: the answers of endpoints, and the outbox.
// Last the gift itself, with card, index, resends, jobs and entries, in one transaction.
//
// # Invariants
//
//  1. The gift comes last, because it is by what it says that a gift is found. Whoever repeats the command after a kill
//     finds the gifts that were not finished, and does the rest. To erase again changes nothing (plan.nothing).
//  2. Answers are made to say what the card will say. That holds only if the gift does not change in between: its
//     transaction locks the voucher and compares the number of entries and the words with those that were seen
//     (snapshot.still). If they differ, the gift is not written, and its answers and the gift are done again, ten
//     times at most (errMoved).
//  3. A gift of which an answer could not be changed is not erased (snapshot.failed), as nothing would lead to that
//     answer any more.
//  4. An answer is put in the place of exactly the one that was read: UPDATE compares the kept text. If others changed
//     it meanwhile, it is read again.
//  5. Answers are looked for by time: from the entries that sent the gift until answeredWithin later. In test accounts,
//     where entries have another clock than records, all answers are looked at.
//  6. No entry is removed, and of an entry only the reason and the details change. Amounts, balances, keys, locations
//     and times stay.
//  7. The hash chain stays as it is. Beside a changed entry stands an erasure: the digest that the chain has, the
//     digest of what is left, and a MAC over both, so that only the key file can make one.
//  8. An entry is erased only if it is what the chain has, or what its last erasure left of it. Otherwise the erasure
//     would make good what somebody else had changed (entry).
//  9. A gift whose message is still to be sent is left alone and counted (Waiting), unless Request.Force is set.
//  10. After every few transactions comes a pause (pacer), so that no redemption waits for many of them.
//  11. In SQLite, what is freed in these transactions is overwritten (write), and Clean empties the write-ahead log,
//     where the old pages still stand. A database on a server does that in its own time.
//
// # What shows it
//
// The tests stand in package store, and run on every database. testEraseCutOff cuts an erasure off after each
// gift (1); testEraseBeside and testEraseAtOnce write beside it (2, 4); testEraseDamaged has an answer that cannot be
// read (3); testEraseOrder the answer to an order; testEraseHidesNothing what somebody else had changed (7, 8);
// testEraseWaiting the gifts that are left alone (9); testErase looks for every word in every table and file (6, 11).
func (e *Eraser) Gifts(ctx context.Context, ask Request, ids []guid.ID) (total Counts, err error) {
	var pace pacer
	var failed error
	for some := range slices.Chunk(ids, giftsAtOnce) {
		var seen map[guid.ID]*snapshot
		if !ask.DryRun {
			var n int
			seen, n, err = e.answers(ctx, ask, some, &pace)
			if total.Answers += n; err != nil {
				return total, fmt.Errorf("erasing what answers say of gifts: %w", err)
			}
		}
		for _, id := range some {
			n, err := e.gift(ctx, ask, id, seen[id], &pace)
			if total.Add(n); err != nil {
				failed = fmt.Errorf("erasing what gift %s says: %w", id, err)
				if !ask.GoOn || ctx.Err() != nil {
					return total, failed
				}
			}
			if ask.Done != nil {
				ask.Done()
			}
		}
	}
	return total, failed
}

// errMoved tells that something happened to a gift meanwhile.
var errMoved = errors.New("it is in use")

// gift erases what a gift says that was seen before. When it is another by now, its answers may be others, too: a
// resend writes a new name on the card, and an answer with that name. So both are done again, in the order of Gifts.
// What it counts is committed for certain, also when it fails: people are told this number as what is gone.
func (e *Eraser) gift(ctx context.Context, ask Request, id guid.ID, seen *snapshot, pace *pacer) (n Counts, err error) {
	for range 10 {
		err = errMoved
		if ask.DryRun || seen != nil {
			var done Counts
			done, err = e.one(ctx, ask, id, seen)
			n.Add(done)
		}
		if !ask.DryRun {
			err = cmp.Or(err, pace.next(ctx))
		}
		if !errors.Is(err, errMoved) {
			break
		}
		if !ask.DryRun {
			all, answers, failed := e.answers(ctx, ask, []guid.ID{id}, pace)
			if n.Answers += answers; failed != nil {
				return n, failed
			}
			seen = all[id]
		}
	}
	return n, err
}

// leavesAlone tells whether a gift is left alone, as something happened to it since. Retention finds the gifts that
// have ended a while before it erases them. Meanwhile one may have been reinstated or extended, and is no longer to
// lose the address that it goes to.
func (r *Request) leavesAlone(entries []gift.Entry) bool {
	return !r.Ended.IsZero() && len(entries) > 0 && !entries[len(entries)-1].At.Before(r.Ended)
}

// one erases what a gift says, in a transaction. seen is how it was when answers were changed; a rehearsal has none.
// When the transaction fails, or nobody knows whether it was committed, only what was done before it is counted.
//
// The history is read before the transaction, as it may have thousands of entries and the only writer of SQLite would
// be kept from tills while they are read. In the transaction, the number of entries tells whether it is still the
// whole history: entries are only ever added.
func (e *Eraser) one(ctx context.Context, ask Request, id guid.ID, seen *snapshot) (n Counts, err error) {
	if seen != nil && seen.failed != nil {
		return n, seen.failed
	}
	entries, err := e.history(ctx, ask.Account.ID, id)
	if err != nil {
		return n, err
	}
	if ask.leavesAlone(entries) {
		return n, nil
	}
	if !ask.DryRun {
		// Before the gift, so that what was cut off is found again.
		attempts, messages, err := e.beside(ctx, ask, id, entries)
		if err != nil {
			return n, err
		}
		n.Attempts, n.Messages = attempts, messages
	}
	beside := n
	err = e.write(ctx, ask.DryRun, func(tx *sql.Tx) error {
		n = beside
		g, err := e.load(ctx, tx, ledger.Ref{AccountID: ask.Account.ID, ID: id}, ask.DryRun)
		if err != nil {
			return err
		}
		if g.Seq != len(entries) {
			return errMoved
		}
		p := planFor(ask, g, entries)
		waits := g.waits() && !ask.Force
		if seen != nil && !seen.still(p, waits) {
			return errMoved
		}
		if p.nothing() {
			return nil
		}
		if n.Gifts = 1; waits {
			n.Waiting = 1
			return nil
		}
		n.Entries = len(p.entries)
		if ask.DryRun {
			return nil
		}
		return e.apply(ctx, tx, p, &n)
	})
	if err != nil {
		n = beside
	}
	return n, err
}

// still tells whether a gift is as it was seen, so that answers say of it what the plan does. The number of the last
// entry does not tell all: a message to the buyer that was sent takes its job away, and leaves no entry where the
// gift had arrived before. So what follows from the gift is compared, too.
func (s *snapshot) still(p *plan, waits bool) bool {
	if s.seq != p.gift.Seq || s.waits != waits {
		return false
	}
	return waits || p.nothing() || s.says != nil && *s.says == p.text()
}

// A few transactions at a time, with a pause in between: tills write through the same writer.
const (
	batch = 20
	pause = 100 * time.Millisecond
)

// pacer counts transactions.
type pacer struct{ n int }

// next counts one more, and pauses after some.
func (p *pacer) next(ctx context.Context) error {
	if p.n++; p.n%batch != 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// write runs fn in a transaction, which a rehearsal only reads in.
//
// SQLite marks deleted rows as free and leaves their bytes in the file, where a search finds the name for years.
// FAST, as the service has it otherwise, overwrites them only where that costs no page more; ON overwrites them
// always, which redemptions should not pay for. So ON is set for this transaction alone, and taken back also when it
// fails: the connection is the one that tills use.
func (e *Eraser) write(ctx context.Context, rehearsed bool, fn func(*sql.Tx) error) error {
	if rehearsed {
		return e.db.Snapshot(ctx, fn)
	}
	return e.db.Write(ctx, func(tx *sql.Tx) error {
		if e.db.File == "" {
			return fn(tx)
		}
		// The setting is the connection's, and outlasts what is rolled back.
		const on, off = `PRAGMA secure_delete = ON`, `PRAGMA secure_delete = FAST`
		var was int
		if err := tx.QueryRowContext(ctx, on).Scan(&was); err != nil {
			return err
		}
		err := fn(tx)
		return cmp.Or(err, tx.QueryRowContext(context.WithoutCancel(ctx), off).Scan(&was))
	})
}

// loaded is a gift with what else is written of its recipients.
type loaded struct {
	gift.Gift
	resends []ledger.Resent
	jobs    []ledger.Job
}

// waits tells whether the message that brings the gift is still to be sent: its own, or one to the buyer of its
// order, which brings the gifts of that order as attachments. Once its address is gone that message never arrives,
// and who the gift is for may have no other way to the code.
func (g *loaded) waits() bool {
	brings := func(j ledger.Job) bool {
		return j.Kind == ledger.GiftJob || j.OrderID == g.OrderID && g.Card.Attachment != "" && g.Status == gift.Pending
	}
	return g.Status.Receivable() && slices.ContainsFunc(g.jobs, brings)
}

var lockVoucher = db.Text{
	Postgres: `SELECT v.id FROM voucher AS v WHERE v.account_id = $1 AND v.id = $2 FOR NO KEY UPDATE`,
}

// load reads a gift with all that has to be known of it to plan. On PostgreSQL it locks the voucher first, as a group
// of commands does, so that no command is decided on a card that is being erased, and none changes it before the
// commit. SQLite needs no lock, as this transaction has the only writer. Jobs are looked for by the order as well: a
// message that brings the gifts of an order names one of them only.
func (e *Eraser) load(ctx context.Context, tx *sql.Tx, of ledger.Ref, rehearsed bool) (g *loaded, err error) {
	g = &loaded{}
	key := []any{db.KeyOf(of.AccountID), db.KeyOf(of.ID)}
	if lock := e.db.Text(lockVoucher); lock != "" && !rehearsed {
		if _, err = tx.ExecContext(ctx, lock, key...); err != nil {
			return nil, err
		}
	}
	err = db.Each(ctx, tx, `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional,
			v.promotion_id, v.currency, v.decimals, v.loaded, v.balance, v.status, v.seq, v.last, v.valid_from,
			v.valid_until, v.created_at, v.made_by, v.holds, v.fixed, v.verification, v.wrong_codes, v.blocked,
			v.extended, v.replaced,
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
		WHERE v.account_id = $1 AND v.id = $2`, key, func(rows *sql.Rows) (err error) {
		g.Gift, _, err = record.ScanGift(e.db.Keys, rows)
		return err
	})
	if err == nil {
		err = db.Each(ctx, tx, `SELECT r.seq, r.method, r.contact FROM resend AS r
			WHERE r.account_id = $1 AND r.voucher_id = $2 ORDER BY r.seq`, key, func(rows *sql.Rows) error {
			var r ledger.Resent
			err := rows.Scan(&r.Seq, &r.Method, &r.Contact)
			g.resends = append(g.resends, r)
			return err
		})
	}
	if err == nil {
		err = db.Each(ctx, tx, `SELECT j.id, j.kind, j.contact, j.order_id FROM job AS j
			WHERE j.account_id = $1 AND (j.voucher_id = $2 OR j.order_id = $3)`,
			append(key, db.KeyOf(g.OrderID)), func(rows *sql.Rows) error {
				var j ledger.Job
				err := rows.Scan(db.ScanID(&j.ID), &j.Kind, &j.Contact, db.ScanID(&j.OrderID))
				g.jobs = append(g.jobs, j)
				return err
			})
	}
	return g, err
}

// AgainGoogle has an object of Google be written once more, whatever Google knows: also by who is just writing it. It
// is no position, so that none that comes is passed over.
const AgainGoogle = `UPDATE google_object SET told = CASE WHEN told < 0 THEN told - 1 ELSE -1 END
	WHERE account_id = $1 AND voucher_id = $2`

// apply writes a plan, in the transaction that made it. What each step is for:
//
//  1. The card loses its words. The column message is emptied as well: there, earlier releases kept it in the clear.
//  2. The rows go by which the gift was found under the name and the contact. They are keyed hashes, but who has the
//     key file and a name can try it. A row may be under any key of the file.
//  3. Resends and jobs lose the address. A job that has nobody to go to any more is deleted. Otherwise it would be
//     sent.
//  4. last_words goes from the other jobs: it is what the gateway answered, and that may repeat the address.
//  5. A gift that was still to be sent (Force) is made due, so that its delivery fails at once for want of an
//     address. The gift then counts as one that can be used by its code, and its value is not lost with the message.
//  6. Google is told to write its copy of the pass anew.
//  7. The link to a customer is cut, and entries lose their words (entry).
func (e *Eraser) apply(ctx context.Context, tx *sql.Tx, p *plan, n *Counts) (err error) {
	account, id := db.KeyOf(p.gift.AccountID), db.KeyOf(p.gift.ID)
	do := func(text string, args ...any) {
		if err == nil {
			_, err = tx.ExecContext(ctx, text, append([]any{account}, args...)...)
		}
	}
	c := &p.card
	message := record.SealMessage(e.db.Keys, &gift.Gift{Voucher: p.gift.Voucher, Card: *c})
	do(`UPDATE card SET sender = $2, recipient = $3, contact = $4, message = '', sealed_message = $5, first_name = $6,
		last_name = $7, email_address = $8, notes = $9 WHERE account_id = $1 AND voucher_id = $10`, c.Sender, c.Recipient,
		c.Contact, message, c.Purchase.FirstName, c.Purchase.LastName, c.Purchase.EmailAddress, c.Notes, id)
	for _, text := range p.search {
		for _, key := range e.db.Keys.SearchHashes(p.gift.AccountID, text) {
			do(`DELETE FROM gift_search WHERE account_id = $1 AND key = $2 AND voucher_id = $3`, key, id)
		}
	}
	for _, seq := range p.resends {
		do(`UPDATE resend SET contact = '' WHERE account_id = $1 AND voucher_id = $2 AND seq = $3`, id, seq)
	}
	for _, job := range p.jobs {
		do(`DELETE FROM job WHERE account_id = $1 AND id = $2`, db.KeyOf(job))
		n.Jobs++
	}
	do(`UPDATE job SET last_words = '' WHERE account_id = $1 AND voucher_id = $2 AND last_words <> ''`, id)
	if p.unreachable {
		// It fails at once, and so can be used by its code; who sends it now is not held up.
		do(`UPDATE job SET due = $2, claimable_at = $2, attempts = 0 WHERE account_id = $1 AND voucher_id = $3 AND kind = ''
			AND due = claimable_at AND due > $2`, time.Now().UnixMicro(), id)
	}
	// Google is told anew, in this transaction: whoever reads the gift before it reads the old words.
	do(AgainGoogle, id)
	if p.unlinked {
		do(`UPDATE voucher SET customer = '' WHERE account_id = $1 AND id = $2`, id)
	}
	for i := range p.entries {
		if err == nil {
			err = e.entry(ctx, tx, p, &p.entries[i])
		}
	}
	return err
}
