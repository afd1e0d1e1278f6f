package api

import (
	"context"
	"net/http"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/wire"
)

// Authenticate tells by what holds at an instant who makes a call.
type Authenticate func(now time.Time) (*gift.Caller, error)

type callerKey struct{}

// WithCaller has the interface take a request as made by whom as tells. It asks again once the body has been read.
func WithCaller(ctx context.Context, as Authenticate) context.Context {
	return context.WithValue(ctx, callerKey{}, as)
}

// Call is a call of pages that come with the interface. It is read, answered, logged and counted as the interface's
// own.
type Call struct {
	*http.Request
	Writer http.ResponseWriter
	Now    time.Time
	c      *call
}

// maxBeside is how long the body of a Call may be.
const maxBeside = 4 << 10

// Beside answers the calls of pages with what write writes into an object, or with the problem document of its error.
func (a *API) Beside(do func(*Call) (write func(*wire.Writer), _ error)) http.Handler {
	return a.handler(func(c *call) (ledger.Answer, error) {
		ctx, cancel := context.WithTimeout(c.r.Context(), otherDeadline)
		defer cancel()
		write, err := do(&Call{Request: c.r.WithContext(ctx), Writer: c.w, Now: c.now, c: c})
		if err != nil {
			return ledger.Answer{}, err
		}
		return c.answer(ledger.OK, write), nil
	})
}

// Read reads the body, which may take its time, and its members.
func (c *Call) Read(read func(*wire.Object)) (err error) {
	if c.c.body, err = c.c.readBody(maxBeside); err != nil {
		return err
	}
	c.Now = c.c.Now().UTC()
	problems, _ := new(wire.Reader).Decode(c.c.body, read)
	return problems.Err()
}

// By names who makes the call, for the log, and refuses one that does not come from where its key may be used.
func (c *Call) By(caller *gift.Caller) error {
	c.c.caller, c.c.account = caller, caller.Account
	return c.From(caller.Networks)
}

// From refuses a call that does not come from one of these networks.
func (c *Call) From(allowed gift.Networks) error { return c.c.from(allowed) }

// Address is that of the client.
func (c *Call) Address() string { return c.c.ClientAddress(c.Request).String() }

// RequestID is that of the call.
func (c *Call) RequestID() string { return c.c.requestID }

// AccountNow is the time by the clock of an account.
func (c *Call) AccountNow(a *gift.Account) (time.Time, error) {
	if !a.Test {
		return c.Now, nil
	}
	clock, err := c.c.Records.Clock(c.Context(), a.ID)
	return clock.Now(c.Now), stored(err)
}

// CountAnonymous counts a call that showed what could have been guessed against the client's network, and refuses it
// once there were too many.
func (c *Call) CountAnonymous() error {
	ctx, cancel := c.c.withStoreTimeout(c.Context())
	defer cancel()
	return c.c.countAnonymous(ctx, c.c.ClientAddress(c.Request))
}

// Stored is what a caller is told when the store could not be read.
func Stored(err error) error { return stored(err) }

// Refuse answers with the problem document of an error.
func (a *API) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	a.handler(func(*call) (ledger.Answer, error) { return ledger.Answer{}, err }).ServeHTTP(w, r)
}
