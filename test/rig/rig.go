// Package rig runs the real program for programs and tests that torture it: it builds the binary, sets up a store,
// starts, kills and starts again what serves, and calls it over HTTP.
//
// It decides nothing about what is right. It returns errors, so that a program can use it as well as a test.
package rig

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The programs that Build makes.
const (
	Boon    = "boon.example/cmd/boon"
	Unsound = "boon.example/test/torture/unsound" // serves, and makes the mistake that it is told to make
)

// Root is the folder of the repository.
func Root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "boon.example").Output()
	return strings.TrimSpace(string(out)), err
}

// Build makes a program at path.
func Build(path, program string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, program) // to link symbols, too, takes seconds
	if program == Boon {
		cmd.Dir = root // its own module says which versions it is made of
	}
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w\n%s", err, out)
	}
	return nil
}

// Installation is a program and the store that it works on.
type Installation struct {
	Binary string
	Serve  []string // the command that serves; nil: that of Binary
	Flags  []string // that name the store
	Env    []string // beside this process's own
}

// Account is one of the accounts of Setup, with keys and the records that a call may need.
type Account struct {
	ID, Location, Storefront, Promotion string
	Keys                                []string
}

// Accounts are those of Setup: each with as many keys as a chain has tills, one location and one storefront.
func Accounts() []Account {
	var all []Account
	for n := 1; n <= 2; n++ {
		id := func(record int) string { return fmt.Sprintf("0199a000-0000-7000-8000-0000000%d%04d", n, record) }
		a := Account{ID: id(1), Location: id(2), Storefront: id(3), Promotion: id(4)}
		for till := range 40 {
			a.Keys = append(a.Keys, fmt.Sprintf("boon_live_torture_%d_%02d_0123456789abcdef0123456789abcdef", n, till))
		}
		all = append(all, a)
	}
	return all
}

// Setup is the set-up file of Accounts.
func Setup() string {
	b := &strings.Builder{}
	fmt.Fprintln(b, "accounts:")
	for n, a := range Accounts() {
		fmt.Fprintf(b, "  - {id: %s, name: Shop %d, currency: USD, timeZone: UTC, language: en, limits: {giftsPerDay: "+
			"1000000000, "+
			"messagesPerDay: 1000000000, textsPerDay: 1000000000,\n"+
			"     messagesPerContactPerDay: 1000000000},\n", a.ID, n)
		fmt.Fprintf(b, "     subscriptions: [{program: 22222222-2222-2222-2222-222222222222, reloadable: true},\n"+
			"       {program: 33333333-3333-3333-3333-333333333333}],\n")
		fmt.Fprintf(b, "     locations: [{id: %s, name: Here, jurisdiction: US-CA}],\n", a.Location)
		fmt.Fprintf(b, "     storefronts: [{id: %s, name: Web}],\n", a.Storefront)
		fmt.Fprintf(b, "     promotions: [{id: %s, name: Spring, validStarting: 2026-01-01T00:00:00Z, validForDays: 3650, "+
			"terms: One each}],\n", a.Promotion)
		fmt.Fprintln(b, "     keys: [")
		for till, secret := range a.Keys {
			fmt.Fprintf(b, "       {name: till %d, role: all, secret: %s},\n", till, secret)
		}
		fmt.Fprintln(b, "     ]}")
	}
	return b.String()
}

// Install applies Setup to a new store. data is the data folder, database the URL of a PostgreSQL database or "".
func Install(binary, data, database string) (*Installation, error) {
	return InstallFile(binary, data, database, Setup())
}

// InstallFile is Install with another set-up file.
func InstallFile(binary, data, database, setup string) (*Installation, error) {
	i := &Installation{Binary: binary, Flags: []string{"--data", data}}
	if database != "" {
		i.Flags = append(i.Flags, "--database", database)
	}
	file, err := os.CreateTemp("", "boon-setup-*.yaml")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(setup)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	_, err = i.Run("apply", file.Name())
	return i, err
}

