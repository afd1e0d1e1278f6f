//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fewDescriptors runs boon serve with 256 file descriptors, and gives its address.
func fewDescriptors(t *testing.T, flags ...string) string {
	t.Helper()
	boon, err := exec.LookPath("boon")
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	if code, _, log := typed(t, "apply", filepath.Join(exampleFiles(t), "harbor-coffee.yaml"), "--data",
		data); code != exitOK {
		t.Fatal(log)
	}
	var log bytes.Buffer
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -n 256 && exec "$0" serve --listen 127.0.0.1:0 --data "$@"`,
		boon, data}, flags...)...)
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(log.String(), `"descriptors":"256"`) ||
			!strings.Contains(log.String(), "may open 256 files and connections only") {
			t.Errorf("the start does not say the limit:\n%.2000s", log.String())
		}
	})
	ready, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(strings.TrimSpace(ready), "://")
	return address
}

// TestFewDescriptors: with 256 file descriptors and a thousand connections that send nothing more, calls are answered:
// the connection that has been read for the longest makes room.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	const clients = 1000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 2*clients {
		t.Skipf("LEFT OUT: this test needs %d file descriptors itself, there are %d (%v)", 2*clients, limit.Cur, err)
	}
	address := fewDescriptors(t)
	for _, say := range []string{
		"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", // idle after a request, within its head, within its body, and without one
		"GET /healthz HTTP/1.1\r\n",
		"POST /api/integration/gifting/send-gift HTTP/1.1\r\nHost: x\r\nAuthorization: " + webShop +
			"\r\nContent-Length: 99\r\n\r\n{",
		"",
	} {
		for n := range clients {
			stayIdle(t, n, address, say)
		}
		callsAreAnswered(t, address)
	}
}

const webShop = "boon_live_scripts_of_tests_harbor_coffee_web_shop"

// stayIdle opens a connection that stays open, and does nothing after what it says was answered.
func stayIdle(t *testing.T, n int, address, say string) {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, time.Minute)
	if err != nil {
		t.Fatalf("connection %d: %v", n, err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprint(c, say)
	if !strings.HasSuffix(say, "\r\n\r\n") {
		return
	}
	if _, err := c.Read(make([]byte, 1)); err != nil {
		t.Fatalf("connection %d was not answered: %v", n, err)
	}
}

// callsAreAnswered makes calls as tills do, each over a connection of its own and all over one.
func callsAreAnswered(t *testing.T, address string) {
	t.Helper()
	for n := range 40 {
		client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: n%2 == 0}}
		if err := callOfATill(client, "http://"+address); err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
		client.CloseIdleConnections()
	}
}

// callOfATill lists gifts. It makes the call again, nine times at most, while the service is busy: answers 503 and says
// when to come back. A connection that ends without an answer is an error.
func callOfATill(client *http.Client, service string) error {
	r, err := http.NewRequest("GET", service+"/api/integration/gifting/gifts", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", webShop)
	for tries := 1; ; tries++ {
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode == http.StatusOK {
			return err
		}
		seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		if answer.StatusCode != http.StatusServiceUnavailable || err != nil || seconds > 10 || tries == 10 {
			return fmt.Errorf("try %d: %s %v %s", tries, answer.Status, answer.Header, body)
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}
