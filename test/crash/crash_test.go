// Package crash kills a serving boon with SIGKILL in the middle of its writers, again and again, and holds what it
// acknowledged against what is there afterwards.
package crash

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	kills   = 20
	writers = 16
	gifts   = 8
	key     = "boon_test_crash_0123456789abcdef0123456789abcdef"
)

const setupFile = `accounts:
  - id: 0199a000-0000-7000-8000-000000000001
    name: Crash
    currency: USD
    timeZone: UTC
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}]
    locations: [{id: 0199a000-0000-7000-8000-000000000002, name: Here}]
    storefronts: [{id: 0199a000-0000-7000-8000-000000000003, name: Web}]
    keys: [{name: till, secret: ` + key + `}]
`

// till is what a client of one gift remembers: every redemption it asked for, and what was answered.
type till struct {
	mu      sync.Mutex
	unknown map[string]string // idempotency key -> body, no answer yet
	acked   map[string]string // idempotency key -> redemptionID
}

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

// folder makes a data folder with the set-up in it.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "setup.yaml")
	if err := os.WriteFile(file, []byte(setupFile), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, binary, "apply", file, "--data", data)
	return data
}

func TestKilledServerLosesNothingItAcknowledged(t *testing.T) {
	data := folder(t)
	server := start(t, binary, data)
	ids := sell(t, server.url)
	till := &till{unknown: map[string]string{}, acked: map[string]string{}}
	for round := range kills {
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() { till.write(server.url, ids, fmt.Sprintf("%d-%d", round, w), stop) })
		}
		time.Sleep(time.Duration(50+rand.IntN(200)) * time.Millisecond)
		server.kill(t)
		close(stop)
		wg.Wait()
		server = start(t, binary, data)
	}
	till.settle(t, server.url)
	compare(t, server.url, ids, till)
	server.kill(t)
	t.Logf("%d redemptions acknowledged over %d kills; %s", len(till.acked), kills, strings.TrimSpace(run(t, binary, "verify", "--data", data)))
	if len(till.acked) < kills*writers {
		t.Errorf("only %d redemptions were acknowledged: the writers hardly wrote", len(till.acked))
	}
}

// write redeems one cent at a time until the server is gone.
func (l *till) write(url string, ids []string, name string, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		key := fmt.Sprintf("%s-%d", name, n)
		body := fmt.Sprintf(`{"voucherID":%q,"amount":0.01}`, ids[rand.IntN(len(ids))])
		l.mu.Lock()
		l.unknown[key] = body
		l.mu.Unlock()
		if l.redeem(url, key, body) != nil {
			return
		}
	}
}

// redeem asks once. An error means that nobody knows what became of it.
func (l *till) redeem(url, key, body string) error {
	status, answer, err := post(url, "/api/integration/redemption/redeem-gift", key, body)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%d: %s", status, answer)
	}
	var redeemed struct{ RedemptionID string }
	if err := json.Unmarshal(answer, &redeemed); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.unknown, key)
	l.acked[key] = redeemed.RedemptionID
	return nil
}

// settle repeats what is unknown with the same key, as a till does.
func (l *till) settle(t *testing.T, url string) {
	for key, body := range l.unknown {
		if err := l.redeem(url, key, body); err != nil {
			t.Fatalf("settling %s: %v", key, err)
		}
	}
}

// compare holds the histories of all gifts against what was acknowledged: each redemption there, each once, and the balances
// fallen by just that.
func compare(t *testing.T, url string, ids []string, l *till) {
	found := map[string]int{}
	for _, id := range ids {
		next, taken := "", 0
		for {
			var page struct {
				Entries []struct {
					Kind         string
					RedemptionID string
				}
				NextCursor string
			}
			get(t, url, "/api/integration/gifting/gifts/"+id+"/history?limit=100"+next, &page)
			for _, e := range page.Entries {
				if e.Kind == "REDEMPTION" {
					found[e.RedemptionID]++
					taken++
				}
			}
			if page.NextCursor == "" {
				break
			}
			next = "&cursor=" + page.NextCursor
		}
		var gift struct{ CurrentBalance json.Number }
		get(t, url, "/api/integration/gifting/gifts/"+id, &gift)
		if want := fmt.Sprintf("%d.%02d", (1_000_000-taken)/100, (1_000_000-taken)%100); string(gift.CurrentBalance) != want {
			t.Errorf("gift %s: balance %s after %d redemptions of 0.01, want %s", id, gift.CurrentBalance, taken, want)
		}
	}
	for key, id := range l.acked {
		if found[id] != 1 {
			t.Errorf("redemption %s (key %s) was acknowledged and is there %d times", id, key, found[id])
		}
	}
	if len(found) != len(l.acked) {
		t.Errorf("%d redemptions are there, %d were acknowledged", len(found), len(l.acked))
	}
}

// sell makes the gifts, worth 10,000.00 each.
func sell(t *testing.T, url string) (ids []string) {
	t.Helper()
	for n := range gifts {
		status, answer, err := post(url, "/api/integration/gifting/send-gift", "", fmt.Sprintf(`{"monetaryGift":{"value":10000,"deliveryMethodID":3},
			"paymentMethodID":2,"externalTransactionReferenceNumber":"r-%d","externalTransactionCustomerFirstName":"A",
			"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",
			"externalStorefrontID":"0199a000-0000-7000-8000-000000000003"}`, n))
		var order struct{ Gifts []struct{ VoucherID string } }
		if err != nil || status != http.StatusCreated || json.Unmarshal(answer, &order) != nil {
			t.Fatalf("send-gift: %d %s %v", status, answer, err)
		}
		ids = append(ids, order.Gifts[0].VoucherID)
	}
	return ids
}

var transport = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: writers}}

func post(url, path, idempotency, body string) (int, []byte, error) {
	req, err := http.NewRequest(http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if idempotency != "" {
		req.Header.Set("Idempotency-Key", idempotency)
	}
	return do(req)
}

func do(req *http.Request) (int, []byte, error) {
	req.Header.Set("Authorization", key)
	resp, err := transport.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

func get(t *testing.T, url, path string, into any) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	status, answer, err := do(req)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET %s: %d %s %v", path, status, answer, err)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatal(err)
	}
}

// server is one running process.
type server struct {
	cmd *exec.Cmd
	url string
}

func start(t *testing.T, binary, data string) *server {
	t.Helper()
	return launch(t, exec.Command(binary, "serve", "--listen", "127.0.0.1:0", "--data", data))
}

func launch(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
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
	t.Cleanup(func() { cmd.Process.Kill() })
	return &server{cmd, url}
}

func (s *server) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
