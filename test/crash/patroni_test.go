package crash

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
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

// TestFailover kills the primary of a PostgreSQL with synchronous standbys under two instances, and brings it back as a standby
// once another one has taken over.
func TestFailover(t *testing.T) {
	p := patroni(os.Getenv("TEST_PATRONI"))
	if p == "" {
		t.Skip("TEST_PATRONI names no cluster whose primary may be killed; test/patroni/run starts one and this test")
	}
	boon := install(t, "--database", p.do(t, "url"))
	servers := []*server{boon.start(t, "127.0.0.1:0"), boon.start(t, "127.0.0.1:0")}
	// The pause keeps the history of the first gift as short as its check needs it.
	l := &tills{urls: []string{servers[0].url, servers[1].url}, hot: 2, pause: 20 * time.Millisecond}
	l.gifts = sell(t, servers[0].url, 101)
	stop := make(chan struct{})
	wait := l.work(t, 32, stop)
	for range failovers {
		time.Sleep(3 * time.Second)
		killed, begun := p.do(t, "kill"), time.Now()
		l.goOn(t)
		t.Logf("%s was the primary and is killed; tills were answered again after %.1f s", killed, time.Since(begun).Seconds())
		p.do(t, "back")
	}
	close(stop)
	wait()
	lost, doubled := l.check(t, servers[0].url)
	l.check(t, servers[1].url)
	for _, s := range servers {
		s.kill(t)
	}
	l.report(t, fmt.Sprintf("%d kills of the primary, at most %.1f s without an answer; lost %d, doubled %d; %s",
		failovers, l.silence().Seconds(), lost, doubled, boon.run(t, "verify")))
}

// goOn waits until every writer has been answered that was cut short, and some more.
func (l *tills) goOn(t *testing.T) {
	t.Helper()
	time.Sleep(time.Second) // what was on its way
	for begun, before := time.Now(), l.answered(); l.answered() < before+200; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("no other node took over within two minutes")
		}
	}
}

func (l *tills) answered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.history)
}

// silence is the longest time in which no till was answered.
func (l *tills) silence() time.Duration {
	var times []int64
	for _, op := range l.history {
		times = append(times, op.Return)
	}
	slices.Sort(times)
	longest := int64(0)
	for i := 1; i < len(times); i++ {
		longest = max(longest, times[i]-times[i-1])
	}
	return time.Duration(longest)
}
