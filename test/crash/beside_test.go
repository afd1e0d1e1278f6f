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
	data := folder(t)
	servers := []*server{start(t, binary, data), start(t, binary, data)}
	ids := sell(t, servers[0].url)
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
			if out := run(t, binary, "verify", "--data", data); !strings.Contains(out, "Everything holds.") {
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
			var history struct{ Entries []struct{ Kind string } }
			get(t, s.url, "/api/integration/gifting/gifts/"+id+"/history?limit=200", &history)
			taken += len(history.Entries) - 1
		}
	}
	if taken != 2*calls || len(answers) != calls {
		t.Errorf("%d redemptions are there twice over, and %d keys were answered; want %d of each", taken/2, len(answers), calls)
	}
	for _, s := range servers {
		s.kill(t)
	}
	run(t, binary, "verify", "--data", data)
}

// TestToldToStopUnderLoad: a process that is told to stop ends with exit code 0; what it answered is there, and nothing else is.
func TestToldToStopUnderLoad(t *testing.T) {
	t.Parallel()
	data := folder(t)
	server := start(t, binary, data)
	ids := sell(t, server.url)
	till := &till{unknown: map[string]string{}, acked: map[string]string{}}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { till.write(server.url, ids, fmt.Sprint(w), stop) })
	}
	time.Sleep(200 * time.Millisecond)
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.cmd.Wait(); err != nil {
		t.Errorf("the process ended with %v, want exit code 0", err)
	}
	wg.Wait()
	if len(till.acked) == 0 {
		t.Fatal("nothing was redeemed before the stop")
	}
	server = start(t, binary, data)
	compare(t, server.url, ids, till)
	server.kill(t)
}
