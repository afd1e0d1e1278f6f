package store

import (
	"slices"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
)

// testValues: what gifts hold is summed up by account, currency and whether they are promotional. Pieces do not count,
// nor purchases that failed; what is cancelled or expired is not outstanding.
func testValues(t *testing.T, open opener) {
	s, _ := open(t)
	account, other := newID(), newID()
	add := func(change func(*gift.Voucher)) {
		g, e := newGift(account)
		change(&g.Voucher)
		e.Balance = g.Balance
		save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
	}
	hold := func(v *gift.Voucher, amount money.Amount) { v.Funded, v.Balance = amount, amount }
	add(func(v *gift.Voucher) { hold(v, 1_00); v.Status = gift.PurchaseFailed })
	add(func(v *gift.Voucher) { hold(v, 20_00); v.Status = gift.Cancelled })
	add(func(v *gift.Voucher) { hold(v, 7); v.Item, v.Currency = true, money.Currency{} })
	add(func(v *gift.Voucher) { hold(v, 500); v.Currency = money.Currency{Code: "JPY"} })
	for _, until := range []time.Time{noon, noon.Add(time.Microsecond)} {
		add(func(v *gift.Voucher) {
			hold(v, 300_00)
			v.Promotional, v.ValidFrom, v.ValidUntil = true, noon.AddDate(0, 0, -30), until
		})
	}
	add(func(v *gift.Voucher) {
		hold(v, 4_000_00)
		v.Promotional, v.ValidFrom, v.ValidUntil = true, noon.AddDate(0, 0, -30), noon
		v.Extended = noon.Add(time.Hour)
	})
	for _, until := range []time.Time{noon.AddDate(0, 0, -2), noon.AddDate(0, 0, -2).Add(time.Microsecond)} {
		add(func(v *gift.Voucher) {
			hold(v, 10_000_00)
			v.Promotional, v.ValidFrom, v.ValidUntil, v.GraceDays = true, noon.AddDate(0, 0, -30), until, 2
		})
	}
	gifts := issue(t, s, other, 2)
	redeem(t, s, &gifts[0].Voucher, 10_00)
	full := gifts[0].Funded

	dollar, yen := gifts[0].Currency, money.Currency{Code: "JPY"}
	want := []Value{
		{account, dollar, false, 20_00, 0, 0},
		{account, dollar, true, 24_600_00, 0, 14_300_00},
		{account, yen, false, 500, 0, 500},
		{other, dollar, false, 2 * full, 10_00, 2*full - 10_00},
	}
	got, err := s.Values(t.Context(), noon)
	must(t, err)
	got = slices.DeleteFunc(got, func(v Value) bool { return v.AccountID != account && v.AccountID != other })
	if len(got) != len(want) {
		t.Errorf("%d sums, want %d: %v", len(got), len(want), got)
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%v is not among %v", w, got)
		}
	}
}
