package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"boon.example/internal/store/pgtest"
)

// cluster is two instances over one PostgreSQL that syncs its disk, with tills at both.
type cluster struct {
	*tills
	boon     installation
	database *pgtest.Server
	servers  []*server
}

// newCluster starts a cluster whose instances reach the database through the URL that via makes of its own.
func newCluster(t *testing.T, via func(*pgtest.Server) string) *cluster {
	t.Helper()
	pgtest.Need(t)
	database, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := database.Close(); err != nil {
			t.Error(err)
		}
	})
	c := &cluster{database: database, boon: install(t, "--database", via(database))}
	c.tills = &tills{hot: 2}
	for range 2 {
		s := c.boon.start(t, "127.0.0.1:0")
		c.servers, c.urls = append(c.servers, s), append(c.urls, s.url)
	}
	c.gifts = sell(t, c.urls[0], 100)
	return c
}

// end checks everything, the instances against each other too.
func (c *cluster) end(t *testing.T, what string) {
	t.Helper()
	c.check(t, c.urls[0])
	c.check(t, c.urls[1])
	for _, s := range c.servers {
		s.kill(t)
	}
	c.report(t, what+"; "+c.boon.run(t, "verify"))
}

// TestKilledDatabase kills PostgreSQL under two instances. While it is away every call is answered 503 and soon; once it is back they
// go on by themselves.
func TestKilledDatabase(t *testing.T) {
	c := newCluster(t, func(s *pgtest.Server) string { return s.URL })
	stop := make(chan struct{})
	wait := c.work(t, 32, stop)
	for n := range kills {
		time.Sleep(time.Duration(300+rand.IntN(300)) * time.Millisecond)
		if err := c.database.Kill(); err != nil {
			t.Fatal(err)
		}
		if n%5 == 0 {
			c.away(t)
		}
		if err := c.database.Run(); err != nil {
			t.Fatal(err)
		}
		c.back(t)
	}
	close(stop)
	wait()
	c.end(t, fmt.Sprintf("%d kills of PostgreSQL", kills))
}

// away checks what the instances say while the database is not there.
func (c *cluster) away(t *testing.T) {
	t.Helper()
	for _, url := range c.urls {
		begun := time.Now()
		resp, err := client.Get(url + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("/readyz while the database is away: %d, want 503", resp.StatusCode)
		}
		status, answer, err := post(url, "/api/integration/redemption/validate-gift", "", `{"voucherCode":"123456789012"}`)
		if err != nil || status != http.StatusServiceUnavailable || !bytes.Contains(answer, []byte("UNAVAILABLE")) {
			t.Errorf("a call while the database is away: %d %s %v, want 503", status, answer, err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("the two answers took %v", took)
		}
	}
}

// back waits until the instances are ready again, which they become by themselves.
func (c *cluster) back(t *testing.T) {
	t.Helper()
	for _, url := range c.urls {
		for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			resp, err := client.Get(url + "/readyz")
			if err == nil {
				resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					break
				}
			}
			if time.Since(begun) > 10*time.Second {
				t.Fatalf("%s is not ready 10 s after the database came back: %v", url, err)
			}
		}
	}
}

// newLine is a line to the database that can be disturbed.
func newLine(t *testing.T, s *pgtest.Server) *toxiproxy.Proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	line := toxiproxy.NewProxy(server, "postgres", "127.0.0.1:0", s.Address)
	if err := line.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Stop)
	return line
}

// throughLine is the database's URL by way of a line.
func throughLine(s *pgtest.Server, line *toxiproxy.Proxy) string {
	return strings.Replace(s.URL, s.Address, line.Listen, 1)
}

// TestCutConnections puts a bad line between the instances and the database: slow, resetting, and half open.
func TestCutConnections(t *testing.T) {
	var line *toxiproxy.Proxy
	c := newCluster(t, func(s *pgtest.Server) string {
		line = newLine(t, s)
		return throughLine(s, line)
	})
	stop := make(chan struct{})
	wait := c.work(t, 32, stop)
	toxics := []string{
		`{"name":"slow","type":"latency","stream":"downstream","attributes":{"latency":100,"jitter":100}}`,
		`{"name":"reset","type":"reset_peer","stream":"downstream","attributes":{"timeout":20}}`,
		`{"name":"lost answers","type":"timeout","stream":"downstream","attributes":{"timeout":0}}`,
		`{"name":"lost calls","type":"timeout","stream":"upstream","attributes":{"timeout":0}}`,
		`{"name":"cut","type":"limit_data","stream":"downstream","attributes":{"bytes":2000}}`,
	}
	const rounds = 3
	for range rounds {
		for _, toxic := range toxics {
			time.Sleep(300 * time.Millisecond)
			if _, err := line.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			line.Toxics.ResetToxics(t.Context())
		}
	}
	close(stop)
	wait()
	c.end(t, fmt.Sprintf("%d disturbances of the line", rounds*len(toxics)))
}
