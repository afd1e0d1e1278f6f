package store

import (
	"crypto/sha256"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/intake"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
	"boon.example/internal/store/erase"
	"boon.example/internal/store/sums"
)

// importOf is an import as of an instant, of a file of its own.
func importOf(account guid.ID, asOf time.Time) *intake.Import {
	m := &intake.Import{AccountID: account, ID: newID(), Asked: "{}", AsOf: asOf, MadeBy: "Ann", StartedAt: noon}
	m.File = sha256.Sum256(m.ID[:])
	return m
}

// beginImport begins an import as of an instant.
func beginImport(t *testing.T, s *Store, account guid.ID, asOf time.Time) *intake.Import {
	t.Helper()
	m := importOf(account, asOf)
	must(t, s.BeginImport(t.Context(), m, event.TrailEntry{What: "brings cards in"}))
	return m
}

// stageGifts writes n gifts of an import, which end three days after it begins in the books.
func stageGifts(t *testing.T, s *Store, m *intake.Import, n int) []gift.Gift {
	t.Helper()
	gifts, err := tryStage(t, s, m, n)
	must(t, err)
	return gifts
}

func tryStage(t *testing.T, s *Store, m *intake.Import, n int) ([]gift.Gift, error) {
	t.Helper()
	var c ledger.Changes
	want := ledger.Want{Import: m.ID, Heavy: true}
	for range n {
		g, _ := newGift(m.AccountID)
		g.ID, g.Seq, g.Last, g.ValidUntil = idAt(m.AsOf), 0, guid.ID{}, m.AsOf.AddDate(0, 0, 3)
		g, e := g.Import(gift.Context{EntryID: idAt(m.AsOf), Now: m.AsOf})
		c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
	}
	for i := range c.Gifts {
		want.Gifts = append(want.Gifts, &c.Gifts[i])
	}
	c.Staged = &ledger.Staged{AccountID: m.AccountID, ImportID: m.ID, Before: m.Staged, Count: n}
	err := s.Group(t.Context(), want, func(*ledger.State) ledger.Changes { return c })
	if err == nil {
		m.Staged += n
	}
	return c.Gifts, err
}

// undoes undoes a finished import, and reports whether that is done. Where Citus has spread the tables, it is refused.
func undoes(t *testing.T, s *Store, m *intake.Import) bool {
	t.Helper()
	err := s.UndoImport(t.Context(), m, event.TrailEntry{}, func(int) {})
	if !s.db.Spread {
		must(t, err)
		return true
	}
	if !errors.Is(err, intake.ErrNoUndo) {
		t.Errorf("a finished import is undone on a spread database: %v", err)
	}
	told, err := s.ConfirmImport(t.Context(), m.AccountID, m.ID)
	must(t, err)
	if told.State != intake.Finished {
		t.Errorf("the undoing of an import was refused, and the import is %s", told.State)
	}
	return false
}

// seen is what readers tell of an account, beside events and the audit trail.
type seen struct {
	Gifts    []string
	Changes  int
	Counted  int64
	Values   []Value
	Expiring int
	Owed     books.Sums
	ByCode   []bool
	Locked   []bool
}

// seenOf asks every kind of reader.
func seenOf(t *testing.T, s *Store, account *merchant.Account, gifts []gift.Gift) (all seen) {
	t.Helper()
	ctx, later := t.Context(), noon.AddDate(0, 0, 30)
	page, err := s.List(ctx, gift.Filter{AccountID: account.ID, Limit: 200})
	must(t, err)
	for i := range page.Gifts {
		all.Gifts = append(all.Gifts, page.Gifts[i].ID.String())
	}
	changes, err := s.Activity(ctx, gift.ChangeFilter{AccountID: account.ID, Limit: 200})
	must(t, err)
	all.Changes = len(changes.Changes)
	all.Counted, err = s.CountVouchers(ctx)
	must(t, err)
	all.Values, err = s.Values(ctx, noon)
	must(t, err)
	all.Expiring, err = s.DueExpiry(ctx, account.ID, later, 100)
	must(t, err)
	all.Owed = (&shopkeeper{t: t, s: s, account: account}).moved(time.Time{}, later)
	for i := range gifts {
		g := &gifts[i]
		_, byCode := s.GiftByCode(ctx, g.Card.Code)
		_, byToken := s.GiftByToken(ctx, g.Card.Token)
		_, byID := s.Gift(ctx, account.ID, g.ID)
		named, err := s.GiftsNamed(ctx, account.ID, []guid.ID{g.ID})
		must(t, err)
		if (byCode == nil) != (byID == nil) || (byToken == nil) != (byID == nil) || (len(named) == 1) != (byID == nil) {
			t.Errorf("by code: %v, by token: %v, by id: %v, in a list: %d", byCode, byToken, byID, len(named))
		}
		if byID != nil && !errors.Is(byID, refusal.NotFound) {
			t.Error(byID)
		}
		all.ByCode = append(all.ByCode, byID == nil)
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&g.Voucher)}}, func(st *ledger.State) ledger.Changes {
			all.Locked = append(all.Locked, st.Vouchers[ref(&g.Voucher)] != nil)
			return ledger.Changes{}
		})
	}
	return all
}

