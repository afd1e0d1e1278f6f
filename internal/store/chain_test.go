package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/chain"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/store/check"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/setup"
	"boon.example/internal/store/tables"
	"boon.example/internal/store/transfer"
)

// unguarded lets a test do what somebody with the database's own password can: there are no triggers and no
// constraints any more.
func unguarded(t *testing.T, s *Store) {
	t.Helper()
	guards := `SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger' UNION ALL
		SELECT 'PRAGMA foreign_keys = 0' UNION ALL SELECT 'PRAGMA ignore_check_constraints = 1'`
	if s.db.File == "" {
		guards = `SELECT 'ALTER TABLE ' || c.relname || ' DISABLE TRIGGER USER' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
				WHERE n.nspname = current_schema() AND c.relkind = 'r'
			UNION ALL SELECT 'ALTER TABLE ' || r.relname || ' DROP CONSTRAINT ' || c.conname FROM pg_constraint c
				JOIN pg_class r ON r.oid = c.conrelid -- where Citus shows no shards
				JOIN pg_namespace n ON n.oid = c.connamespace WHERE n.nspname = current_schema() AND c.contype IN ('c', 'f') ORDER BY 1`
	}
	var texts []string
	must(t, db.Each(t.Context(), s.db.Writer, guards, nil, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		texts = append(texts, text)
		return err
	}))
	one, err := s.db.Writer.Conn(t.Context())
	must(t, err)
	defer one.Close()
	if s.db.File == "" { // Citus disables no trigger else; plain PostgreSQL does not know what it means
		texts = append([]string{`SET citus.enable_unsafe_triggers = on`}, texts...)
	}
	for _, text := range texts {
		if _, err := one.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

func run(t *testing.T, s *Store, text string, args ...any) {
	t.Helper()
	result, err := s.db.Writer.ExecContext(t.Context(), text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if n, err := result.RowsAffected(); err == nil && n == 0 && strings.Contains(text, "WHERE") {
		t.Fatalf("%s: nothing was hit", text)
	}
}

// chainProblems are the problems that only hash chains show, with a checkpoint for later.
func chainProblems(t *testing.T, s *Store, since ...chain.Head) (problems []string, checkpoint []chain.Head) {
	t.Helper()
	c := s.CheckSince(since, func(problem string) { problems = append(problems, problem) })
	err := c.Chains(t.Context(), func(int) error { return nil })
	for from, more := (ledger.Ref{}), err == nil; more; {
		var page []gift.Voucher
		page, _, err = c.Page(t.Context(), from, 500, math.MaxInt)
		if more = err == nil && len(page) > 0; more {
			from = ref(&page[len(page)-1])
			from.ID = from.ID.Next()
		}
	}
	if err != nil {
		return append(problems, err.Error()), nil // what cannot be read is a finding, too
	}
	c.Missing()
	return problems, c.Checkpoint()
}

func chainsHold(t *testing.T, s *Store) {
	t.Helper()
	if found, _ := chainProblems(t, s); len(found) > 0 {
		t.Fatalf("untouched, and there is found: %q", found)
	}
}

// ledgerWithChains has two accounts and three chains, one after the other, and histories that go on from one chain to
// the next. The entries of a group are of one account or of two.
func ledgerWithChains(t *testing.T, open opener) (s *Store, one, two []gift.Gift) {
	t.Helper()
	s, again := open(t)
	setUp(t, s, "first")
	var c ledger.Changes
	for _, gifts := range []*[]gift.Gift{&one, &two} {
		account := newID()
		for range 3 {
			g, e := newGift(account)
			*gifts = append(*gifts, g)
			c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
		}
	}
	save(t, s, c)
	for _, w := range []*Store{s, again(), again()} {
		for round := range 3 {
			for _, gifts := range [][]gift.Gift{one, two} {
				redeem(t, w, &gifts[round].Voucher, 100)
			}
		}
	}
	setUp(t, s, "second")
	setUp(t, s, "third")
	return s, one, two
}

// setUp makes an account with a key.
func setUp(t *testing.T, s *Store, name string) {
	t.Helper()
	must(t, s.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
		a := &merchant.Account{ID: newID(), Name: name, Currency: dollars, Zone: time.UTC}
		k := &merchant.Key{ID: newID(), Kind: merchant.AccountKey, AccountID: a.ID, Name: name, CreatedAt: noon,
			Hash: merchant.HashKey(name)}
		return merchant.Changes{Accounts: []*merchant.Account{a}, Keys: []*merchant.Key{k}, What: "added " + name}, nil
	}))
}

