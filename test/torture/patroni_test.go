package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const failovers = 5

// patroni is a cluster that test/patroni/cluster made: its folder.
type patroni string

func (p patroni) do(t *testing.T, what string) string {
	t.Helper()
	cmd := exec.Command("../patroni/cluster", what, string(p))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cluster %s: %v", what, err)
	}
	return strings.TrimSpace(string(out))
}

// TestFailover kills the primary of a PostgreSQL with synchronous standbys under two instances, and brings it back as a
// standby once another one has taken over.
func TestFailover(t *testing.T) {
	p := patroni(os.Getenv("TEST_PATRONI"))
	if p == "" {
		t.Skip("TEST_PATRONI names no cluster whose primary may be killed; test/patroni/run starts one and this test")
	}
	boon := install(t, p.do(t, "url"))
	l := busyTills(t, boon, 32, serve(t, boon), serve(t, boon))
	for range failovers {
		time.Sleep(3 * time.Second)
		killed, begun := p.do(t, "kill"), time.Now()
		l.goOn()
		t.Logf("%s was the primary and is killed; tills were answered again after %.1f s", killed,
			time.Since(begun).Seconds())
		p.do(t, "back")
	}
	l.end(fmt.Sprintf("%d kills of the primary", failovers))
}

// goOn waits until every till has been answered that was cut short, and some more.
func (l *underLoad) goOn() {
	l.Helper()
	time.Sleep(time.Second) // what was on its way
	for begun, before := time.Now(), l.tills.Calls(); l.tills.Calls() < before+200; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > 2*time.Minute {
			l.Fatal("no other node took over within two minutes")
		}
	}
}
