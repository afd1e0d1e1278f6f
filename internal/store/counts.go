package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

var (
	selectCounts = &db.Query{What: "reading counts", Scoped: true,
		SQLite: `SELECT d.account_id, d.what, d.day, d.amount, d.gifts, d.messages, d.texts, d.kept
			FROM json_each($2) AS w CROSS JOIN day_count AS d
			WHERE d.account_id = $1 AND d.what = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT d.account_id, d.what, d.day, d.amount, d.gifts, d.messages, d.texts, d.kept
				FROM day_count AS d
				WHERE d.account_id = w.account_id AND d.what = w.key OFFSET 0) AS found`,
		Citus: `SELECT d.account_id, d.what, d.day, d.amount, d.gifts, d.messages, d.texts, d.kept
			FROM day_count AS d
			WHERE d.account_id = $1 AND d.what = ANY($2::BYTEA[])`}
	lockCounts = &db.Query{What: "reading counts", Scoped: true,
		SQLite: `SELECT d.account_id, d.what, d.day, d.amount, d.gifts, d.messages, d.texts, d.kept
			FROM json_each($2) AS w CROSS JOIN day_count AS d
			WHERE d.account_id = $1 AND d.what = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT d.account_id, d.what, d.day, d.amount, d.gifts, d.messages, d.texts, d.kept
				FROM day_count AS d
				WHERE d.account_id = w.account_id AND d.what = w.key FOR NO KEY UPDATE OFFSET 0) AS found`,
		Citus: `SELECT d.account_id, d.what, d.day, d.amount, d.gifts, d.messages, d.texts, d.kept
			FROM day_count AS d
			WHERE d.account_id = $1 AND d.what = ANY($2::BYTEA[]) ORDER BY d.what FOR NO KEY UPDATE`}
	insertCounts = &db.Query{What: "writing into day_count",
		Each: `INSERT INTO day_count (account_id, what, day, amount, gifts, messages, texts, kept)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (account_id, what) DO NOTHING`,
		Postgres: `INSERT INTO day_count (account_id, what, day, amount, gifts, messages, texts, kept)
			SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[],
				$6::BIGINT[], $7::BIGINT[], $8::BIGINT[]) ON CONFLICT (account_id, what) DO NOTHING`}
	addCounts = &db.Query{What: "writing into day_count",
		Each: `INSERT INTO day_count (account_id, what, day, amount, gifts, messages, texts, kept)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (account_id, what) DO UPDATE SET day = excluded.day,
				amount = excluded.amount + CASE WHEN day_count.day = excluded.day THEN day_count.amount ELSE 0 END,
				gifts = excluded.gifts + CASE WHEN day_count.day = excluded.day THEN day_count.gifts ELSE 0 END,
				messages = excluded.messages + CASE WHEN day_count.day = excluded.day THEN day_count.messages ELSE 0 END,
				texts = excluded.texts + CASE WHEN day_count.day = excluded.day THEN day_count.texts ELSE 0 END,
				kept = excluded.kept + CASE WHEN day_count.day = excluded.day THEN day_count.kept ELSE 0 END`,
		Postgres: `INSERT INTO day_count (account_id, what, day, amount, gifts, messages, texts, kept)
			SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[],
				$6::BIGINT[], $7::BIGINT[], $8::BIGINT[])
			ON CONFLICT (account_id, what) DO UPDATE SET day = excluded.day,
				amount = excluded.amount + CASE WHEN day_count.day = excluded.day THEN day_count.amount ELSE 0 END,
				gifts = excluded.gifts + CASE WHEN day_count.day = excluded.day THEN day_count.gifts ELSE 0 END,
				messages = excluded.messages + CASE WHEN day_count.day = excluded.day THEN day_count.messages ELSE 0 END,
				texts = excluded.texts + CASE WHEN day_count.day = excluded.day THEN day_count.texts ELSE 0 END,
				kept = excluded.kept + CASE WHEN day_count.day = excluded.day THEN day_count.kept ELSE 0 END`}
)

// what names a count within its account. Contacts are not kept in the clear.
func (s *Store) what(k merchant.CountKey) []byte {
	if k.Kind == merchant.ContactCount {
		return append([]byte{byte(k.Kind)}, s.db.Keys.ContactHash(k.Owner, k.Contact)...)
	}
	return append([]byte{byte(k.Kind)}, k.Owner[:]...)
}

// wantCounts loads counts. Those of what is sent and redeemed are locked, in the order of their keys, and made before
// if need be: who has them decides alone on what they limit. Counts of contacts are read after the count of their
// account is locked, which nobody adds to them without. Counts of what is kept are not locked at all: every call with
// a key would wait for all others. Nor does a heavy group lock what it sends: whoever sells or loads a card would wait
// for the whole of it. It locks that as it adds to it, and checks it then. What is rehearsed adds to none.
func (g *group) wantCounts(wanted []merchant.CountKey, heavy, rehearsed bool) (batches []db.Batch) {
	seen, named := map[merchant.CountKey]bool{}, map[string]merchant.CountKey{}
	var locked, read []countRow
	for _, k := range wanted {
		if seen[k] {
			continue
		}
		seen[k] = true
		if k.Kind == merchant.KeptCount {
			n, known := g.kept.get(k)
			if g.state.Counts[k] = n; known {
				continue
			}
			g.keptRead[k] = merchant.Count{} // what is not there is known as well
		}
		row := countRow{k.AccountID, g.what(k)}
		named[row.name()] = k
		if !rehearsed && (k.Kind == merchant.SentCount && !heavy || k.Kind == merchant.RedeemedCount) {
			locked = append(locked, row)
		} else {
			read = append(read, row)
		}
	}
	scan := func(from db.Scanner) error {
		var row countRow
		var n merchant.Count
		if err := from.Scan(db.ScanID(&row.account), &row.what, &n.Day, &n.Amount, &n.Gifts, &n.Messages, &n.Texts,
			&n.Kept); err != nil {
			return err
		}
		k := named[row.name()]
		if g.state.Counts[k] = n; k.Kind == merchant.KeptCount {
			g.keptRead[k] = n
		}
		return nil
	}
	batches = append(batches, countBatches(insertCounts, locked, nil)...)
	batches = append(batches, countBatches(lockCounts, locked, scan)...)
	return append(batches, countBatches(selectCounts, read, scan)...)
}

