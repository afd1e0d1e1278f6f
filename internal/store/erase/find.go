package erase

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"boon.example/internal/base/normalize"
	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// findPage is how many rows are looked at at a time.
const findPage = 500

// Find gives the gifts of an account that have a contact: those that go or went to it, and those whose customer has
// it, also of a reload or an activation. Those that are linked to a customer, if one is named, are found by their
// index.
//
// Recipients are found by the index of contacts, which also knows where a gift went before. No index knows customers:
// their addresses stand in the cards as they were typed, and in the details of entries. So every card and every entry
// is read, a page at a time by the key, which keeps no reading transaction open for long; seen is told how many. The
// cards are compared by contact, too: earlier releases kept and indexed contacts as they were typed.
func (e *Eraser) Find(ctx context.Context, account guid.ID, who, customer string, seen func(rows int)) ([]guid.ID,
	error) {
	is := Request{Contact: who}
	found := map[guid.ID]bool{}
	if err := e.linked(ctx, account, customer, found); err != nil {
		return nil, err
	}
	if who == "" {
		return sorted(found), nil
	}
	var keys [][]byte
	// A contact has several spellings, and each may have been hashed under any key of the file.
	for _, spelling := range contact.Spellings(normalize.Address(who)) {
		keys = append(keys, e.db.Keys.SearchHashes(account, record.ByContact+spelling)...)
	}
	for _, key := range keys {
		err := db.Each(ctx, e.db.Readers, `SELECT f.voucher_id FROM gift_search AS f WHERE f.account_id = $1 AND f.key = $2`,
			[]any{db.KeyOf(account), key}, func(rows *sql.Rows) error {
				var id guid.ID
				err := rows.Scan(db.ScanID(&id))
				found[id] = true
				return err
			})
		if err != nil {
			return nil, fmt.Errorf("looking for gifts of a contact: %w", err)
		}
	}
	for _, query := range []string{
		`SELECT c.voucher_id, c.voucher_id, c.email_address, c.contact FROM card AS c
			WHERE c.account_id = $1 AND c.voucher_id > $2 ORDER BY c.voucher_id LIMIT $3`,
		`SELECT e.id, e.voucher_id, e.details, '' FROM entry AS e
			WHERE e.account_id = $1 AND e.id > $2 ORDER BY e.id LIMIT $3`,
	} {
		if err := e.scan(ctx, query, account, is, found, seen); err != nil {
			return nil, fmt.Errorf("looking for customers: %w", err)
		}
	}
	return sorted(found), nil
}

func sorted(found map[guid.ID]bool) []guid.ID {
	return slices.SortedFunc(maps.Keys(found), func(a, b guid.ID) int { return slices.Compare(a[:], b[:]) })
}

// linked finds the gifts of an account that are linked to a customer; "" is none.
func (e *Eraser) linked(ctx context.Context, account guid.ID, customer string, found map[guid.ID]bool) error {
	if customer == "" {
		return nil
	}
	// The first half lets the partial index be used.
	err := db.Each(ctx, e.db.Readers, `SELECT v.id FROM voucher AS v
		WHERE v.account_id = $1 AND v.customer <> '' AND v.customer = $2`,
		[]any{db.KeyOf(account), customer}, func(rows *sql.Rows) error {
			var id guid.ID
			err := rows.Scan(db.ScanID(&id))
			found[id] = true
			return err
		})
	if err != nil {
		return fmt.Errorf("looking for gifts of a customer: %w", err)
	}
	return nil
}

