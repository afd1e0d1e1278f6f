package store

import (
	"errors"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// brought saves a gift of an account with a code that another system gave out.
func brought(t testing.TB, s *Store, a *merchant.Account, code string) gift.Gift {
	t.Helper()
	g, e := newGift(a.ID)
	var err error
	if g.Card.Code, err = gift.ImportedCode(a, code); err != nil {
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
		code, err := gift.ReadCode(a, typed)
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