// countBatches finds rows, or makes them with nothing counted, in the order of their keys.
func countBatches(s *db.Query, rows []countRow, scan func(db.Scanner) error) []db.Batch {
	slices.SortFunc(rows, compareCountRows)
	if !s.Scoped {
		w := record.RowsOf(s, rows, func(r *countRow) []any { return []any{db.KeyOf(r.account), r.what, 0, 0, 0, 0, 0, 0} })
		return slices.DeleteFunc([]db.Batch{w}, func(w db.Batch) bool { return len(w.Rows) == 0 })
	}
	return record.ByAccount(rows, func(r countRow) guid.ID { return r.account },
		func(account guid.ID, of []countRow) db.Batch {
			w := record.RowsOf(s, of, func(r *countRow) []any { return []any{r.what} })
			w.Account, w.Scan, w.Shared = account, scan, true
			return w
		})
}

// countRow is the key of a row.
type countRow struct {
	account guid.ID
	what    []byte
}

func (r *countRow) name() string { return string(r.account[:]) + string(r.what) }

func compareCountRows(a, b countRow) int {
	if order := slices.Compare(a.account[:], b.account[:]); order != 0 {
		return order
	}
	return bytes.Compare(a.what, b.what)
}

// saveCounts adds to counts: to those of what is sent first, and then in the order of their keys. A heavy group has
// locked none before, and who adds to a contact's has locked what is sent.
func (g *group) saveCounts(changed map[merchant.CountKey]merchant.Count) db.Batch {
	type row struct {
		after int // what is sent: 0, or 1
		countRow
		merchant.Count
	}
	rows := make([]row, 0, len(changed))
	for k, n := range changed {
		after := 1
		if k.Kind == merchant.SentCount {
			after = 0
		}
		rows = append(rows, row{after, countRow{k.AccountID, g.what(k)}, n})
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(a.after-b.after, compareCountRows(a.countRow, b.countRow))
	})
	return record.RowsOf(addCounts, rows, func(r *row) []any {
		return []any{db.KeyOf(r.account), r.what, r.Day, int64(r.Amount), r.Gifts, r.Messages, r.Texts, r.Kept}
	})
}

// runWithin runs the batches of a heavy group, whose last add to counts and so lock them, and has it decided anew where
// others have added too much to these meanwhile.
func (g *group) runWithin(ctx context.Context, batches []db.Batch, most map[merchant.CountKey]merchant.Count) error {
	if err := g.run(ctx, append(batches, g.wantCounts(slices.Collect(maps.Keys(most)), true, false)...)); err != nil {
		return err
	}
	for k, most := range most {
		n := g.state.Counts[k]
		if n.Amount > most.Amount || n.Gifts > most.Gifts || n.Messages > most.Messages || n.Texts > most.Texts {
			return fmt.Errorf("%w: a limit was reached meanwhile", db.ErrOvertaken)
		}
	}
	return nil
}

// keptCounts remembers, for a minute, how many calls of each key are kept, so that the count is read once a minute and
// not with every call. What other instances add meanwhile is missed: the limit is there to keep a database small.
type keptCounts struct {
	mu    sync.Mutex
	known map[merchant.CountKey]keptCount
}

type keptCount struct {
	merchant.Count
	read time.Time
}

const keptAge = time.Minute

func (c *keptCounts) get(k merchant.CountKey) (merchant.Count, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, known := c.known[k]
	return n.Count, known && time.Since(n.read) < keptAge
}

// commit takes over what was read and added.
func (c *keptCounts) commit(read, added map[merchant.CountKey]merchant.Count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[merchant.CountKey]keptCount{}
	}
	for k, n := range read {
		c.known[k] = keptCount{n, time.Now()}
	}
	for k, n := range added {
		if k.Kind == merchant.KeptCount {
			c.known[k] = keptCount{c.known[k].On(n.Day).Plus(n), c.known[k].read}
		}
	}
}

// ForgetCounts deletes at most limit counts of contacts of an account of days before one, and tells how many there
// were. The other counts are few, and a lock on one must find it.
func (s *Store) ForgetCounts(ctx context.Context, account guid.ID, before int, limit int) (n int64, err error) {
	old := []any{db.KeyOf(account), before, []byte{byte(merchant.ContactCount)}, []byte{byte(merchant.ContactCount) + 1}}
	// The day is compared again, for who adds to a count meanwhile is waited for.
	n, err = s.db.Delete(ctx, `SELECT count(*) FROM (SELECT 1 FROM day_count
			WHERE account_id = $1 AND day < $2 AND what >= $3 AND what < $4 LIMIT 1) AS one`, old, `DELETE FROM day_count
			WHERE account_id = $1 AND day < $2
				AND what IN (SELECT d.what FROM day_count AS d
					WHERE d.account_id = $1 AND d.day < $2 AND d.what >= $3 AND d.what < $4 LIMIT $5)`, append(old, limit)...)
	if err != nil {
		return 0, fmt.Errorf("forgetting the counts of old days: %w", err)
	}
	return n, nil
}