// TestStoredPermissions: a key may do what is stored for it, as far as this program knows it.
func TestStoredPermissions(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			setUp(t, s, "key")
			ctx := t.Context()
			for _, c := range []struct {
				stored string
				may    merchant.Permissions
			}{
				{"all", merchant.Everything}, {"", 0}, {"redeem look-up", merchant.MayRedeem | merchant.MayLookUp},
				{"redeem fly", merchant.MayRedeem}, // fly is what a newer program knows
			} {
				_, err := s.db.Writer.ExecContext(ctx, `UPDATE api_key SET permissions = $1`, c.stored)
				must(t, err)
				d, err := setup.ReadDirectory(ctx, s.db.Readers, s.db.Keys)
				must(t, err)
				if k := d.Keys[merchant.HashKey("key")]; k.Permissions != c.may {
					t.Errorf("%v permits %s, want %s", c.stored, k.Permissions, c.may)
				}
			}
		})
	}
}

type tuple = []any

// rowsOfTable reads rows of a table, in the order of its key.
func rowsOfTable(t *testing.T, s *Store, of *transfer.Table) (all []tuple) {
	t.Helper()
	must(t, db.Each(t.Context(), s.db.Readers, of.SelectAll, nil, func(rows *sql.Rows) error {
		r, err := db.ScanTuple(rows, len(of.Columns))
		all = append(all, r)
		return err
	}))
	return all
}

func tableNamed(t *testing.T, s *Store, name string) *transfer.Table {
	t.Helper()
	i := slices.IndexFunc(tables.All, func(t tables.Table) bool { return t.Name == name })
	described, err := transfer.Describe(t.Context(), s.db, tables.All[i])
	must(t, err)
	return &described
}

func columnOf(of *transfer.Table, name string) int { return slices.Index(of.Columns, name) }

// swap takes rows out of a table and puts others in.
func swap(t *testing.T, s *Store, of *transfer.Table, out, in []tuple) {
	t.Helper()
	where := make([]string, len(of.Key))
	for i, name := range of.Key {
		where[i] = fmt.Sprintf("%s = $%d", name, i+1)
	}
	for _, r := range out {
		run(t, s, "DELETE FROM "+of.Name+" WHERE "+strings.Join(where, " AND "), r[:len(of.Key)]...)
	}
	for _, r := range in {
		run(t, s, of.Insert.Each, r...)
	}
}

// otherThan is another value of the same type.
func otherThan(value any, kind string) any {
	switch v := value.(type) {
	case int64:
		return v + 1000 // and no other row's key
	case string:
		return v + "x"
	case bool:
		return !v
	case []byte:
		if len(v) > 0 {
			v = slices.Clone(v)
			v[len(v)-1] ^= 1
			return v
		}
	}
	switch kind {
	case "bigint", "integer":
		return int64(7)
	case "text":
		return "{}"
	}
	return db.KeyOf(newID())
}

