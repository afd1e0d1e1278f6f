package pgtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// HasCitus tells whether the PostgreSQL of this machine has the extension Citus.
func HasCitus() bool {
	bin, err := binaries()
	if err != nil {
		return false
	}
	shared := filepath.Base(filepath.Dir(bin)) // Debian: /usr/lib/postgresql/15/bin, /usr/share/postgresql/15
	_, err = os.Stat(filepath.Join("/usr/share/postgresql", shared, "extension", "citus.control"))
	return err == nil
}

// Cluster is a coordinator and two workers with Citus. They are gone when the test ends.
type Cluster struct {
	Nodes []*Server // the coordinator first
	made  int
	mu    sync.Mutex
}

// Citus starts a cluster.
func Citus(t TB) *Cluster {
	t.Helper()
	c := &Cluster{}
	for range 3 {
		s, err := Start("shared_preload_libraries=citus", "citus.node_conninfo=sslmode=disable", "fsync=off",
			"full_page_writes=off", "max_worker_processes=200", // Citus keeps one for each database
			"max_prepared_transactions=500", "citus.recover_2pc_interval=1s") // settles what a node left that went away
		if err != nil {
			t.Fatalf("starting a node: %v", err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("stopping a node: %v", err)
			}
		})
		c.Nodes = append(c.Nodes, s)
	}
	return c
}

// Fresh makes a database on all nodes, and gives the coordinator's URL for the role boon. Tables are split into so many
// shards.
func (c *Cluster) Fresh(t TB, shards int) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	name := fmt.Sprintf("spread%d", c.made)
	for _, s := range c.Nodes {
		must(t, admin(s.Admin, "CREATE DATABASE "+name+" OWNER boon"))
		must(t, admin(of(s.Admin, name), "CREATE EXTENSION citus"))
	}
	coordinator := of(c.Nodes[0].Admin, name)
	must(t, admin(coordinator, fmt.Sprintf("ALTER DATABASE %s SET citus.shard_count = %d", name, shards)))
	for i, s := range c.Nodes {
		host, port, _ := net.SplitHostPort(s.Address)
		statement := fmt.Sprintf(`SELECT citus_add_node('%s', %s)`, host, port)
		if i == 0 {
			statement = fmt.Sprintf(`SELECT citus_set_coordinator_host('%s', %s)`, host, port)
		}
		must(t, admin(coordinator, statement))
	}
	return of(c.Nodes[0].URL, name)
}

// of is the URL of a server, for another of its databases.
func of(server, database string) string {
	return strings.Replace(server, "/postgres?", "/"+database+"?", 1)
}

func must(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

func admin(url, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
