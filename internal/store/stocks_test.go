package store

import (
	"errors"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
)

// testStocks: stocks are listed from the newest, with how many of their cards are on hand; those that are sold out, and
// those of another account, are not.
func testStocks(t *testing.T, open opener) {
	s, _ := open(t)
	account, other := newID(), newID()
	stockOf := func(account guid.ID, cards, sold int) guid.ID {
		t.Helper()
		order := newID()
		for n := range cards {
			g, e := newGift(account)
			g.OrderID, g.Fixed = order, g.Funded
			if n >= sold {
				g.Status, g.Funded, g.Balance, e.Status, e.Balance = gift.NotActivated, 0, 0, gift.NotActivated, 0
			}
			save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
		}
		return order
	}
	first := stockOf(account, 3, 1)
	stockOf(account, 2, 2)
	stockOf(other, 1, 0)
	last := stockOf(account, 1, 0)
	all, err := s.Stocks(t.Context(), account, guid.ID{}, 10)
	must(t, err)
	if len(all) != 2 || all[0].OrderID != last || all[1].OrderID != first || all[1].Made != 3 || all[1].Unsold != 2 ||
		all[1].Card.OrderID != first || all[1].Card.Status != gift.NotActivated {
		t.Errorf("the stocks are %+v", all)
	}
	if all, err = s.Stocks(t.Context(), account, last, 10); err != nil || len(all) != 1 || all[0].OrderID != first {
		t.Errorf("before the newest there are %+v: %v", all, err)
	}
	if all, err = s.Stocks(t.Context(), account, guid.ID{}, 1); err != nil || len(all) != 1 {
		t.Errorf("the first one is %+v: %v", all, err)
	}
	one, err := s.Stock(t.Context(), account, first)
	if err != nil || one.Made != 3 || one.Unsold != 2 {
		t.Errorf("the first stock is %+v: %v", one, err)
	}
	for _, none := range [][2]guid.ID{{other, first}, {account, newID()}} {
		if _, err := s.Stock(t.Context(), none[0], none[1]); !errors.Is(err, refusal.NotFound) {
			t.Errorf("a stock that is none: %v", err)
		}
	}
}
