package manage

import (
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/calendar"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// catchUpTime is how long what is due in a test account is done at most, before the rest is left to others.
const catchUpTime = 8 * time.Second

// ShowClock tells what the clock of a test account shows.
func ShowClock(c *Call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	if err := c.hasClock(); err != nil {
		return ledger.Answer{}, err
	}
	return c.tellClock(c.Clock(), 0)
}

// AdvanceClock moves the clock of a test account forward, and has done what became due.
func AdvanceClock(c *Call) (ledger.Answer, error) {
	if err := c.hasClock(); err != nil {
		return ledger.Answer{}, err
	}
	asked, problems := decode(c, readClockChange)
	c.ReadKey(problems)
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	asked.Key = c.Key
	if moved, err := c.Clock().Set(asked, c.Account.Zone, c.RealTime().UTC()); err == nil &&
		moved != c.Clock() {
		if err := c.CountKept(); err != nil {
			return ledger.Answer{}, err
		}
	}
	move := func(was merchant.Clock) (merchant.Clock, event.TrailEntry, error) {
		is, err := was.Set(asked, c.Account.Zone, c.RealTime().UTC())
		return is, event.TrailEntry{AccountID: c.Account.ID, Actor: c.Actor(guid.ID{}).Actor, Action: event.ClockAdvanced,
			RequestID: c.RequestID,
			What:      phrase.Kept("the test clock shows %s").Say(is.Now(c.RealTime()).UTC().Format(time.RFC3339))}, err
	}
	clock, err := c.Records.AdvanceClock(c.Context(), c.Account.ID, move)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	return c.tellClock(clock, catchUpTime)
}

func (c *Call) hasClock() error {
	if c.Account.Test {
		return nil
	}
	return refusal.New(refusal.NotSupported,
		"This account is live, and its time is the real one. Only test accounts have a "+
			"clock that can be advanced.")
}

func readClockChange(o *wire.Object) (ask merchant.ClockChange) {
	const advance, now = "advance", "now"
	if text := o.Text(advance); text != "" {
		p, ok := calendar.ParsePeriod(text)
		if !ok {
			o.Add(o.At(advance), "This must be an ISO 8601 duration of whole numbers and at most 50 years, such as P30D or "+
				"PT12H.")
		}
		ask.Advance = &p
	}
	ask.Now = o.Instant(now)
	switch {
	case o.Given(advance) && o.Given(now):
		o.Add(o.At(now), "Give %s or %s, not both.", advance, now)
	case !o.Given(advance) && !o.Given(now):
		o.Add(o.At(advance), "Say how far the clock is to be advanced, or in %s to which instant.", now)
	}
	return ask
}

// tellClock does what is due, within a time, and tells what the clock shows then.
func (c *Call) tellClock(clock merchant.Clock, within time.Duration) (ledger.Answer, error) {
	left, err := c.CatchUp(c.HTTP.Context(), c.Account, within)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.ID("accountID", c.Account.ID)
		w.Instant("now", clock.Now(c.RealTime()))
		w.Integer("due", left)
	}), nil
}
