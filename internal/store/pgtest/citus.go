package pgtest

import (
	"context"
	"errors"
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

// Cluster is a coordinator and its workers, with Citus.
type Cluster struct {
	Nodes []*Server // the coordinator first
	made  int
	mu    sync.Mutex
}

// StartCluster starts a cluster with so many workers; with none the coordinator keeps everything. settings are as for
// Start.
func StartCluster(workers int, settings ...string) (*Cluster, error) {
	c := &Cluster{}
	settings = append([]string{"shared_preload_libraries=citus", "citus.node_conninfo=sslmode=disable",
		"max_worker_processes=200",                                        // Citus keeps one for each database
		"max_prepared_transactions=500", "citus.recover_2pc_interval=1s"}, // settles what a node left that went away
		settings...)
	for range workers + 1 {
		s, err := Start(settings...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("starting a node: %w", err), c.Close())
		}
		c.Nodes = append(c.Nodes, s)
	}
	return c, nil
}

// Close stops all nodes.
func (c *Cluster) Close() (err error) {
	for _, s := range c.Nodes {
		err = errors.Join(err, s.Close())
	}
	return err
}

// Database makes a database on all nodes, and gives the coordinator's URL for the role boon. Tables are split into so
// many shards.
func (c *Cluster) Database(shards int) (url string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	name := fmt.Sprintf("spread%d", c.made)
	for _, s := range c.Nodes {
		if err = admin(s.Admin, "CREATE DATABASE "+name+" OWNER boon"); err == nil {
			err = admin(of(s.Admin, name), "CREATE EXTENSION citus")
		}
		if err != nil {
			return "", err
		}
	}
	statements := []string{fmt.Sprintf("ALTER DATABASE %s SET citus.shard_count = %d", name, shards)}
	for i, s := range c.Nodes {
		host, port, _ := net.SplitHostPort(s.Address)
		add := "citus_add_node"
		if i == 0 {
			add = "citus_set_coordinator_host"
		}
		statements = append(statements, fmt.Sprintf(`SELECT %s('%s', %s)`, add, host, port))
		if len(c.Nodes) == 1 {
			statements = append(statements,
				fmt.Sprintf(`SELECT citus_set_node_property('%s', %s, 'shouldhaveshards', true)`, host, port))
		}
	}
	for _, text := range statements {
		if err := admin(of(c.Nodes[0].Admin, name), text); err != nil {
			return "", err
		}
	}
	return of(c.Nodes[0].URL, name), nil
}

// Citus starts a cluster with two workers, which is gone when the test ends.
func Citus(t TB) *Cluster {
	t.Helper()
	c, err := StartCluster(2, "fsync=off", "full_page_writes=off")
	must(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("stopping a node: %v", err)
		}
	})
	return c
}

// Fresh is Database for a test.
func (c *Cluster) Fresh(t TB, shards int) string {
	t.Helper()
	url, err := c.Database(shards)
	must(t, err)
	return url
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
