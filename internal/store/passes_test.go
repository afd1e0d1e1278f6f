package store

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/erase"
	"boon.example/internal/store/passes"
)

// fillPasses gives an account a phone with all that belongs to one.
func fillPasses(t *testing.T, s *Store, account, voucher guid.ID) {
	t.Helper()
	d := event.PassDevice{AccountID: account, VoucherID: voucher, Device: [32]byte{1}, Push: "aa11"}
	_, err := s.RegisterPass(t.Context(), d, noon)
	must(t, err)
	must(t, s.SavePassPlaces(t.Context(), map[guid.ID]merchant.EventPlace{account: {Position: 1, Part: 1}}))
	must(t, s.TouchGoogle(t.Context(), account, []event.TouchedGift{{VoucherID: voucher, Position: 7}}))
	must(t, s.SaveGoogle(t.Context(), []event.GooglePass{{AccountID: account, VoucherID: voucher, Changed: 7}}))
	_, err = s.ClaimPasses(t.Context(), newID(), []guid.ID{account}, noon, noon.Add(time.Minute))
	must(t, err)
}

// testPasses: phones that have passes come back whole, as often as they register; what they can be reached by stands
// nowhere in the clear; of more than 50 the oldest goes; what an earlier event changed takes nothing back.
func testPasses(t *testing.T, open opener) {
	s, again := open(t)
	account, voucher, other := newID(), newID(), newID()
	device := func(n byte, of guid.ID) event.PassDevice {
		return event.PassDevice{AccountID: account, VoucherID: of, Device: [32]byte{n}, Card: event.PassCard{7},
			Push: "beadcafe"}
	}
	register := func(d event.PassDevice, at time.Duration, fresh bool) {
		t.Helper()
		if is, err := s.RegisterPass(t.Context(), d, noon.Add(at)); err != nil || is != fresh {
			t.Errorf("new: %t, %v", is, err)
		}
	}
	one, two := device(1, voucher), device(1, other)
	register(two, 0, true)
	register(one, 0, true)
	one.Push, one.Card = "abcd01", event.PassCard{8}
	register(one, time.Second, false)
	passesOf := func() (all []event.PassDevice) {
		all, err := again().PassesOf(t.Context(), account, one.Device)
		must(t, err)
		return all
	}
	diff(t, passesOf(), []event.PassDevice{one, two})
	of, err := s.PassDevices(t.Context(), account, []guid.ID{voucher, other, newID()})
	must(t, err)
	slices.SortFunc(of, func(a, b event.PassDevice) int { return bytes.Compare(a.VoucherID[:], b.VoucherID[:]) })
	diff(t, of, []event.PassDevice{one, two})
	for table, rows := range dump(t, s) {
		if text := fmt.Sprint(rows); bytes.Contains([]byte(text), []byte(one.Push)) {
			t.Errorf("a push token stands in %s", table)
		}
	}
	spoil(t, s, `UPDATE pass_device SET push = (SELECT p.push FROM pass_device AS p WHERE p.account_id = $1
		AND p.voucher_id = $2) WHERE account_id = $1 AND voucher_id = $3`, db.KeyOf(account), db.KeyOf(voucher),
		db.KeyOf(other))
	spoiled := two
	spoiled.Push = "" // and the other is told all the same
	diff(t, passesOf(), []event.PassDevice{one, spoiled})
	two.Changed = 3
	register(two, time.Second, false)
	two.Changed = 2
	register(two, time.Second, false)
	two.Changed = 3
	diff(t, passesOf(), []event.PassDevice{one, two})
	one.Changed, one.Over = 9, true
	stale := one
	stale.Changed, stale.Over = 8, false
	elsewhere := two
	elsewhere.Card, elsewhere.Changed = event.PassCard{1}, 20 // it has another card by now
	must(t, s.TouchPasses(t.Context(), []event.PassDevice{one}))
	must(t, s.TouchPasses(t.Context(), []event.PassDevice{stale, elsewhere}))
	diff(t, passesOf(), []event.PassDevice{one, two})
	for card, want := range map[event.PassCard]int64{one.Card: 9, two.Card: 0} { // two is of another gift
		if at, err := s.PassChanged(t.Context(), account, voucher, card); err != nil || at != want {
			t.Errorf("the pass of card %v changed at %d, %v", card, at, err)
		}
	}
	for n := range passes.DevicesOfAPass {
		register(device(byte(10+n), voucher), time.Duration(n+2)*time.Second, true)
	}
	diff(t, passesOf(), []event.PassDevice{two})
	before := two
	before.Card = event.PassCard{6} // it has the pass of the next card by now
	must(t, s.UnregisterPass(t.Context(), &before))
	diff(t, passesOf(), []event.PassDevice{two})
	for range 2 {
		must(t, s.UnregisterPass(t.Context(), &two))
	}
	if left := passesOf(); len(left) > 0 {
		t.Errorf("%d passes are left", len(left))
	}
	where := merchant.EventPlace{Position: 5, Part: 2, Mark: [4]byte{1, 2, 3, 4}}
	if _, known, err := s.PassPlace(t.Context(), account); known || err != nil {
		t.Errorf("a place that was never written is known: %v", err)
	}
	must(t, s.SavePassPlaces(t.Context(), map[guid.ID]merchant.EventPlace{account: {Position: 1, Part: 1}, other: where}))
	must(t, s.SavePassPlaces(t.Context(), map[guid.ID]merchant.EventPlace{account: where}))
	first, second := newID(), newID()
	for n, owner := range []guid.ID{first, second, first, second} {
		owned, err := s.ClaimPasses(t.Context(), owner, []guid.ID{account}, noon, noon.Add(time.Minute))
		must(t, err)
		if has, want := len(owned) == 1, n%2 == 0 || n == 3; has != want {
			t.Errorf("claim %d: has it: %t", n, has)
		}
		if n == 2 {
			must(t, s.ReleasePasses(t.Context(), owner))
		}
	}
	if is, known, err := again().PassPlace(t.Context(), account); is != where || !known || err != nil {
		t.Errorf("the place is %v, %t, %v", is, known, err)
	}
}

