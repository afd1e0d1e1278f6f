package sums

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"boon.example/internal/base/nice"
	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

const page = 5_000 // entries of a time that are looked at together

// together is how many gifts are read at a time. The embedded database works out all of them before it gives the first
// row, in about 50 µs for each, and makes room for nobody meanwhile. For PostgreSQL fewer questions are cheaper, but it
// may share the cores of tills: see rest.
func (b *Books) together() int {
	if b.db.File != "" {
		return 10
	}
	return 80
}

// rest makes room for tills after a step that took so long. The embedded database does so by itself, between its rows.
func (b *Books) rest(ctx context.Context, took time.Duration) {
	if b.db.File == "" {
		nice.RestAfter(ctx, took)
	}
}

// eachMovement tells of what moved from an instant on and before another one: it reads the entries of that time, and
// the histories of their gifts and of those that ended then. It looks at entries with some ids alone.
func (b *Books) eachMovement(ctx context.Context, account *merchant.Account, days books.Days, from, until time.Time,
	of ids, tell func(*books.Terms, *books.Movement) error) error {
	touched, err := b.touched(ctx, account.ID, from, until, of)
	if err != nil {
		return err
	}
	return b.eachOf(ctx, account, days, touched, from, until, tell)
}

// eachOf is eachMovement for some gifts.
func (b *Books) eachOf(ctx context.Context, account *merchant.Account, days books.Days, touched []guid.ID, from,
	until time.Time, tell func(*books.Terms, *books.Movement) error) error {
	zone := zoneOf(account)
	f := &books.Folder{Month: func(at time.Time) int { return days.Month(at, zone) },
		Read: func(id guid.ID) (books.Terms, []gift.Entry, error) {
			gifts, err := b.gifts(ctx, account.ID, []guid.ID{id}, &reading{})
			if err == nil && len(gifts) == 0 {
				err = fmt.Errorf("gift %s, which value was transferred from, does not exist", id)
			}
			if err != nil {
				return books.Terms{}, nil, err
			}
			return gifts[0].Terms, gifts[0].history, nil
		}}
	r, moved := &reading{}, books.Movement{} // one for all movements, as it escapes
	for ids := range slices.Chunk(touched, b.together()) {
		begun := time.Now()
		gifts, err := b.gifts(ctx, account.ID, ids, r)
		if err != nil {
			return err
		}
		b.rest(ctx, time.Since(begun))
		for n := range gifts {
			g := &gifts[n]
			var told error
			err := f.Fold(&g.Terms, g.history, until, func(m books.Movement) {
				if told == nil && !m.At.Before(from) && m.At.Before(until) {
					moved = m
					told = tell(&g.Terms, &moved)
				}
			})
			if told != nil {
				return told
			}
			if err != nil {
				return fmt.Errorf("gift %s: %w", g.ID, err)
			}
		}
	}
	return nil
}

const (
	selectTouched = `SELECT e.id, e.voucher_id, e.kind, e.made_at FROM entry AS e
		WHERE e.account_id = $1 AND e.id > $2 AND e.id < $3 ORDER BY e.id LIMIT $4`
	// Ends that gifts were made with never change; those that were put off are in the entries. With days of grace tills
	// take a gift for longer: $4 is the most that can be. It does no harm to find gifts that end at another time.
	selectEnds = `SELECT v.id FROM voucher AS v
			WHERE v.account_id = $1 AND v.valid_until >= $2 AND v.valid_until < $3
		UNION SELECT v.id FROM voucher AS v WHERE v.account_id = $1 AND v.grace > 0
			AND v.valid_until + v.grace * 86400000000 >= $2 AND v.valid_until + v.grace * 86400000000 < $3
		UNION SELECT e.voucher_id FROM entry AS e
			WHERE e.account_id = $1 AND e.kind = 'EXTENDED' AND e.held_until >= $2 - $4 AND e.held_until < $3`
)

const longestGrace = gift.MaxGraceDays * 24 * time.Hour

// lastID is after every other.
var lastID = guid.ID(bytes.Repeat([]byte{0xff}, len(guid.ID{})))

