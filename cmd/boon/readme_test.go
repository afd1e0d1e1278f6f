package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// TestAfternoon pastes the README's commands into a shell, in order, beside a demo, as a newcomer does. Each must be
// answered with success.
func TestAfternoon(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## An afternoon's integration\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		script.WriteString(block[1])
	}
	if n := strings.Count(script.String(), "curl "); n < 9 {
		t.Fatalf("the README has %d calls", n)
	}
	if out, err := exec.Command("curl", "--json", "x", "--version").CombinedOutput(); err != nil {
		t.Skipf("there is no curl that knows --json: %s %v", out, err)
	}

	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	defer ended.Wait()
	defer stop()
	serving := make(chan struct{})
	out := &watched{word: "Ctrl-C ends it", seen: sync.OnceFunc(func() { close(serving) })}
	ended.Go(func() {
		run(ctx, []string{"demo", "--listen", "127.0.0.1:0"}, strings.NewReader(""), out, &bytes.Buffer{},
			func(string) string { return "" })
	})
	<-serving
	out.mu.Lock()
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(out.text.String())
	out.mu.Unlock()

	commands := "curl() { command curl --fail-with-body \"$@\"; }\n" +
		strings.Replace(script.String(), "http://127.0.0.1:8080", address, 1)
	shell := exec.Command("bash", "-euo", "pipefail", "-c", commands)
	shell.Dir = t.TempDir()
	answers, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, answers)
	}
	for _, want := range []string{`"amount":9.50,"currentBalance":15.50`, `"reversalID":"`, `"state":"finished"`,
		`"status":"CANCELLED"`} {
		if !strings.Contains(string(answers), want) {
			t.Errorf("the answers lack %s:\n%s", want, answers)
		}
	}
}
