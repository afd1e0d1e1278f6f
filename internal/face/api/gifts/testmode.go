package gifts

import (
	"time"

	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// What test accounts may take of the service, whatever they ask for.
const (
	maxUnanswered = 64               // calls that are not answered at once
	unansweredFor = 10 * time.Second // of a redemption whose answer is lost
)

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

// Rehearsed lets integrators rehearse with a test account what can go wrong with what h does: the amount of the request
// says what does.
func Rehearsed(h Handler) Handler {
	return func(c *Call) (ledger.Answer, error) {
		if !c.Account.Test {
			return h(c)
		}
		asked := c.failureAsked()
		if asked == overloaded {
			return ledger.Answer{}, service.ErrOverloaded
		}
		answer, err := h(c)
		if answer.Fresh() && asked != none {
			err = c.dropAnswer(asked)
		}
		return answer, err
	}
}

// failureAsked reads which failure the amount of the request asks for.
func (c *Call) failureAsked() failure {
	number, _, _ := service.Decode(c.Call, func(o *wire.Object) money.Number { return o.Number("amount") })
	if number == "" {
		return none
	}
	amount, err := c.Account.Currency.Read(number, money.NoLimit)
	if err != nil {
		return none
	}
	return failures[amount]
}

// leaveUnanswered waits, without a place that others may need, until the caller has given up.
func (c *Call) leaveUnanswered() {
	if !c.unanswered.Take(c.Account.ID, 1, maxUnanswered) {
		return
	}
	defer c.unanswered.Give(c.Account.ID, 1)
	c.Leave()
	over := time.NewTimer(unansweredFor)
	defer over.Stop()
	select {
	case <-over.C:
	case <-c.HTTP.Context().Done():
	}
}

// dropAnswer drops the answer of a redemption that was done. Its repeat under the same key gets it.
func (c *Call) dropAnswer(how failure) error {
	c.Rehearsed = true
	if how == noAnswer {
		c.leaveUnanswered()
	}
	lost := refusal.New(refusal.Unavailable, "It is not known whether this was done. Repeat the request in a moment with "+
		"the same Idempotency-Key.")
	lost.RetryAfter = time.Second
	return lost
}
