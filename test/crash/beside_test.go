package crash

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestTwoServersOnOneFolder: two processes serve one data folder, which nobody should do, while others verify it and apply the set-up
// again. Every till sends the same requests with the same keys to both; each is done once, and answered alike.
func TestTwoServersOnOneFolder(t *testing.T) {
	t.Parallel()
	boon := install(t)
	servers := []*server{boon.start(t, "127.0.0.1:0"), boon.start(t, "127.0.0.1:0")}
	ids := sell(t, servers[0].url, 8)
	const tills, calls = 4, 60
	var mu sync.Mutex
	answers := map[string]map[string]bool{} // by key
	var wg sync.WaitGroup
	for n := range tills {
		for _, s := range servers {
			wg.Go(func() {
				for c := range calls {
					key := fmt.Sprintf("k-%d", (c+n)%calls)
					body := fmt.Sprintf(`{"voucherID":%q,"amount":0.01}`, ids[(c+n)%calls%len(ids)])
					status, answer, err := post(s.url, "/api/integration/redemption/redeem-gift", key, body)
					if err != nil || status != http.StatusOK {
						t.Errorf("%s: %d %s %v", key, status, answer, err)
						return
					}
					mu.Lock()
					if answers[key] == nil {
						answers[key] = map[string]bool{}
					}
					answers[key][string(answer)] = true
					mu.Unlock()
				}
			})
		}
	}
	wg.Go(func() {
		for range 3 {
			if out := boon.run(t, "verify"); !strings.Contains(out, "Everything holds.") {
				t.Error(out)
			}
		}
	})
	wg.Wait()
	for key, different := range answers {
		if len(different) != 1 {
			t.Errorf("%s was answered in %d ways", key, len(different))
		}
	}
	taken := 0
	for _, id := range ids {
		for _, s := range servers { // both tell the same
			taken += len(historyOf(t, s.url, id))
		}
	}
	if taken != 2*calls || len(answers) != calls {
		t.Errorf("%d redemptions are there twice over, and %d keys were answered; want %d of each", taken/2, len(answers), calls)
	}
	for _, s := range servers {
		s.kill(t)
	}
	boon.run(t, "verify")
}

// TestToldToStopUnderLoad: a process that is told to stop ends with exit code 0; what it answered is there afterwards.
func TestToldToStopUnderLoad(t *testing.T) {
	t.Parallel()
	boon := install(t)
	server := boon.start(t, freeAddress(t))
	l := &tills{urls: []string{server.url}, gifts: sell(t, server.url, 8)}
	stop := make(chan struct{})
	wait := l.work(t, 16, stop)
	time.Sleep(200 * time.Millisecond)
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.cmd.Wait(); err != nil {
		t.Errorf("the process ended with %v, want exit code 0", err)
	}
	close(stop)
	server = boon.start(t, server.address)
	wait()
	if len(l.history) == 0 {
		t.Fatal("nothing was redeemed")
	}
	l.check(t, server.url)
	server.kill(t)
}