// TestChainsFindEveryChangedColumn changes one column of one row at a time, of everything that is chained, to another
// value of its type.
func TestChainsFindEveryChangedColumn(t *testing.T) {
	t.Parallel()
	// What these must be, histories say, and gift.Audit holds them against it, or imports do; held and holds_end go with
	// the list of holds. What buyers are told moves no value, and release 0.1.0, which does not know of it, verifies the
	// same chains. Whose a gift is in a merchant's app can be erased: gift.Audit knows whether it may be linked.
	free := []string{"voucher.balance", "voucher.status", "voucher.seq", "voucher.last", "voucher.held",
		"voucher.holds_end", "voucher.loaded", "voucher.wrong_codes", "voucher.blocked", "voucher.extended",
		"voucher.replaced", "voucher.customer", "voucher.import_id", "voucher.buyer_notices", "voucher.buyer_language",
		"voucher.expiring_told", "voucher.expired_told", "entry.held_after", "entry.address",
		"entry.till"}
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, _ := ledgerWithChains(t, open)
			chainsHold(t, s)
			unguarded(t, s)
			changed := 0
			for _, name := range []string{"voucher", "entry", "chain", "setup_change", "account", "api_key", "setup_version"} {
				of := tableNamed(t, s, name)
				all := rowsOfTable(t, s, of)
				for i, column := range of.Columns {
					if slices.Contains(free, name+"."+column) || column == "one" {
						continue
					}
					before := all[len(all)/2]
					after := slices.Clone(before)
					after[i] = otherThan(before[i], of.Types[i])
					swap(t, s, of, []tuple{before}, []tuple{after})
					if found, _ := chainProblems(t, s); len(found) == 0 {
						t.Errorf("%s.%s was changed from %v to %v, and nothing was found", name, column, before[i], after[i])
					}
					swap(t, s, of, []tuple{after}, []tuple{before})
					changed++
				}
			}
			chainsHold(t, s) // all is as it was
			if changed < 64 {
				t.Errorf("only %d columns were changed", changed)
			}
		})
	}
}

// chainOf is what is in the database of one chain: its rows, and its entries in their order.
type chainOf struct{ rows, entries []tuple }

// chainsOf gives all chains, the oldest first.
func chainsOf(t *testing.T, s *Store) (all []chainOf) {
	t.Helper()
	rows, entries := tableNamed(t, s, "chain"), tableNamed(t, s, "entry")
	writer, n := columnOf(entries, "writer"), columnOf(entries, "n")
	for _, r := range rowsOfTable(t, s, rows) {
		if r[1].(int64) == 0 {
			all = append(all, chainOf{})
		}
		last := &all[len(all)-1]
		last.rows = append(last.rows, r)
	}
	for _, e := range rowsOfTable(t, s, entries) {
		for i := range all {
			if bytes.Equal(all[i].rows[0][0].([]byte), e[writer].([]byte)) {
				all[i].entries = append(all[i].entries, e)
			}
		}
	}
	for _, c := range all {
		slices.SortFunc(c.entries, func(a, b tuple) int { return cmp.Compare(a[n].(int64), b[n].(int64)) })
	}
	return all
}

// damage takes rows out of a table and puts others in.
type damage struct {
	of      *transfer.Table
	out, in []tuple
}

func (d damage) do(t *testing.T, s *Store)   { swap(t, s, d.of, d.out, d.in) }
func (d damage) undo(t *testing.T, s *Store) { swap(t, s, d.of, d.in, d.out) }