// Run runs a command on the store and gives what it printed.
func (i *Installation) Run(args ...string) (string, error) {
	cmd := exec.Command(i.Binary, append(args, i.Flags...)...)
	cmd.Env = append(os.Environ(), i.Env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("boon %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// Verify runs `boon verify`; anything but a clean finding is an error.
func (i *Installation) Verify() error {
	out, err := i.Run("verify")
	if err == nil && !strings.Contains(out, "Everything holds.") {
		err = errors.New(out)
	}
	return err
}

// Server is one running process.
type Server struct {
	URL, Address string
	Ready        time.Duration // from its start to its first word
	cmd          *exec.Cmd
	logs         *bytes.Buffer
	says         *bufio.Reader // what follows the first line
}

// Start serves on an address; port 0 picks one. It returns when the process listens. A port that was free a moment ago,
// such as that of a server that was killed, may be somebody's connection by now, which ends: Start waits for that.
func (i *Installation) Start(address string, flags ...string) (*Server, error) {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		s, err := i.startOnce(address, flags)
		if err == nil || !strings.Contains(err.Error(), "address already in use") || time.Since(begun) > longest {
			return s, err
		}
	}
}

func (i *Installation) startOnce(address string, flags []string) (*Server, error) {
	serve := i.Serve
	if serve == nil {
		serve = []string{i.Binary, "serve"}
	}
	cmd := exec.Command(serve[0], slices.Concat(serve[1:], []string{"--listen", address}, flags, i.Flags)...)
	cmd.Env = append(os.Environ(), i.Env...)
	s := &Server{cmd: cmd, logs: &bytes.Buffer{}}
	cmd.Stderr = s.logs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.says = bufio.NewReader(out)
	line, err := s.says.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		s.Kill()
		return nil, fmt.Errorf("the server did not start: %q\n%s", line, s.logs)
	}
	s.URL, s.Address, s.Ready = url, strings.TrimPrefix(url, "http://"), time.Since(begun)
	return s, nil
}

// FirstLink is the link that a service without an account prints, by which somebody makes the first.
func (s *Server) FirstLink() (string, error) {
	for {
		line, err := s.says.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("the server printed no link: %w", err)
		}
		if link := strings.TrimSpace(line); strings.HasPrefix(link, "http") {
			return link, nil
		}
	}
}

// Kill ends the process as kill -9 does, and returns when it is gone.
func (s *Server) Kill() {
	s.Strike()
	_ = s.cmd.Wait()
}

// Crash has the process end as a grave fault in it does, and returns when it is gone.
func (s *Server) Crash() {
	_ = s.cmd.Process.Signal(syscall.SIGABRT) // it may have gone already
	_ = s.cmd.Wait()
}

// Stop tells the process to end, and returns when it is gone.
func (s *Server) Stop() error {
	return errors.Join(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait())
}

// Strike sends the kill and does not wait.
func (s *Server) Strike() { _ = s.cmd.Process.Kill() } // it may have gone already

// Pid is the process's.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// FreeAddress finds a port that can be listened on again after a kill: one that no system gives to a connection or to
// who listens on port 0, which Linux takes from 32768 on.
func FreeAddress() (address string, err error) {
	for range 100 {
		address = fmt.Sprintf("127.0.0.1:%d", 10_000+rand.N(20_000))
		var l net.Listener
		if l, err = net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", err
}

// Workshop is a temporary folder with the program in it.
func Workshop() (dir, binary string, err error) {
	if dir, err = os.MkdirTemp("", "boon-torture-"); err != nil {
		return "", "", err
	}
	binary = filepath.Join(dir, "boon")
	if err = Build(binary, Boon); err != nil {
		return "", "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, binary, nil
}

// Logs is what the process said; ask only after Kill.
func (s *Server) Logs() string { return s.logs.String() }
