// Package lookup finds gifts and entries: by a code or a token, by id, and page by page as a filter asks.
package lookup

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// Lists of gifts and of entries are read from the newest to the oldest, by the primary key or by an index that is in
// the same order. What else a filter asks for is looked at row by row, gift.MaxRead rows for a page at most: so a
// filter that matches nothing costs no more than one that matches everything.

// Reader finds gifts and entries: by a secret, by id, and in lists.
type Reader struct {
	db      *db.DB
	cache   *cache // nil: gifts are not remembered
	secrets lookupBatcher
	codes   atomic.Int64 // look-ups by a code
	lists   *fair.Places // of readers of lists; all three kinds take turns by account
	tills   *fair.Places // for lists of one key each, which are short: they wait for none of the others
	guests  *fair.Places // nor for lists of people who look at their own gifts
	orders  *fair.Places // nor does who acts on an order or a purchase wait for any list
}

// New reads from an open database.
func New(d *db.DB) *Reader {
	return &Reader{db: d, lists: fair.New(2), tills: fair.New(2), orders: fair.New(2),
		guests: fair.New(2)}
}

// listShare is how long a list waits after it was read, in times of its reading, before the next one may use its
// reader. There are two readers for lists: so they take no more than half of one processor from those who redeem.
const listShare = 3

// waitFor waits for one of some readers, in turns by account and within it by part; release lets the next list have it,
// after a rest of share times the reading.
func waitFor(ctx context.Context, readers *fair.Places, share time.Duration, account, part guid.ID) (release func(),
	_ error) {
	done, err := readers.Take(ctx, account, part)
	if err != nil {
		return nil, fmt.Errorf("waiting for other lists: %w", err)
	}
	begun := time.Now()
	return func() { time.AfterFunc(share*time.Since(begun), done) }, nil
}

// Gifts selects at most f.Limit gifts, the newest first, however many have to be looked at. Those of an order or a
// purchase, which have an index, wait for no list.
func (r *Reader) Gifts(ctx context.Context, f gift.Filter) (all []gift.Gift, _ error) {
	readers, share := r.lists, time.Duration(listShare)
	if !f.OrderID.IsZero() || f.Reference != "" {
		readers, share = r.orders, 1
	}
	for limit := f.Limit; ; {
		f.Limit = limit - len(all)
		page, err := r.list(ctx, f, readers, share)
		if err != nil {
			return nil, err
		}
		all, f.Before = append(all, page.Gifts...), page.Next
		if f.Before.IsZero() || len(all) == limit {
			return all, nil
		}
	}
}

// List gives a page of gifts, the newest first: in descending order of their ids.
func (r *Reader) List(ctx context.Context, f gift.Filter) (gift.Page, error) {
	return r.list(ctx, f, r.lists, listShare)
}

// GuestGifts is List for people who look at their own gifts: these wait for each other, and no list of a merchant waits
// for them.
func (r *Reader) GuestGifts(ctx context.Context, f gift.Filter) (gift.Page, error) {
	return r.list(ctx, f, r.guests, listShare)
}

func (r *Reader) list(ctx context.Context, f gift.Filter, readers *fair.Places, share time.Duration) (page gift.Page,
	err error) {
	release, err := waitFor(ctx, readers, share, f.AccountID, f.OrderID)
	if err != nil {
		return page, err
	}
	defer release()
	late := db.Late(ctx)
	before, err := r.before(ctx, record.Gifts, f.AccountID, f.Before, f.CreatedTo)
	if err != nil {
		return page, err
	}
	ids, next, read, err := r.walk(ctx, before, floor(f.CreatedFrom), f.Limit,
		func(before guid.ID, n int) (string, []any) { return r.Candidates(f, before, n) })
	if err != nil {
		return page, fmt.Errorf("listing gifts: %w", err)
	}
	page = gift.Page{Next: next, Read: read}
	for n := min(atOnce, len(ids)); len(ids) > 0; n = min(atOnce, len(ids)) {
		some, err := r.GiftsByRef(ctx, refsOf(f.AccountID, ids[:n]))
		if err != nil {
			return page, err
		}
		for i := range some {
			// It is found by codes that it had before, too: of a card that was replaced, that is what is wanted.
			if g := &some[i]; f.LastFour == "" || g.Card.Code.LastFour() == f.LastFour || g.Replaced > 0 {
				page.Gifts = append(page.Gifts, *g)
			}
		}
		last := ids[n-1]
		if ids = ids[n:]; len(ids) > 0 && late() { // a slow database would else never give a page
			page.Next = last
			break
		}
	}
	slices.SortFunc(page.Gifts, func(a, b gift.Gift) int { return slices.Compare(b.ID[:], a.ID[:]) })
	return page, nil
}

