package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/sealed"
	"boon.example/internal/store/pgtest"
)

// unguarded lets a test do what somebody with the database's own password can: there are no triggers and no constraints any more.
func unguarded(t *testing.T, s *Store) {
	t.Helper()
	guards := `SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger' UNION ALL
		SELECT 'PRAGMA foreign_keys = 0' UNION ALL SELECT 'PRAGMA ignore_check_constraints = 1'`
	if s.dialect.name == postgresDialect.name {
		guards = `SELECT 'ALTER TABLE ' || c.relname || ' DISABLE TRIGGER USER' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
				WHERE n.nspname = current_schema() AND c.relkind = 'r'
			UNION ALL SELECT 'ALTER TABLE ' || c.conrelid::regclass || ' DROP CONSTRAINT ' || c.conname FROM pg_constraint c
				JOIN pg_namespace n ON n.oid = c.connamespace WHERE n.nspname = current_schema() AND c.contype IN ('c', 'f') ORDER BY 1`
	}
	var texts []string
	must(t, each(t.Context(), s.writer, guards, nil, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		texts = append(texts, text)
		return err
	}))
	for _, text := range texts {
		run(t, s, text)
	}
}

func run(t *testing.T, s *Store, text string, args ...any) {
	t.Helper()
	result, err := s.writer.ExecContext(t.Context(), text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if n, err := result.RowsAffected(); err == nil && n == 0 && strings.Contains(text, "WHERE") {
		t.Fatalf("%s: nothing was hit", text)
	}
}

// seals are the problems that only seals show.
func seals(t *testing.T, a *Audit) (problems []string) {
	t.Helper()
	if err := a.checkSeals(t.Context(), func(p string) { problems = append(problems, p) }); err != nil {
		problems = append(problems, err.Error()) // what cannot be read is a finding, too
	}
	return problems
}

func noSealBroken(t *testing.T, s *Store) {
	t.Helper()
	if found := seals(t, &Audit{Store: s}); len(found) > 0 {
		t.Fatalf("untouched, and there is found: %q", found)
	}
}

// ledgerForSeals has two accounts with three strands each, and histories that go on from one strand to the next.
func ledgerForSeals(t *testing.T, open opener) (s *Store, one, two []gift.Gift) {
	t.Helper()
	s, again := open(t)
	setUp(t, s, "first")
	one, two = issue(t, s, newID(), 3), issue(t, s, newID(), 3)
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
	must(t, s.Configure(t.Context(), func(*gift.Directory, gift.Uses) (gift.Changes, error) {
		a := &gift.Account{ID: newID(), Name: name, Currency: dollars, Zone: time.UTC}
		k := &gift.Key{ID: newID(), Kind: gift.AccountKey, AccountID: a.ID, Name: name, CreatedAt: noon, Hash: gift.HashKey(name)}
		return gift.Changes{Accounts: []*gift.Account{a}, Keys: []*gift.Key{k}, What: "added " + name}, nil
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
				may    gift.Permissions
			}{
				{"all", gift.AllPermissions}, {"", 0}, {"redeem look-up", gift.MayRedeem | gift.MayLookUp},
				{"redeem fly", gift.MayRedeem}, // fly is what a newer program knows
			} {
				_, err := s.writer.ExecContext(ctx, `UPDATE api_key SET permissions = $1, accounts = NULL, programs = NULL`, c.stored)
				must(t, err)
				d, err := readDirectory(ctx, s.readers)
				must(t, err)
				if k := d.Keys[gift.HashKey("key")]; k.Permissions != c.may {
					t.Errorf("%v permits %s, want %s", c.stored, k.Permissions, c.may)
				}
			}
		})
	}
}

// rowsOfTable reads rows of a table, in the order of its key.
func rowsOfTable(t *testing.T, s *Store, of *table) (all []tuple) {
	t.Helper()
	must(t, each(t.Context(), s.readers, of.selectAll(), nil, func(rows *sql.Rows) error {
		r, err := scanTuple(rows, of)
		all = append(all, r)
		return err
	}))
	return all
}

func tableNamed(name string) *table {
	return &tables[slices.IndexFunc(tables, func(t table) bool { return t.name == name })]
}

func (t *table) column(name string) int { return slices.Index(t.columns, name) }

