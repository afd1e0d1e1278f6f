// Postgres runs a command, such as go test, beside a private PostgreSQL server, whose URL it finds in
// TEST_POSTGRES_URL:
//
//	go -C test run ./postgres go -C .. test ./...
//
// The server has its data in a temporary folder, holds a template database with the schema, and is gone when the
// command ends, however it ends. Where PostgreSQL is missing and apt is there, it is installed. Where memory is
// plentiful, that folder and those of the command are in memory: tests that need a disk bring one of their own.
//
// Where the environment has PGBOUNCER, session or transaction, the way to the server is by a PgBouncer in that mode.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: postgres COMMAND [ARGUMENT ...]")
		os.Exit(2)
	}
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "postgres:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(command []string) (code int, err error) {
	// The command gets Ctrl-C as well and ends by itself; this program has to outlive it.
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	remove, err := inMemory()
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	server, err := start()
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := template(server.URL); err != nil {
		return 1, fmt.Errorf("making the template database: %w", err)
	}
	url := server.URL
	if mode := os.Getenv("PGBOUNCER"); mode != "" {
		bouncer, err := server.Bounce(mode)
		if err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, bouncer.Kill()) }()
		url = bouncer.URL
	}
	c := exec.Command(command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), pgtest.Variable+"="+url)
	if err := c.Start(); err != nil {
		return 1, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case s := <-told:
			_ = c.Process.Signal(s) // it may have ended already
		case err := <-ended:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return max(exit.ExitCode(), 1), nil // it has said why
			}
			return 0, err
		}
	}
}

// start runs a server that need not survive a power cut, only its tests.
func start() (*pgtest.Server, error) {
	settings := []string{"fsync=off", "full_page_writes=off", "max_wal_size=1GB"}
	server, err := pgtest.Start(settings...)
	if errors.Is(err, pgtest.ErrMissing) {
		if err := install(); err != nil {
			return nil, fmt.Errorf("%w (installing it failed: %w)", pgtest.ErrMissing, err)
		}
		server, err = pgtest.Start(settings...)
	}
	return server, err
}

// install installs Debian's package, without the cluster that it would start.
func install() error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "postgres: PostgreSQL is missing; installing it with apt-get")
	for _, args := range [][]string{{"update"}, {"install", "--yes", "--no-install-recommends", "postgresql-common"},
		{"install", "--yes", "--no-install-recommends", "postgresql"}} {
		c := exec.Command("apt-get", args...)
		c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if said, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w: %s", strings.Join(args, " "), err, said)
		}
		if args[len(args)-1] == "postgresql-common" {
			if err := noCluster(); err != nil {
				return err
			}
		}
	}
	return nil
}

func noCluster() error {
	const file = "/etc/postgresql-common/createcluster.conf"
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString("create_main_cluster = false\n")
	return errors.Join(err, f.Close())
}

// template makes the database that tests copy: the schema, without keys.
func template(server string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	if _, err = conn.Exec(ctx, `CREATE DATABASE `+pgtest.Template); err != nil {
		return err
	}
	if err := conn.Close(ctx); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "boon-template-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	its := strings.Replace(server, "/postgres?", "/"+pgtest.Template+"?", 1)
	s, err := store.Open(ctx, store.Options{Dir: dir, Database: its})
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	if conn, err = pgx.Connect(ctx, its); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `DELETE FROM key_check; DELETE FROM setup_change`)
	return errors.Join(err, conn.Close(ctx))
}
