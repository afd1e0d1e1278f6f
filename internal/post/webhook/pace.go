package webhook

import (
	"context"
	"sync"
	"time"
)

// How many calls a second an account makes at one destination, all of its endpoints there together: callRate, and
// locationRate more for each of its locations. A busy location redeems 200 times an hour, 0.056 times a second; a chain
// of 3,000 comes to 167 events a second, and may make 350 calls. Whoever names somebody else's address cannot have it
// called more often by naming it twenty times. After a pause calls may make up for burst.
const (
	callRate     = 50
	locationRate = 0.1
	burst        = 2 * time.Second
)

// paces keep the rates of calls of an account.
type paces struct {
	mu   sync.Mutex
	gap  time.Duration        // between two calls at a destination
	free map[string]time.Time // when the next call at it may be made
}

// maxPaces is how many destinations are remembered that may have no call to make up for.
const maxPaces = 64

// allow sets the rate of an account with so many locations.
func (p *paces) allow(locations int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gap = time.Duration(float64(time.Second) / (callRate + locationRate*float64(locations)))
}

// reserve counts calls at a destination and tells how long they have to wait.
func (p *paces) reserve(destination string, calls int, now time.Time) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) >= maxPaces {
		for d, free := range p.free {
			if free.Before(now) {
				delete(p.free, d)
			}
		}
	}
	free := p.free[destination]
	if free.Before(now) {
		free = now
	}
	p.free[destination] = free.Add(time.Duration(calls) * p.gap)
	return max(0, free.Sub(now)-burst)
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, wait time.Duration) {
	if wait <= 0 {
		return
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