// atOnce is how many gifts of a page are read at a time.
const atOnce = 50

// GiftsNamed finds gifts of an account by their ids, in no order; those that are not there are left out.
func (r *Reader) GiftsNamed(ctx context.Context, account guid.ID, ids []guid.ID) ([]gift.Gift, error) {
	return r.GiftsByRef(ctx, refsOf(account, ids))
}

// GiftsByRef is GiftsNamed for gifts of several accounts.
func (r *Reader) GiftsByRef(ctx context.Context, refs []ledger.Ref) (all []gift.Gift, _ error) {
	err := r.db.Retry(ctx, func(ctx context.Context) error {
		all = nil
		return r.db.Read(ctx, record.ByRef(selectGifts, refs, func(from db.Scanner) error {
			g, sealed, err := record.ScanGift(r.db.Keys, from)
			all = append(all, g)
			return cmp.Or(err, sealed)
		}))
	})
	if err != nil {
		return nil, fmt.Errorf("reading gifts: %w", err)
	}
	return all, nil
}

// walk goes from the newest id down to floor until limit of them fit, there are no more, or gift.MaxRead were looked
// at. query gives the text that reads the next n ids before one, and whether each fits; it does not know floor, as
// with a bound at both ends PostgreSQL may read all that is between them, and sort it. next is where to go on; zero:
// that was all.
func (r *Reader) walk(ctx context.Context, before, floor guid.ID, limit int, query func(before guid.ID, n int) (string,
	[]any)) (
	ids []guid.ID, next guid.ID, read int, _ error) {
	for n := min(limit+1, gift.MaxRead); limit > 0; n = min(4*n, gift.MaxRead-read) {
		type candidate struct {
			id   guid.ID
			fits bool
		}
		text, args := query(before, n)
		rows, err := db.Collect(ctx, r.db, text, args, func(from db.Scanner) (c candidate, err error) {
			err = from.Scan(db.ScanID(&c.id), &c.fits)
			return c, err
		})
		if err != nil {
			return nil, next, read, err
		}
		read += len(rows)
		for _, c := range rows {
			if slices.Compare(c.id[:], floor[:]) < 0 {
				return ids, guid.ID{}, read, nil
			}
			if !c.fits {
				continue
			}
			if len(ids) == limit {
				return ids, ids[limit-1], read, nil
			}
			ids = append(ids, c.id)
		}
		if len(rows) < n {
			return ids, guid.ID{}, read, nil
		}
		if before = rows[n-1].id; read >= gift.MaxRead {
			return ids, before, read, nil
		}
	}
	return ids, next, read, nil
}

