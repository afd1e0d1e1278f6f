// Package pgtest gives tests a PostgreSQL: a private server, and databases of their own on it. It knows nothing of
// what is kept there.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrMissing tells that this machine has no PostgreSQL.
var ErrMissing = errors.New("PostgreSQL's programs initdb and postgres are not on this machine; on Debian: apt-get " +
	"install postgresql")

// Server is a private PostgreSQL server on the loopback interface, with its data in a temporary folder. It dies with
// this process.
type Server struct {
	// of its database "postgres", for the role boon: an ordinary one that owns the database and may make others
	URL     string
	Admin   string // the same, for the superuser
	Address string // host:port
	dir     string
	kept    bool // dir is not ours to remove
	bin     string
	user    *syscall.Credential
	args    []string
	process *exec.Cmd
	ended   chan error
}

// Start makes a server and runs it. settings are postgres's own, such as "fsync=off".
func Start(settings ...string) (*Server, error) { return start("", settings) }

// StartIn is Start for a server that keeps its data in a folder: there it may have been before, and there it stays
// after Close. Stop it first.
func StartIn(dir string, settings ...string) (*Server, error) { return start(dir, settings) }

func start(dir string, settings []string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	if s.user, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.dir, s.kept = dir, dir != ""; s.kept {
		err = os.MkdirAll(dir, 0o700)
	} else {
		s.dir, err = os.MkdirTemp("", "boon-postgres-")
	}
	if err != nil {
		return nil, err
	}
	if s.user != nil {
		err = os.Chown(s.dir, int(s.user.Uid), int(s.user.Gid))
	}
	port := ""
	if err == nil {
		port, err = freePort()
	}
	if err == nil {
		s.Address = net.JoinHostPort("127.0.0.1", port)
		s.URL = "postgres://boon@" + s.Address + "/postgres?sslmode=disable"
		s.Admin = "postgres://postgres@" + s.Address + "/postgres?sslmode=disable"
		err = s.initialize()
	}
	if err == nil {
		s.args = []string{"-D", s.data(), "-k", s.dir, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c",
			"max_connections=500"}
		for _, v := range settings {
			s.args = append(s.args, "-c", v)
		}
		err = s.Run()
	}
	if err == nil {
		err = s.makeRole()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) initialize() error {
	if _, err := os.Stat(s.data()); err == nil {
		return nil
	}
	init := s.command("initdb", "-D", s.data(), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C",
		"--no-sync")
	if said, err := init.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, said)
	}
	return nil
}

// PID is the server's first process, whose children the others are.
func (s *Server) PID() int { return s.process.Process.Pid }

// makeRole makes the role boon as an operator should: no superuser. That it may end others' sessions
// is for tests that drop a database while the server tidies it up (autovacuum).
func (s *Server) makeRole() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.Admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var there bool
	if err := conn.QueryRow(ctx, `SELECT count(*) > 0 FROM pg_roles WHERE rolname = 'boon'`).Scan(&there); err != nil ||
		there {
		return err
	}
	for _, statement := range []string{`CREATE ROLE boon LOGIN CREATEDB`, `GRANT pg_signal_backend TO boon`,
		`ALTER DATABASE postgres OWNER TO boon`} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// Run starts the server after it was made, killed or stopped, and returns when it takes connections. The processes of
// a killed server may take a moment to be gone; until then it would not start.
func (s *Server) Run() error {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := s.runOnce()
		if err == nil || time.Since(begun) > 10*time.Second {
			return err
		}
	}
}

func (s *Server) runOnce() error {
	said, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer said.Close()
	s.process = s.command("postgres", s.args...)
	s.process.Stdout, s.process.Stderr = said, said
	if s.ended, err = startBound(s.process); err != nil {
		return fmt.Errorf("starting postgres: %w", err)
	}
	return s.awaitReady()
}

// startBound starts a process that dies with this one.
func startBound(c *exec.Cmd) (ended chan error, err error) {
	started := make(chan error)
	ended = make(chan error, 1)
	go func() {
		// The kernel kills the process when the thread that started it ends: this one stays until then, and longer, for
		// it may have started others.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.Start()
		started <- err
		if err == nil {
			ended <- c.Wait()
		}
	}()
	return ended, <-started
}

func (s *Server) awaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.Admin)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case end := <-s.ended:
			s.ended <- end
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("postgres ended: %w: %s", end, log[max(0, len(log)-2000):])
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Dir is the folder with all that it keeps and says.
func (s *Server) Dir() string { return s.dir }

// Copy keeps a copy of all data. The server must be stopped.
func (s *Server) Copy() error { return copyData(s.data(), s.data()+".copy") }

// PutBack puts what Copy kept in the place of all data, as who restores a backup does. The server must be stopped.
func (s *Server) PutBack() error {
	return errors.Join(os.RemoveAll(s.data()), copyData(s.data()+".copy", s.data()))
}

func copyData(from, to string) error {
	if said, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copying the data: %w: %s", err, said)
	}
	return nil
}

// Kill ends the server with all its processes, without a warning: one that outlived it might still answer and commit.
func (s *Server) Kill() error {
	if s.process == nil || s.process.Process == nil {
		return nil
	}
	if err := s.signalAll(syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return s.end(syscall.SIGKILL)
}

// Stop ends the server in order, cutting off who is connected.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) }

// Pause stops all processes of the server where they are: connections stay open, new ones are taken, and nothing is
// answered.
func (s *Server) Pause() error { return s.signalAll(syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (s *Server) Resume() error { return s.signalAll(syscall.SIGCONT) }

// signalAll signals the processes that the server has started, and then the server, which is stopped meanwhile, so that
// it starts no more.
func (s *Server) signalAll(sig syscall.Signal) error {
	server := s.process.Process.Pid
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		return err
	}
	said, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server, server))
	if err != nil {
		return errors.Join(err, syscall.Kill(server, syscall.SIGCONT))
	}
	for _, field := range append(strings.Fields(string(said)), strconv.Itoa(server)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

func (s *Server) end(how syscall.Signal) error {
	if s.process == nil || s.process.Process == nil {
		return nil
	}
	if err := s.process.Process.Signal(how); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	end := <-s.ended
	s.ended <- end // for whoever asks again
	return nil
}

// Close ends the server and removes its data.
func (s *Server) Close() error {
	err := s.end(syscall.SIGQUIT)
	if s.kept {
		return err
	}
	for range 50 { // processes of a killed server may still be writing
		if err = errors.Join(err, os.RemoveAll(s.dir)); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
		err = nil
	}
	return os.RemoveAll(s.dir)
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "LC_ALL=C")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.user, Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	return c
}

// binaries finds the folder of PostgreSQL's programs, the newest where there are several.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	folders, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(folders) == 0 {
		return "", ErrMissing
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(folders, func(a, b string) int { return version(a) - version(b) })), nil
}

// unprivileged is whom the server runs as when we are root, as whom PostgreSQL refuses to run.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
