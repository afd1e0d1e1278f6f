package store

import (
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// TestOneCodeTwiceInAGroup: two gifts of a group were drawn the same code, and the first is made: as itself.
func TestOneCodeTwiceInAGroup(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			account := newID()
			one, e := newGift(account)
			two, _ := newGift(account)
			two.Card.Code = one.Card.Code
			runGroup(t, s, ledger.Want{Gifts: []*gift.Gift{&one, &two}}, func(*ledger.State) ledger.Changes {
				return ledger.Changes{Gifts: []gift.Gift{one}, Entries: []gift.Entry{e}}
			})
			found, err := s.GiftByCode(t.Context(), one.Card.Code)
			if err != nil || found.ID != one.ID || found.Card.Token != one.Card.Token {
				t.Errorf("found %v, %v, want %v", found.ID, err, one.ID)
			}
			verifyClean(t, s)
		})
	}
}