// swap takes rows out of a table and puts others in.
func swap(t *testing.T, s *Store, of *table, out, in []tuple) {
	t.Helper()
	where := make([]string, len(of.key))
	for i, name := range of.key {
		where[i] = fmt.Sprintf("%s = $%d", name, i+1)
	}
	for _, r := range out {
		run(t, s, "DELETE FROM "+of.name+" WHERE "+strings.Join(where, " AND "), r[:len(of.key)]...)
	}
	for _, r := range in {
		run(t, s, of.insert.one, r...)
	}
}

// otherThan is another value of the same type.
func otherThan(value any, kind byte, column string) any {
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
	case 'N':
		return int64(7)
	case 'T':
		return "{}"
	}
	if column == "ends" {
		return make([]byte, linkSize)
	}
	return bare(newID())
}

// TestSealsFindEveryChangedColumn changes one column of one row at a time, of everything that is sealed, to another value of its type.
func TestSealsFindEveryChangedColumn(t *testing.T) {
	t.Parallel()
	// What these must be, histories say, and gift.Audit holds them against it.
	free := []string{"voucher.balance", "voucher.status", "voucher.seq", "voucher.last"}
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, _ := ledgerForSeals(t, open)
			noSealBroken(t, s)
			unguarded(t, s)
			changed := 0
			for _, name := range []string{"voucher", "entry", "strand", "setup_change", "account", "api_key", "setup_version"} {
				of := tableNamed(name)
				all := rowsOfTable(t, s, of)
				for i, column := range of.columns {
					if slices.Contains(free, name+"."+column) || column == "one" {
						continue
					}
					before := all[len(all)/2]
					after := slices.Clone(before)
					after[i] = otherThan(before[i], of.types[i], column)
					swap(t, s, of, []tuple{before}, []tuple{after})
					if len(seals(t, &Audit{Store: s})) == 0 {
						t.Errorf("%s.%s was changed from %v to %v, and nothing was found", name, column, before[i], after[i])
					}
					swap(t, s, of, []tuple{after}, []tuple{before})
					changed++
				}
			}
			noSealBroken(t, s) // all is as it was
			if changed < 55 {
				t.Errorf("only %d columns were changed", changed)
			}
		})
	}
}

// entriesOf gives the entries with a seal of an account, by strand and in the order of their places.
func entriesOf(t *testing.T, s *Store, account gift.ID) map[uint32][]tuple {
	t.Helper()
	of, strands := tableNamed("entry"), map[uint32][]tuple{}
	for _, r := range rowsOfTable(t, s, of) {
		if l, ok := parseLink(r[of.column("seal")].([]byte)); ok && bytes.Equal(r[0].([]byte), account[:]) {
			strands[l.strand] = append(strands[l.strand], r)
		}
	}
	return strands
}

