package api

import (
	"strings"

	"boon.example/internal/gift"
	"boon.example/internal/refusal"
	"boon.example/internal/wire"
)

// authenticate tells who calls. Whoever shows no valid key is counted by network; an unknown, an expired and a
// revoked key get one and the same answer.
func (c *call) authenticate() (*gift.Caller, error) {
	if as, ok := c.r.Context().Value(callerKey{}).(Authenticate); ok {
		return as(c.now)
	}
	var text string
	if values := c.r.Header.Values("Authorization"); len(values) == 1 { // of two, others might take the other one
		text = values[0]
	}
	if scheme, rest, ok := strings.Cut(text, " "); ok && strings.EqualFold(scheme, "Bearer") {
		text = strings.TrimSpace(rest)
	}
	if text != "" {
		if caller, ok := c.Directory().Authenticate(text, c.now); ok {
			return caller, nil
		}
	}
	ctx, cancel := c.withStoreTimeout(c.ctx)
	defer cancel()
	if err := c.countAnonymous(ctx, c.ClientAddress(c.r)); err != nil {
		return nil, err
	}
	return nil, refusal.New(refusal.Unauthenticated,
		"Send a valid API key in the Authorization header: the key by itself, or after the word Bearer.")
}

// from refuses a call that does not come from where its key may be used.
func (c *call) from(allowed gift.Networks) error {
	if len(allowed) == 0 {
		return nil
	}
	return allowed.Admit(c.ClientAddress(c.r))
}

// idempotencyKey is the header that names a call.
const idempotencyKey = "Idempotency-Key"

// readKey reads the Idempotency-Key. A bad one is a problem like those of the body, beside which decode tells it.
func (c *call) readKey(o *wire.Problems) {
	values := c.r.Header.Values(idempotencyKey)
	switch {
	case len(values) == 0:
	case len(values) > 1 || !isKey(values[0]):
		o.Add(idempotencyKey, "Send one Idempotency-Key of 1 to %d printable ASCII characters.", maxKey)
	default:
		c.key = values[0]
	}
}

// maxKey is the length of the longest Idempotency-Key.
const maxKey = 255

// isKey reports whether s can be an Idempotency-Key. HTTP takes away spaces around a header's value: with one at
// either end, what is asked for in a body or a path could never have arrived, and "it did not arrive" would be a lie
// about the key without it.
func isKey(s string) bool {
	return s != "" && s == strings.TrimSpace(s) && len(s) <= maxKey &&
		strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