// idsOf is before which ids the entries are that were made before an instant. An id may run ahead of when its entry was
// made: ids never go back with a clock that is set back, and no id of a gift is less than the one before.
func idsOf(until time.Time) guid.ID { return gift.IDsBefore(until.Add(books.Skew)) }

// ids are those of entries after one and before another one.
type ids struct{ after, before guid.ID }

// idsIn are the ids of a time that is over: a clock that was wrong may have drawn them some time before or later.
func idsIn(from, until time.Time) ids { return ids{idsFrom(from), idsOf(until)} }

// idsFrom is after which ids the entries are that were made from an instant on.
func idsFrom(from time.Time) guid.ID {
	if from.IsZero() {
		return guid.ID{}
	}
	return gift.IDsFrom(from)
}

// openIDs are the ids of entries that were made from an instant of the open day on. The ledger gives no entry an id of
// an earlier millisecond than its date. So nothing is missed, and no report looks at all entries of a minute more. A
// second is left to versions before 0.2.1: they drew the id a moment after they had taken the date, by a clock that
// may have been set back between. The ids have no end: a clock may have been set back since, and ids never go back.
func openIDs(from time.Time) ids {
	if from.IsZero() {
		return ids{before: lastID}
	}
	return ids{gift.FirstID(from.Add(-time.Second)), lastID}
}

// touched are the gifts that have an entry of a time that the books count, with one of some ids, or that ended in that
// time, in order.
func (b *Books) touched(ctx context.Context, account guid.ID, from, until time.Time, of ids) ([]guid.ID, error) {
	found := map[guid.ID]bool{}
	err := b.eachID(ctx, account, of, func(e *mark) {
		if counted(e.kind) && !e.at.Before(from) && e.at.Before(until) {
			found[e.gift] = true
		}
	})
	if err != nil {
		return nil, err
	}
	args := []any{db.KeyOf(account), max(0, from.UnixMicro()), until.UnixMicro(), longestGrace.Microseconds()}
	ends, err := db.CollectLong(ctx, b.db, nil, selectEnds, args,
		func(from db.Scanner) (id guid.ID, err error) { return id, from.Scan(db.ScanID(&id)) })
	if err != nil {
		return nil, fmt.Errorf("reading which gifts of account %s ended: %w", account, err)
	}
	for _, id := range ends {
		found[id] = true
	}
	all := make([]guid.ID, 0, len(found))
	for id := range found {
		all = append(all, id)
	}
	slices.SortFunc(all, func(a, b guid.ID) int { return bytes.Compare(a[:], b[:]) })
	return all, nil
}

// mark is what of an entry says whether a time counts it.
type mark struct {
	id, gift guid.ID
	kind     gift.Kind
	at       time.Time
}

// eachID tells of the entries of an account with some ids.
func (b *Books) eachID(ctx context.Context, account guid.ID, of ids, tell func(*mark)) error {
	var entries []mark
	for n := page; n == page; {
		args := []any{db.KeyOf(account), db.KeyOf(of.after), db.KeyOf(of.before), page}
		all, err := db.CollectLong(ctx, b.db, entries, selectTouched, args,
			func(from db.Scanner) (m mark, err error) {
				err = from.Scan(db.ScanID(&m.id), db.ScanID(&m.gift), &m.kind, db.ScanTime(&m.at))
				return m, err
			})
		if err != nil {
			return fmt.Errorf("reading the entries of account %s: %w", account, err)
		}
		entries = all
		for i := range entries {
			tell(&entries[i])
		}
		if n = len(entries); n > 0 {
			of.after = entries[n-1].id
		}
	}
	return nil
}

// counted reports whether an entry of a kind may move something in the books.
func counted(k gift.Kind) bool {
	line, _ := k.Books()
	return line != gift.NoLine || k == gift.Blocked || k == gift.Unblocked || k == gift.Extended
}

// told is a gift as the books read it.
type told struct {
	books.Terms
	history []gift.Entry
}

