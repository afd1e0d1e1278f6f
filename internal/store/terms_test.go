package store

import (
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

// saveOrder saves an order of n gifts.
func saveOrder(t testing.TB, s *Store, account guid.ID, n int, terms, promotional string) (gifts []gift.Gift) {
	t.Helper()
	var c ledger.Changes
	order := newID()
	for range n {
		g, e := newGift(account)
		g.OrderID, g.Card.Terms, g.Card.PromotionalTerms = order, terms, promotional
		c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
	}
	save(t, s, c)
	return c.Gifts
}

func testTerms(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	rows := func(want int) {
		t.Helper()
		var own, shared int
		ctx := t.Context()
		must(t, s.db.Readers.QueryRowContext(ctx, `SELECT count(*) FROM card AS c WHERE c.account_id = $1 AND c.terms <> ''`,
			db.KeyOf(account)).Scan(&own))
		must(t, s.db.Readers.QueryRowContext(ctx, `SELECT count(*) FROM order_terms AS o WHERE o.account_id = $1`,
			db.KeyOf(account)).Scan(&shared))
		if own+shared != want {
			t.Errorf("terms are kept %d times, want %d", own+shared, want)
		}
	}
	all := saveOrder(t, s, account, 5, "One per guest.", "")
	rows(1)
	all = append(all, saveOrder(t, s, account, 2, "", "Not on Sundays.")...)
	all = append(all, saveOrder(t, s, account, 2, "", "")...)
	all = append(all, saveOrder(t, s, account, 1, "A gift alone keeps its own.", "")...)
	rows(3)
	for i := range all {
		want := &all[i]
		got, err := s.Gift(t.Context(), account, want.ID)
		must(t, err)
		diff(t, got.Card, want.Card)
		got, err = s.GiftByCode(t.Context(), want.Card.Code)
		must(t, err)
		diff(t, got.Card, want.Card)
	}
}