// scan looks through a table by its key. In a card the address of the customer stands as it is; in an entry it is a
// part of the details, which are JSON.
func (e *Eraser) scan(ctx context.Context, query string, account guid.ID, ask Request, found map[guid.ID]bool,
	seen func(int)) error {
	var after guid.ID
	for n := findPage; n == findPage; seen(n) {
		n = 0
		err := db.Each(ctx, e.db.Readers, query, []any{db.KeyOf(account), db.KeyOf(after), findPage},
			func(rows *sql.Rows) error {
				n++
				var id guid.ID
				var email, contact sql.NullString
				err := rows.Scan(db.ScanID(&after), db.ScanID(&id), &email, &contact)
				if err == nil && len(email.String) > 0 && email.String[0] == '{' {
					email.String, err = record.CustomerOf(email.String)
				}
				if err == nil && (ask.is(email.String) || ask.is(contact.String)) {
					found[id] = true
				}
				return err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// ended selects gifts that were used up, cancelled or not paid for, that tills took no more, or whose import was taken
// back, and to which nothing happened since an instant; and of these, those that tell of people: themselves, in a
// former contact, in the customer of a reload, or by a sender who is not the account. The second half has to agree with
// plan.nothing: where it finds a gift that has nothing to erase, that gift is looked at again every night; where it
// misses one, a name stays for good. The patterns over details are the text that record.DetailsText writes.
const ended = `SELECT v.id FROM voucher AS v
	JOIN card AS c ON c.account_id = v.account_id AND c.voucher_id = v.id
	JOIN entry AS e ON e.account_id = v.account_id AND e.id = v.last
	WHERE v.account_id = $1 AND v.id > $2 AND v.id <= $3 AND e.made_at < $4
		AND (v.status IN (2, 6, 7) OR coalesce(v.extended, v.valid_until) + v.grace * 86400000000 < $4
			OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'UNDONE'))
		AND (c.recipient <> '' OR c.contact <> '' OR c.message <> '' OR c.sealed_message IS NOT NULL OR c.first_name <> '' OR c.last_name <> ''
			OR c.email_address <> '' OR c.notes <> '' OR c.sender <> $5 OR v.customer <> ''
			OR EXISTS (SELECT 1 FROM resend AS r
				WHERE r.account_id = v.account_id AND r.voucher_id = v.id AND r.contact <> '')
			OR EXISTS (SELECT 1 FROM entry AS p
				WHERE p.account_id = v.account_id AND p.voucher_id = v.id AND p.kind IN ('RELOAD', 'ACTIVATION')
					AND p.details LIKE '%"purchase":%' AND p.details NOT LIKE '%"firstName":"","lastName":"","emailAddress":""%'))
	ORDER BY v.id`

// Ended looks at the next gifts of an account that follow one: which of them ended before an instant and still tell
// of people. It gives the last that it has looked at, and whether there are more. Few at a time, as all are looked at
// again and again: no statement takes long, or keeps the write-ahead log from being emptied.
func (e *Eraser) Ended(ctx context.Context, account *merchant.Account, after guid.ID, before time.Time) (ids []guid.ID,
	last guid.ID, more bool, err error) {
	const page = `SELECT v.id FROM voucher AS v WHERE v.account_id = $1 AND v.id > $2 AND v.id < $3
		ORDER BY v.id LIMIT 1 OFFSET $4`
	scan := func(from db.Scanner) (id guid.ID, err error) {
		err = from.Scan(db.ScanID(&id))
		return id, err
	}
	err = e.db.Retry(ctx, func(ctx context.Context) (err error) {
		last, err = record.Gifts.IDsBefore(ctx, e.db, e.db.Readers, account.ID, before)
		return err
	})
	if err != nil {
		return nil, last, false, err
	}
	key, from := db.KeyOf(account.ID), db.KeyOf(after)
	ends, err := db.Collect(ctx, e.db, page, []any{key, from, db.KeyOf(last), findPage - 1}, scan)
	if err == nil {
		if more = len(ends) > 0; more {
			last = ends[0]
		}
		ids, err = db.Collect(ctx, e.db, ended, []any{key, from, db.KeyOf(last), before.UnixMicro(), account.Name}, scan)
	}
	if err != nil {
		return nil, last, false, fmt.Errorf("looking for gifts that ended: %w", err)
	}
	return ids, last, more, nil
}
