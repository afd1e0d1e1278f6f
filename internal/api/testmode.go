package api

import (
	"time"

	"boon.example/internal/admission"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// What test accounts may take of the service, whatever they ask for.
const (
	maxSilent = 64               // calls that are not answered at once
	settling  = 8 * time.Second  // of what is due
	silence   = 10 * time.Second // of a redemption whose answer is lost
	clockPath = Root + "/test/clock"
)

func testRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: clockPath, Priority: admission.Read, handle: showClock, deadline: otherDeadline},
		{Method: "POST", Pattern: clockPath, Priority: admission.Write, handle: advanceClock, deadline: otherDeadline},
	}
}

// showClock tells what the clock of a test account shows.
func showClock(c *call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.HTTP.URL.RawQuery)
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	if err := c.hasClock(); err != nil {
		return ledger.Answer{}, err
	}
	return c.tellClock(c.Clock(), 0)
}

// advanceClock moves the clock of a test account forward, and has done what became due.
func advanceClock(c *call) (ledger.Answer, error) {
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
	move := func(was gift.Clock) (gift.Clock, gift.TrailEntry, error) {
		is, err := was.Set(asked, c.Account.Zone, c.RealTime().UTC())
		return is, gift.TrailEntry{AccountID: c.Account.ID, Actor: c.Actor(guid.ID{}).Actor, Action: gift.ClockAdvanced,
			RequestID: c.RequestID, What: "the test clock shows " + is.Now(c.RealTime()).UTC().Format(time.RFC3339)}, err
	}
	clock, err := c.Records.AdvanceClock(c.Context(), c.Account.ID, move)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	return c.tellClock(clock, settling)
}

func (c *call) hasClock() error {
	if c.Account.Test {
		return nil
	}
	return refusal.New(refusal.NotSupported,
		"This account is live, and its time is the real one. Only test accounts have a "+
			"clock that can be advanced.")
}

func readClockChange(o *wire.Object) (ask gift.ClockChange) {
	const advance, now = "advance", "now"
	if text := o.Text(advance); text != "" {
		p, ok := gift.ParsePeriod(text)
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
func (c *call) tellClock(clock gift.Clock, within time.Duration) (ledger.Answer, error) {
	left, err := c.Settle(c.HTTP.Context(), c.Account, within)
	if err != nil {
		return ledger.Answer{}, service.Stored(err)
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		w.ID("accountID", c.Account.ID)
		w.Instant("now", clock.Now(c.RealTime()))
		w.Integer("due", left)
	}), nil
}

// trouble is what an integrator can ask a redemption of a test account to run into.
type trouble int

// The troubles.
const (
	none       trouble = iota
	answerLost         // what was done is answered with UNAVAILABLE
	noAnswer           // it is not answered in time
	overloaded         // nothing is done
)

// troubles are the amounts that ask for them, in the smallest unit of the currency: 503.01 dollars and so on.
var troubles = map[money.Amount]trouble{50301: answerLost, 50302: noAnswer, 50303: overloaded}

func (c *call) troubleOf(number money.Number) trouble {
	if !c.Account.Test || number == "" {
		return none
	}
	amount, err := c.Account.Currency.Read(number, money.NoLimit)
	if err != nil {
		return none
	}
	return troubles[amount]
}

// keepSilent waits, without a place that others may need, until the caller has given up.
func (c *call) keepSilent() {
	if !c.silent.Take(c.Account.ID, 1, maxSilent) {
		return
	}
	defer c.silent.Give(c.Account.ID, 1)
	c.Leave()
	over := time.NewTimer(silence)
	defer over.Stop()
	select {
	case <-over.C:
	case <-c.HTTP.Context().Done():
	}
}

// lose loses the answer of a redemption that was done. Its repeat under the same key gets it.
func (c *call) lose(t trouble) error {
	if t != answerLost && t != noAnswer {
		return nil
	}
	if t == noAnswer {
		c.keepSilent()
	}
	lost := refusal.New(refusal.Unavailable, "It is not known whether this was done. Repeat the request in a moment with "+
		"the same Idempotency-Key.")
	lost.RetryAfter = time.Second
	return lost
}