// Candidates is the text that gives the next n gifts before one that may fit a filter, found by what narrows them
// most, and whether they do.
func (r *Reader) Candidates(f gift.Filter, before guid.ID, n int) (string, []any) {
	w := &where{}
	account, limit := w.arg(db.KeyOf(f.AccountID)), w.arg(n)
	within := bounds(w, before)
	from := func(table, id, more string) string {
		return `SELECT t.` + id + ` AS id FROM ` + table + ` AS t WHERE t.account_id = ` + account + more +
			strings.ReplaceAll(within, "{id}", "t."+id) + ` ORDER BY t.` + id + ` DESC LIMIT ` + limit
	}
	var sources []string
	keys, rest := r.searched(f)
	switch {
	case !f.OrderID.IsZero():
		sources, rest = []string{from("voucher", "id", ` AND t.order_id = `+w.arg(db.KeyOf(f.OrderID)))}, also(rest, keys)
	case f.CustomerID != "":
		// The first half lets the partial index be used.
		sources, rest = []string{from("voucher", "id", ` AND t.customer <> '' AND t.customer = `+w.arg(f.CustomerID))},
			also(rest, keys)
	case f.Reference != "":
		// The first half lets the partial index be used.
		sources, rest = []string{from("card", "voucher_id", ` AND t.reference <> '' AND t.reference = `+w.arg(f.Reference))},
			also(rest, keys)
	case f.Buyer != "":
		// The first half lets the partial index be used.
		buyer := r.db.Text(buyers) + w.arg(f.Buyer)
		sources, rest = []string{from("card", "voucher_id", ` AND t.email_address <> '' AND `+buyer)}, also(rest, keys)
	case len(keys) > 0:
		for _, k := range keys {
			sources = append(sources, from("gift_search", "voucher_id", ` AND t.key = `+w.arg(k)))
		}
	default:
		sources = []string{from("voucher", "id", "")}
	}
	fits := fitting(w, account, f, rest)
	if f.Buyer != "" {
		fits += ` AND ` + exists(`card AS t WHERE t.account_id = `+account+` AND t.voucher_id = k.id AND `+r.db.Text(buyers)+
			w.arg(f.Buyer))
	}
	text := `SELECT k.id, ` + fits + ` FROM (` + sources[0] + `) AS k ORDER BY k.id DESC`
	if len(sources) > 1 {
		for i := range sources {
			sources[i] = `SELECT s.id FROM (` + sources[i] + `) AS s`
		}
		text = `SELECT k.id, ` + fits + ` FROM (SELECT u.id FROM (` + strings.Join(sources, ` UNION ALL `) +
			`) AS u ORDER BY u.id DESC LIMIT ` + limit + `) AS k ORDER BY k.id DESC`
	}
	return text, w.args
}

// buyers begins a condition on card t: who paid for it. The letters A to Z are small, whatever the collation of the
// database is.
var buyers = db.Text{SQLite: `lower(t.email_address) = `, Postgres: `lower(t.email_address COLLATE "C") = `}

// also adds keys to those that must be found too, if there are any.
func also(rest [][][]byte, keys [][]byte) [][][]byte {
	if len(keys) == 0 {
		return rest
	}
	return append(rest, keys)
}

// floor is the least id of what was made from an instant on.
func floor(from time.Time) guid.ID {
	if from.IsZero() {
		return guid.ID{}
	}
	return gift.IDsFrom(from)
}

// before is before which id to look for what was made before an instant, on a page that ends before an id. Zero ones
// bound nothing.
func (r *Reader) before(ctx context.Context, of record.Dated, account, before guid.ID, to time.Time) (guid.ID, error) {
	if to.IsZero() {
		return before, nil
	}
	var last guid.ID
	err := r.db.Retry(ctx, func(ctx context.Context) (err error) {
		last, err = of.IDsBefore(ctx, r.db, r.db.Readers, account, to)
		return err
	})
	if !before.IsZero() && slices.Compare(before[:], last[:]) < 0 {
		last = before
	}
	return last, err
}

// bounds says before which id to look; {id} stands for the column.
func bounds(w *where, before guid.ID) (text string) {
	if !before.IsZero() {
		text += ` AND {id} < ` + w.arg(db.KeyOf(before))
	}
	return text
}

