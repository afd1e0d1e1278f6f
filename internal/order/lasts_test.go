package order

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// TestGiftsKeepTheirGrace: a gift is made with the days of grace that its promotion has then.
func TestGiftsKeepTheirGrace(t *testing.T) {
	t.Parallel()
	for days, starting := range map[int]time.Time{14: now, 90: time.Date(9999, 8, 1, 0, 0, 0, 0, time.UTC)} {
		a := harborCoffee(t)
		a.Promotions[0].GraceDays = days
		send := promoted(a)
		send.Payment.ValidStarting = starting
		issued, err := Issue(send, a, now, nil)
		switch {
		case starting != now:
			if err == nil || !strings.Contains(err.Error(), "beyond the year 9999") {
				t.Errorf("%d days after %v: %v", days, starting, err)
			}
		case err != nil || issued[0].GraceDays != days:
			t.Errorf("%d days: %+v, %v", days, issued, err)
		}
	}
}

// A gift that nobody could ever redeem is not made.
func TestGiftsThatAreOverAreNotMade(t *testing.T) {
	t.Parallel()
	old := func(a *merchant.Account) {
		a.Promotions[0].ValidStarting, a.Promotions[0].ValidForDays = now.AddDate(0, -8, 0), 30
	}
	ends := func(s *Send, starting time.Time, days int) {
		s.Payment.ValidStarting, s.Payment.ValidForDays = starting, &days
	}
	deliver := func(s *Send, at time.Time) { s.Item.Scheduled, s.Item.DeliveryDate = ptr(true), at }
	for _, tt := range []struct {
		name   string
		change func(*merchant.Account, *Send)
		text   string // "": it is made
	}{
		{"the promotion is over", func(a *merchant.Account, _ *Send) { old(a) },
			`it would be valid from 2026-03-21 08:00 (America/New_York) until 2026-04-20 08:00 (America/New_York), which ` +
				`is over already. ` +
				`What the request does not say of that is from the promotion "Spring".`},
		{"a later start in the request", func(a *merchant.Account, s *Send) { old(a); s.Payment.ValidStarting = now }, ""},
		{"more days in the request", func(a *merchant.Account, s *Send) { old(a); s.Payment.ValidForDays = ptr(300) }, ""},
		{"too few days in the request", func(a *merchant.Account, s *Send) { old(a); s.Payment.ValidForDays = ptr(31) },
			`from the promotion "Spring"`},
		{"over now", func(_ *merchant.Account, s *Send) { ends(s, now.AddDate(0, 0, -10), 10) }, "which is over already."},
		{"not quite over", func(_ *merchant.Account, s *Send) { ends(s, now.AddDate(0, 0, -10).Add(time.Second), 10) }, ""},
		{"delivered at its end", func(_ *merchant.Account, s *Send) { ends(s, now, 30); deliver(s, now.AddDate(0, 0, 30)) },
			"which is over before the deliveryDate."},
		{"delivered before its end", func(_ *merchant.Account, s *Send) {
			ends(s, now, 30)
			deliver(s,
				now.AddDate(0, 0, 30).Add(-time.Second))
		}, ""},
		{"a date that is ignored", func(_ *merchant.Account, s *Send) {
			ends(s, now, 30)
			deliver(s, now.AddDate(0, 0, 31))
			s.Item.Scheduled = ptr(false)
		}, ""},
	} {
		a := harborCoffee(t)
		s := promoted(a)
		tt.change(a, &s)
		_, err := Issue(s, a, now, nil)
		if tt.text == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		refused, ok := err.(*refusal.Error)
		if !ok || refused.Code != refusal.ValidationFailure || len(refused.Messages) != 1 ||
			refused.Messages[0].Field != "validForDays" ||
			!strings.Contains(refused.Messages[0].Text(inOurWords), tt.text) {
			t.Errorf("%s: %+v", tt.name, err)
		}
	}
}