// TestSealsFindRows takes rows out, puts others in and moves them, as somebody would who has the database and lacks the key file.
func TestSealsFindRows(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, one, two := ledgerForSeals(t, open)
			entry, begins, log := tableNamed("entry"), tableNamed("strand"), tableNamed("setup_change")
			mine, others := entriesOf(t, s, one[0].AccountID), entriesOf(t, s, two[0].AccountID)
			strands, changes := rowsOfTable(t, s, begins), rowsOfTable(t, s, log)
			if len(mine) != 3 || len(strands) != 6 || len(changes) != 4 {
				t.Fatalf("%d strands of an account, %d in all, %d changes of the set-up", len(mine), len(strands), len(changes))
			}
			noSealBroken(t, s)
			unguarded(t, s)
			with := func(r tuple, column string, value any) tuple {
				r = slices.Clone(r)
				r[entry.column(column)] = value
				return r
			}
			other := newID()
			first, last := mine[1][0], mine[1][len(mine[1])-1]
			damages := map[string]struct {
				of      *table
				out, in []tuple
			}{
				"the first of a strand":           {entry, mine[1][:1], nil},
				"one in the middle":               {entry, mine[1][2:3], nil},
				"the last of an old strand":       {entry, mine[1][len(mine[1])-1:], nil},
				"a whole old strand":              {entry, mine[2], nil},
				"an old strand's beginning":       {begins, strands[1:2], nil},
				"the newest strand's beginning":   {begins, strands[2:3], nil},
				"all beginnings of an account":    {begins, strands[:3], nil},
				"the first change of the set-up":  {log, changes[:1], nil},
				"a change of the set-up":          {log, changes[1:2], nil},
				"the last change of the set-up":   {log, changes[3:], nil},
				"all changes of the set-up":       {log, changes, nil},
				"a copy beside an entry":          {entry, nil, []tuple{with(last, "id", other[:])}},
				"an entry without a seal":         {entry, nil, []tuple{with(with(last, "id", other[:]), "seal", nil)}},
				"a seal taken off":                {entry, []tuple{last}, []tuple{with(last, "seal", nil)}},
				"an entry of another account":     {entry, others[1][:1], []tuple{with(others[1][0], "account_id", first[0])}},
				"one entry in another's place":    {entry, []tuple{first}, []tuple{with(mine[1][1], "id", first[1])}},
				"two entries that change ids":     {entry, mine[1][3:5], []tuple{with(mine[1][3], "id", mine[1][4][1]), with(mine[1][4], "id", mine[1][3][1])}},
				"two entries that change seals":   {entry, mine[1][3:5], []tuple{with(mine[1][3], "seal", mine[1][4][16]), with(mine[1][4], "seal", mine[1][3][16])}},
				"the beginning of another":        {begins, strands[:1], []tuple{{strands[0][0], strands[0][1], strands[3][2], strands[3][3], strands[3][4]}}},
				"one strand's place in another":   {entry, []tuple{mine[2][0]}, []tuple{with(mine[2][0], "seal", mine[1][0][16])}},
				"two changes in another order":    {log, changes[1:3], []tuple{append(tuple{changes[1][0]}, changes[2][1:]...), append(tuple{changes[2][0]}, changes[1][1:]...)}},
				"a seal of a strand that is none": {entry, []tuple{last}, []tuple{with(last, "seal", link{strand: 77, place: 1, mac: sealed.MAC{1}}.appendTo(nil))}},
				"a seal with a key that is none":  {entry, []tuple{last}, []tuple{with(last, "seal", link{strand: 1, place: 12, mac: sealed.MAC{99}}.appendTo(nil))}},
			}
			for name, d := range damages {
				swap(t, s, d.of, d.out, d.in)
				if len(seals(t, &Audit{Store: s})) == 0 {
					t.Errorf("%s: nothing was found", name)
				}
				swap(t, s, d.of, d.in, d.out)
			}
			noSealBroken(t, s)
		})
	}
}

// TestSealsFindALostEnd: what is gone from the very end, rows and sums alike, only an earlier note of the ends shows.
func TestSealsFindALostEnd(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, one, two := ledgerForSeals(t, open)
			note := func() Ends {
				var text bytes.Buffer
				if found := seals(t, &Audit{Store: s, Ends: &text}); len(found) > 0 {
					t.Fatalf("untouched, and there is found: %q", found)
				}
				ends, err := ReadEnds(&text)
				must(t, err)
				return ends
			}
			ends := note()
			redeem(t, s, &one[0].Voucher, 100)
			setUp(t, s, "fourth")
			if found := seals(t, &Audit{Store: s, Since: ends}); len(found) > 0 {
				t.Errorf("the ends of before are still there, and there is found: %q", found)
			}
			later := note()
			unguarded(t, s)
			entry, begins, log := tableNamed("entry"), tableNamed("strand"), tableNamed("setup_change")
			strands, changes := rowsOfTable(t, s, begins), rowsOfTable(t, s, log)
			newest := entriesOf(t, s, one[0].AccountID)[3]
			other := entriesOf(t, s, two[0].AccountID)
			account := slices.Concat(other[1], other[2], other[3])
			for name, d := range map[string]struct {
				of          *table
				out         []tuple
				alsoStrands []tuple
			}{
				"the last entries":                {entry, newest[1:], nil},
				"the newest strand":               {entry, newest, strands[2:3]},
				"a whole account":                 {entry, account, strands[3:]},
				"the last changes of the set-up":  {log, changes[3:], nil},
				"the last change of the set-up":   {log, changes[4:], nil},
				"all that was logged of the rest": {log, changes[1:], nil},
			} {
				swap(t, s, d.of, d.out, nil)
				swap(t, s, begins, d.alsoStrands, nil)
				if len(seals(t, &Audit{Store: s, Since: later})) == 0 {
					t.Errorf("%s: nothing was found", name)
				}
				if d.of == entry && len(seals(t, &Audit{Store: s})) > 0 {
					t.Errorf("%s: it was found without a note of the ends, and this test shows nothing", name)
				}
				swap(t, s, begins, nil, d.alsoStrands)
				swap(t, s, d.of, nil, d.out)
			}
			noSealBroken(t, s)
		})
	}
}

