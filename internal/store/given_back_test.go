package store

import (
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
)

// testGivenBack: how much of a redemption was given back is known without adding up its reversals, whoever wrote them.
func testGivenBack(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)[0]
	taken := redeem(t, s, &g.Voucher, 500)
	redemption := ledger.Ref{AccountID: g.AccountID, ID: taken.ID}
	want := ledger.Want{Undoable: []ledger.Ref{redemption}}
	part := func(amounts ...money.Amount) {
		runGroup(t, s, want, func(st *ledger.State) (c ledger.Changes) {
			v, taken := *st.Vouchers[ref(&g.Voucher)], st.Undoable[redemption]
			for _, amount := range amounts {
				after, e, err := v.Reverse(*taken, gift.Reverse{Context: gift.Context{EntryID: newID(), Now: noon},
					Caller: &merchant.Caller{}, Amount: amount})
				must(t, err)
				taken.Reversed, taken.Parts = taken.Reversed+amount, taken.Parts+1
				v, c.Vouchers, c.Entries = after, []gift.Voucher{after}, append(c.Entries, e)
			}
			return c
		})
	}
	part(1)
	part(2, 3, 4)
	runGroup(t, s, want, func(st *ledger.State) ledger.Changes {
		diff(t, *st.Undoable[redemption], gift.Undoable{Entry: taken, Reversed: 10, Parts: 4})
		return ledger.Changes{}
	})
	diff(t, problems(t, s), map[string]int{})
	spoil(t, s, `UPDATE given_back SET amount = amount - 1 WHERE account_id = $1`, db.KeyOf(g.AccountID))
	diff(t, problems(t, s), map[string]int{"what was given back": 1})
	spoil(t, s, `DELETE FROM given_back WHERE account_id = $1`, db.KeyOf(g.AccountID))
	diff(t, problems(t, s), map[string]int{"what was given back": 1})
}