// testImports: gifts of an import are there for no reader until it is finished, and then for all; they are gone when it
// is undone, and their codes are free.
func testImports(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Currency: dollars, Zone: time.UTC}
	issue(t, s, account.ID, 2)
	before := seenOf(t, s, account, nil)
	m := beginImport(t, s, account.ID, noon.AddDate(0, 0, -10))
	gifts := append(stageGifts(t, s, m, 2), stageGifts(t, s, m, 1)...)
	hidden := seenOf(t, s, account, gifts)
	gone := []bool{false, false, false}
	before.ByCode, before.Locked = gone, gone
	diff(t, hidden, before)
	verifyClean(t, s)

	behind := *m
	behind.Staged = 2
	if err := s.FinishImport(t.Context(), &behind, event.TrailEntry{}); !errors.Is(err, intake.ErrMoved) {
		t.Errorf("an import of which more is written is finished: %v", err)
	}
	if _, err := tryStage(t, s, &behind, 1); err == nil {
		t.Error("two write the same part of an import")
	}
	m.Told = `{"certificate": true}`
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	told, err := s.ConfirmImport(t.Context(), account.ID, m.ID)
	must(t, err)
	if told.State != intake.Finished || told.Told != m.Told || told.Staged != 3 {
		t.Errorf("what became of it: %+v", told)
	}
	if is, err := s.ConfirmImport(t.Context(), newID(), m.ID); err == nil {
		t.Errorf("an import of nobody: %+v", is)
	}
	there := seenOf(t, s, account, gifts)
	if len(there.Gifts) != 5 || there.Changes != 5 || there.Counted != 5 || there.Expiring != 3*2+before.Expiring {
		t.Errorf("a finished import: %+v", there)
	}
	diff(t, there.ByCode, []bool{true, true, true})
	if _, err := tryStage(t, s, m, 1); err == nil {
		t.Error("gifts are added to an import that is finished")
	}
	verifyClean(t, s)

	// Look-ups remember gifts, and the rows of these do not change.
	if !undoes(t, s, m) {
		diff(t, seenOf(t, s, account, gifts), there)
		return
	}
	diff(t, seenOf(t, s, account, gifts), before)
	verifyClean(t, s)
	again, _ := newGift(account.ID)
	again.Card.Code = gifts[0].Card.Code
	again, e := again.Import(gift.Context{EntryID: newID(), Now: noon})
	again.Seq = 1
	e.Seq, e.Previous = 1, guid.ID{}
	save(t, s, ledger.Changes{Gifts: []gift.Gift{again}, Entries: []gift.Entry{e}})
	all, err := s.Imports(t.Context(), account.ID)
	must(t, err)
	if len(all) != 1 || all[0].State != intake.Undone || all[0].Staged != 3 || all[0].Told != m.Told {
		t.Errorf("%+v", all)
	}
	events, _ := settled(t, s, event.Query{AccountID: account.ID, Limit: 100}, 3)
	var types []gift.EventType
	for _, e := range events {
		if e.Note.ImportID == m.ID {
			types = append(types, e.Type)
		}
	}
	diff(t, types, []gift.EventType{event.ImportStarted, event.ImportFinished, event.ImportUndone})
}

