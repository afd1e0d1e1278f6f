package store

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
)

// newNumber draws an activation code.
func newNumber() codes.ActivationCode {
	c, err := codes.NewActivationCode(rand.Reader)
	if err != nil {
		panic(err)
	}
	return c
}

// saveToSell saves cards of a stock that are sold by their activation codes, all of one order.
func saveToSell(t *testing.T, s *Store, account guid.ID, n int) (cards []gift.Gift) {
	t.Helper()
	var c ledger.Changes
	order := newID()
	for range n {
		g, e := newGift(account)
		g.OrderID, g.Fixed, g.Card.Activation = order, g.Funded, newNumber()
		g.Status, g.Funded, g.Balance, e.Status, e.Balance = gift.NotActivated, 0, 0, gift.NotActivated, 0
		c.Gifts, c.Entries, cards = append(c.Gifts, g), append(c.Entries, e), append(cards, g)
	}
	save(t, s, c)
	return cards
}

// testActivationCodes: they are kept sealed, each for its card, found in their account with whichever key they were
// made, and neither as codes nor by codes. A row that is swapped sells nothing.
func testActivationCodes(t *testing.T, open opener) {
	s, _ := open(t)
	account, other := newID(), newID()
	cards := saveToSell(t, s, account, 2)
	_, err := s.AddKey(t.Context())
	must(t, err)
	_, err = s.UseKey(t.Context())
	must(t, err)
	cards = append(cards, saveToSell(t, s, account, 1)...)
	for _, g := range cards {
		found, err := s.GiftByActivationCode(t.Context(), account, g.Card.Activation)
		if err != nil || found.ID != g.ID || found.Card.Activation != (codes.ActivationCode{}) {
			t.Errorf("card %s is sold as %+v: %v", g.ID, found, err)
		}
		if _, err := s.GiftByActivationCode(t.Context(), other, g.Card.Activation); !errors.Is(err, refusal.NotFound) {
			t.Errorf("another account sells it: %v", err)
		}
		var kept []byte
		must(t, s.db.Writer.QueryRowContext(t.Context(),
			`SELECT sealed FROM activation_code WHERE account_id = $1 AND voucher_id = $2`, db.KeyOf(account),
			db.KeyOf(g.ID)).Scan(&kept))
		if bytes.Contains(kept, []byte(g.Card.Activation.Reveal())) || len(kept) < 16 {
			t.Errorf("an activation code is stored as %q", kept)
		}
	}
	if _, err := s.GiftByActivationCode(t.Context(), account, newNumber()); !errors.Is(err, refusal.NotFound) {
		t.Errorf("a number that nobody has: %v", err)
	}
	all, err := s.ActivationCodes(t.Context(), account, cards[0].OrderID)
	if err != nil || len(all) != 2 || all[cards[0].ID] != cards[0].Card.Activation ||
		all[cards[1].ID] != cards[1].Card.Activation {
		t.Errorf("the codes of the stock are %v: %v", all, err)
	}
	if stock, err := s.Stock(t.Context(), account, cards[0].OrderID); err != nil || !stock.ActivationCodes {
		t.Errorf("the stock has none: %v", err)
	}
	// A number that a card has already is not given out: whoever drew it draws anew.
	taken, _ := newGift(account)
	taken.Card.Activation = cards[0].Card.Activation
	err = s.Group(t.Context(), ledger.Want{Gifts: []*gift.Gift{&taken}}, func(st *ledger.State) ledger.Changes {
		if !st.Codes[taken.Card.Code] {
			t.Error("nobody is told that the number is taken")
		}
		return ledger.Changes{}
	})
	must(t, err)
	verified(t, s)

	unguarded(t, s)
	run(t, s, `UPDATE activation_code SET voucher_id = $3 WHERE account_id = $1 AND voucher_id = $2`, db.KeyOf(account),
		db.KeyOf(cards[2].ID), db.KeyOf(newID()))
	if g, err := s.GiftByActivationCode(t.Context(), account, cards[2].Card.Activation); err == nil ||
		errors.Is(err, refusal.NotFound) || !strings.Contains(err.Error(), "boon verify") {
		t.Errorf("a row that was moved sells %s: %v", g.ID, err)
	}
}
