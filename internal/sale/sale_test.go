package sale

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// TestSalesTakeWhatIsToBePaid: whatever the gifts have, a sale up to an amount takes that, or all there is; each gift
// pays before the next one is asked; and what is wrong with one leaves all as they are.
func TestSalesTakeWhatIsToBePaid(t *testing.T) {
	t.Parallel()
	account := &merchant.Account{Zone: time.UTC}
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		s := &Sale{UpTo: money.Amount(rapid.Int64Range(1, 3000).Draw(t, "up to"))}
		var vouchers []gift.Voucher
		var sum money.Amount
		blocked := -1
		for n := range rapid.IntRange(1, MaxGifts).Draw(t, "gifts") {
			balance := money.Amount(rapid.Int64Range(0, 1000).Draw(t, "balance"))
			v := gift.Voucher{ID: guid.ID{byte(n + 1)}, Currency: money.Currency{Code: "USD", Decimals: 2}, Funded: 1000,
				Balance: balance, Status: gift.Delivered}
			if balance == 0 {
				v.Status = gift.Redeemed
			}
			if rapid.IntRange(0, 30).Draw(t, "blocked") == 0 && sum < s.UpTo && blocked < 0 {
				v.Blocked, blocked = "LOST", n
			}
			if rapid.IntRange(0, 30).Draw(t, "elsewhere") == 0 && blocked < 0 { // also where nothing is left to pay
				v.LocationID, blocked = guid.ID{0xee}, n
			}
			sum += balance
			vouchers = append(vouchers, v)
			s.Gifts = append(s.Gifts, gift.Redeem{Context: gift.Context{EntryID: guid.ID{0xff, byte(n)}, Now: now},
				Account: account})
		}
		after, entries, failed, err := s.Redeem(vouchers)
		switch refused, _ := errors.AsType[*refusal.Error](err); {
		case blocked >= 0:
			if err == nil || failed != blocked || refused.Messages[0].Field != refusal.FieldGifts.At(blocked) {
				t.Fatalf("a sale with a blocked gift at %d: %v at %d", blocked, err, failed)
			}
			return
		case sum == 0:
			if err == nil || refused.Code != refusal.InsufficientBalance {
				t.Fatalf("a sale of empty gifts: %v", err)
			}
			return
		case err != nil:
			t.Fatal(err)
		}
		var taken money.Amount
		for n, e := range entries {
			taken -= e.Delta
			if last := n == len(entries)-1; e.Sale != entries[0].ID || last != e.Next.IsZero() ||
				!last && e.Next != entries[n+1].ID {
				t.Errorf("entry %d names %s and %s", n, e.Sale, e.Next)
			}
		}
		if taken != min(sum, s.UpTo) {
			t.Errorf("%d were taken of %d for %d", taken, sum, s.UpTo)
		}
		for n := range after {
			paid := vouchers[n].Balance - after[n].Balance
			if paid > 0 && n > 0 && after[n-1].Balance > 0 {
				t.Errorf("gift %d paid before the one before it was used up", n)
			}
		}
	})
}