// testImportBegunTwice: of several instances that begin a file at once, one does, and once that is taken back another
// may.
func testImportBegunTwice(t *testing.T, open opener) {
	s, again := open(t)
	account := newID()
	instances := []*Store{s, again()}
	var of [32]byte
	begin := func(s *Store) (*intake.Import, error) {
		m := importOf(account, noon)
		m.File = of
		return m, s.BeginImport(t.Context(), m, event.TrailEntry{})
	}
	for range 3 {
		var all sync.WaitGroup
		var mu sync.Mutex
		var begun []*intake.Import
		for n := range 6 {
			all.Go(func() {
				m, err := begin(instances[n%2])
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					begun = append(begun, m)
				} else if !errors.Is(err, intake.ErrMoved) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(begun) != 1 {
			t.Fatalf("%d imports of one file were begun", len(begun))
		}
		must(t, s.UndoImport(t.Context(), begun[0], event.TrailEntry{}, func(int) {}))
	}
}

// testImportUndoneIsErased: what an import that was taken back says of people is found like that of gifts that ended,
// although no end of its gifts has come.
func testImportUndoneIsErased(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	m := beginImport(t, s, account.ID, noon)
	gifts := stageGifts(t, s, m, 3)
	before := noon.AddDate(0, 0, 1)
	ended := func() int {
		ids, _, _, err := s.Eraser.Ended(t.Context(), account, guid.ID{}, before)
		must(t, err)
		return len(ids)
	}
	if n := ended(); n != 0 {
		t.Errorf("of an import that is written, %d gifts have ended", n)
	}
	must(t, s.UndoImport(t.Context(), m, event.TrailEntry{}, func(int) {}))
	if n := ended(); n != len(gifts) {
		t.Errorf("of an import that was taken back, %d gifts have ended, want %d", n, len(gifts))
	}
	var ids []guid.ID
	for i := range gifts {
		ids = append(ids, gifts[i].ID)
	}
	n, err := s.Eraser.Gifts(t.Context(), erase.Request{Account: account, Force: true, Ended: before}, ids)
	if err != nil || n.Gifts != len(gifts) || ended() != 0 {
		t.Errorf("%+v, %v; %d are left", n, err, ended())
	}
}

// testImportUsed: what happens first to a gift of an import keeps the import from being undone.
func testImportUsed(t *testing.T, open opener) {
	s, _ := open(t)
	m := beginImport(t, s, newID(), noon.AddDate(0, 0, -1))
	gifts := stageGifts(t, s, m, 2)
	guarded(t, s, "a gift of an import that is not finished is changed",
		`UPDATE voucher SET seq = 2 WHERE id = $1`, gifts[0].ID[:])
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	redeem(t, s, &gifts[0].Voucher, 100)
	if s.db.Spread {
		undoes(t, s, m)
	} else if err := s.HideImport(t.Context(), m); !errors.Is(err, intake.ErrUsed) {
		t.Errorf("an import of which a gift was used is undone: %v", err)
	}
	guarded(t, s, "an import is undone that was used", `UPDATE gift_import SET state = 'UNDOING' WHERE id = $1`, m.ID[:])
	redeem(t, s, &gifts[1].Voucher, 100)
	verifyClean(t, s)
}

// testImportUndoneMeanwhile: where an import is taken back while a gift of it is being redeemed, that is decided once
// more, on a database in which several write at once: the gift is there no more.
func testImportUndoneMeanwhile(t *testing.T, open opener) {
	s, again := open(t)
	if s.db.File != "" || s.db.Spread {
		return // one writes at a time; or a finished import is not taken back
	}
	other := again()
	m := beginImport(t, s, newID(), noon)
	v := &stageGifts(t, s, m, 1)[0].Voucher
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	var seen []bool
	err := s.Group(t.Context(), ledger.Want{Vouchers: []ledger.Ref{ref(v)}}, func(st *ledger.State) (c ledger.Changes) {
		is := st.Vouchers[ref(v)]
		if seen = append(seen, is != nil); is == nil {
			return c
		}
		after, e, refused := is.Redeem(gift.Redeem{Context: gift.Context{EntryID: newID(), Now: noon}, Amount: 100})
		must(t, refused)
		must(t, other.HideImport(t.Context(), m))
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
	})
	if err != nil || len(seen) != 2 || !seen[0] || seen[1] {
		t.Errorf("the gift was seen %v, %v", seen, err)
	}
}

// guarded has the database refuse a statement. Citus has no guard that looks at another table.
func guarded(t *testing.T, s *Store, what, statement string, args ...any) {
	t.Helper()
	if s.db.Spread {
		return
	}
	if _, err := s.db.Writer.ExecContext(t.Context(), statement, args...); err == nil || !s.db.Rejected(err) {
		t.Errorf("%s: %v", what, err)
	}
}

// testVerifyImports: verify finds a gift that was moved into an import, out of one, or between two, past the guards.
func testVerifyImports(t *testing.T, open opener) {
	s, _ := open(t)
	m := beginImport(t, s, newID(), noon.AddDate(0, 0, -1))
	second := beginImport(t, s, m.AccountID, noon.AddDate(0, 0, -1))
	other := stageGifts(t, s, second, 1)[0]
	brought := stageGifts(t, s, m, 2)[0]
	sold := issue(t, s, m.AccountID, 1)[0]
	unguarded(t, s)
	move := func(g *gift.Gift, to any) {
		spoil(t, s, `UPDATE voucher SET import_id = $2 WHERE id = $1`, g.ID[:], to)
	}
	for name, do := range map[string]func(){
		"into one":       func() { move(&sold, m.ID[:]) },
		"into none":      func() { move(&brought, nil) },
		"into another":   func() { move(&other, m.ID[:]) },
		"into no import": func() { move(&brought, sold.ID[:]) },
	} {
		do()
		if len(problems(t, s)) == 0 {
			t.Errorf("a gift was moved %s, and nothing was found", name)
		}
		move(&sold, nil)
		move(&brought, m.ID[:])
		move(&other, second.ID[:])
	}
}

// testImportSteps: whoever writes past the guards to the database puts no older state of an import back unseen, and
// takes no import away unseen.
func testImportSteps(t *testing.T, open opener) {
	s, _ := open(t)
	const steps = "states of imports"
	account := newID()
	finished, undone := beginImport(t, s, account, noon), beginImport(t, s, account, noon)
	for _, m := range []*intake.Import{finished, undone} {
		stageGifts(t, s, m, 1)
		if m == finished || !s.db.Spread { // a spread database takes back only what is not finished
			must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
		}
	}
	must(t, s.UndoImport(t.Context(), undone, event.TrailEntry{}, func(int) {}))
	verifyClean(t, s)
	unguarded(t, s)
	for _, c := range []struct {
		m  *intake.Import
		to intake.State
	}{{finished, intake.Staged}, {finished, intake.Undone}, {undone, intake.Finished}, {undone, intake.Undoing}} {
		is := c.m.State
		spoil(t, s, `UPDATE gift_import SET state = $2 WHERE id = $1`, c.m.ID[:], string(c.to))
		if found := problems(t, s); found[steps] != 1 {
			t.Errorf("an import that is %s was made %s, and verify tells %v", is, c.to, found)
		}
		spoil(t, s, `UPDATE gift_import SET state = $2 WHERE id = $1`, c.m.ID[:], string(is))
	}
	verifyClean(t, s)
	spoil(t, s, `DELETE FROM gift_import WHERE id = $1`, undone.ID[:])
	if found := problems(t, s); found[steps] != 1 {
		t.Errorf("an import was taken away, and verify tells %v", found)
	}
}

// testUndoingGoesOn: who was killed while an import was undone does it again, at any point.
func testUndoingGoesOn(t *testing.T, open opener) {
	s, _ := open(t)
	m := beginImport(t, s, newID(), noon.AddDate(0, 0, -1))
	gifts := stageGifts(t, s, m, 3)
	if !s.db.Spread { // where only an import is undone that is not finished
		must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	}
	must(t, s.HideImport(t.Context(), m)) // killed here
	verifyClean(t, s)
	if _, err := s.GiftByCode(t.Context(), gifts[0].Card.Code); !errors.Is(err, refusal.NotFound) {
		t.Errorf("a gift of an import that is being undone: %v", err)
	}
	run(t, s, `DELETE FROM secret WHERE voucher_id = $1`, gifts[0].ID[:]) // and here
	verifyClean(t, s)
	freed := 0
	must(t, s.UndoImport(t.Context(), m, event.TrailEntry{}, func(n int) { freed += n }))
	if freed != 3 {
		t.Errorf("%d gifts were freed", freed)
	}
	must(t, s.UndoImport(t.Context(), m, event.TrailEntry{}, func(int) {})) // and after the end
	verifyClean(t, s)
}

// testImportReopensDays: an import as of a closed day opens it again, and the days after it; closed anew, they say what
// was imported.
func testImportReopensDays(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Currency: dollars, Zone: time.UTC}
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{account}})
	first := beginImport(t, s, account.ID, noon)
	stageGifts(t, s, first, 1)
	must(t, s.FinishImport(t.Context(), first, event.TrailEntry{}))
	closeTo := func(end time.Time) {
		for {
			day, ok, err := s.NextDay(t.Context(), account)
			must(t, err)
			if !ok || day.Until.After(end) {
				return
			}
			_, err = s.CloseDay(t.Context(), account, day, end)
			must(t, err)
		}
	}
	end := noon.Add(60 * time.Hour) // before the gifts end
	closeTo(end)
	asOf := noon.Add(35 * time.Hour)
	closed, err := s.ClosedDays(t.Context(), account.ID)
	must(t, err)
	given := beginImport(t, s, account.ID, asOf)
	stageGifts(t, s, given, 1)
	must(t, s.UndoImport(t.Context(), given, event.TrailEntry{}, func(int) {}))
	if days, err := s.ClosedDays(t.Context(), account.ID); err != nil || !slices.Equal(days, closed) {
		t.Errorf("an import that was never there opened days: of %v, %v are closed, %v", closed, days, err)
	}
	m := beginImport(t, s, account.ID, asOf)
	stageGifts(t, s, m, 2)
	owed := func(at time.Time) (sum int64) {
		for k, v := range (&shopkeeper{t: t, s: s, account: account}).moved(time.Time{}, at) {
			if k.Cube == books.Stock && books.State(k.Line).Owed() {
				sum += int64(v.Money)
			}
		}
		return sum
	}
	if got := owed(end); got != 10_000 {
		t.Errorf("%d is owed while an import is staged", got)
	}
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	for range 2 { // from the entries, and from the sums
		if before, at := owed(asOf), owed(asOf.Add(time.Second)); before != 10_000 || at != 30_000 {
			t.Errorf("%d is owed before the import and %d at once after it", before, at)
		}
		closeTo(end)
		verifyClean(t, s)
	}
	days, err := s.ClosedDays(t.Context(), account.ID)
	must(t, err)
	if last := days[len(days)-1]; last.Until.Before(end.AddDate(0, 0, -1)) {
		t.Errorf("the last closed day is %d", last.Number)
	}
	if !undoes(t, s, m) {
		return
	}
	if got := owed(end); got != 10_000 {
		t.Errorf("%d is owed after the import was undone", got)
	}
	closeTo(end)
	verifyClean(t, s)
}

