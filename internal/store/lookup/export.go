package lookup

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

const selectGiftsAfter = `SELECT v.account_id, v.id, v.order_id, v.program_id, v.location_id, v.item, v.promotional, v.promotion_id,
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
	WHERE v.account_id = $1 AND v.id > $2 AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
		WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))
	ORDER BY v.id LIMIT $3`

const selectEntriesAfter = `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
		e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
		e.reason, e.request_id, e.details, e.held_after, e.address, e.till,
		v.item, v.currency, v.decimals, v.program_id, v.promotional
	FROM entry AS e JOIN voucher AS v ON v.account_id = e.account_id AND v.id = e.voucher_id
	WHERE e.account_id = $1 AND e.id > $2 AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
		WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))
	ORDER BY e.id LIMIT $3`

// pageOfAll is how many gifts or entries of an export are read at a time.
const pageOfAll = 500

// EachGift gives all gifts of an account that were made from an instant on and before another one, the oldest first,
// all as they are at one moment. Zero instants bound nothing.
func (r *Reader) EachGift(ctx context.Context, account guid.ID, from, to time.Time, each func(*gift.Gift) error) error {
	err := r.eachAfter(ctx, selectGiftsAfter, record.Gifts, account, from, to, func(rows *sql.Rows) (guid.ID, error) {
		g, closed, err := record.ScanGift(r.db.Keys, rows)
		if err = cmp.Or(err, closed); err == nil && within(g.CreatedAt, from, to) {
			err = each(&g)
		}
		return g.ID, err
	})
	if err != nil {
		return fmt.Errorf("reading all gifts: %w", err)
	}
	return nil
}

// EachEntry gives all entries of an account's gifts that were made from an instant on and before another one, in the
// order of their ids, all as of one moment. Zero instants bound nothing.
func (r *Reader) EachEntry(ctx context.Context, account guid.ID, from, to time.Time,
	each func(*gift.Change) error) error {
	err := r.eachAfter(ctx, selectEntriesAfter, record.Entries, account, from, to, func(rows *sql.Rows) (guid.ID, error) {
		c, err := scanChange(rows)
		if err == nil && within(c.At, from, to) {
			err = each(&c)
		}
		return c.ID, err
	})
	if err != nil {
		return fmt.Errorf("reading all entries: %w", err)
	}
	return nil
}

// eachAfter runs a query for page after page, in the order of the ids that scan gives, on one snapshot. It begins and
// ends where ids tell that what was made within a period may begin and has ended.
func (r *Reader) eachAfter(ctx context.Context, query string, of record.Dated, account guid.ID, from, to time.Time,
	scan func(*sql.Rows) (guid.ID, error)) error {
	return r.db.Snapshot(ctx, func(tx *sql.Tx) error {
		var end guid.ID // zero: there is none
		if !to.IsZero() {
			var err error
			if end, err = of.IDsBefore(ctx, r.db, tx, account, to); err != nil {
				return err
			}
		}
		for after, more := floor(from), true; more; {
			n := 0
			err := r.db.EachWithin(ctx, tx, query, []any{db.KeyOf(account), db.KeyOf(after), pageOfAll},
				func(rows *sql.Rows) (err error) {
					n++
					after, err = scan(rows)
					return err
				})
			if err != nil {
				return err
			}
			more = n == pageOfAll && (end.IsZero() || after.Compare(end) <= 0)
		}
		return nil
	})
}

// scanChange reads the columns of an entry, and those of its gift after them.
func scanChange(from db.Scanner) (c gift.Change, err error) {
	var item bool
	err = from.Scan(append(record.EntryFields(&c.Entry), &item, &c.Unit.Code, &c.Unit.Decimals,
		db.ScanID(&c.ProgramID), &c.Promotional)...)
	if item {
		c.Unit = money.Pieces
	}
	return c, err
}

func within(at, from, to time.Time) bool { return !at.Before(from) && (to.IsZero() || at.Before(to)) }
