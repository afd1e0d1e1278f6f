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

// TestAfternoon pastes the commands of the README and of other pages into a shell, in order, beside a demo, as a
// newcomer does. Each must be answered with success.
func TestAfternoon(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("curl", "--json", "x", "--version").CombinedOutput(); err != nil {
		t.Skipf("there is no curl that knows --json: %s %v", out, err)
	}
	for _, page := range []struct {
		file, from, to string
		calls          int
		answers        []string
	}{
		{"README.md", "\n## An afternoon's integration\n", "\n## ", 4, []string{
			`"voucherCode":"`, `"isRedeemable":true`, `"amount":9.50,"currentBalance":15.50`, `"reversalID":"`}},
		{"docs/start/afternoon.md", "", "\n## No such heading", 4, []string{`"amount":10.00,"currentBalance":15.50`,
			`"reversalID":"`, `"state":"finished"`, `"nextCursor":`}},
		{"docs/guides/send.md", "", "\n## No such heading", 1, []string{`"status":"CANCELLED"`}},
		{"docs/guides/take.md", "", "\n## No such heading", 1, []string{`"eligibility":{`,
			`"amount":10.00,"currentBalance":15.50`, `"holdID":"`, `"reversalID":"`}},
		{"docs/guides/connect.md", "", "\n## No such heading", 1, []string{`"amount":20.00`, `"currentBalance":0.00`,
			`"currentBalance":5.00`}},
		{"docs/guides/test-mode.md", "", "\n## No such heading", 1, []string{`"due":0`}},
		{"docs/reference/events.md", "", "\n## No such heading", 1, []string{`"type":"gift.created"`, `"nextCursor":"`}},
	} {
		t.Run(page.file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("../../" + page.file)
			if err != nil {
				t.Fatal(err)
			}
			_, section, _ := strings.Cut(string(text), page.from)
			section, _, _ = strings.Cut(section, page.to)
			var script strings.Builder
			for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
				script.WriteString(block[1])
			}
			if n := strings.Count(script.String(), "curl "); n < page.calls {
				t.Fatalf("%s has %d calls", page.file, n)
			}
			answers := paste(t, script.String())
			for _, want := range page.answers {
				if !strings.Contains(answers, want) {
					t.Errorf("the answers lack %s:\n%s", want, answers)
				}
			}
		})
	}
}

// paste runs a demo and the commands beside it, and gives what these print.
func paste(t *testing.T, script string) string {
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
		strings.Replace(script, "http://127.0.0.1:8080", address, 1)
	shell := exec.Command("bash", "-euo", "pipefail", "-c", commands)
	shell.Dir = t.TempDir()
	answers, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, answers)
	}
	return string(answers)
}