// testTouched: the gifts that something happened to are told of once for each page, with the newest event, whether it
// has an entry or none, and nothing is passed over.
func testTouched(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	gifts := issue(t, s, account, 3)
	issue(t, s, newID(), 1)
	redeem(t, s, &gifts[1].Voucher, 1)
	redeem(t, s, &gifts[0].Voucher, 1)
	redeem(t, s, &gifts[1].Voucher, 1)
	var all event.Touched
	for { // a transaction of another test may be open
		var err error
		all, err = s.Touched(t.Context(), account, merchant.EventPlace{}, 100)
		must(t, err)
		var order []guid.ID
		for _, g := range all.Gifts {
			order = append(order, g.VoucherID)
		}
		if slices.Equal(order, []guid.ID{gifts[2].ID, gifts[0].ID, gifts[1].ID}) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	end, err := s.EventsEnd(t.Context(), account)
	must(t, err)
	if all.Next != end || all.More || all.Forgotten || all.Gifts[2].Position != end.Position {
		t.Errorf("%+v, the end is %v", all, end)
	}
	var pages []guid.ID
	for at, more := (merchant.EventPlace{}), true; more; {
		page, err := s.Touched(t.Context(), account, at, 2)
		must(t, err)
		for _, g := range page.Gifts {
			pages = append(pages, g.VoucherID)
		}
		at, more = page.Next, page.More
	}
	if n := len(pages); n < 4 || pages[n-1] != gifts[1].ID {
		t.Errorf("page by page: %v", pages)
	}
	none, err := s.Touched(t.Context(), account, end, 100)
	must(t, err)
	if len(none.Gifts) > 0 || none.Next != end || none.Forgotten {
		t.Errorf("after the end: %+v", none)
	}
	nowhere := merchant.EventPlace{Position: end.Position, Part: 1, Mark: [4]byte{9}}
	lost, err := s.Touched(t.Context(), account, nowhere, 100)
	if err != nil || !lost.Forgotten {
		t.Errorf("after a place that is not there: %+v, %v", lost, err)
	}
}

// testGooglePasses: a pass that changed is due until Google has it, as of the newest change; what changed meanwhile
// stays due, and so does what two wrote; a page learns of which card Google has an object.
func testGooglePasses(t *testing.T, open opener) {
	s, again := open(t)
	account, one, two := newID(), newID(), newID()
	touch := func(gifts ...event.TouchedGift) { t.Helper(); must(t, s.TouchGoogle(t.Context(), account, gifts)) }
	due := func(want ...event.GooglePass) {
		t.Helper()
		is, err := again().GoogleDue(t.Context(), account, 10)
		must(t, err)
		if !slices.Equal(is, want) {
			t.Errorf("%+v are due, want %+v", is, want)
		}
	}
	touch(event.TouchedGift{VoucherID: one, Position: 9}, event.TouchedGift{VoucherID: two, Position: 8})
	touch(event.TouchedGift{VoucherID: two, Position: 7})
	first := event.GooglePass{AccountID: account, VoucherID: one, Changed: 9}
	second := event.GooglePass{AccountID: account, VoucherID: two, Changed: 8}
	due(second, first)
	touch(event.TouchedGift{VoucherID: one, Position: 10})
	first.Card, second.Card = event.PassCard{1}, event.PassCard{2}
	must(t, s.SaveGoogle(t.Context(), []event.GooglePass{first, second}))
	first.Changed, first.Told = 10, 9
	due(first)
	for voucher, want := range map[guid.ID]event.PassCard{one: {1}, two: {2}, newID(): {}} {
		if is, err := again().GooglePass(t.Context(), account, voucher); err != nil || is != want {
			t.Errorf("Google has the card %v, want %v; %v", is, want, err)
		}
	}
	// Two write the same: nobody knows what Google has, so it is written once more.
	must(t, s.SaveGoogle(t.Context(), []event.GooglePass{first}))
	due()
	must(t, s.SaveGoogle(t.Context(), []event.GooglePass{first}))
	is := first
	is.Told = -1
	due(is)
	// What an erasure asks for is asked for again while it is written, and hides no event that comes next.
	erased := func() {
		t.Helper()
		spoil(t, s, erase.AgainGoogle, db.KeyOf(account), db.KeyOf(one))
	}
	erased()
	is.Told = -2
	due(is)
	erased()
	must(t, s.SaveGoogle(t.Context(), []event.GooglePass{is}))
	is.Told = -4
	due(is)
	must(t, s.SaveGoogle(t.Context(), []event.GooglePass{is}))
	due()
	touch(event.TouchedGift{VoucherID: one, Position: 11})
	is.Changed, is.Told = 11, 10
	due(is)
}

// testGoogleWithout: the gifts of an account that Google was never told of are found page by page, the newest first, if
// a guest can use them; those of an import once something happened to them.
func testGoogleWithout(t *testing.T, open opener) {
	s, again := open(t)
	account := newID()
	made := map[string]guid.ID{}
	add := func(name string, change func(*gift.Gift)) {
		g, e := newGift(account)
		change(&g)
		save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
		made[name] = g.ID
	}
	m := beginImport(t, s, account, noon.AddDate(0, 0, -1))
	brought := stageGifts(t, s, m, 2)
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	redeem(t, s, &brought[0].Voucher, 1)
	add("first", func(*gift.Gift) {})
	add("item", func(g *gift.Gift) { g.Item, g.Card.Label = true, "Latte" })
	add("over", func(g *gift.Gift) { g.ValidUntil = noon })
	add("blocked", func(*gift.Gift) {})
	spoil(t, s, `UPDATE voucher SET blocked = 'LOST' WHERE account_id = $1 AND id = $2`, db.KeyOf(account),
		db.KeyOf(made["blocked"]))
	add("used", func(*gift.Gift) {})
	spoil(t, s, `UPDATE voucher SET balance = 0, status = 6 WHERE account_id = $1 AND id = $2`, db.KeyOf(account),
		db.KeyOf(made["used"]))
	add("touched", func(*gift.Gift) {})
	must(t, s.TouchGoogle(t.Context(), account, []event.TouchedGift{{VoucherID: made["touched"], Position: 1}}))
	add("last", func(g *gift.Gift) { g.ValidUntil = noon.AddDate(0, 0, 2) })
	issue(t, s, newID(), 1)

	want := []guid.ID{made["first"], made["last"], brought[0].ID}
	slices.SortFunc(want, func(a, b guid.ID) int { return bytes.Compare(b[:], a[:]) })
	for _, limit := range []int{1, 10} {
		var found []guid.ID
		for next, more := (guid.ID{}), true; more; more = !next.IsZero() {
			some, to, err := again().GoogleWithout(t.Context(), account, next, noon, limit)
			must(t, err)
			found, next = append(found, some...), to
			if len(some) > limit {
				t.Errorf("%d of %d are given", len(some), limit)
			}
		}
		diff(t, found, want)
	}
}

// testGoogleTakenBack: Google is told anew of the gifts of an import that is taken back.
func testGoogleTakenBack(t *testing.T, open opener) {
	s, _ := open(t)
	m := beginImport(t, s, newID(), noon.AddDate(0, 0, -1))
	gifts := stageGifts(t, s, m, 2)
	must(t, s.FinishImport(t.Context(), m, event.TrailEntry{}))
	p := event.GooglePass{AccountID: m.AccountID, VoucherID: gifts[0].ID, Card: event.PassCard{3}, Changed: 5}
	must(t, s.TouchGoogle(t.Context(), m.AccountID, []event.TouchedGift{{VoucherID: p.VoucherID, Position: p.Changed}}))
	must(t, s.SaveGoogle(t.Context(), []event.GooglePass{p}))
	if !undoes(t, s, m) {
		return
	}
	due, err := s.GoogleDue(t.Context(), m.AccountID, 10)
	must(t, err)
	p.Told = -1
	diff(t, due, []event.GooglePass{p})
}