// fitting is a condition on candidate k: that its gift fits a filter, and is found by one of each of the other keys
// too.
func fitting(w *where, account string, f gift.Filter, keys [][][]byte) string {
	v := where{args: w.args}
	if f.Status != 0 {
		v.and(`v.status = %s`, int64(f.Status))
	}
	if f.Except != 0 {
		v.and(`v.status <> %s`, int64(f.Except))
	}
	if !f.ProgramID.IsZero() {
		v.and(`v.program_id = %s`, db.KeyOf(f.ProgramID))
	}
	if !f.PromotionID.IsZero() {
		v.and(`v.promotion_id = %s`, db.KeyOf(f.PromotionID))
	}
	if !f.LocationID.IsZero() {
		v.and(`v.location_id = %s`, db.KeyOf(f.LocationID))
	}
	if len(f.Locations) > 0 {
		v.and(mayBeSeen(f.Locations), keyColumns(f.Locations)...)
	}
	if f.CustomerID != "" {
		v.and(`v.customer = %s`, f.CustomerID)
	}
	if f.MadeBy != "" {
		v.and(`v.made_by = %s`, f.MadeBy)
	}
	if !f.CreatedFrom.IsZero() {
		v.and(`v.created_at >= %s`, db.Micros(f.CreatedFrom))
	}
	if !f.CreatedTo.IsZero() {
		v.and(`v.created_at < %s`, db.Micros(f.CreatedTo))
	}
	all := []string{}
	if len(v.conditions) > 0 {
		all = append(all, exists(`voucher AS v WHERE v.account_id = `+account+` AND v.id = k.id AND `+strings.Join(v.conditions, " AND ")))
	}
	c := where{args: v.args}
	if !f.StorefrontID.IsZero() {
		c.and(`c.storefront_id = %s`, db.KeyOf(f.StorefrontID))
	}
	if f.Reference != "" {
		c.and(`c.reference = %s`, f.Reference)
	}
	if len(c.conditions) > 0 {
		all = append(all, exists(`card AS c WHERE c.account_id = `+account+` AND c.voucher_id = k.id AND `+strings.Join(c.conditions, " AND ")))
	}
	for _, either := range keys {
		x := where{args: c.args}
		args := make([]any, 0, len(either))
		for _, key := range either {
			args = append(args, key)
		}
		x.and(`x.key IN (`+strings.Repeat(`, %s`, len(args))[2:]+`)`, args...)
		all = append(all, exists(`gift_search AS x WHERE x.account_id = `+account+` AND x.voucher_id = k.id AND `+x.conditions[0]))
		c.args = x.args
	}
	w.args = c.args
	if len(all) == 0 {
		return `TRUE`
	}
	return strings.Join(all, ` AND `)
}

// exists asks for one row. OFFSET keeps PostgreSQL from making a join of it, which could begin with all rows of the
// account.
func exists(from string) string { return `EXISTS (SELECT 1 FROM ` + from + ` LIMIT 1 OFFSET 0)` }

