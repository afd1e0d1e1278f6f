package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrNoBouncer tells that this machine has no PgBouncer.
var ErrNoBouncer = errors.New("there is no pgbouncer; on Debian: apt-get install pgbouncer")

// Bouncer is a PgBouncer in front of a server, which dies with this process.
type Bouncer struct {
	URL     string // of the server's database "postgres" by way of it, for the role boon
	dir     string
	server  *Server
	process *exec.Cmd
	ended   chan error
}

// bouncing is its configuration, as docs/operating/scale.md has it.
const bouncing = `[databases]
* = host=%s port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = trust
auth_file = users
pool_mode = %s
default_pool_size = %d
max_client_conn = 1000
server_login_retry = 1
server_round_robin = 1
ignore_startup_parameters = extra_float_digits,jit,lock_timeout,idle_in_transaction_session_timeout,enable_seqscan,enable_hashjoin,enable_mergejoin
`

// ofRole are the settings that a pooler does not pass on, for the role.
var ofRole = []string{"lock_timeout = '1500ms'", "idle_in_transaction_session_timeout = '3s'", "jit = off",
	"enable_seqscan = off", "enable_hashjoin = off", "enable_mergejoin = off"}

// Bounce starts one, in mode session or transaction; there, many of its clients share few connections to the server.
func (s *Server) Bounce(mode string) (b *Bouncer, err error) {
	b = &Bouncer{server: s}
	if _, err := exec.LookPath("pgbouncer"); err != nil {
		return nil, ErrNoBouncer
	}
	if b.dir, err = os.MkdirTemp(s.dir, "bouncer-"); err != nil {
		return nil, err
	}
	own, err := freePort()
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(s.Address)
	b.URL = "postgres://boon@127.0.0.1:" + own + "/postgres?sslmode=disable"
	size := 100
	if mode == "transaction" {
		size = 6
		b.URL += "&default_query_exec_mode=cache_describe"
	}
	for name, text := range map[string]string{"users": `"boon" ""` + "\n",
		"settings": fmt.Sprintf(bouncing, host, port, own, mode, size)} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	for _, setting := range ofRole {
		if err := admin(s.Admin, `ALTER ROLE boon SET `+setting); err != nil {
			return nil, err
		}
	}
	return b, errors.Join(os.Chmod(b.dir, 0o755), b.Run())
}

// Run starts it after it was made or killed, and returns when it takes connections.
func (b *Bouncer) Run() (err error) {
	b.process = b.server.command("pgbouncer", "settings")
	b.process.Path, err = exec.LookPath("pgbouncer")
	b.process.Dir = b.dir
	if err != nil {
		return err
	}
	if b.ended, err = startBound(b.process); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, b.URL)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case end := <-b.ended:
			b.ended <- end
			return fmt.Errorf("pgbouncer ended: %w (%w)", end, err)
		case <-ctx.Done():
			return fmt.Errorf("pgbouncer does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Kill ends it without a warning.
func (b *Bouncer) Kill() error {
	if err := b.process.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	end := <-b.ended
	b.ended <- end // for whoever asks again
	return nil
}
