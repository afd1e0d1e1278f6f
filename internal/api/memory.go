package api

import (
	"net/http"
	"sync"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
)

// memory bounds the bytes of large bodies that are being read, and of large answers that are being made and written,
// over all calls: their callers decide how long that takes. Who finds none left is refused. Small ones, as those of
// tills, are not counted. Orders, which may be held back for long, take no more than a part, so that look-ups find
// some. An account takes at most half of what others leave: however many accounts take all that they can, something is
// left for the next one.
type memory struct {
	mu        sync.Mutex
	used      int
	ofAccount map[guid.ID]int
}

const (
	maxMemory  = 48 << 20
	maxOrders  = maxMemory * 2 / 3
	freeMemory = 64 << 10 // of each call
)

func (m *memory) take(account guid.ID, n, most int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := m.ofAccount[account]
	if free := most - (m.used - own); m.used+n > most || own+n > free/2 {
		return false
	}
	if m.ofAccount == nil {
		m.ofAccount = map[guid.ID]int{}
	}
	m.used += n
	m.ofAccount[account] += n
	return true
}

func (m *memory) give(account guid.ID, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
	if m.ofAccount[account] -= n; m.ofAccount[account] == 0 {
		delete(m.ofAccount, account)
	}
}

// hold counts bytes for the call until it has been answered.
func (c *call) hold(n int) error {
	n = max(0, n)
	before := max(0, c.memory-freeMemory)
	c.memory += n
	more := max(0, c.memory-freeMemory) - before
	if more == 0 {
		return nil
	}
	switch {
	case c.payer != nil:
	case c.account != nil:
		c.payer = &c.account.ID
	default: // a system key names its account later; what it holds is its own
		c.payer = &c.caller.KeyID
	}
	most := maxMemory
	if c.r.Method == http.MethodPost {
		most = maxOrders
	}
	if !c.API.memory.take(*c.payer, more, most) {
		c.memory -= n
		refused := gift.Refuse(gift.Unavailable, "Too many large requests are under way. Repeat this one in a moment "+
			"with the same Idempotency-Key.")
		refused.RetryAfter = time.Second
		return refused
	}
	return nil
}

// release ends what hold began.
func (c *call) release() {
	c.giveBack()
	if c.payer != nil {
		c.API.memory.give(*c.payer, max(0, c.memory-freeMemory))
	}
}