// selectEntries finds entries, each with what its gift is counted in, its program, and whether it is promotional.
var selectEntries = &db.Query{What: "reading entries", Scoped: true,
	SQLite: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
			e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
			e.reason, e.request_id, e.details, e.held_after, e.address, e.till,
			(SELECT v.item FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
			(SELECT v.currency FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
			(SELECT v.decimals FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
			(SELECT v.program_id FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
			(SELECT v.promotional FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id)
		FROM json_each($2) AS w CROSS JOIN entry AS e
		WHERE e.account_id = $1 AND e.id = unhex(w.value) AND (e.kind <> 'IMPORTED' OR EXISTS (SELECT 1 FROM voucher AS v CROSS JOIN gift_import AS m
			WHERE v.account_id = e.account_id AND v.id = e.voucher_id AND m.account_id = e.account_id AND m.id = v.import_id
				AND m.state = 'FINISHED'))`,
	Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
			SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
				e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
				e.reason, e.request_id, e.details, e.held_after, e.address, e.till,
				(SELECT v.item FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
				(SELECT v.currency FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
				(SELECT v.decimals FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
				(SELECT v.program_id FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
				(SELECT v.promotional FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id)
			FROM entry AS e
			WHERE e.account_id = w.account_id AND e.id = w.key AND (e.kind <> 'IMPORTED' OR EXISTS (SELECT 1 FROM voucher AS v CROSS JOIN gift_import AS m
				WHERE v.account_id = e.account_id AND v.id = e.voucher_id AND m.account_id = e.account_id AND m.id = v.import_id
					AND m.state = 'FINISHED'))
			OFFSET 0) AS found`,
	Citus: `SELECT e.account_id, e.id, e.voucher_id, e.seq, e.previous, e.kind, e.delta, e.balance, e.status,
			e.made_at, e.key_id, e.location_id, e.reverses, e.hold_id, e.held, e.held_until, e.reference,
			e.reason, e.request_id, e.details, e.held_after, e.address, e.till,
			(SELECT v.item FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
			(SELECT v.currency FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
			(SELECT v.decimals FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
			(SELECT v.program_id FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id),
			(SELECT v.promotional FROM voucher AS v WHERE v.account_id = e.account_id AND v.id = e.voucher_id)
		FROM entry AS e
		WHERE e.account_id = $1 AND e.id = ANY($2::BYTEA[]) AND (e.kind <> 'IMPORTED' OR EXISTS (SELECT 1 FROM voucher AS v JOIN gift_import AS m
				ON m.account_id = v.account_id AND m.id = v.import_id
			WHERE v.account_id = e.account_id AND v.id = e.voucher_id AND m.state = 'FINISHED'))`}

// Activity gives a page of the changes of all gifts of an account, the newest first: in descending order of their ids.
func (r *Reader) Activity(ctx context.Context, f gift.ChangeFilter) (page gift.ChangePage, err error) {
	readers, share := r.lists, time.Duration(listShare)
	if !f.KeyID.IsZero() {
		readers, share = r.tills, 1
	}
	release, err := waitFor(ctx, readers, share, f.AccountID, f.KeyID)
	if err != nil {
		return page, err
	}
	defer release()
	before, err := r.before(ctx, record.Entries, f.AccountID, f.Before, f.To)
	if err != nil {
		return page, err
	}
	ids, next, read, err := r.walk(ctx, before, floor(f.From), f.Limit,
		func(before guid.ID, n int) (string, []any) { return r.Changes(f, before, n) })
	if err != nil {
		return page, fmt.Errorf("listing entries: %w", err)
	}
	err = r.db.Retry(ctx, func(ctx context.Context) error {
		page = gift.ChangePage{Next: next, Read: read}
		batches := record.ByRef(selectEntries, refsOf(f.AccountID, ids), func(from db.Scanner) error {
			c, err := scanChange(from)
			page.Changes = append(page.Changes, c)
			return err
		})
		return r.db.Read(ctx, batches)
	})
	if err != nil {
		return page, fmt.Errorf("reading entries: %w", err)
	}
	slices.SortFunc(page.Changes, func(a, b gift.Change) int { return slices.Compare(b.ID[:], a.ID[:]) })
	return page, nil
}

// Changes is the text that gives the next n entries before one, and whether each fits the filter.
func (r *Reader) Changes(f gift.ChangeFilter, before guid.ID, n int) (string, []any) {
	w := &where{}
	account, limit := w.arg(db.KeyOf(f.AccountID)), w.arg(n)
	within := ""
	if f.KeyID.IsZero() {
		within = strings.ReplaceAll(bounds(w, before), "{id}", "t.id")
	} else {
		within = ofKey(w, f, before)
	}
	if f.ByKeys {
		w.and(`k.key_id IS NOT NULL`)
	}
	if !f.LocationID.IsZero() {
		w.and(`k.location_id = %s`, db.KeyOf(f.LocationID))
	}
	if f.Kind != "" {
		w.and(`k.kind = %s`, string(f.Kind))
	}
	if !f.From.IsZero() {
		w.and(`k.made_at >= %s`, db.Micros(f.From))
	}
	if !f.To.IsZero() {
		w.and(`k.made_at < %s`, db.Micros(f.To))
	}
	if len(f.Locations) > 0 {
		v := where{args: w.args}
		v.and(`v.account_id = `+account+` AND v.id = k.voucher_id AND `+mayBeSeen(f.Locations), keyColumns(f.Locations)...)
		w.args, w.conditions = v.args, append(w.conditions, exists(`voucher AS v WHERE `+v.conditions[0]))
	}
	fits := `TRUE`
	if len(w.conditions) > 0 {
		fits = `coalesce(` + strings.Join(w.conditions, ` AND `) + `, FALSE)`
	}
	return `SELECT k.id, ` + fits +
		` FROM (SELECT t.id, t.voucher_id, t.key_id, t.location_id, t.kind, t.made_at FROM entry AS t WHERE t.account_id = ` +
		account + within + ` ORDER BY t.id DESC LIMIT ` + limit + `) AS k ORDER BY k.id DESC`, w.args
}

// ofKey is what a key did in the filter's time, before an entry. That of a till has an index. That of another key is
// found along the primary key, among what all keys did in that time: a day of 20,000 entries takes some milliseconds,
// and an index by keys would cost each redemption a hundredth on PostgreSQL, and a twentieth on SQLite.
func ofKey(w *where, f gift.ChangeFilter, before guid.ID) string {
	last := guid.ID(bytes.Repeat([]byte{0xff}, len(before)))
	if !before.IsZero() {
		last = before
	}
	key, from, to := w.arg(db.KeyOf(f.KeyID)), w.arg(db.KeyOf(floor(f.From))), w.arg(db.KeyOf(last))
	all := ` AND t.id >= ` + from + ` AND t.id < ` + to + ` AND t.key_id = ` + key
	if f.Till {
		all += ` AND t.till`
	}
	return all
}

// mayBeSeen is the condition that a gift is limited to one of some locations.
func mayBeSeen(locations []guid.ID) string {
	return `v.location_id IN (` + strings.Repeat(`, %s`, len(locations))[2:] + `)`
}

func refsOf(account guid.ID, ids []guid.ID) []ledger.Ref {
	all := make([]ledger.Ref, len(ids))
	for n, id := range ids {
		all[n] = ledger.Ref{AccountID: account, ID: id}
	}
	return all
}

// where builds a condition with numbered placeholders.
type where struct {
	conditions []string
	args       []any
}

// and adds a condition in which %s stands for the arguments, in order.
func (w *where) and(condition string, args ...any) {
	placeholders := make([]any, len(args))
	for i, a := range args {
		placeholders[i] = w.arg(a)
	}
	w.conditions = append(w.conditions, fmt.Sprintf(condition, placeholders...))
}

// arg adds an argument and gives its placeholder.
func (w *where) arg(a any) string {
	w.args = append(w.args, a)
	return fmt.Sprintf("$%d", len(w.args))
}

// maxSources is how many locations of a key a list follows side by side.
const maxSources = 8

// searched gives the keys of what narrows a filter most, and those of everything else that must be found too. Each is
// a list of the hashes that it can have.
func (r *Reader) searched(f gift.Filter) (first [][]byte, rest [][][]byte) {
	var all [][][]byte
	add := func(by string, texts ...string) {
		var either [][]byte
		for _, text := range texts {
			either = append(either, r.db.Keys.SearchHashes(f.AccountID, by+text)...)
		}
		all = append(all, either)
	}
	if len(f.Contacts) > 0 {
		add(record.ByContact, f.Contacts...)
	}
	if f.LastFour != "" {
		add(record.ByLastFour, f.LastFour)
	}
	for _, word := range f.Words {
		add(record.ByWord, word)
	}
	found := len(all)
	if len(all) == 0 && record.Rare[f.Status] {
		add(record.ByStatus, f.Status.String())
	}
	if len(all) == 0 && !f.LocationID.IsZero() {
		add(record.ByLocation, f.LocationID.String())
	}
	if len(all) == 0 && len(f.Locations) > 0 && len(f.Locations) <= maxSources {
		var either []string
		for _, id := range f.Locations {
			either = append(either, id.String())
		}
		add(record.ByLocation, either...)
	}
	if len(all) == 0 && !f.PromotionID.IsZero() {
		add(record.ByPromotion, f.PromotionID.String())
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all[0], all[1:max(1, found)]
}

// keyColumns are ids as arguments.
func keyColumns(ids []guid.ID) []any {
	all := make([]any, len(ids))
	for i := range ids {
		all[i] = db.KeyOf(ids[i])
	}
	return all
}
