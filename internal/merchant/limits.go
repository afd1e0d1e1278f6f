package merchant

import (
	"math"
	"strconv"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/calendar"
	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// Limits are how much may be done in a day of the account's time zone: by an account, or with a key. 0: as much as
// one likes.
type Limits struct {
	// of money: values of monetary gifts, equivalent values of pieces
	IssuedPerDay money.Amount `json:"issued,omitempty" setup:"issuedPerDay"`
	GiftsPerDay  int64        `json:"gifts,omitempty" setup:"giftsPerDay"`
	// likewise
	RedeemedPerDay money.Amount `json:"redeemed,omitempty" setup:"redeemedPerDay"`
	// e-mail and SMS: gifts, resends and balance notices
	MessagesPerDay int64 `json:"messages,omitempty" setup:"messagesPerDay"`
	// of those, SMS
	TextsPerDay              int64 `json:"texts,omitempty" setup:"textsPerDay"`
	MessagesPerContactPerDay int64 `json:"messagesPerContact,omitempty" setup:"messagesPerContactPerDay"`
}

// OfMoney reports whether money is limited, and so what pieces are worth.
func (l *Limits) OfMoney() bool { return l.IssuedPerDay > 0 || l.RedeemedPerDay > 0 }

// DefaultLimits are those of an account whose set-up names none. There is none for money.
var DefaultLimits = Limits{GiftsPerDay: 100_000, MessagesPerDay: 20_000, TextsPerDay: 2_000,
	MessagesPerContactPerDay: 10}

// How many calls of a key that moved nothing are kept in a day, under their Idempotency-Keys or otherwise: so many, or
// so many for each place where it is used, if that is more.
const (
	MaxKeptPerDay  = 10_000
	MaxKeptAtPlace = 1_000
)

// Count is what was done in a day.
type Count struct {
	Day      int // see Day
	Amount   money.Amount
	Gifts    int64
	Messages int64
	Texts    int64
	Kept     int64
}

// CountKind says what a count is of.
type CountKind byte

// The kinds of count. What redemptions add to is apart from what is sent, so that they do not wait for each other.
const (
	SentCount     CountKind = 's' // gifts and messages
	RedeemedCount CountKind = 'r'
	ContactCount  CountKind = 'c' // messages to one contact
	KeptCount     CountKind = 'k' // calls of a key that moved nothing and are kept
)

// CountKey names what is counted of an account, or of a key within an account.
type CountKey struct {
	AccountID guid.ID
	Kind      CountKind
	Owner     guid.ID // the account or the key
	Contact   string  // of a ContactCount
}

// Day numbers the calendar day of a zone, as 20261122, and tells how long it still lasts.
func Day(now time.Time, zone *time.Location) (day int, left time.Duration) {
	y, m, d := now.In(zone).Date()
	return number(y, m, d), calendar.FromWall(time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC), zone).Sub(now)
}

// DayLength is how long the calendar day of a zone is: not 24 hours where the clocks change.
func DayLength(now time.Time, zone *time.Location) time.Duration {
	y, m, d := now.In(zone).Date()
	midnight := func(d int) time.Time { return calendar.FromWall(time.Date(y, m, d, 0, 0, 0, 0, time.UTC), zone) }
	return midnight(d + 1).Sub(midnight(d))
}

// number is 20261122 for the day.
func number(y int, m time.Month, d int) int { return y*10_000 + int(m)*100 + d }

// On is the count as it stands on a day: that of an earlier one is over. That of the next day goes on: an instance
// whose clock is ahead has begun it, or the account's zone has changed. Of one further ahead, the clock was wrong.
func (c Count) On(day int) Count {
	y, m, d := time.Date(day/10_000, time.Month(day/100%100), day%100+1, 0, 0, 0, 0, time.UTC).Date()
	if next := number(y, m, d); c.Day != day && c.Day != next {
		return Count{Day: day}
	}
	return c
}