// selectGifts gives the terms of gifts of account $1, whose ids are $2.
var selectGifts = db.Text{
	SQLite: `SELECT v.id, v.program_id, v.promotional, v.item, v.currency, v.decimals, v.valid_until, v.grace, v.fixed,
			CASE WHEN v.item THEN coalesce(c.equivalent_value, 0) ELSE 0 END, coalesce(c.vat_treatment, ''),
			coalesce(c.vat_rate, '')
		FROM json_each($2) AS w CROSS JOIN voucher AS v
			LEFT JOIN card AS c ON c.account_id = $1 AND c.voucher_id = v.id
		WHERE v.account_id = $1 AND v.id = unhex(w.value) AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
			WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))`,
	Postgres: `SELECT found.* FROM unnest($2::BYTEA[]) AS w (key) CROSS JOIN LATERAL (
			SELECT v.id, v.program_id, v.promotional, v.item, v.currency, v.decimals, v.valid_until, v.grace, v.fixed,
				CASE WHEN v.item THEN coalesce(c.equivalent_value, 0) ELSE 0 END, coalesce(c.vat_treatment, ''),
				coalesce(c.vat_rate, '')
			FROM voucher AS v LEFT JOIN LATERAL (SELECT c.equivalent_value, c.vat_treatment, c.vat_rate FROM card AS c
				WHERE c.account_id = $1 AND c.voucher_id = w.key OFFSET 0) AS c ON true
			WHERE v.account_id = $1 AND v.id = w.key AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))
			OFFSET 0) AS found`,
	Citus: `SELECT v.id, v.program_id, v.promotional, v.item, v.currency, v.decimals, v.valid_until, v.grace, v.fixed,
			CASE WHEN v.item THEN coalesce(c.equivalent_value, 0) ELSE 0 END, coalesce(c.vat_treatment, ''),
			coalesce(c.vat_rate, '')
		FROM voucher AS v LEFT JOIN card AS c ON c.account_id = $1 AND c.voucher_id = v.id
		WHERE v.account_id = $1 AND v.id = ANY($2::BYTEA[]) AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
			WHERE m.account_id = $1 AND m.id = v.import_id AND m.state = 'FINISHED'))`,
}

// selectHistories gives their entries, as far as the books need them, in any order: the database would take a fifth of
// the time to sort them. What is said of lookup's selectHistory holds here.
var selectHistories = db.Text{
	SQLite: `WITH RECURSIVE e AS (
		SELECT e.* FROM json_each($2) AS w
			CROSS JOIN voucher AS v ON v.account_id = $1 AND v.id = unhex(w.value)
			CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = v.last
		UNION ALL
		SELECT e.* FROM e AS n CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = n.previous WHERE e.id < n.id
	) SELECT e.id, e.voucher_id, e.seq, e.kind, e.delta, e.balance, e.made_at, e.key_id, e.location_id, e.reverses,
		e.held_until, CASE WHEN e.kind IN ('ISSUED', 'ACTIVATION', 'RELOAD', 'TRANSFER_IN', 'IMPORTED') THEN e.details END
		FROM e`,
	Postgres: `WITH RECURSIVE e AS (
		SELECT e.* FROM unnest($2::BYTEA[]) AS w (key)
			CROSS JOIN LATERAL (SELECT ` + historyColumns + ` FROM entry AS e WHERE e.account_id = $1
				AND e.id = (SELECT v.last FROM voucher AS v WHERE v.account_id = $1 AND v.id = w.key) OFFSET 0) AS e
		UNION ALL
		SELECT e.* FROM e AS n
			CROSS JOIN LATERAL (SELECT ` + historyColumns + ` FROM entry AS e WHERE e.account_id = $1
				AND e.id = n.previous OFFSET 0) AS e
		WHERE e.id < n.id
	) SELECT e.id, e.voucher_id, e.seq, e.kind, e.delta, e.balance, e.made_at, e.key_id, e.location_id, e.reverses,
		e.held_until, e.details
		FROM e`,
	Citus: `WITH RECURSIVE e AS (
		SELECT e.* FROM voucher AS v
			JOIN entry AS e ON e.account_id = $1 AND e.id = v.last
		WHERE v.account_id = $1 AND v.id = ANY($2::BYTEA[])
		UNION ALL
		SELECT e.* FROM e AS n JOIN entry AS e ON e.account_id = $1 AND e.id = n.previous
		WHERE e.id < n.id
	) SELECT e.id, e.voucher_id, e.seq, e.kind, e.delta, e.balance, e.made_at, e.key_id, e.location_id, e.reverses,
		e.held_until, CASE WHEN e.kind IN ('ISSUED', 'ACTIVATION', 'RELOAD', 'TRANSFER_IN', 'IMPORTED') THEN e.details END
		FROM e`,
}

