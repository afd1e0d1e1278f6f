package api_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// grace gives Harbor's promotions days of grace.
func (w *world) grace(days int) {
	w.Helper()
	w.configure(func(a *merchant.Account) {
		a.Promotions = slices.Clone(a.Promotions)
		for n := range a.Promotions {
			a.Promotions[n].GraceDays = days
		}
	})
}

func (w *world) isToldNoGrace(r reply) {
	w.Helper()
	if r.want(200); bytes.Contains(r.body, []byte("graceUntil")) {
		w.Errorf("it tells of days of grace: %s", r.body)
	}
}

// TestGraceDays: tills take a gift of a promotion for some days more, and are told until when. Nobody else is told. A
// gift keeps the days that it was made with.
func TestGraceDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const day = 24 * time.Hour
	w.grace(7)
	g := w.promotional("10")
	w.grace(0)
	bare := w.promotional("10")
	until := w.get("/gifting/gifts/" + g.id).want(200).at("validUntil")
	end, err := time.Parse(time.RFC3339, until)
	if err != nil {
		t.Fatal(err)
	}
	graced := end.Add(7 * day).Format("2006-01-02T15:04:05.000Z")
	asked := func(g made) reply {
		return w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`"}`)
	}
	asked(g).want(200, "validUntil", until, "graceUntil", graced)
	w.isToldNoGrace(asked(bare))
	w.isToldNoGrace(w.get("/gifting/gifts/" + g.id))

	w.pass(end.Sub(w.now()) + 6*day)
	w.get("/gifting/gifts/"+g.id).want(200, "validUntil", until, "isRedeemable", "false", "isInRedeemablePeriod", "false")
	asked(g).want(200, "validUntil", until, "isRedeemable", "true", "isInRedeemablePeriod", "true", "graceUntil", graced)
	asked(bare).want(200, "isRedeemable", "false", "isInRedeemablePeriod", "false")
	w.redeem(bare, "1").refused(409, refusal.RedemptionNotAllowed)
	w.redeem(g, "1").want(200, "isRedeemable", "true", "graceUntil", graced)
	hold := w.holdGift(g, "2").want(200).at("holdID")
	w.post("resend-gift", `{"voucherID":"`+g.id+`"}`).refused(409, refusal.RedemptionNotAllowed)

	w.pass(day)
	asked(g).want(200, "isRedeemable", "false", "graceUntil", graced)
	w.redeem(g, "1").refused(409, refusal.RedemptionNotAllowed)
	w.post("release-hold", `{"holdID":"`+hold+`"}`)
	w.sound()
}