// TestChainsFindRows takes rows out, puts others in and moves them, as somebody would who has the database and lacks
// the key file.
func TestChainsFindRows(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, one, _ := ledgerWithChains(t, open)
			entry, rows, log := tableNamed(t, s, "entry"), tableNamed(t, s, "chain"), tableNamed(t, s, "setup_change")
			chains, changes := chainsOf(t, s), rowsOfTable(t, s, log)
			if len(chains) != 3 || len(chains[0].rows) != 8 || len(chains[0].entries) != 12 || len(changes) != 4 {
				t.Fatalf("%d chains, of which the first has %d rows and %d entries, and %d changes of the set-up",
					len(chains), len(chains[0].rows), len(chains[0].entries), len(changes))
			}
			chainsHold(t, s)
			unguarded(t, s)
			with := func(of *transfer.Table, r tuple, column string, value any) tuple {
				r = slices.Clone(r)
				r[columnOf(of, column)] = value
				return r
			}
			// exchanged are two rows of which each has the other's value of a column.
			exchanged := func(of *transfer.Table, a, b tuple, column string) damage {
				i := columnOf(of, column)
				return damage{of, []tuple{a, b}, []tuple{with(of, a, column, b[i]), with(of, b, column, a[i])}}
			}
			old, newest := chains[1], chains[2]
			first, last, other := old.entries[0], old.entries[len(old.entries)-1], db.KeyOf(newID())
			end, row := len(old.rows)-1, old.rows[3]
			// An entry that no history leads to is not read with its chain: that there are more entries than histories have is
			// found.
			beside := map[string]bool{"a copy beside an entry": true, "an entry at no place": true,
				"an entry at the place after": true}
			var account []tuple // the entries of one
			for _, c := range chains {
				for _, e := range c.entries {
					if bytes.Equal(e[0].([]byte), one[0].AccountID[:]) {
						account = append(account, e)
					}
				}
			}
			for name, damages := range map[string][]damage{
				"the first entry of a chain":      {{entry, old.entries[:1], nil}},
				"an entry in the middle":          {{entry, old.entries[2:3], nil}},
				"an entry of a group":             {{entry, chains[0].entries[2:3], nil}},
				"the last entry of an old chain":  {{entry, []tuple{last}, nil}},
				"the last group of an old chain":  {{entry, []tuple{last}, nil}, {rows, old.rows[end:], nil}},
				"the last groups of an old chain": {{entry, old.entries[2:], nil}, {rows, old.rows[3:], nil}},
				"a group in the middle":           {{entry, old.entries[2:3], nil}, {rows, old.rows[3:4], nil}},
				"all groups of an old chain":      {{entry, old.entries, nil}, {rows, old.rows[1:], nil}},
				"a whole old chain":               {{entry, old.entries, nil}, {rows, old.rows, nil}},
				"the oldest chain":                {{entry, chains[0].entries, nil}, {rows, chains[0].rows, nil}},
				"a row in the middle":             {{rows, old.rows[3:4], nil}},
				"the last row":                    {{rows, newest.rows[len(newest.rows)-1:], nil}},
				"an old chain's rows":             {{rows, old.rows, nil}},
				"an old chain's genesis":          {{rows, old.rows[:1], nil}},
				"the newest chain's genesis":      {{rows, newest.rows[:1], nil}},
				"all rows of all chains":          {{rows, slices.Concat(chains[0].rows, old.rows, newest.rows), nil}},
				"all entries of an account":       {{entry, account, nil}},
				"the first change of the set-up":  {{log, changes[:1], nil}},
				"a change of the set-up":          {{log, changes[1:2], nil}},
				"the last change of the set-up":   {{log, changes[3:], nil}},
				"all changes of the set-up":       {{log, changes, nil}},
				"a copy beside an entry":          {{entry, nil, []tuple{with(entry, last, "id", other)}}},
				"an entry at no place": {{entry, nil,
					[]tuple{with(entry, with(entry, with(entry, last, "id", other), "writer", make([]byte, 16)), "n", int64(0))}}},
				"an entry that loses its place": {{entry, []tuple{last},
					[]tuple{with(entry, with(entry, last, "writer", make([]byte, 16)), "n", int64(0))}}},
				"an entry at the place after": {{entry, nil, []tuple{with(entry, with(entry, last, "id", other), "n",
					int64(7))}}},
				"an entry of a chain that is none": {{entry, []tuple{last}, []tuple{with(entry, last, "writer", other)}}},
				"an entry of another account": {{entry, old.entries[1:2],
					[]tuple{with(entry, old.entries[1], "account_id", first[0])}}},
				"one entry in another's place": {{entry, []tuple{first},
					[]tuple{with(entry, old.entries[1], "id", first[1])}}},
				"two entries that exchange ids":    {exchanged(entry, old.entries[2], old.entries[4], "id")},
				"two entries that exchange places": {exchanged(entry, old.entries[2], old.entries[4], "n")},
				"two of a group that do":           {exchanged(entry, chains[0].entries[0], chains[0].entries[1], "n")},
				"two entries that exchange chains": {exchanged(entry, old.entries[2], newest.entries[2], "writer")},
				"two rows that exchange contents":  {exchanged(rows, row, old.rows[4], "content")},
				"two rows that exchange MACs":      {exchanged(rows, row, old.rows[4], "mac")},
				"two chains that exchange a row":   {exchanged(rows, row, newest.rows[3], "writer")},
				"two geneses that are exchanged":   {exchanged(rows, old.rows[0], newest.rows[0], "writer")},
				"a row of a group that never was":  {{rows, nil, []tuple{{row[0], int64(7), row[2], row[3]}}}},
				"a chain that never was":           {{rows, nil, []tuple{{other, int64(0), []byte{}, row[3]}}}},
				"a group without an entry of it":   {{rows, []tuple{row}, []tuple{with(rows, row, "content", []byte{})}}},
				"a MAC with a key that is none":    {{rows, []tuple{row}, []tuple{with(rows, row, "mac", make([]byte, 17))}}},
				"two changes in another order": {{log, changes[1:3], []tuple{append(tuple{changes[1][0]}, changes[2][1:]...),
					append(tuple{changes[2][0]}, changes[1][1:]...)}}},
				"an old chain's end put in again": {{rows, old.rows[end:],
					[]tuple{with(rows, old.rows[end-1], "n", old.rows[end][1])}}},
				"a chain's end at another's end": {{rows, nil, []tuple{with(rows, with(rows, newest.rows[end], "n", int64(7)),
					"writer", row[0])}}},
				"an entry twice, its digest as well": {{entry, nil, []tuple{with(entry, with(entry, last, "id", other), "n",
					int64(7))}}, {rows, nil, []tuple{with(rows, old.rows[end], "n", int64(7))}}},
			} {
				for _, d := range damages {
					d.do(t, s)
				}
				found, _ := chainProblems(t, s)
				if beside[name] {
					r, err := verify.All(t.Context(), s, 2, func(int64, int64) {})
					must(t, err)
					found = append(found, r.Problems...)
				}
				if len(found) == 0 {
					t.Errorf("%s: nothing was found", name)
				}
				for _, d := range damages {
					d.undo(t, s)
				}
			}
			chainsHold(t, s)
		})
	}
}

