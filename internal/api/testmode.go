package api

import (
	"context"
	"sync"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// What test accounts may take of the service, whatever they ask for.
const (
	maxTests  = 16 // calls at once
	maxSilent = 64 // that are not answered at once
	// maxTestsOfAccount of the calls at once may be one account's: what becomes due may take seconds.
	maxTestsOfAccount = maxTests / 2
	testWait          = 400 * time.Millisecond // for a place
	settling          = 8 * time.Second        // of what is due
	silence           = 10 * time.Second       // of a redemption whose answer is lost
	clockPath         = root + "/test/clock"
)

func testRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: clockPath, Priority: PriorityRead, handle: showClock, deadline: otherDeadline},
		{Method: "POST", Pattern: clockPath, Priority: PriorityWrite, handle: advanceClock, deadline: otherDeadline},
	}
}

// testing reports whether the call is a test account's.
func (c *call) testing() bool { return c.caller.Test || c.account != nil && c.account.Test }

// admit waits until the call may be handled. Those of test accounts come last, and few of them at once, in turns by
// account.
func (c *call) admit(ctx context.Context, p Priority) bool {
	given, party := func() {}, c.party()
	if c.testing() {
		p = PriorityRead
		waits, cancel := context.WithTimeout(ctx, testWait)
		defer cancel()
		var err error
		if given, err = c.tests.Take(waits, party, c.caller.KeyID); err != nil {
			return false
		}
	}
	if !c.Admission.Enter(ctx, party, p) {
		given()
		return false
	}
	c.leave = sync.OnceFunc(func() {
		c.Admission.Leave(party, p)
		given()
	})
	return true
}

// readClocks reads the clocks of the test accounts that the caller may act for. Live accounts have none, and cost
// nothing.
func (c *call) readClocks() error {
	if !c.testing() {
		return nil
	}
	accounts := c.caller.Accounts
	if c.account != nil {
		accounts = []guid.ID{c.account.ID}
	}
	c.clocks = make(map[guid.ID]gift.Clock, len(accounts))
	for _, id := range accounts {
		clock, err := c.Records.Clock(c.ctx, id)
		if err != nil {
			return stored(err)
		}
		c.clocks[id] = clock
	}
	return nil
}

// enter makes the call one about an account, by whose clock it goes from now on.
func (c *call) enter(a *gift.Account) {
	if c.account = a; a != nil && a.Test {
		c.now = c.clocks[a.ID].Now(c.Now()).UTC()
	}
}

// showClock tells what the clock of a test account shows.
func showClock(c *call) (ledger.Answer, error) {
	q := wire.ReadQuery(c.r.URL.RawQuery)
	if err := q.Err(); err != nil {
		return ledger.Answer{}, err
	}
	if err := c.hasClock(); err != nil {
		return ledger.Answer{}, err
	}
	return c.tellClock(c.clocks[c.account.ID], 0)
}

// advanceClock moves the clock of a test account forward, and has done what became due.
func advanceClock(c *call) (ledger.Answer, error) {
	if err := c.hasClock(); err != nil {
		return ledger.Answer{}, err
	}
	asked, problems := decode(c, readClockChange)
	c.readKey(problems)
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	asked.Key = c.key
	if moved, err := c.clocks[c.account.ID].Set(asked, c.account.Zone, c.Now().UTC()); err == nil &&
		moved != c.clocks[c.account.ID] {
		if err := c.countKept(); err != nil {
			return ledger.Answer{}, err
		}
	}
	move := func(was gift.Clock) (gift.Clock, gift.TrailEntry, error) {
		is, err := was.Set(asked, c.account.Zone, c.Now().UTC())
		return is, gift.TrailEntry{AccountID: c.account.ID, Actor: c.actor(guid.ID{}).Actor, Action: gift.ClockAdvanced,
			RequestID: c.requestID, What: "the test clock shows " + is.Now(c.Now()).UTC().Format(time.RFC3339)}, err
	}
	clock, err := c.Records.AdvanceClock(c.ctx, c.account.ID, move)
	if err != nil {
		return ledger.Answer{}, stored(err)
	}
	return c.tellClock(clock, settling)
}

func (c *call) hasClock() error {
	if c.account.Test {
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
	left, err := c.Settle(c.r.Context(), c.account, within)
	if err != nil {
		return ledger.Answer{}, stored(err)
	}
	return c.answer(ledger.OK, func(w *wire.Writer) {
		w.ID("accountID", c.account.ID)
		w.Instant("now", clock.Now(c.Now()))
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
	if !c.account.Test || number == "" {
		return none
	}
	amount, err := c.account.Currency.Read(number, money.NoLimit)
	if err != nil {
		return none
	}
	return troubles[amount]
}

// keepSilent waits, without a place that others may need, until the caller has given up.
func (c *call) keepSilent() {
	if !c.silent.Take(c.account.ID, 1, maxSilent) {
		return
	}
	defer c.silent.Give(c.account.ID, 1)
	c.leave()
	over := time.NewTimer(silence)
	defer over.Stop()
	select {
	case <-over.C:
	case <-c.r.Context().Done():
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