// testClosingBesideAnImport: a day that was worked out while an import was finished is neither closed nor closed again
// with what it said before, and whoever closes it is told so.
func testClosingBesideAnImport(t *testing.T, open opener) {
	s, _ := open(t)
	k := openBooks(t, s, "UTC")
	account := k.account
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{account}})
	k.issue(func(*gift.Gift) {})
	day := books.DayOf(noon, time.UTC)
	finish := func() sums.Draft {
		t.Helper()
		m := beginImport(t, s, account.ID, noon)
		stageGifts(t, s, m, 1)
		draft, err := s.DraftDay(t.Context(), account, day)
		must(t, err)
		must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
		return draft
	}
	if closed, err := s.CloseDraft(t.Context(), finish(), noon); closed || err != nil {
		t.Errorf("an overtaken day is closed: %t, %v", closed, err)
	}
	if days, err := s.ClosedDays(t.Context(), account.ID); err != nil || len(days) > 0 {
		t.Errorf("days %v are closed: %v", days, err)
	}
	overtaken := finish()
	for _, want := range []bool{true, false} { // once
		if closed, err := s.CloseDay(t.Context(), account, day, noon); closed != want || err != nil {
			t.Errorf("that the day is closed is told as %t, %v; want %t", closed, err, want)
		}
	}
	if err := s.CloseDraftAgain(t.Context(), overtaken, noon); !errors.Is(err, db.ErrOvertaken) {
		t.Errorf("what was worked out before an import is written again: %v", err)
	}
	must(t, s.CloseDayAgain(t.Context(), account, day, noon))
	verifyClean(t, s)
}

