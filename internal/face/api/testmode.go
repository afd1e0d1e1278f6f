package api

import (
	"time"

	"boon.example/internal/base/admission"
	"boon.example/internal/calendar"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
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
	move := func(was merchant.Clock) (merchant.Clock, event.TrailEntry, error) {
		is, err := was.Set(asked, c.Account.Zone, c.RealTime().UTC())
		return is, event.TrailEntry{AccountID: c.Account.ID, Actor: c.Actor(guid.ID{}).Actor, Action: event.ClockAdvanced,
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
func (c *call) tellClock(clock merchant.Clock, within time.Duration) (ledger.Answer, error) {
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

// failure is what an integrator can have a redemption of a test account run into.
type failure int

// The failures.
const (
	none       failure = iota
	answerLost         // what was done is answered with UNAVAILABLE
	noAnswer           // it is not answered in time
	overloaded         // nothing is done
)

// failures are the amounts that ask for them, in the smallest unit of the currency: 503.01 dollars and so on.
var failures = map[money.Amount]failure{50301: answerLost, 50302: noAnswer, 50303: overloaded}

// rehearsed lets integrators rehearse with a test account what can go wrong with what h does: the amount of the request
// says what does.
func rehearsed(h handler) handler {
	return func(c *call) (ledger.Answer, error) {
		if !c.Account.Test {
			return h(c)
		}
		asked := c.failureAsked()
		if asked == overloaded {
			return ledger.Answer{}, service.ErrOverloaded
		}
		answer, err := h(c)
		if answer.Fresh() && asked != none {
			err = c.loseAnswer(asked)
		}
		return answer, err
	}
}

// failureAsked reads which failure the amount of the request asks for.
func (c *call) failureAsked() failure {
	number, _, _ := service.Decode(&c.Call, func(o *wire.Object) money.Number { return o.Number("amount") })
	if number == "" {
		return none
	}
	amount, err := c.Account.Currency.Read(number, money.NoLimit)
	if err != nil {
		return none
	}
	return failures[amount]
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

// loseAnswer loses the answer of a redemption that was done. Its repeat under the same key gets it.
func (c *call) loseAnswer(how failure) error {
	if how == noAnswer {
		c.keepSilent()
	}
	lost := refusal.New(refusal.Unavailable, "It is not known whether this was done. Repeat the request in a moment with "+
		"the same Idempotency-Key.")
	lost.RetryAfter = time.Second
	return lost
}
