package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
	"boon.example/test/storm"
)

// install applies the set-up to a new store.
func install(t *testing.T, database string) *rig.Installation {
	t.Helper()
	i, err := rig.Install(shipped, filepath.Join(t.TempDir(), "data"), database)
	check(t, err)
	return i
}

// serve starts what is killed when the test ends.
func serve(t *testing.T, i *rig.Installation, flags ...string) *rig.Server {
	t.Helper()
	address, err := rig.FreeAddress()
	check(t, err)
	s, err := i.Start(address, flags...)
	check(t, err)
	t.Cleanup(s.Kill)
	return s
}

// till sells a gift and redeems of it.
func till(t *testing.T, url string) *rig.Till {
	t.Helper()
	c := rig.NewClient(8, time.Minute)
	t.Cleanup(c.Close)
	one, err := c.NewTill(url)
	check(t, err)
	return one
}

// underLoad is some instances over one store, and the tills that use them.
type underLoad struct {
	*testing.T
	boon    *rig.Installation
	servers []*rig.Server
	urls    []string
	tills   *storm.Storm
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// busyTills lets tills loose on instances.
func busyTills(t *testing.T, boon *rig.Installation, clients int, servers ...*rig.Server) *underLoad {
	t.Helper()
	return startTills(t, boon, storm.Options{Clients: clients}, servers...)
}

// startTills lets tills loose that do what o says.
func startTills(t *testing.T, boon *rig.Installation, o storm.Options, servers ...*rig.Server) *underLoad {
	t.Helper()
	l := &underLoad{T: t, boon: boon, servers: servers}
	for _, s := range servers {
		l.urls = append(l.urls, s.URL)
	}
	o.Seed, o.Replays = 1, 200
	l.tills = storm.New(o, l.urls...)
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	t.Cleanup(stop)
	l.done.Go(func() { l.tills.Run(ctx, 0, 1<<40) })
	return l
}

// enough calls are a load.
const enough = 300

// end lets the tills come to an end and checks everything, the instances against each other too.
func (l *underLoad) end(what string) *storm.Report {
	l.Helper()
	for begun := time.Now(); l.tills.Calls() < enough && time.Since(begun) < time.Minute; { // on a busy machine
		time.Sleep(50 * time.Millisecond)
	}
	l.stop()
	l.done.Wait()
	var r *storm.Report
	for _, url := range l.urls {
		if r = l.tills.Check(url); !r.Sound() {
			l.Errorf("%s\n%s", r, strings.Join(r.Problems, "\n"))
		}
	}
	for _, s := range l.servers {
		s.Kill()
		for line := range strings.Lines(s.Logs()) {
			if strings.Contains(line, `"code":"UNEXPECTED_ERROR"`) {
				l.Errorf("the log tells of %s", line)
			}
		}
	}
	if err := l.boon.Verify(); err != nil {
		l.Error(err)
	}
	if r.Calls < enough {
		l.Errorf("only %d calls were answered: there was hardly any load", r.Calls)
	}
	l.Logf("%s: %s", what, r)
	return r
}

// cluster is two instances over one PostgreSQL that syncs its disk, which they reach through a line that can be
// disturbed.
type cluster struct {
	*underLoad
	client   *rig.Client
	database *pgtest.Server
	line     *toxiproxy.Proxy
	silent   *pgtest.Line // behind line
}

func newCluster(t *testing.T, clients int) *cluster {
	t.Helper()
	pgtest.Need(t)
	database, err := pgtest.Start()
	check(t, err)
	t.Cleanup(func() {
		if err := database.Close(); err != nil {
			t.Error(err)
		}
	})
	proxies := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	silent := pgtest.NewLine(t, database.Address)
	c := &cluster{client: rig.NewClient(60, 20*time.Second), database: database, silent: silent,
		line: toxiproxy.NewProxy(proxies, "postgres", "127.0.0.1:0", silent.Address)}
	check(t, c.line.Start())
	t.Cleanup(c.line.Stop)
	boon := install(t, strings.Replace(database.URL, database.Address, c.line.Listen, 1))
	c.underLoad = busyTills(t, boon, clients, serve(t, boon), serve(t, boon))
	return c
}

// disturb adds a toxic to the line.
func (c *cluster) disturb(toxic string) error {
	_, err := c.line.Toxics.AddToxicJson(strings.NewReader(toxic))
	return err
}

// TestCutConnections puts a bad line between the instances and the database: slow, resetting, and half open; three
// times each, of which the short version is one.
func TestCutConnections(t *testing.T) {
	c := newCluster(t, 32)
	toxics := []string{
		`{"name":"slow","type":"latency","stream":"downstream","attributes":{"latency":100,"jitter":100}}`,
		`{"name":"reset","type":"reset_peer","stream":"downstream","attributes":{"timeout":20}}`,
		`{"name":"lost answers","type":"timeout","stream":"downstream","attributes":{"timeout":0}}`,
		`{"name":"lost calls","type":"timeout","stream":"upstream","attributes":{"timeout":0}}`,
		`{"name":"cut","type":"limit_data","stream":"downstream","attributes":{"bytes":2000}}`,
	}
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		for _, toxic := range toxics {
			time.Sleep(300 * time.Millisecond)
			check(t, c.disturb(toxic))
			time.Sleep(time.Second)
			c.line.Toxics.ResetToxics(t.Context())
		}
	}
	c.end(fmt.Sprintf("%d disturbances of the line", rounds*len(toxics)))
}