// Plus adds up two counts of one day.
func (c Count) Plus(more Count) Count {
	c.Amount = money.Amount(add(int64(c.Amount), int64(more.Amount)))
	c.Gifts, c.Messages = add(c.Gifts, more.Gifts), add(c.Messages, more.Messages)
	c.Texts, c.Kept = add(c.Texts, more.Texts), add(c.Kept, more.Kept)
	return c
}

// add adds what is not negative, up to what fits.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// MessageCount counts a message of one gift.
func MessageCount(m contact.Method) (c Count) {
	if m == contact.Email || m == contact.SMS {
		c.Messages = 1
	}
	if m == contact.SMS {
		c.Texts = 1
	}
	return c
}

// Budget is a limited account or key on one day.
type Budget struct {
	Limits
	Owner    phrase.Text // "account" or "key"
	Currency money.Currency
	Zone     *time.Location
	Left     time.Duration // of the day
	Now      time.Time
}

// Send refuses what goes beyond the limits on what is sent.
func (b *Budget) Send(used, more Count) error {
	if err := b.money("issuedPerDay", b.IssuedPerDay, used.Amount, more.Amount); err != nil {
		return err
	}
	if err := b.number("giftsPerDay", b.GiftsPerDay, used.Gifts, more.Gifts); err != nil {
		return err
	}
	if err := b.number("messagesPerDay", b.MessagesPerDay, used.Messages, more.Messages); err != nil {
		return err
	}
	return b.number("textsPerDay", b.TextsPerDay, used.Texts, more.Texts)
}

// Contact refuses more messages to one contact than the limit.
func (b *Budget) Contact(used, more Count) error {
	return b.number("messagesPerContactPerDay", b.MessagesPerContactPerDay, used.Messages, more.Messages)
}

// Redeem refuses to redeem more than the limit.
func (b *Budget) Redeem(used, more Count) error {
	return b.money("redeemedPerDay", b.RedeemedPerDay, used.Amount, more.Amount)
}

// Keep refuses to keep more calls that moved nothing, for a key that is used at so many places.
func (b *Budget) Keep(used Count, places int) error {
	most := max(MaxKeptPerDay, MaxKeptAtPlace*int64(places))
	if used.Kept < most {
		return nil
	}
	refused := refusal.New(refusal.RateLimited,
		"With this key %d calls that moved nothing were kept today, which is the most: "+
			"refusals under Idempotency-Keys, exports, test clocks advanced, cards replaced, cancellations taken back, gifts "+
			"blocked, unblocked, extended, rescheduled, or linked to customers. Nothing was done; it counts anew at midnight "+
			"(%s). Calls that move something are answered as ever, and those that are kept nowhere.", most, b.Zone)
	refused.RetryAfter = b.Left
	return refused
}

func (b *Budget) money(name string, limit, used, more money.Amount) error {
	if limit == 0 || more <= 0 || more <= limit-used {
		return nil
	}
	return b.reached(name, b.Currency.Money(limit), b.Currency.Money(used), b.Currency.Money(more))
}

func (b *Budget) number(name string, limit, used, more int64) error {
	if limit == 0 || more <= 0 || more <= limit-used {
		return nil
	}
	return b.reached(name, strconv.FormatInt(limit, 10), strconv.FormatInt(used, 10), strconv.FormatInt(more, 10))
}

func (b *Budget) reached(name, limit, used, more string) error {
	refused := refusal.New(refusal.RateLimited,
		"This is above a daily limit of the %s, %s: %s a day, of which %s were used "+
			"today, and this call needs %s. Nothing was done. "+
			"It counts anew at midnight (%s); the limit stands in the set-up file.", b.Owner, name, limit, used, more, b.Zone)
	refused.RetryAfter = b.Left
	return refused
}

// AtMost is what more may bring a count to.
func (l *Limits) AtMost(more Count) Count {
	limit := func(more, limit int64) int64 {
		if more <= 0 || limit == 0 {
			return math.MaxInt64
		}
		return limit
	}
	return Count{Amount: money.Amount(limit(int64(more.Amount), int64(l.IssuedPerDay))),
		Gifts: limit(more.Gifts, l.GiftsPerDay), Messages: limit(more.Messages, l.MessagesPerDay),
		Texts: limit(more.Texts, l.TextsPerDay)}
}
