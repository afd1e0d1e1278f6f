package store

import (
	"fmt"
	"slices"
	"testing"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/erase"
)

// linkedTo saves a gift that is linked to a customer from the start, with the answer to the order that made it.
func linkedTo(t *testing.T, s *Store, account guid.ID, customer string) gift.Gift {
	t.Helper()
	g, _ := newGift(account)
	g.Voucher, g.Card.Method, g.Card.Contact = gift.Voucher{ID: g.ID, AccountID: account, OrderID: g.OrderID,
		ProgramID: g.ProgramID, Currency: g.Currency, Funded: 10_000, Balance: 10_000, CreatedAt: noon, CustomerID: customer},
		contact.Printed, ""
	g, e := g.Begin(gift.Context{EntryID: newID(), Now: noon})
	body := fmt.Sprintf(`{"gifts":[{"voucherID":"%s","customerID":"%s"}]}`, g.ID, customer)
	save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}, Requests: []ledger.Request{{
		RequestKey: ledger.RequestKey{AccountID: account, Operation: operation.SendGift, Key: g.ID.String()}, At: noon,
		Answer: ledger.Answer{Code: ledger.Created, Body: []byte(body)}}}})
	return g
}

// testCustomers: a link to a customer is kept with the gift, found by page after page, changed with it, and erased with
// all that repeats it; other accounts and other customers see nothing of it.
func testCustomers(t *testing.T, open opener) {
	s, _ := open(t)
	account, other := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}, newID()
	const customer, neighbour = "C 20177 ü", "C-3"
	first, second := linkedTo(t, s, account.ID, customer), linkedTo(t, s, account.ID, customer)
	kept, foreign := linkedTo(t, s, account.ID, neighbour), linkedTo(t, s, other, customer)
	issue(t, s, account.ID, 2)
	found := func(f gift.Filter) (ids []guid.ID) {
		t.Helper()
		if f.Limit == 0 {
			f.Limit = 50
		}
		page, err := s.List(t.Context(), f)
		must(t, err)
		for _, g := range page.Gifts {
			if ids = append(ids, g.ID); g.CustomerID != f.CustomerID {
				t.Errorf("a gift of %q is linked to %q", f.CustomerID, g.CustomerID)
			}
		}
		return ids
	}
	mine := gift.Filter{AccountID: account.ID, CustomerID: customer}
	diff(t, found(mine), []guid.ID{second.ID, first.ID})
	mine.Before = second.ID
	diff(t, found(mine), []guid.ID{first.ID})
	mine.Before, mine.OrderID = guid.ID{}, first.OrderID
	diff(t, found(mine), []guid.ID{first.ID})
	mine.OrderID = guid.ID{}
	diff(t, found(gift.Filter{AccountID: account.ID, CustomerID: "c 20177 ü"}), []guid.ID(nil))
	diff(t, found(gift.Filter{AccountID: other, CustomerID: customer}), []guid.ID{foreign.ID})

	change := func(g *gift.Gift, rule func(gift.Voucher) (gift.Voucher, gift.Entry, error)) {
		t.Helper()
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&g.Voucher)}}, func(st *ledger.State) ledger.Changes {
			after, e, err := rule(*st.Vouchers[ref(&g.Voucher)])
			must(t, err)
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		})
	}
	at := func() gift.Context { return gift.Context{EntryID: newID(), Now: noon} }
	caller := &merchant.Caller{Kind: merchant.AccountKey, Account: account}
	change(&first, func(v gift.Voucher) (gift.Voucher, gift.Entry, error) {
		return v.UnlinkCustomer(gift.UnlinkCustomer{Context: at(), Caller: caller})
	})
	diff(t, found(mine), []guid.ID{second.ID})
	change(&first, func(v gift.Voucher) (gift.Voucher, gift.Entry, error) {
		return v.LinkCustomer(gift.LinkCustomer{Context: at(), Caller: caller, CustomerID: customer})
	})
	diff(t, found(mine), []guid.ID{second.ID, first.ID})
	_, before := chainProblems(t, s)
	was := problems(t, s)

	ids, err := s.Eraser.Find(t.Context(), account.ID, "", customer, func(int) { t.Error("a table is searched") })
	must(t, err)
	slices.SortFunc(ids, func(a, b guid.ID) int { return slices.Compare(b[:], a[:]) })
	diff(t, ids, []guid.ID{second.ID, first.ID})
	ask := erase.Request{Account: account, CustomerID: customer, DryRun: true}
	if n, err := s.Eraser.Gifts(t.Context(), ask, ids); err != nil || n.Gifts != 2 || len(found(mine)) != 2 {
		t.Errorf("rehearsed: %+v, %v", n, err)
	}
	ask.DryRun = false
	n, err := s.Eraser.Gifts(t.Context(), ask, append(ids, kept.ID))
	if err != nil || n.Gifts != 2 || n.Answers != 2 || n.Entries != 0 {
		t.Errorf("erased: %+v, %v", n, err)
	}
	diff(t, found(mine), []guid.ID(nil))
	if left := answered(t, s, account.ID, customer, neighbour); !slices.Equal(left, []string{neighbour}) {
		t.Errorf("answers tell of %q", left)
	}
	for _, left := range []gift.Gift{first, kept} { // the rest is not the customer's to erase
		if now, err := s.Gift(t.Context(), account.ID, left.ID); err != nil || now.Card.Recipient != "Bob" {
			t.Errorf("of a gift is left %+v, %v", now.Card, err)
		}
	}
	diff(t, found(gift.Filter{AccountID: other, CustomerID: customer}), []guid.ID{foreign.ID})
	stillHolds(t, s, before, was)

	// Without a contact of its own, the gift is of who paid for it; and all of it goes once it has ended.
	ids = findAll(t, s, account.ID, "ann@example.com")
	_, err = s.Eraser.Gifts(t.Context(), erase.Request{Account: account, Contact: "ann@example.com"}, ids)
	must(t, err)
	diff(t, found(gift.Filter{AccountID: account.ID, CustomerID: neighbour}), []guid.ID(nil))
	stillHolds(t, s, before, was)
}