// without makes vouchers as they were before these entries.
func without(t *testing.T, s *Store, gone []tuple) damage {
	t.Helper()
	voucher, entry := tableNamed(t, s, "voucher"), tableNamed(t, s, "entry")
	d := damage{of: voucher}
	for _, v := range rowsOfTable(t, s, voucher) {
		last := tuple(nil)
		for _, e := range rowsOfTable(t, s, entry) { // in the order of time
			lost := slices.ContainsFunc(gone, func(g tuple) bool { return bytes.Equal(g[1].([]byte), e[1].([]byte)) })
			if !lost && bytes.Equal(e[columnOf(entry, "voucher_id")].([]byte), v[1].([]byte)) {
				last = e
			}
		}
		before := slices.Clone(v)
		for _, column := range []string{"balance", "status", "seq"} {
			before[columnOf(voucher, column)] = last[columnOf(entry, column)]
		}
		before[columnOf(voucher, "last")] = last[1]
		d.out, d.in = append(d.out, v), append(d.in, before)
	}
	return d
}

// TestChainsFindALostEnd: what is gone from the very end, rows and sums alike, only an earlier checkpoint shows.
func TestChainsFindALostEnd(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, one, _ := ledgerWithChains(t, open)
			spare := issue(t, s, one[0].AccountID, 1)[0]
			checkpoint := func() []chain.Head {
				var text bytes.Buffer
				found, heads := chainProblems(t, s)
				if len(found) > 0 {
					t.Fatalf("untouched, and there is found: %q", found)
				}
				must(t, chain.WriteCheckpoint(&text, heads))
				heads, err := chain.ReadCheckpoint(&text)
				must(t, err)
				return heads
			}
			earlier := checkpoint()
			redeem(t, s, &spare.Voucher, 100) // the oldest chain goes on, past what any genesis knows of it
			setUp(t, s, "fourth")
			if found, _ := chainProblems(t, s, earlier...); len(found) > 0 {
				t.Errorf("all is there that was there, and there is found: %q", found)
			}
			later := checkpoint()
			unguarded(t, s)
			entry, rows, log := tableNamed(t, s, "entry"), tableNamed(t, s, "chain"), tableNamed(t, s, "setup_change")
			chains, changes := chainsOf(t, s), rowsOfTable(t, s, log)
			oldest, newest := chains[0], chains[2]
			for name, d := range map[string]struct {
				entries, rows, changes []tuple
			}{
				"the last entry of the oldest chain": {oldest.entries[13:], oldest.rows[9:], nil},
				"the last entries of the newest":     {newest.entries[1:], newest.rows[2:], nil},
				"the newest chain":                   {newest.entries, newest.rows, nil},
				"the last changes of the set-up":     {nil, nil, changes[3:]},
				"the last change of the set-up":      {nil, nil, changes[4:]},
				"all but the first":                  {nil, nil, changes[1:]},
				"an older state of all": {slices.Concat(oldest.entries[13:], newest.entries),
					slices.Concat(oldest.rows[9:], newest.rows), nil},
			} {
				damages := []damage{{entry, d.entries, nil}, {rows, d.rows, nil}, {log, d.changes, nil}, without(t, s, d.entries)}
				for _, d := range damages {
					d.do(t, s)
				}
				if found, _ := chainProblems(t, s, later...); len(found) == 0 {
					t.Errorf("%s: nothing was found", name)
				}
				if found, _ := chainProblems(t, s); len(found) > 0 && d.changes == nil {
					t.Errorf("%s: it was found without a checkpoint, and this test shows nothing: %q", name, found)
				}
				for _, d := range damages {
					d.undo(t, s)
				}
			}
			chainsHold(t, s)
		})
	}
}

