package store

import (
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
)

// testTrail: what keys caused and what was done to the set-up are one list, each account's own, in pages of any size
// and within times; what the service did itself is not in it.
func testTrail(t *testing.T, open opener) {
	s, _ := open(t)
	account, other, began := newID(), newID(), time.Now().Add(-time.Second)
	by := merchant.Actor{KeyID: newID(), Person: "Ana", Address: "203.0.113.9"}
	g := issue(t, s, account, 1)[0]
	for n := range 3 {
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&g.Voucher)}}, func(st *ledger.State) ledger.Changes {
			at := gift.Context{EntryID: newID(), Now: time.Now(), Actor: by, RequestID: "r"}
			if n == 1 {
				at.Actor = merchant.Actor{}
			}
			after, e, err := st.Vouchers[ref(&g.Voucher)].Redeem(gift.Redeem{Context: at, Amount: 1})
			must(t, err)
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		})
		must(t, s.LogExport(t.Context(), event.TrailEntry{AccountID: account, Actor: by, Action: event.CodesExported,
			RequestID: "r", What: "codes leave"}))
		must(t, s.LogExport(t.Context(), event.TrailEntry{AccountID: other, Actor: by, Action: event.CodesExported}))
	}
	for _, limit := range []int{1, 2, 3, 5, 9} {
		var all []event.TrailEntry
		for f := (event.TrailFilter{AccountID: account, Limit: limit, From: began, To: time.Now().Add(time.Hour)}); ; {
			page, err := s.Trail(t.Context(), f)
			must(t, err)
			if all = append(all, page.Entries...); page.Next.IsZero() {
				break
			}
			f.Before = page.Next
		}
		var did []gift.EventType
		for _, e := range all {
			did = append(did, e.Action)
			if e.Actor.KeyID != by.KeyID || e.Actor.Person != "Ana" || e.Actor.Address != by.Address || e.RequestID != "r" ||
				e.AccountID != account || (e.VoucherID == g.ID) != (e.What == "") {
				t.Errorf("%+v", e)
			}
		}
		diff(t, did, []gift.EventType{event.CodesExported, gift.EventRedeemed, event.CodesExported, event.CodesExported,
			gift.EventRedeemed})
	}
	for f, want := range map[*event.TrailFilter]int{{KeyID: by.KeyID}: 5, {KeyID: newID()}: 0, {Person: "Ana"}: 5,
		{Person: "ana"}: 0, {KeyID: by.KeyID, Person: "Ben"}: 0} {
		f.AccountID, f.Limit = account, 9
		page, err := s.Trail(t.Context(), *f)
		must(t, err)
		if len(page.Entries) != want {
			t.Errorf("%+v selects %d entries, not %d", f, len(page.Entries), want)
		}
	}
	later, err := s.Trail(t.Context(), event.TrailFilter{AccountID: account, Limit: 9, From: time.Now().Add(time.Second)})
	must(t, err)
	earlier, err := s.Trail(t.Context(), event.TrailFilter{AccountID: account, Limit: 9, To: began})
	must(t, err)
	if len(later.Entries)+len(earlier.Entries) > 0 {
		t.Errorf("at other times: %+v, %+v", later, earlier)
	}
}
