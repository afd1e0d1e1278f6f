package crash

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"

	"boon.example/internal/store/pgtest"
)

// What is promised while the database is away, and what a machine that has other things to do may add to it: here the instances, the
// database, the line and all callers share two processors with other tests.
const (
	soonest    = 2 * time.Second // until every call is answered
	recovery   = 5 * time.Second // until every call succeeds again, once the database is back
	noise      = time.Second
	awayFor    = 5 * time.Second // longer than two calls take, so that some wait behind others that are given up
	perProbe   = 3
	tillsAtOne = 16
)

// TestAway takes the database away in every way that there is, for five seconds each, under load. All that time every call is
// answered 503 with Retry-After within two seconds, whether it reads or writes; afterwards everything goes on by itself within five.
func TestAway(t *testing.T) {
	var line *toxiproxy.Proxy
	c := newCluster(t, func(s *pgtest.Server) string {
		line = newLine(t, s)
		return throughLine(s, line)
	})
	toxics := []string{
		`{"name":"lost calls","type":"timeout","stream":"upstream","attributes":{"timeout":0}}`,
		`{"name":"lost answers","type":"timeout","stream":"downstream","attributes":{"timeout":0}}`,
	}
	ways := []struct {
		name       string
		away, back func() error
	}{
		{"killed", c.database.Kill, c.database.Run},
		{"refusing", func() error { line.Stop(); return nil }, line.Start},
		{"stopped", c.database.Pause, c.database.Resume},
		{"silent", func() (err error) {
			for _, toxic := range toxics {
				if _, err = line.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
					break
				}
			}
			return err
		}, func() error { line.Toxics.ResetToxics(t.Context()); return nil }},
	}
	stop := make(chan struct{})
	wait := c.work(t, tillsAtOne, stop)
	probes := c.probes(t)
	for _, w := range ways {
		if err := w.away(); err != nil {
			t.Fatal(err)
		}
		longest, which := c.whileAway(t, w.name, probes)
		if err := w.back(); err != nil {
			t.Fatal(err)
		}
		recovered := c.recovered(t, probes)
		t.Logf("%s: answered after at most %.2f s (%s); all is well %.2f s after its return", w.name, longest.Seconds(), which, recovered.Seconds())
		if longest > soonest+noise {
			t.Errorf("%s: %s was answered after %v, want %v", w.name, which, longest, soonest)
		}
		if recovered > recovery+noise {
			t.Errorf("%s: all is well only %v after its return, want %v", w.name, recovered, recovery)
		}
	}
	close(stop)
	wait()
	if c.slowest > soonest+noise { // those that had begun when it went away are among them
		t.Errorf("a till with an Idempotency-Key waited %v for its answer, want %v", c.slowest, soonest)
	}
	c.end(t, fmt.Sprintf("the database away in %d ways, tills answered after at most %.2f s", len(ways), c.slowest.Seconds()))
}

// probe is a kind of call.
type probe struct{ method, path, body string }

// probes are a call of every kind: those that write and those that read, tills' and people's.
func (c *cluster) probes(t *testing.T) []probe {
	t.Helper()
	var gift struct{ VoucherCode, VoucherPublicToken string }
	id := c.gifts[len(c.gifts)-1]
	get(t, c.urls[0], "/api/integration/gifting/gifts/"+id, &gift)
	return []probe{
		{"POST", "/api/integration/gifting/send-gift", sendBody(1)},
		{"POST", "/api/integration/redemption/validate-gift", `{"voucherCode":"` + gift.VoucherCode + `"}`},
		{"POST", "/api/integration/redemption/redeem-gift", `{"voucherCode":"` + c.codeOf(t, c.sold(t)) + `","amount":0.01}`},
		{"GET", "/api/integration/gifting/gifts/" + id, ""},
		{"GET", "/api/integration/gifting/gifts/" + id + "/history", ""},
		{"GET", "/api/integration/gifting/gifts?limit=3", ""},
		{"GET", "/api/integration/requests/till-0-0", ""},
		{"GET", "/g/" + gift.VoucherPublicToken, ""},
		{"GET", "/readyz", ""},
	}
}

// sold is a gift that is not among those that are counted at the end.
func (c *cluster) sold(t *testing.T) string { return sell(t, c.urls[0], 1)[0] }

func (c *cluster) codeOf(t *testing.T, id string) string {
	var gift struct{ VoucherCode string }
	get(t, c.urls[0], "/api/integration/gifting/gifts/"+id, &gift)
	return gift.VoucherCode
}

// ask makes the call at an instance. Each is a new request.
func (p probe) ask(url string) (status int, retryAfter string, err error) {
	req, err := http.NewRequest(p.method, url+p.path, strings.NewReader(p.body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", key)
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Header.Get("Retry-After"), err
}

// whileAway makes calls of every kind at every instance while the database is away, several at a time, and tells which waited longest.
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
						status, retryAfter, err := p.ask(url)
						took := time.Since(begun)
						if err != nil || status != http.StatusServiceUnavailable || retryAfter == "" {
							t.Errorf("%s: %s %s: %d, Retry-After %q, %v, want 503", way, p.method, p.path, status, retryAfter, err)
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
				status, _, err := p.ask(url)
				if err == nil && status < 300 {
					break
				}
				if time.Since(begun) > time.Minute {
					t.Fatalf("%s %s is still answered %d a minute after the database came back: %v", p.method, p.path, status, err)
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	return time.Since(begun)
}