// TestChainsHold: whatever happens to a store that nobody tampers with, nothing is found.
func TestChainsHold(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, again := open(t)
			b := again()
			gifts := issue(t, a, newID(), 4)
			both := issue(t, b, newID(), 4)

			// Many writers at once, in two accounts, by one instance and another.
			var writers sync.WaitGroup
			for n := range 8 {
				writers.Go(func() {
					s := []*Store{a, b}[n%2]
					for range 5 {
						for _, of := range [][]gift.Gift{gifts, both} {
							if _, err := tryRedeem(context.Background(), s, &of[n/2].Voucher, 1); err != nil {
								t.Error(err)
							}
						}
					}
				})
			}
			writers.Wait()
			chainsHold(t, a)

			// Groups that the database refuses, between others.
			for range 3 {
				redeem(t, a, &gifts[0].Voucher, 1)
				g, e := newGift(gifts[0].AccountID)
				e.Balance++
				err := a.Group(t.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
					return ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}}
				})
				if !errors.Is(err, ledger.ErrRejected) {
					t.Fatalf("a broken entry: %v", err)
				}
			}

			// Commits that failed, and commits that took effect and said that they failed.
			transact := a.transact
			for range 2 {
				for _, faulty := range []func(context.Context, func(db.Runner) error) error{
					func(ctx context.Context, fn func(db.Runner) error) error {
						return transact(ctx, func(run db.Runner) error { return cmp.Or(fn(run), db.ErrUnknownOutcome) })
					},
					func(ctx context.Context, fn func(db.Runner) error) error {
						return cmp.Or(transact(ctx, fn), db.ErrUnknownOutcome)
					},
				} {
					a.transact = faulty
					if _, err := tryRedeem(t.Context(), a, &gifts[0].Voucher, 1); !errors.Is(err, ledger.ErrUnknown) {
						t.Fatalf("a faulty commit: %v", err)
					}
					a.transact = transact
					redeem(t, a, &gifts[0].Voucher, 1)
				}
			}
			chainsHold(t, a)

			// Another instance's clock is ahead, so that ids are not in the order of the chains.
			g, e := newGift(gifts[0].AccountID)
			e.ID = guid.ID{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x70, 0, 0x80}
			g.Last = e.ID
			save(t, a, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
			redeem(t, a, &gifts[0].Voucher, 1)
			redeem(t, b, &gifts[1].Voucher, 1)
			chainsHold(t, a)

			rotate(t, a)
			redeem(t, a, &gifts[0].Voucher, 1)
			redeem(t, b, &gifts[0].Voucher, 1)
			must(t, b.db.Follow(t.Context()))
			redeem(t, b, &gifts[0].Voucher, 1)
			redeem(t, again(), &gifts[0].Voucher, 1)
			verified(t, a)
		})
	}
}

