package gift

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

func TestExpiredGiftsAreNotSentAgain(t *testing.T) {
	t.Parallel()
	v := voucherIn(Delivered)
	v.ValidUntil = now
	caller := &merchant.Caller{Kind: merchant.AccountKey, Account: &merchant.Account{ID: id(1), Zone: mustZone(t,
		"Asia/Tokyo")}}
	_, _, _, _, err := v.Resend(byMail, Resend{Context: context(), Caller: caller})
	if codeOf(t, err) != refusal.RedemptionNotAllowed || !strings.Contains(err.Error(),
		"it expired at 2026-11-21 21:00 (Asia/Tokyo)") {
		t.Errorf("resend: %v", err)
	}
	v = voucherIn(Pending)
	v.ValidUntil = now.Add(time.Hour)
	for date, code := range map[time.Time]refusal.Code{now.Add(time.Hour): refusal.ValidationFailure,
		now.Add(time.Hour - 1): ""} {
		_, _, _, err := v.Reschedule(byMail, Reschedule{Context: context(), Caller: caller, Date: date, Waiting: true})
		if codeOf(t, err) != code || code != "" && !strings.Contains(err.Error(), "until 2026-11-21 22:00 (Asia/Tokyo)") {
			t.Errorf("reschedule to %v: %v", date, err)
		}
	}
}

// A cashier reads times in the account's zone.
func TestReasonsTellLocalTime(t *testing.T) {
	t.Parallel()
	v := voucherIn(Delivered)
	v.ValidFrom, v.ValidUntil = now.Add(time.Hour), now.Add(-time.Hour)
	for zone, want := range map[*time.Location]string{
		mustZone(t, "America/New_York"): "it is from 2026-11-21 08:00 (America/New_York).|This gift expired at " +
			"2026-11-21 06:00 (America/New_York).",
		nil: "it is from 2026-11-21 13:00 UTC.|This gift expired at 2026-11-21 11:00 UTC.",
	} {
		reasons := v.NotRedeemable(shop, now, zone)
		if got := reasons[0].Text.String() + "|" + reasons[1].Text.String(); !strings.HasSuffix(got, want) {
			t.Errorf("%v: %q", zone, got)
		}
	}
	_, _, err := v.Redeem(Redeem{Context: context(), LocationID: shop, Account: &merchant.Account{Zone: mustZone(t,
		"Asia/Tokyo")}})
	if err == nil || !strings.Contains(err.Error(), "expired at 2026-11-21 20:00 (Asia/Tokyo)") {
		t.Errorf("redeem: %v", err)
	}
}
