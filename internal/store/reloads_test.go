package store

import (
	"errors"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
)

// testLoads: what was loaded is kept with who paid, and comes back to be undone, by its id and by its key, once.
func testLoads(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)[0]
	v := &g.Voucher
	a := &merchant.Account{MaxGiftValue: money.NoLimit, Zone: time.UTC,
		Subscriptions: []merchant.Subscription{{ProgramID: v.ProgramID, Reloadable: true}}}
	at := func() gift.Context { return gift.Context{EntryID: newID(), Now: noon} }
	var load gift.Entry
	runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(v)}}, func(st *ledger.State) ledger.Changes {
		after, e, err := st.Vouchers[ref(v)].Reload(gift.ReloadRequest{Context: at(), Amount: 700, Account: a,
			Reference: "till 4", Purchase: gift.Purchase{Reference: "order 7", FirstName: "Ana", LastName: "Roe",
				EmailAddress: "ana@example.com", StorefrontID: newID()}})
		must(t, err)
		load = e
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}, Requests: []ledger.Request{{
			RequestKey: ledger.RequestKey{AccountID: v.AccountID, Operation: operation.ReloadGift, Key: "k"}, EntryID: e.ID,
			At: noon, Answer: ledger.Answer{Code: ledger.OK, Body: []byte(e.ID.String())}}}}
	})
	read, err := s.Gift(t.Context(), v.AccountID, v.ID)
	must(t, err)
	if read.Balance != v.Balance+700 || read.Funded != v.Funded+700 {
		t.Errorf("after the reload: %+v", read.Voucher)
	}
	reload := ledger.Ref{AccountID: v.AccountID, ID: load.ID}
	byID := ledger.Want{Undoable: []ledger.Ref{reload}}
	byKey := ledger.Want{Undo: []ledger.RequestKey{{AccountID: v.AccountID, Operation: operation.ReloadGift, Key: "k"}}}
	undo := func(st *ledger.State, done gift.Undoable) ledger.Changes {
		after, e, err := st.Vouchers[ref(v)].ReverseReload(done, gift.Undo{Context: at(), Caller: &merchant.Caller{}})
		must(t, err)
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
	}
	runGroup(t, s, byID, func(st *ledger.State) ledger.Changes {
		diff(t, *st.Undoable[reload], gift.Undoable{Entry: load})
		return undo(st, *st.Undoable[reload])
	})
	runGroup(t, s, byKey, func(st *ledger.State) ledger.Changes {
		diff(t, *st.Undoable[reload], gift.Undoable{Entry: load, Reversed: 700, Parts: 1})
		return ledger.Changes{}
	})
	// The rule is not asked: the database knows by itself.
	err = s.Group(t.Context(), byID, func(st *ledger.State) ledger.Changes { return undo(st, gift.Undoable{Entry: load}) })
	if !errors.Is(err, ledger.ErrRejected) {
		t.Errorf("undone twice: %v", err)
	}
	if read, err = s.Gift(t.Context(), v.AccountID, v.ID); err != nil || read.Balance != v.Balance ||
		read.Funded != v.Funded {
		t.Errorf("after all: %+v, %v", read.Voucher, err)
	}
	diff(t, problems(t, s), map[string]int{})
	spoil(t, s, `UPDATE given_back SET amount = amount - 1 WHERE account_id = $1`, db.KeyOf(v.AccountID))
	diff(t, problems(t, s), map[string]int{"what was given back": 1})
}

// testCashOuts: a cash-out comes back to be undone, by its id and by its key, once.
func testCashOuts(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)[0]
	v := &g.Voucher
	till := newID()
	a := &merchant.Account{Zone: time.UTC, Locations: []merchant.Location{{ID: till, Jurisdiction: "XX"}}}
	at := func() gift.Context {
		return gift.Context{EntryID: newID(), Now: noon, Actor: merchant.Actor{LocationID: till}}
	}
	key := ledger.RequestKey{AccountID: v.AccountID, Operation: operation.CashOutGift, Key: "k"}
	var paid gift.Entry
	runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(v)}}, func(st *ledger.State) ledger.Changes {
		after, e, err := st.Vouchers[ref(v)].CashOut(gift.CashOutRequest{Context: at(), Account: a,
			Law: gift.CashOutLaw{{Jurisdiction: "XX", Currency: v.Currency, Limit: money.NoLimit}}})
		must(t, err)
		paid = e
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}, Requests: []ledger.Request{{
			RequestKey: key, EntryID: e.ID, At: noon, Answer: ledger.Answer{Code: ledger.OK, Body: []byte(e.ID.String())}}}}
	})
	of := ledger.Ref{AccountID: v.AccountID, ID: paid.ID}
	undo := func(done gift.Undoable) func(*ledger.State) ledger.Changes {
		return func(st *ledger.State) ledger.Changes {
			before := *st.Vouchers[ref(v)]
			before.Funded += before.Balance // so that the rule finds room a second time, too
			after, e, err := before.Reverse(done, gift.Reverse{Context: at(),
				Caller: &merchant.Caller{Permissions: merchant.MayCashOut}})
			must(t, err)
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		}
	}
	byID := ledger.Want{Undoable: []ledger.Ref{of}}
	runGroup(t, s, ledger.Want{Undo: []ledger.RequestKey{key}}, func(st *ledger.State) ledger.Changes {
		diff(t, *st.Undoable[of], gift.Undoable{Entry: paid})
		return undo(*st.Undoable[of])(st)
	})
	runGroup(t, s, byID, func(st *ledger.State) ledger.Changes {
		diff(t, *st.Undoable[of], gift.Undoable{Entry: paid, Reversed: -paid.Delta, Parts: 1})
		return ledger.Changes{}
	})
	// The rule is not asked: the database knows by itself.
	if err := s.Group(t.Context(), byID, undo(gift.Undoable{Entry: paid})); !errors.Is(err, ledger.ErrRejected) {
		t.Errorf("undone twice: %v", err)
	}
	read, err := s.Gift(t.Context(), v.AccountID, v.ID)
	if err != nil || read.Balance != v.Balance || read.Funded != v.Funded || read.Status != gift.Claimed {
		t.Errorf("after all: %+v, %v", read.Voucher, err)
	}
	diff(t, problems(t, s), map[string]int{})
}
