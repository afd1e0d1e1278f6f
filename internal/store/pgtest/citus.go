package pgtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
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

// Citus starts a coordinator and two workers, each with the extension in its database "postgres", and gives the
// coordinator's URL for the role boon. They are gone when the test ends.
func Citus(t TB) string {
	t.Helper()
	var nodes []*Server
	for range 3 {
		s, err := Start("shared_preload_libraries=citus", "citus.node_conninfo=sslmode=disable", "fsync=off",
			"full_page_writes=off")
		if err != nil {
			t.Fatalf("starting a node: %v", err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("stopping a node: %v", err)
			}
		})
		nodes = append(nodes, s)
		if err := admin(s, `CREATE EXTENSION citus`); err != nil {
			t.Fatalf("%v", err)
		}
	}
	for i, s := range nodes {
		host, port, _ := net.SplitHostPort(s.Address)
		statement := fmt.Sprintf(`SELECT citus_add_node('%s', %s)`, host, port)
		if i == 0 {
			statement = fmt.Sprintf(`SELECT citus_set_coordinator_host('%s', %s)`, host, port)
		}
		if err := admin(nodes[0], statement); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return nodes[0].URL
}

func admin(s *Server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.Admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