// TestSealsOfOlderPrograms: what an older program wrote is told, accepted once, and held against that from then on.
func TestSealsOfOlderPrograms(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, one, _ := ledgerForSeals(t, open)
			entry, log := tableNamed("entry"), tableNamed("setup_change")
			unguarded(t, s)
			// As after the step of the schema: no entry has a seal, and the log of the set-up begins.
			run(t, s, `DELETE FROM strand`)
			run(t, s, `UPDATE entry SET seal = NULL`)
			run(t, s, `DELETE FROM setup_change`)
			run(t, s, `UPDATE api_key SET permissions = NULL, accounts = NULL, programs = NULL`)
			must(t, s.write(t.Context(), func(tx *sql.Tx) error { return s.beginSeals(t.Context(), tx) }))
			s.strands = strands{}
			audit := &Audit{Store: s}
			if found := seals(t, audit); len(found) > 0 || audit.Older != 6+18 {
				t.Fatalf("after the step: %q, %d entries from before", found, audit.Older)
			}
			redeem(t, s, &one[0].Voucher, 100)
			noSealBroken(t, s)

			// An older program beside this one, or somebody past both.
			beside := slices.Clone(rowsOfTable(t, s, entry)[0])
			id := newID()
			beside[1], beside[entry.column("made_at")] = bare(id), time.Now().Add(time.Minute).UnixMicro()
			swap(t, s, entry, nil, []tuple{beside})
			run(t, s, `UPDATE setup_version SET version = version + 1 WHERE one = 1`)
			found := strings.Join(seals(t, &Audit{Store: s}), "\n")
			if !strings.Contains(found, id.String()) || !strings.Contains(found, "the set-up was changed") || strings.Count(found, "--adopt") != 2 {
				t.Errorf("beside this program: %s", found)
			}
			audit = &Audit{Store: s, Adopt: true}
			if found := seals(t, audit); len(found) > 0 || audit.Adopted != 6+18+1 {
				t.Fatalf("to be adopted: %q, %d entries", found, audit.Adopted)
			}
			must(t, audit.Accept(t.Context()))
			audit = &Audit{Store: s}
			if found := seals(t, audit); len(found) > 0 || audit.Older != 0 {
				t.Fatalf("adopted: %q, %d entries from before", found, audit.Older)
			}

			// Now what has no seal is held as well as what has one.
			all := rowsOfTable(t, s, entry)
			changed, inserted := slices.Clone(all[3]), slices.Clone(all[3])
			changed[entry.column("reason")] = "another"
			inserted[1] = slices.Concat(all[3][1].([]byte)[:15], []byte{all[3][1].([]byte)[15] + 1})
			for name, d := range map[string]struct{ out, in []tuple }{
				"changed": {all[3:4], []tuple{changed}}, "removed": {all[3:4], nil}, "inserted": {nil, []tuple{inserted}},
			} {
				swap(t, s, entry, d.out, d.in)
				if len(seals(t, &Audit{Store: s})) == 0 {
					t.Errorf("an adopted entry, %s: nothing was found", name)
				}
				swap(t, s, entry, d.in, d.out)
			}
			noSealBroken(t, s)
			changes := rowsOfTable(t, s, log)
			swap(t, s, log, changes[1:], nil)
			if len(seals(t, &Audit{Store: s})) == 0 {
				t.Error("the acceptance was taken back, and nothing was found")
			}
		})
	}
}