// historyColumns are the columns that the books need of an entry: PostgreSQL keeps them until all entries are found.
const historyColumns = `e.id, e.voucher_id, e.seq, e.kind, e.delta, e.balance, e.made_at, e.key_id, e.location_id,
				e.reverses, e.held_until, e.previous, CASE WHEN e.kind IN
				('ISSUED', 'ACTIVATION', 'RELOAD', 'TRANSFER_IN', 'IMPORTED') THEN e.details END AS details`

// reading is the memory into which gifts are read, some after the others: what was read before is used no more.
type reading struct {
	gifts     []told
	entries   []gift.Entry
	histories map[guid.ID][]gift.Entry // parts of entries
}

// gifts reads gifts of an account with their histories.
func (b *Books) gifts(ctx context.Context, account guid.ID, ids []guid.ID, r *reading) (all []told, err error) {
	args := []any{db.KeyOf(account), b.keys(ids)}
	all, err = db.CollectLong(ctx, b.db, r.gifts, b.db.Text(selectGifts), args, func(from db.Scanner) (g told, err error) {
		t := &g.Terms
		err = from.Scan(db.ScanID(&t.ID), db.ScanID(&t.ProgramID), &t.Promotional, &t.Item, &t.Currency.Code,
			&t.Currency.Decimals, db.ScanTime(&t.ValidUntil), &t.GraceDays, &t.Worth.Pieces, &t.Worth.Money, &t.VAT.Treatment,
			&t.VAT.Rate)
		return g, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading gifts of account %s: %w", account, err)
	}
	var e gift.Entry // one for all rows, as it escapes
	entries, err := db.CollectLong(ctx, b.db, r.entries, b.db.Text(selectHistories), args,
		func(from db.Scanner) (gift.Entry, error) {
			e = gift.Entry{}
			err := from.Scan(db.ScanID(&e.ID), db.ScanID(&e.VoucherID), &e.Seq, &e.Kind, &e.Delta, &e.Balance,
				db.ScanTime(&e.At), db.ScanID(&e.Actor.KeyID), db.ScanID(&e.Actor.LocationID), db.ScanID(&e.Reverses),
				db.ScanTime(&e.Until), record.ScanDetails(&e))
			return e, err
		})
	if err != nil {
		return nil, fmt.Errorf("reading histories of account %s: %w", account, err)
	}
	slices.SortFunc(entries, func(a, b gift.Entry) int {
		return cmp.Or(bytes.Compare(a.VoucherID[:], b.VoucherID[:]), cmp.Compare(a.Seq, b.Seq))
	})
	r.gifts, r.entries = all, entries
	if r.histories == nil {
		r.histories = map[guid.ID][]gift.Entry{}
	}
	clear(r.histories)
	for len(entries) > 0 {
		id, n := entries[0].VoucherID, 1
		for n < len(entries) && entries[n].VoucherID == id {
			n++
		}
		r.histories[id], entries = entries[:n:n], entries[n:]
	}
	for n := range all {
		g := &all[n]
		if g.history = r.histories[g.ID]; g.Worth.Pieces == 0 && len(g.history) > 0 { // it is no card of a stock
			g.Worth.Pieces = g.history[0].Balance
		}
	}
	return all, nil
}

// keys are ids as one argument.
func (b *Books) keys(ids []guid.ID) any {
	if b.db.File == "" {
		all := make([][]byte, len(ids))
		for n := range ids {
			all[n] = ids[n][:]
		}
		return all
	}
	all := make([]string, len(ids))
	for n := range ids {
		all[n] = hex.EncodeToString(ids[n][:])
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // texts do not fail
	}
	return string(text)
}

// Statements are the statements that are worth preparing.
func Statements(d *db.DB) []string {
	return []string{selectTouched, d.Text(selectGifts), d.Text(selectHistories)}
}
