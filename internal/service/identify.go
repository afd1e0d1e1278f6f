package service

import (
	"context"
	"strings"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// Authenticate tells by what holds at an instant who makes a call.
type Authenticate func(now time.Time) (*merchant.Caller, error)

type callerKey struct{}

// WithCaller has a request be taken as made by whom as tells, in place of an API key. It is asked again once the body
// has been read.
func WithCaller(ctx context.Context, as Authenticate) context.Context {
	return context.WithValue(ctx, callerKey{}, as)
}

// As is whoever made a call with an API key, for calls that follow from it, under the name of a person.
func (c *Call) As(person string) Authenticate {
	return func(now time.Time) (*merchant.Caller, error) {
		caller, ok := c.shown(now)
		if !ok {
			return nil, noKey()
		}
		as := *caller
		as.Person = person
		return &as, nil
	}
}

// authorize tells who calls and whether they may make this call from where they are, by what holds now.
func (c *Call) authorize(t *Terms) (err error) {
	c.setup = c.config.Directory().Version
	if c.Caller, err = c.authenticate(); err != nil {
		return err
	}
	c.Account = c.Caller.Account
	if err = c.From(c.Caller.Networks); err != nil {
		return err
	}
	return c.Caller.Permit(t.Needs, t.AnyKey)
}

// authenticate tells who calls. Whoever shows no valid key is counted by network; an unknown, an expired and a
// revoked key get one and the same answer.
func (c *Call) authenticate() (*merchant.Caller, error) {
	if as, ok := c.HTTP.Context().Value(callerKey{}).(Authenticate); ok {
		return as(c.Now)
	}
	if caller, ok := c.shown(c.Now); ok {
		return caller, nil
	}
	if err := c.CountAnonymous(); err != nil {
		return nil, err
	}
	return nil, noKey()
}

func noKey() error {
	return refusal.New(refusal.Unauthenticated,
		"Send a valid API key in the Authorization header: the key by itself, or after the word Bearer.")
}

// shown is whose API key the call shows, if it is good at an instant.
func (c *Call) shown(now time.Time) (*merchant.Caller, bool) {
	var text string
	if values := c.HTTP.Header.Values("Authorization"); len(values) == 1 { // of two, others might take the other one
		text = values[0]
	}
	if scheme, rest, ok := strings.Cut(text, " "); ok && strings.EqualFold(scheme, "Bearer") {
		text = strings.TrimSpace(rest)
	}
	if text == "" {
		return nil, false
	}
	return c.config.Directory().Authenticate(text, now)
}

// By names who makes the call, for the log, and refuses one that does not come from where its key may be used. It is
// for calls that need no place: Begin and Admit say it of others.
func (c *Call) By(caller *merchant.Caller) error {
	c.Caller, c.Account = caller, caller.Account
	return c.From(caller.Networks)
}

// From refuses a call that does not come from one of these networks; none: it may come from anywhere.
func (c *Call) From(allowed merchant.Networks) error {
	if len(allowed) == 0 {
		return nil
	}
	return allowed.Admit(c.config.ClientAddress(c.HTTP))
}

// idempotencyKey is the header that names a call.
const idempotencyKey = "Idempotency-Key"

// ReadKey reads the Idempotency-Key. A bad one is a problem like those of the body, beside which it is told. A dry run
// keeps none: the same call may be made under the key afterwards.
func (c *Call) ReadKey(o *wire.Problems) {
	values := c.HTTP.Header.Values(idempotencyKey)
	switch {
	case len(values) == 0:
	case len(values) > 1 || !IsKey(values[0]):
		o.Add(idempotencyKey, "Send one Idempotency-Key of 1 to %d printable ASCII characters.", MaxKey)
	case !c.DryRun:
		c.Key = values[0]
	}
}

// NeedKey refuses a call without an Idempotency-Key where the account demands one.
func (c *Call) NeedKey() error {
	if c.DryRun {
		return nil
	}
	return c.Account.NeedKey(c.Key)
}

// MaxKey is the length of the longest Idempotency-Key.
const MaxKey = 255

// IsKey reports whether s can be an Idempotency-Key. HTTP takes away spaces around a header's value: with one at
// either end, what is asked for in a body or a path could never have arrived, and "it did not arrive" would be a lie
// about the key without it.
func IsKey(s string) bool {
	return s != "" && s == strings.TrimSpace(s) && len(s) <= MaxKey &&
		strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
