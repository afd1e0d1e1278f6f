package intake_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// owedAt is what was owed for gifts at an instant.
func (w *world) owedAt(t *testing.T, at time.Time) (owed money.Amount) {
	t.Helper()
	asked := &books.Asked{Account: w.Account, Until: at, Cubes: []books.Cube{books.Stock}}
	err := w.EachMoved(t.Context(), asked, func(_ int, k books.Key, s books.Sum) error {
		if books.State(k.Line).Owed() {
			owed += s.Money
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return owed
}

// do has the engine carry a command out.
func do(t *testing.T, e *engine.Engine, w *world, operation operation.Name, key string,
	c ledger.Command) ledger.Result {
	t.Helper()
	var done ledger.Result
	_, err := e.Do(t.Context(), ledger.Call{AccountID: w.Account.ID, Operation: operation, Key: key,
		Render: func(r ledger.Result, err error) ledger.Answer {
			if err != nil {
				t.Errorf("%s: %v", key, err)
			}
			done = r
			return ledger.Answer{Code: ledger.OK, Body: []byte(r.Entries[0].ID.String())}
		}}, c)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return done
}

// TestACardOfFiveYearsAgo: another system sold a card of 16 digits five years ago. It is imported as of last night;
// typed and swiped at a till; half redeemed, lost, and replaced. The books of that night say what the old system's
// report says, whatever happens afterwards.
func TestACardOfFiveYearsAgo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Locations = []merchant.Location{{ID: guid.ID{2}, Name: "Pier 39"}}
	const report = "code,balance,issuedAt,recipient,reference\n" +
		"6006 1234 5678 9012,80.00,2021-11-20,Ana,OLD-1\n" +
		"6006 1234 5678 9013,19.50,2021-12-24,Ben,OLD-2\n" // the old system owed 99.50 last night
	o := w.order()
	o.Count, o.Total = 2, "99.50"
	if _, _, err := w.run(t.Context(), w, o, strings.NewReader(report)); err != nil {
		t.Fatal(err)
	}
	nightOf := func() {
		t.Helper()
		if before, at := w.owedAt(t, w.asOf), w.owedAt(t, w.asOf.Add(time.Second)); before != 0 || at != 99_50 {
			t.Errorf("%d was owed before that instant, and %d then; the old system says 9950", before, at)
		}
	}
	nightOf()
	idle := map[int]money.Amount{}
	asked := &books.Asked{Account: w.Account, Until: w.asOf.Add(time.Second), Cubes: []books.Cube{books.Idle}}
	err := w.EachMoved(t.Context(), asked, func(_ int, k books.Key, s books.Sum) error {
		idle[k.Month] += s.Money
		return nil
	})
	if err != nil || !maps.Equal(idle, map[int]money.Amount{202111: 80_00, 202112: 19_50}) {
		t.Errorf("nobody has used cards since %v: %v", idle, err)
	}

	found := gift.Gift{}
	for how, text := range map[string]string{"typed": "6006 1234 5678 9012", "typed with dashes": "6006-1234-5678-9012",
		"scanned": "6006123456789012", "swiped": ";6006123456789012=29121010000000000000?",
		"swiped on both tracks": "%B6006123456789012^GIFT/CARD^2912?;6006123456789012=2912?"} {
		code, err := codes.Read(w.Account, text)
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		found, err = w.GiftByCode(t.Context(), code)
		if err != nil || found.Balance != 80_00 || found.Card.Recipient != "Ana" || found.Status != gift.Delivered {
			t.Errorf("%s: %+v, %v", how, found.Voucher, err)
		}
	}
	history, err := w.History(t.Context(), w.Account.ID, found.ID, 0, 10)
	if err != nil || len(history) != 1 || history[0].Kind != gift.Imported || !history[0].At.Equal(w.asOf) ||
		!strings.Contains(history[0].Reason, "2021-11-20") {
		t.Errorf("%+v, %v", history, err)
	}

	e := engine.Start(w.Store, engine.Options{})
	defer e.Stop()
	till := gift.Context{Actor: merchant.Actor{LocationID: guid.ID{2}}}
	taken := do(t, e, w, operation.RedeemGift, "half", &ledger.Redeem{VoucherID: found.ID,
		Redeem: gift.Redeem{Context: till, LocationID: guid.ID{2}, Amount: 40_00}})
	if taken.Vouchers[0].Balance != 40_00 {
		t.Errorf("half of it: %+v", taken.Vouchers)
	}
	replaced := do(t, e, w, operation.ReplaceGift, "lost", &ledger.Replace{VoucherID: found.ID, Replace: gift.Replace{
		Context: till, Caller: &merchant.Caller{Kind: merchant.AccountKey, Account: w.Account,
			Permissions: merchant.AllPermissions}}})
	old, err := codes.Read(w.Account, "6006123456789012")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.GiftByCode(t.Context(), old); err == nil {
		t.Error("the lost card still works")
	} else if _, is := errors.AsType[*gift.ReplacedError](err); !is {
		t.Errorf("the lost card: %v", err)
	}
	if g, err := w.GiftByCode(t.Context(), replaced.Secrets.Code); err != nil || g.ID != found.ID || g.Balance != 40_00 {
		t.Errorf("the new card: %+v, %v", g.Voucher, err)
	}
	nightOf()
	if now := w.owedAt(t, time.Now().Add(time.Minute)); now != 59_50 {
		t.Errorf("%d is owed now", now)
	}
	w.verify(t)
}