// TestSealsHold: whatever happens to a store that nobody tampers with, nothing is found.
func TestSealsHold(t *testing.T) {
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
			noSealBroken(t, a)

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
			transact := a.dialect.transact
			for range 2 {
				for _, faulty := range []func(context.Context, *Store, func(runner) error) error{
					func(ctx context.Context, s *Store, fn func(runner) error) error {
						return transact(ctx, s, func(run runner) error { return cmp.Or(fn(run), ledger.ErrUnknown) })
					},
					func(ctx context.Context, s *Store, fn func(runner) error) error {
						return cmp.Or(transact(ctx, s, fn), ledger.ErrUnknown)
					},
				} {
					a.dialect.transact = faulty
					if _, err := tryRedeem(t.Context(), a, &gifts[0].Voucher, 1); !errors.Is(err, ledger.ErrUnknown) {
						t.Fatalf("a faulty commit: %v", err)
					}
					a.dialect.transact = transact
					redeem(t, a, &gifts[0].Voucher, 1)
				}
			}
			noSealBroken(t, a)

			// Another instance's clock is ahead, so that ids are not in the order of places.
			g, e := newGift(gifts[0].AccountID)
			e.ID = gift.ID{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x70, 0, 0x80}
			g.Last = e.ID
			save(t, a, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
			redeem(t, a, &gifts[0].Voucher, 1)
			redeem(t, b, &gifts[1].Voucher, 1)
			noSealBroken(t, a)

			rotate(t, a)
			redeem(t, a, &gifts[0].Voucher, 1)
			redeem(t, b, &gifts[0].Voucher, 1)
			must(t, b.followKeys(t.Context()))
			redeem(t, b, &gifts[0].Voucher, 1)
			redeem(t, again(), &gifts[0].Voucher, 1)
			verified(t, a)
		})
	}
}

// TestSealsMove: a copy has the seals of its source, from one database to the other and back.
func TestSealsMove(t *testing.T) {
	t.Parallel()
	first := Options{Dir: t.TempDir()}
	places := []Options{first, {Dir: filepath.Join(t.TempDir(), "copy")}, {Dir: filepath.Join(t.TempDir(), "again")}}
	if pgtest.Available() {
		places[1].Database = pgtest.Fresh(t)
	}
	var gifts []gift.Gift
	for n, place := range places {
		if n > 0 {
			r, err := Copy(t.Context(), places[n-1], place, func(string, int64, int64) {})
			must(t, err)
			if len(r.Differences) > 0 {
				t.Fatalf("the copy differs: %v", r.Differences)
			}
		}
		s, err := Open(t.Context(), place)
		must(t, err)
		noSealBroken(t, s)
		if n == 0 {
			setUp(t, s, "first")
			gifts = issue(t, s, newID(), 2)
		}
		redeem(t, s, &gifts[0].Voucher, 1)
		noSealBroken(t, s)
		must(t, s.Close())
	}
}

// TestSealsPastALongGap: of very many entries after a missing one, none waits for it for ever.
func TestSealsPastALongGap(t *testing.T) {
	t.Parallel()
	s, _ := openSQLiteForTest(t)
	g := issue(t, s, newID(), 1)[0]
	for range 4 {
		redeem(t, s, &g.Voucher, 1)
	}
	unguarded(t, s)
	rows := entriesOf(t, s, g.AccountID)[1]
	swap(t, s, tableNamed("entry"), rows[1:2], nil)
	a := &Audit{Store: s, patience: 1}
	if found := seals(t, a); len(found) != 1 || !strings.Contains(found[0], "1 entries are missing from strand 1, after place 1") {
		t.Errorf("found %q", found)
	}
}

// withoutSeals is a store that is checked for everything but seals.
type withoutSeals struct{ *Store }

func (s withoutSeals) CheckRecords(ctx context.Context, note func(string)) error {
	for _, c := range s.checks() {
		if err := c.run(ctx, note); err != nil {
			return err
		}
	}
	return nil
}

// TestSealsFindForgeriesThatAddUp: what nothing but a seal shows. The control is a check without seals, which finds nothing.
func TestSealsFindForgeriesThatAddUp(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, forgery := range map[string][]string{
				"a gift worth more": {`UPDATE voucher SET original = original + 1000, balance = balance + 1000`, `UPDATE entry SET balance = balance + 1000`},
				"a redemption that never was": {
					`UPDATE voucher SET balance = original, seq = 1, status = 3, last = (SELECT e.id FROM entry AS e WHERE e.voucher_id = voucher.id AND e.seq = 1)`,
					`DELETE FROM entry WHERE seq > 1`},
				"another currency":      {`UPDATE voucher SET currency = 'EUR'`},
				"another till":          {`UPDATE entry SET reference = 'till 9' WHERE seq = 2`},
				"another time":          {`UPDATE entry SET made_at = made_at - 86400000000 WHERE seq = 2`},
				"a key for somebody":    {`UPDATE api_key SET hash = ` + map[string]string{"sqlite": `zeroblob(32)`, "postgres": `sha256('x')`}[name]},
				"a key that goes on":    {`UPDATE api_key SET expires_at = NULL, revoked_at = NULL, name = 'x'`},
				"a key that may more":   {`UPDATE api_key SET permissions = 'all'`},
				"a key like an old one": {`UPDATE api_key SET permissions = NULL`},
				"an account's own rule": {`UPDATE account SET config = replace(config, '"maxGiftValue":0', '"maxGiftValue":9')`},
			} {
				s, again := open(t)
				setUp(t, s, "first")
				g := issue(t, s, newID(), 1)[0]
				redeem(t, s, &g.Voucher, 100)
				redeem(t, s, &g.Voucher, 100)
				issue(t, again(), g.AccountID, 1) // a strand that knows how far the one before had come
				unguarded(t, s)
				for _, text := range forgery {
					run(t, s, text)
				}
				for _, check := range []struct {
					books ledger.Books
					finds bool
				}{{withoutSeals{s}, false}, {s, true}} {
					r, err := ledger.Verify(t.Context(), check.books, func(int64, int64) {})
					must(t, err)
					if finds := len(r.Problems) > 0; finds != check.finds {
						t.Errorf("%s: found with seals %t: %q", what, check.finds, r.Problems)
					}
				}
			}
		})
	}
}

