package merchant

import (
	"time"

	"boon.example/internal/money"
)

// Quota is what is left of a daily limit after a call that counted against it.
type Quota struct {
	Name  string // whose limit it is, and which, such as account.giftsPerDay
	Unit  string // what it counts
	Limit int64
	Left  int64
	Ends  time.Duration // when it counts anew
	Day   time.Duration // how long the day is that it counts: 23 or 25 hours where the clocks change
}

// Sent are the limits on what is sent, with what is left of them.
func (b *Budget) Sent(used Count) (all []Quota) {
	all = b.quota(all, "issuedPerDay", "minor-units", int64(b.IssuedPerDay), int64(used.Amount))
	all = b.quota(all, "giftsPerDay", "gifts", b.GiftsPerDay, used.Gifts)
	all = b.quota(all, "messagesPerDay", "messages", b.MessagesPerDay, used.Messages)
	return b.quota(all, "textsPerDay", "messages", b.TextsPerDay, used.Texts)
}

// Redeemed is the limit on what is redeemed, with what is left of it.
func (b *Budget) Redeemed(used money.Amount) []Quota {
	return b.quota(nil, "redeemedPerDay", "minor-units", int64(b.RedeemedPerDay), int64(used))
}

func (b *Budget) quota(all []Quota, name, unit string, limit, used int64) []Quota {
	if limit == 0 {
		return all
	}
	return append(all, Quota{string(b.Owner) + "." + name, unit, limit, max(0, limit-used), b.Left,
		DayLength(b.Now, b.Zone)})
}
