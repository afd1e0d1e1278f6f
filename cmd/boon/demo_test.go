package main

import (
	"bytes"
	"context"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// watched is standard output on which a word is waited for.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
	word string
	seen func()
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(b)
	if strings.Contains(w.text.String(), w.word) {
		w.seen()
	}
	return len(b), nil
}

// Whoever has seen enough presses Ctrl-C, in the middle of the story or after it: that is no failure, and nothing is
// left behind. Not parallel: it sets where temporary folders are made.
func TestDemoEndsWhenToldTo(t *testing.T) {
	for _, word := range []string{"\n3. ", "Ctrl-C ends it"} {
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		ctx, cancel := context.WithCancel(t.Context())
		out, log := &watched{word: word, seen: cancel}, &bytes.Buffer{}
		if code := run(ctx, []string{"demo"}, strings.NewReader(""), out, log,
			func(string) string { return "" }); code != exitOK {
			t.Errorf("after %q: exit code %d, %s", word, code, log)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("after %q: %v is left behind, %v", word, left, err)
		}
		cancel()
	}
}

// TestDemoHasBooks: the six lines at the end of the story are what its calls come to, and add up.
func TestDemoHasBooks(t *testing.T) {
	t.Parallel()
	var out, log bytes.Buffer
	if code := run(t.Context(), []string{"demo", "--once", "--listen", "127.0.0.1:0"}, strings.NewReader(""), &out, &log,
		func(string) string { return "" }); code != exitOK {
		t.Fatalf("exit code %d, %s", code, &log)
	}
	_, books, _ := strings.Cut(out.String(), "They close to the cent.")
	var got []string
	total := new(big.Rat)
	for _, line := range regexp.MustCompile(`(?m)^  .* (-?[0-9]+\.[0-9]{2})$`).FindAllStringSubmatch(books, -1) {
		got = append(got, line[1])
		amount, ok := new(big.Rat).SetString(line[1])
		if !ok {
			t.Fatal(line[1])
		}
		if len(got) < 6 {
			total.Add(total, amount)
		}
	}
	// Two gifts of 25 and one of 11; 9.50 and 8.63 of them redeemed, 9.50 given back.
	if want := []string{"0.00", "61.00", "-18.13", "9.50", "0.00", "52.37"}; !slices.Equal(got, want) ||
		total.FloatString(2) != want[5] {
		t.Errorf("the books are %q, and the lines come to %s:\n%s", got, total.FloatString(2), books)
	}
}

// TestDemoIsPasted: the commands at the end of the story work as they stand, beside the program as it was called.
func TestDemoIsPasted(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", home+"/bin/boon", ".")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	demo := exec.CommandContext(t.Context(), "bin/boon", "demo", "--listen", "127.0.0.1:0")
	demo.Dir, demo.Env = home, []string{"TMPDIR=" + t.TempDir(), "PATH=/usr/bin:/bin"}
	told := make(chan struct{})
	out := &watched{word: "Ctrl-C ends it", seen: sync.OnceFunc(func() { close(told) })}
	demo.Stdout, demo.Stderr = out, t.Output()
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- demo.Wait() }()
	select {
	case <-told:
	case err := <-ended:
		t.Fatal("the demo ended: ", err)
	}
	out.mu.Lock()
	_, text, _ := strings.Cut(out.text.String(), "goes on running at")
	out.mu.Unlock()
	commands := regexp.MustCompile(`(?m)^  (?:[^\\\n]*\\\n)*[^\n]*$`).FindAllString(text, -1)
	if len(commands) != 4 {
		t.Fatalf("the story ends with %q", text)
	}
	for _, command := range commands {
		c := exec.CommandContext(t.Context(), "/bin/sh", "-c", command)
		c.Dir, c.Env = home, demo.Env
		said, err := c.CombinedOutput()
		if err != nil || strings.Contains(string(said), `"code"`) {
			t.Errorf("%s: %v, %s", command, err, said)
		}
	}
	if err := demo.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the demo ends with %v", err)
	}
}

// TestDemoHasATill: the link at the end of the story pairs a till.
func TestDemoHasATill(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told := make(chan bool)
	out := &watched{word: "Ctrl-C ends it", seen: sync.OnceFunc(func() { close(told) })}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"demo", "--listen", "127.0.0.1:0"}, strings.NewReader(""), out, io.Discard,
			func(string) string { return "" })
	}()
	select {
	case <-told:
	case code := <-ended:
		t.Fatalf("the demo ended with %d", code)
	}
	out.mu.Lock()
	link := regexp.MustCompile(`(http://\S+/till/pair)#(\S+)`).FindStringSubmatch(out.text.String())
	out.mu.Unlock()
	if link == nil {
		t.Fatal("the demo tells no link")
	}
	resp, err := http.Post(link[1], "application/json", strings.NewReader(`{"token":"`+link[2]+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK ||
		!bytes.Contains(answer, []byte("Pier 39")) {
		t.Errorf("pairing: %d %s %v", resp.StatusCode, answer, err)
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// TestMakeDemoSpeaksFirst: make demo tells that it compiles before it does.
func TestMakeDemoSpeaksFirst(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("LEFT OUT: there is no make")
	}
	out, err := exec.Command("make", "-C", "../..", "--no-print-directory", "demo", "GO=false").CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "Compiling Boon: ") {
		t.Errorf("with a compiler that fails, make demo says (%v):\n%s", err, out)
	}
}
