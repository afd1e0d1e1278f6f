package store

import (
	"errors"
	"testing"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// brought saves a gift of an account with a code that another system gave out.
func brought(t testing.TB, s *Store, a *merchant.Account, code string) gift.Gift {
	t.Helper()
	g, e := newGift(a.ID)
	var err error
	if g.Card.Code, err = codes.ParseImported(a, code); err != nil {
		t.Fatal(err)
	}
	save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
	return g
}

// testImportedCodes: what is typed at an account finds the gift with this code, whichever system gave it out, in one
// look-up; the account's own gift before another's, and Boon's code before that of another system.
func testImportedCodes(t *testing.T, open opener) {
	s, again := open(t)
	account := func() *merchant.Account {
		return &merchant.Account{ID: newID(), ImportedCodes: []merchant.CodeForm{{Digits: 12}, {Digits: 16},
			{Alphanumeric: 10, Fold: true}, {Alphanumeric: 32}}}
	}
	mine, theirs := account(), account()
	ours := issue(t, s, mine.ID, 1)[0]
	digits := issue(t, s, theirs.ID, 1)[0].Card.Code.Reveal()
	long := "0123456789ABCDEFGHIJKLMNOPQRSTUV"
	gifts := map[string]gift.Gift{"0006123456789012": brought(t, s, mine, "0006123456789012"),
		"giftoi0123": brought(t, s, mine, "GIFT-OI-0123"), digits: brought(t, s, mine, digits),
		long: brought(t, s, mine, long)}
	other := brought(t, s, theirs, "0006123456789012")
	gifts[ours.Card.Code.Reveal()] = ours
	brought(t, s, mine, ours.Card.Code.Reveal()) // an import refuses it
	finds := func(s *Store, a *merchant.Account, typed string) guid.ID {
		t.Helper()
		code, err := codes.Read(a, typed)
		must(t, err)
		before := s.CodeLookUps()
		g, err := s.GiftByCode(t.Context(), code)
		if n := s.CodeLookUps() - before; n != 1 && !errors.Is(err, refusal.NotFound) {
			t.Errorf("%q is looked up %d times", typed, n)
		}
		if err != nil && !errors.Is(err, refusal.NotFound) {
			t.Errorf("%q: %v", typed, err)
		}
		if compared, err := s.GiftWithCode(t.Context(), g.AccountID, g.ID, code); g.ID != (guid.ID{}) &&
			(err != nil || compared.ID != g.ID) {
			t.Errorf("%q compared with gift %s: %v", typed, g.ID, err)
		}
		return g.ID
	}
	check := func(s *Store) {
		t.Helper()
		for typed, g := range gifts {
			if id := finds(s, mine, typed); id != g.ID {
				t.Errorf("%q finds %s, want %s", typed, id, g.ID)
			}
		}
		if id := finds(s, theirs, "0006123456789012"); id != other.ID {
			t.Errorf("the other merchant's card of this number is found as %s", id)
		}
		for typed, a := range map[string]*merchant.Account{"giftoi0123": theirs, "0006123456789013": mine,
			"6123456789012": mine} {
			if id := finds(s, a, typed); id != (guid.ID{}) {
				t.Errorf("%q finds %s", typed, id)
			}
		}
	}
	check(s)
	must(t, errorOf(s.AddKey(t.Context())))
	must(t, errorOf(s.UseKey(t.Context())))
	gifts["6006000000000001"] = brought(t, s, mine, "6006000000000001")
	check(s)
	check(again())
	verified(t, s)
}

// TestStagedGiftsHideNoOthersOnCitus: a gift of an import that is not finished keeps nobody from finding another gift
// with the same code. Plain PostgreSQL is asked as Citus would be.
func TestStagedGiftsHideNoOthersOnCitus(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database is not spread
	s, _ := openServerForTest(t, nil)
	mine := &merchant.Account{ID: newID(), ImportedCodes: []merchant.CodeForm{{Digits: 12}}}
	theirs := issue(t, s, newID(), 1)[0]
	typed, err := codes.Read(mine, theirs.Card.Code.Reveal())
	must(t, err)
	m := beginImport(t, s, mine.ID, noon)
	g, _ := newGift(mine.ID)
	g.Card.Code, err = codes.ParseImported(mine, theirs.Card.Code.Reveal())
	must(t, err)
	g.ID, g.Seq, g.Last = idAt(m.AsOf), 0, guid.ID{}
	g, e := g.Import(gift.Context{EntryID: idAt(m.AsOf), Now: m.AsOf})
	must(t, s.Group(t.Context(), ledger.Want{Import: m.ID, Heavy: true, Gifts: []*gift.Gift{&g}},
		func(*ledger.State) ledger.Changes {
			return ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e},
				Staged: &ledger.Staged{AccountID: m.AccountID, ImportID: m.ID, Count: 1}}
		}))
	m.Staged = 1
	finds := func(want guid.ID) {
		t.Helper()
		for _, s.db.Spread = range []bool{false, true} {
			if found, err := s.GiftByCode(t.Context(), typed); err != nil || found.ID != want {
				t.Errorf("spread: %t: the code leads to gift %s, want %s; %v", s.db.Spread, found.ID, want, err)
			}
		}
		s.db.Spread = false
	}
	finds(theirs.ID)
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	finds(g.ID)
}
