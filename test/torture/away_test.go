package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/test/rig"
)

// What is promised while the database is away, and what a machine that has other things to do may add to it: here the
// instances, the database, the line and all callers share two processors with other tests. A call that waits for the
// database to come back would take its whole deadline of fifteen seconds.
const (
	soonest    = 2 * time.Second // until every call is answered
	recovery   = 5 * time.Second // until every call succeeds again, once the database is back
	noise      = 10 * time.Second
	awayFor    = 5 * time.Second // longer than two calls take, so that some wait behind others that are given up
	perProbe   = 3
	tillsAtOne = 16
)

// TestAway takes the database away in every way that there is, for five seconds each, under load. All that time every
// call is answered 503 with Retry-After within two seconds, whether it reads or writes; afterwards everything goes on
// by itself within five.
func TestAway(t *testing.T) {
	c := newCluster(t, tillsAtOne)
	toxics := []string{
		`{"name":"lost calls","type":"timeout","stream":"upstream","attributes":{"timeout":0}}`,
		`{"name":"lost answers","type":"timeout","stream":"downstream","attributes":{"timeout":0}}`,
	}
	ways := []struct {
		name       string
		away, back func() error
	}{
		{"killed", c.database.Kill, c.database.Run},
		{"refusing", func() error { c.line.Stop(); return nil }, c.line.Start},
		{"stopped", c.database.Pause, c.database.Resume},
		{"silent", func() (err error) {
			for _, toxic := range toxics {
				err = errors.Join(err, c.disturb(toxic))
			}
			return err
		}, func() error { c.line.Toxics.ResetToxics(t.Context()); return nil }},
		{"answers swallowed", c.swallow(false, true), c.swallow(false, false)},
		{"calls swallowed", c.swallow(true, false), c.swallow(false, false)},
		{"both swallowed", c.swallow(true, true), c.swallow(false, false)},
		{"forgotten", c.swallow(true, true), func() error { c.silent.Forget(); return c.swallow(false, false)() }},
	}
	probes := c.probes(t)
	for _, w := range ways {
		check(t, w.away())
		longest, which := c.whileAway(t, w.name, probes)
		check(t, w.back())
		recovered := c.recovered(t, probes)
		t.Logf("%s: answered after at most %.2f s (%s); all is well %.2f s after its return", w.name, longest.Seconds(),
			which, recovered.Seconds())
		if longest > soonest+noise {
			t.Errorf("%s: %s was answered after %v, want %v", w.name, which, longest, soonest)
		}
		if recovered > recovery+noise {
			t.Errorf("%s: all is well only %v after its return, want %v", w.name, recovered, recovery)
		}
	}
	// those that had begun when it went away are among them
	if r := c.end(fmt.Sprintf("the database away in %d ways", len(ways))); r.Slowest > soonest+noise {
		t.Errorf("a till with an Idempotency-Key waited %v for its answer, want %v", r.Slowest, soonest)
	}
}

// swallow makes the line swallow what is said on it, or go on.
func (c *cluster) swallow(calls, answers bool) func() error {
	return func() error { c.silent.Swallow(calls, answers); return nil }
}

// probe is a kind of call.
type probe struct{ method, path, body string }

// probes are a call of every kind: those that write and those that read, tills' and people's.
func (c *cluster) probes(t *testing.T) []probe {
	t.Helper()
	one := till(t, c.urls[0])
	var gift struct{ VoucherPublicToken string }
	check(t, one.Read(c.urls[0]+rig.Gifts+one.ID, rig.Accounts()[0].Keys[0], &gift))
	return []probe{
		{"POST", rig.SendGift, rig.SendBody(1)},
		{"POST", rig.Validate, `{"voucherCode":"` + one.Code + `"}`},
		{"POST", rig.Redeem, `{"voucherCode":"` + one.Code + `","amount":0.01}`},
		{"GET", rig.Gifts + one.ID, ""},
		{"GET", rig.Gifts + one.ID + "/history", ""},
		{"GET", strings.TrimSuffix(rig.Gifts, "/") + "?limit=3", ""},
		{"GET", rig.Requests + "till-0-0-1", ""},
		{"GET", "/g/" + gift.VoucherPublicToken, ""},
		{"GET", "/readyz", ""},
	}
}

// ask makes the call at an instance. Each is a new request.
func (c *cluster) ask(p probe, url string) (*rig.Answer, error) {
	if p.method == "GET" {
		return c.client.Get(url+p.path, rig.Accounts()[0].Keys[0])
	}
	return c.client.Post(url+p.path, rig.Accounts()[0].Keys[0], "", p.body)
}

// whileAway makes calls of every kind at every instance while the database is away, several at a time, and tells which
// waited longest.
func (c *cluster) whileAway(t *testing.T, way string, probes []probe) (longest time.Duration, which string) {
	t.Helper()
	var calls sync.WaitGroup
	var mu sync.Mutex
	until := time.Now().Add(awayFor)
	for _, url := range c.urls {
		for _, p := range probes {
			for range perProbe {
				calls.Go(func() {
					for time.Now().Before(until) {
						begun := time.Now()
						a, err := c.ask(p, url)
						took := time.Since(begun)
						if err != nil || a.Status != http.StatusServiceUnavailable || a.RetryAfter == "" {
							t.Errorf("%s: %s %s: %+v, %v, want 503 and when to come again", way, p.method, p.path, a, err)
						}
						mu.Lock()
						if took > longest {
							longest, which = took, p.method+" "+p.path
						}
						mu.Unlock()
						time.Sleep(50 * time.Millisecond)
					}
				})
			}
		}
	}
	calls.Wait()
	return longest, which
}

// recovered waits until a call of every kind succeeds at every instance, and tells how long that took.
func (c *cluster) recovered(t *testing.T, probes []probe) time.Duration {
	t.Helper()
	begun := time.Now()
	for _, url := range c.urls {
		for _, p := range probes {
			for {
				a, err := c.ask(p, url)
				if err == nil && a.Status < 300 {
					break
				}
				if time.Since(begun) > time.Minute {
					t.Fatalf("%s %s is still answered %+v a minute after the database came back: %v", p.method, p.path, a, err)
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	return time.Since(begun)
}
