// Package crash kills what serves, with SIGKILL, in the middle of its writers, again and again, and holds what was acknowledged
// against what is there afterwards.
package crash

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	kills = 20
	key   = "boon_test_crash_0123456789abcdef0123456789abcdef"
)

const setupFile = `accounts:
  - id: 0199a000-0000-7000-8000-000000000001
    name: Crash
    currency: USD
    timeZone: UTC
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}]
    locations: [{id: 0199a000-0000-7000-8000-000000000002, name: Here}]
    storefronts: [{id: 0199a000-0000-7000-8000-000000000003, name: Web}]
    keys: [{name: till, role: all, secret: ` + key + `}]
`

// binary is the program, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "boon-crash-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "boon")
	out, err := exec.Command("go", "build", "-o", binary, "boon.example/cmd/boon").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "building: %v\n%s", err, out)
		os.RemoveAll(dir)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// TestKilledServerLosesNothingItAcknowledged kills the service on the embedded store.
func TestKilledServerLosesNothingItAcknowledged(t *testing.T) {
	t.Parallel()
	boon := install(t)
	server := boon.start(t, freeAddress(t))
	l := &tills{urls: []string{server.url}, gifts: sell(t, server.url, 8), hot: 2}
	stop := make(chan struct{})
	wait := l.work(t, 16, stop)
	for range kills {
		time.Sleep(time.Duration(50+rand.IntN(200)) * time.Millisecond)
		server.kill(t)
		server = boon.start(t, server.address)
	}
	close(stop)
	wait()
	l.check(t, server.url)
	server.kill(t)
	l.report(t, fmt.Sprintf("%d kills of the server; %s", kills, boon.run(t, "verify")))
}

func (l *tills) report(t *testing.T, what string) {
	t.Logf("%d redemptions acknowledged, %d calls repeated, %s", len(l.history), l.repeats, strings.TrimSpace(what))
	if len(l.history) < kills*16 {
		t.Errorf("only %d redemptions were acknowledged: the writers hardly wrote", len(l.history))
	}
}

// installation is a store with a set-up in it: the flags that name it.
type installation []string

// install applies the set-up to a new store.
func install(t *testing.T, store ...string) installation {
	t.Helper()
	return installBy(t, binary, store...)
}

// installBy is install by a program of another version.
func installBy(t *testing.T, program string, store ...string) installation {
	t.Helper()
	dir := t.TempDir()
	i := append(installation{"--data", filepath.Join(dir, "data")}, store...)
	file := filepath.Join(dir, "setup.yaml")
	if err := os.WriteFile(file, []byte(setupFile), 0o600); err != nil {
		t.Fatal(err)
	}
	i.runBy(t, program, "apply", file)
	return i
}

func (i installation) run(t *testing.T, args ...string) string {
	t.Helper()
	return i.runBy(t, binary, args...)
}

func (i installation) runBy(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, append(args, i...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("boon %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// server is one running process.
type server struct {
	cmd          *exec.Cmd
	address, url string
}

func (i installation) start(t *testing.T, address string) *server {
	t.Helper()
	return i.startBy(t, binary, address)
}

func (i installation) startBy(t *testing.T, program, address string) *server {
	t.Helper()
	cmd := exec.Command(program, append([]string{"serve", "--listen", address}, i...)...)
	var logs bytes.Buffer
	cmd.Stderr = &logs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("the server did not start: %q %v\n%s", line, err, &logs)
	}
	s := &server{cmd, address, url}
	t.Cleanup(func() { cmd.Process.Kill() })
	return s
}

func (s *server) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
}

// freeAddress finds a port that can be listened on again after a kill.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