// TestStrandsEnd: a strand that has no place left in an account goes on as another one.
func TestStrandsEnd(t *testing.T) {
	t.Parallel()
	s, _ := openSQLiteForTest(t)
	account := newID()
	issue(t, s, account, 1)
	s.strands.free[0].at[account] = link{strand: 1, place: 1<<32 - 1}
	issue(t, s, account, 2)
	if l := s.strands.free[0].at[account]; l.strand != 2 || l.place != 2 {
		t.Errorf("it goes on at place %d of strand %d", l.place, l.strand)
	}
	noSealBroken(t, s)
	many := map[gift.ID]link{}
	for range maxStrandAccounts + 1 {
		many[newID()] = link{}
	}
	s.strands.giveBack(s.strands.take(s.keys), many)
	if len(s.strands.free) > 0 {
		t.Error("a strand with very many accounts is kept")
	}
}

// TestSealsStayTheSame: what is sealed today is checked by the programs of later years.
func TestSealsStayTheSame(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), sealed.FileName)
	part := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	must(t, os.WriteFile(file, fmt.Appendf(nil, `{"format":1,"current":3,"keys":[{"id":3,"lookup":%q,"seal":%[1]q,"fingerprint":%[1]q}]}`, part), 0o600))
	keys, err := sealed.Load(file)
	must(t, err)
	id := func(n byte) gift.ID { return gift.ID(bytes.Repeat([]byte{n}, 16)) }
	e := gift.Entry{ID: id(1), AccountID: id(2), VoucherID: id(3), Seq: 1, Previous: id(4), Kind: gift.Issued, Delta: -5, Balance: 6, Status: gift.Claimed, At: noon,
		Actor: gift.Actor{KeyID: id(7), LocationID: id(8)}, Reverses: id(9), Reference: "reference", Reason: "reason", RequestID: "request"}
	v := gift.Voucher{ID: id(3), AccountID: id(2), OrderID: id(10), ProgramID: id(11), LocationID: id(12), Item: true, PromotionID: id(13), Currency: dollars,
		Original: 14, ValidFrom: noon, CreatedAt: noon.Add(time.Second)}
	begins := beginning{account: id(2), number: 4, at: noon, ends: link{strand: 1, place: 2}.appendTo(nil)}
	change := SetupChange{Number: 5, Kind: changedLog, Version: 6, At: noon, By: "somebody", What: "something", Before: [32]byte{1}, After: [32]byte{2}}
	s := sealer{chain: keys.Chain()}
	start := link{strand: 4, mac: s.chain.Next(sealed.MAC{}, begins.content())}
	one := s.next(start, s.digest(&e, &v, gift.ID{}))
	e.Seq = 2
	two := s.next(one, s.digest(&e, nil, gift.ID{}))
	log := s.chain.Next(two.mac, change.content())
	want := strings.Join([]string{
		"03edd61c09fc8be766cb335ec5146393ff",
		"0000000400000001033dabad84040313a78d39395c34351c34",
		"0000000400000002038bb74a7dd54b61737ebf9356bacee2a1",
		"035cd9b7c487108712487677a4be571324",
	}, " ")
	if got := fmt.Sprintf("%x %x %x %x", start.mac, one.appendTo(nil), two.appendTo(nil), log); got != want {
		t.Errorf("seals are now %s, want %s", got, want)
	}
}
