package service

import (
	"net/http"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// Large bodies that are being read, and large answers that are being made and written, take so many bytes over all
// calls: their callers decide how long that takes. Who finds none left is refused. Small ones, as those of tills, are
// not counted. Orders, which may be held back for long, take no more than a part, so that look-ups find some. An
// account takes at most half of what others leave (fair.Share).
const (
	maxMemory  = 48 << 20
	maxOrders  = maxMemory * 2 / 3
	freeMemory = 64 << 10 // of each call
)

// party is who a place or memory is counted for: the account; for a system key, which names its account later, the key.
func (c *Call) party() guid.ID {
	switch {
	case c.Account != nil:
		return c.Account.ID
	case c.Caller != nil:
		return c.Caller.KeyID
	}
	return guid.ID{}
}

// TakeMemory counts bytes for the call until it has been answered.
func (c *Call) TakeMemory(n int) error {
	n = max(0, n)
	before := max(0, c.memory-freeMemory)
	c.memory += n
	more := max(0, c.memory-freeMemory) - before
	if more == 0 {
		return nil
	}
	if c.payer == nil {
		payer := c.party()
		c.payer = &payer
	}
	most := maxMemory
	if c.HTTP.Method == http.MethodPost {
		most = maxOrders
	}
	if !c.Service.memory.Take(*c.payer, more, most) {
		c.memory -= n
		refused := refusal.New(refusal.Unavailable, "Too many large requests are under way. Repeat this one in a moment "+
			"with the same Idempotency-Key.")
		refused.RetryAfter = time.Second
		return refused
	}
	return nil
}

// release ends what TakeMemory began.
func (c *Call) release() {
	c.giveBack()
	if c.payer != nil {
		c.Service.memory.Give(*c.payer, max(0, c.memory-freeMemory))
	}
}
