package gift

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// drawEnding draws a promotional gift with days of grace, whose validity may have been extended, and a time near the
// instants that matter.
func drawEnding(t *rapid.T) (Voucher, time.Time) {
	v := voucherIn(Delivered)
	v.Promotional, v.GraceDays = true, rapid.SampledFrom([]int{0, 1, 14, MaxGraceDays}).Draw(t, "grace")
	if rapid.Bool().Draw(t, "ends") {
		v.ValidUntil = now
		if rapid.Bool().Draw(t, "extended") {
			v.Extended = now.Add(time.Duration(rapid.IntRange(1, 1_000).Draw(t, "by")) * time.Hour)
		}
	}
	from := rapid.SampledFrom([]time.Time{now, v.Extended, v.EndForTill()}).Draw(t, "near")
	if from.IsZero() {
		from = now
	}
	return v, from.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "off")) * 12 * time.Hour)
}

// expired reports whether a reason is that the validity is over.
func expired(reasons []Reason) bool {
	for _, r := range reasons {
		if strings.Contains(r.Text.String(), "expired at") {
			return true
		}
	}
	return false
}

// TestTwoEnds: a gift is over for its guest first, and for tills as many days later as its promotion grants. What pays
// goes by the second, and what is told by the first.
func TestTwoEnds(t *testing.T) {
	t.Parallel()
	account := &merchant.Account{ID: id(1), Zone: time.UTC}
	caller := &merchant.Caller{Kind: merchant.AccountKey, Account: account}
	rapid.Check(t, func(t *rapid.T) {
		v, at := drawEnding(t)
		guest, till := v.OverForGuest(at), v.OverForTill(at)
		graced := at.Add(-time.Duration(v.GraceDays) * 24 * time.Hour)
		if till && !guest || till != v.OverForGuest(graced) || v.GraceDays == 0 && till != guest {
			t.Fatalf("over for the guest %t, for tills %t", guest, till)
		}
		if expired(v.NotRedeemable(shop, at, nil)) != till || expired(v.NotRedeemable(guid.ID{}, at, nil)) != guest ||
			v.InPeriod(shop, at) == till || v.InPeriod(guid.ID{}, at) == guest {
			t.Fatalf("over for the guest %t, for tills %t: %v", guest, till, v.NotRedeemable(shop, at, nil))
		}
		c := context()
		c.Now = at
		redeem := Redeem{Context: c, LocationID: shop, Account: account, Amount: 1}
		_, _, redeemed := v.Redeem(redeem)
		_, _, held := v.Hold(Hold{Redeem: redeem})
		for what, err := range map[string]error{"redeem": redeemed, "hold": held} {
			if (err != nil) != till {
				t.Fatalf("%s, over for tills %t: %v", what, till, err)
			}
		}
		_, _, _, _, sent := v.Resend(byMail, Resend{Context: c, Caller: caller})
		if _, _, extended := v.Extend(Extend{Context: c, Caller: caller, Until: v.End()}); (sent != nil) != guest ||
			extended == nil {
			t.Fatalf("over for the guest %t; sent again: %v; extended by nothing: %v", guest, sent, extended)
		}
	})
}

// TestExtensionsKeepTheGrace: the days follow the new end, and no end with its days is beyond the year 9999.
func TestExtensionsKeepTheGrace(t *testing.T) {
	t.Parallel()
	v := voucherIn(Delivered)
	v.Promotional, v.ValidUntil, v.GraceDays = true, now, 10
	caller := &merchant.Caller{Kind: merchant.AccountKey, Account: &merchant.Account{ID: id(1), Zone: time.UTC}}
	until := now.AddDate(0, 1, 0)
	after, _, err := v.Extend(Extend{Context: context(), Caller: caller, Until: until})
	if err != nil || !after.EndForTill().Equal(until.AddDate(0, 0, 10)) {
		t.Errorf("taken until %v, %v", after.EndForTill(), err)
	}
	_, _, err = v.Extend(Extend{Context: context(), Caller: caller, Until: lastInstant.AddDate(0, 0, -10)})
	if codeOf(t, err) != refusal.ValidationFailure {
		t.Errorf("extended to the end of time: %v", err)
	}
}

// TestGraceDoesNotMove: value does not move to a gift that tills take for longer.
func TestGraceDoesNotMove(t *testing.T) {
	t.Parallel()
	from, to := voucherIn(Delivered), voucherIn(Delivered)
	to.ID = id(0x77)
	from.ValidUntil, to.ValidUntil = now.Add(time.Hour), now.Add(time.Hour)
	ask := Transfer{Context: context(), Caller: &merchant.Caller{Kind: merchant.AccountKey,
		Account: &merchant.Account{ID: id(1), Zone: time.UTC, MaxGiftValue: 100_000}}, Amount: 1}
	for grace, code := range map[[2]int]refusal.Code{{0, 1}: refusal.RedemptionNotAllowed, {1, 1}: "", {2, 1}: ""} {
		from.GraceDays, to.GraceDays = grace[0], grace[1]
		if _, err := from.movable(&to, ask); codeOf(t, err) != code {
			t.Errorf("%d days to %d: %v", grace[0], grace[1], err)
		}
	}
}