// TestChainsMove: a copy has the chains of its source, from one database to the other and back.
func TestChainsMove(t *testing.T) {
	t.Parallel()
	first := Options{Dir: t.TempDir()}
	places := []Options{first, {Dir: filepath.Join(t.TempDir(), "copy")}, {Dir: filepath.Join(t.TempDir(), "again")}}
	if pgtest.Available() {
		places[1].Database = pgtest.Fresh(t)
	}
	var gifts []gift.Gift
	for n, place := range places {
		if n > 0 {
			r, err := transfer.Copy(t.Context(), places[n-1], place, func(string, int64, int64) {})
			must(t, err)
			if len(r.Differences) > 0 {
				t.Fatalf("the copy differs: %v", r.Differences)
			}
		}
		s, err := Open(t.Context(), place)
		must(t, err)
		chainsHold(t, s)
		if n == 0 {
			setUp(t, s, "first")
			gifts = issue(t, s, newID(), 2)
		}
		redeem(t, s, &gifts[0].Voucher, 1)
		chainsHold(t, s)
		must(t, s.Close())
	}
}

// withoutChains is a store that is checked for everything but hash chains.
type withoutChains struct{ *Store }

func (s withoutChains) Check(found func(string)) verify.Check {
	return check.New(s.db, nil, found, func(string) {})
}

// TestChainsFindForgeriesThatAddUp: what nothing but a hash chain shows. The control is a check without them, which
// finds nothing.
func TestChainsFindForgeriesThatAddUp(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, forgery := range map[string][]string{
				"a gift worth more": {`UPDATE voucher SET loaded = loaded + 1000, balance = balance + 1000`,
					`UPDATE entry SET balance = balance + 1000`},
				"a redemption that never was": {
					`UPDATE voucher SET balance = loaded, seq = 1, status = 3, last = (SELECT e.id FROM entry AS e WHERE e.voucher_id = voucher.id AND e.seq = 1)`,
					`DELETE FROM event WHERE kinds LIKE '% REDEMPTION %'`, `DELETE FROM entry WHERE seq > 1`},
				"another currency": {`UPDATE voucher SET currency = 'EUR'`},
				"another till":     {`UPDATE entry SET reference = 'till 9' WHERE seq = 2`},
				"another time":     {`UPDATE entry SET made_at = made_at - 86400000000 WHERE seq = 2`},
				"a key for somebody": {`UPDATE api_key SET hash = ` + map[string]string{"sqlite": `zeroblob(32)`,
					"postgres": `sha256('x')`}[name]},
				"a key that goes on":    {`UPDATE api_key SET expires_at = NULL, revoked_at = NULL, name = 'x'`},
				"a key that may more":   {`UPDATE api_key SET permissions = 'all'`},
				"an account's own rule": {`UPDATE account SET config = replace(config, '"maxGiftValue":0', '"maxGiftValue":9')`},
			} {
				s, again := open(t)
				setUp(t, s, "first")
				g := issue(t, s, newID(), 1)[0]
				redeem(t, s, &g.Voucher, 100)
				redeem(t, s, &g.Voucher, 100)
				issue(t, again(), g.AccountID, 1) // a chain that knows how far the one before had come
				unguarded(t, s)
				for _, text := range forgery {
					run(t, s, text)
				}
				for _, check := range []struct {
					books verify.VoucherReader
					finds bool
				}{{withoutChains{s}, false}, {s, true}} {
					r, err := verify.All(t.Context(), check.books, 2, func(int64, int64) {})
					must(t, err)
					if finds := len(r.Problems) > 0; finds != check.finds {
						t.Errorf("%s: found with hash chains %t: %q", what, check.finds, r.Problems)
					}
				}
			}
		})
	}
}