// testCheckingBesideImports: closed days are right while imports appear and disappear, and days are closed anew.
func testCheckingBesideImports(t *testing.T, open opener) {
	s, again := open(t)
	k := openBooks(t, s, "UTC")
	account := k.account
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{account}})
	for range 20 {
		k.issue(func(*gift.Gift) {})
	}
	day := books.DayOf(noon, time.UTC)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 15 {
			m := beginImport(t, s, account.ID, noon)
			stageGifts(t, s, m, 1)
			for _, flip := range []func() error{
				func() error { return s.FinishImport(t.Context(), m, event.TrailEntry{}) },
				func() error {
					if s.db.Spread {
						return nil
					}
					return s.UndoImport(t.Context(), m, event.TrailEntry{}, func(int) {})
				},
			} {
				if _, err := s.CloseDay(t.Context(), account, day, time.Now()); err != nil {
					t.Error(err)
				}
				if err := flip(); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	checks := sums.New(again().db)
	for n := 0; ; n++ {
		must(t, checks.CheckDays(t.Context(), account, 9, func(p string) { t.Errorf("check %d finds: %s", n, p) }))
		select {
		case <-done:
			return
		default:
		}
	}
}

// forgetful are the statements that find gifts and do not ask whether their import is finished, and why.
var forgetful = map[string]string{
	"check":             "verify looks at every row",
	"erase":             "erasing reaches every row",
	"transfer":          "a copy takes every row",
	"lockVouchers":      "selectVouchers reads them after it",
	"selectEnds":        "selectGifts reads them after it",
	"aheadGifts":        "it bounds ids, and what is found within them is looked at",
	"selectHistories":   "of gifts that selectGifts found",
	"CountRedemptions":  "of a gift that was found",
	"selectHistory":     "of a gift that was found",
	"fitting":           "list reads them after it, by selectGifts",
	"Changes":           "selectEntries reads them after it",
	"selectOwed":        "it leaves out what an import brought",
	"selectBrought":     "it asks which import brought a gift",
	"freeCodes":         "it frees the codes of an import",
	"DueHolds":          "nothing was ever held of a gift of an import that is not finished",
	"DueHoldsOf":        "as of DueHolds",
	"selectNextStock":   "no import brings cards that were not activated",
	"selectStock":       "as of selectNextStock",
	"countUnsold":       "as of selectNextStock",
	"selectActivations": "as of selectNextStock",
	"countMade":         "of a stock that selectStock found",
	"selectWithout":     "it leaves out what an import brought and nothing happened to",
}

// findsGifts is how a statement finds gifts. Those that change some were found and locked before.
var findsGifts = regexp.MustCompile(`(?:FROM|JOIN) voucher\b|\bvoucher AS v\b`)

// TestNoStatementForgetsImports: every statement of the store that finds gifts asks for those only whose import is
// finished, or stands in a list with the reason why not.
func TestNoStatementForgetsImports(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	statements := 0
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		name := ""
		inside := token.Pos(0)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				name, inside = n.Name.Name, n.End()
			case *ast.ValueSpec:
				if n.Pos() > inside {
					name = n.Names[0].Name
				}
			case *ast.BasicLit:
				text, _ := strconv.Unquote(n.Value)
				if n.Kind != token.STRING || !findsGifts.MatchString(text) {
					return true
				}
				statements++
				for _, key := range []string{filepath.Dir(path), name} {
					if forgetful[key] != "" {
						used[key] = true
						return true
					}
				}
				if strings.Count(text, "m.state = 'FINISHED'") == 0 {
					t.Errorf("%s: %s finds gifts of imports that are not finished", files.Position(n.Pos()), name)
				}
			}
			return true
		})
		return nil
	})
	must(t, err)
	if statements < 30 {
		t.Errorf("%d statements find gifts", statements)
	}
	for key := range forgetful {
		if !used[key] {
			t.Errorf("nothing forgets imports as %s may", key)
		}
	}
}

// TestCommitTime: an import learns how long a commit keeps tills waiting.
func TestCommitTime(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	s := cached(t, t.TempDir())
	redeem(t, s, &issue(t, s, newID(), 1)[0].Voucher, 1)
	if is, all := s.CommitTime(), time.Since(begun); is <= time.Nanosecond || is > all {
		t.Errorf("a commit is said to take %s, and all of them took %s", is, all)
	}
}
