package web

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"boon.example/internal/base/clientip"
	"boon.example/internal/base/ratelimit"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// misses counts, for each client network, requests for gifts that there are not. A token has 128 random bits and cannot
// be guessed: this is for the peace of the log and the database. So it is kept in memory, and whoever holds the address
// of a gift is let through, however many other clients share their network.
type misses struct {
	mu      sync.Mutex
	buckets map[string]ratelimit.Bucket
}

// maxAddresses bounds the memory that unknown clients can take; beyond it, all are forgotten.
const maxAddresses = 50_000

// missRate is how often a network may miss.
var missRate = ratelimit.Rate{Burst: merchant.AnonymousBurst, Refill: merchant.AnonymousRefill}

// count counts a miss and tells how long the network should wait; 0: it may go on.
func (m *misses) count(network string, now time.Time) time.Duration {
	return m.take(missRate, network, now)
}

// take takes a token of a bucket, or tells how long it takes until there is one.
func (m *misses) take(rate ratelimit.Rate, of string, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.buckets == nil || len(m.buckets) >= maxAddresses {
		m.buckets = map[string]ratelimit.Bucket{}
	}
	b := m.buckets[of]
	if wait := rate.Wait(b, now); wait > 0 {
		return wait
	}
	m.buckets[of] = rate.Take(b, now, 1)
	return 0
}

// tooMany is why a request for a gift that there is not, or for a link to gifts, is answered with 429.
type tooMany struct {
	wait  time.Duration
	links bool // it is about links
}

func (*tooMany) Error() string { return "too many addresses without a gift, or links, were asked for" }

// seconds is what Retry-After says.
func (t *tooMany) seconds() string { return strconv.Itoa(int(math.Ceil(t.wait.Seconds()))) }

// miss counts a request for a gift that there is not, and gives the error that it is answered with.
func (s *site) miss(r *http.Request) error {
	if wait := s.misses.count(clientip.Network(s.ClientAddress(r)), time.Now()); wait > 0 {
		return &tooMany{wait: wait}
	}
	return refusal.NotFound
}
