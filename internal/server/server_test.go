package server_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"boon.example/examples"
	"boon.example/internal/base/clientip"
	"boon.example/internal/boontest"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/server"
	"boon.example/internal/setup"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// TestMain demands that a server that was stopped leaves nothing running behind.
func TestMain(m *testing.M) {
	status := pgtest.Main(m)
	client.CloseIdleConnections()
	if err := goleak.Find(); status == 0 && err != nil {
		fmt.Println(err)
		status = 1
	}
	os.Exit(status)
}

// service is a running server over a data folder of its own.
type service struct {
	*testing.T
	url, address, data string
	database           string
	logs               *boontest.Log
	stop               func() error // asks it to stop and waits
}

func start(t *testing.T, c server.Config) *service {
	t.Helper()
	p := boontest.ExamplePlace(t)
	s := &service{T: t, data: p.Data, database: p.Database, logs: &boontest.Log{}}
	s.run(c)
	return s
}

// beside starts one more instance on the same data.
func (s *service) beside(c server.Config) *service {
	s.Helper()
	other := &service{T: s.T, data: s.data, database: s.database, logs: s.logs}
	other.run(c)
	return other
}

func (s *service) place() boontest.Place { return boontest.Place{Data: s.data, Database: s.database} }

func (s *service) run(c server.Config) {
	s.Helper()
	running := s.place().Serve(s.T, c, s.logs)
	s.url, s.address, s.stop = running.URL, running.Address, running.Stop
}

// apply changes the set-up as another process would.
func (s *service) apply(file []byte) { s.Helper(); s.place().Apply(s.T, file) }

// withStore uses the data as another process would.
func (s *service) withStore(use func(*store.Store) error) { s.Helper(); s.place().Use(s.T, use) }

// timeout is how long a test waits for what has to come, on a machine that has much else to do.
const timeout = time.Minute

// learned waits until the service has read the set-up as it is now: it knows a key that is made here.
func (s *service) learned() {
	s.Helper()
	var secret string
	s.withStore(func(beside *store.Store) (err error) {
		account, err := guid.Parse(examples.HarborAccount)
		if err == nil {
			_, secret, err = setup.CreateKey(s.Context(), beside, setup.KeyRequest{Name: "probe " + rand.Text(),
				Account: account, Permissions: merchant.AllPermissions}, time.Now(), rand.Reader)
		}
		return err
	})
	s.eventually(func() bool {
		time.Sleep(600 * time.Millisecond) // it is read twice a second, and each call with an unknown key is a guess
		status, _, err := s.call("GET", strings.TrimSuffix(giftPath, "/"), secret, "")
		return err == nil && status == http.StatusOK
	})
}

// call makes a call. As a till does, it makes one that changes nothing again when a busy service says 503.
func (s *service) call(method, path, key, body string) (status int, answer []byte, err error) {
	again := strings.HasPrefix(path, "/api/") && (method == "GET" || path == validatePath)
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		status, answer, err = s.callOnce(method, path, key, "", body)
		if err != nil || status != http.StatusServiceUnavailable || !again || time.Since(begun) > timeout {
			return status, answer, err
		}
	}
}

// callOnce is call with an Idempotency-Key, "" for none.
func (s *service) callOnce(method, path, key, idempotency, body string) (int, []byte, error) {
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", key)
	if idempotency != "" {
		req.Header.Set("Idempotency-Key", idempotency)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: timeout}

// must is call for what has to succeed, when a busy service says 503 only the next time; it reads the answer into into.
func (s *service) must(method, path, key, body string, into any) {
	s.Helper()
	idempotency := ""
	if method == "POST" && strings.HasPrefix(path, "/api/") && path != validatePath {
		idempotency = rand.Text()
	}
	status, answer, err := s.callOnce(method, path, key, idempotency, body)
	for begun := time.Now(); err == nil && status == http.StatusServiceUnavailable && time.Since(begun) < timeout; {
		time.Sleep(200 * time.Millisecond)
		status, answer, err = s.callOnce(method, path, key, idempotency, body)
	}
	if err != nil || status >= 300 {
		s.Fatalf("%s %s: %d %s %v", method, path, status, answer, err)
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			s.Fatal(err)
		}
	}
}

type soldGift struct {
	VoucherID, VoucherCode, VoucherPublicToken, GiftURL, Status string
	CurrentBalance                                              json.Number
}

func (s *service) sell(gift string) soldGift { s.Helper(); return s.sellAs(gift, "W-1") }

// sellAs is sell, under the number of a sale.
func (s *service) sellAs(gift, reference string) soldGift {
	s.Helper()
	var order struct{ Gifts []soldGift }
	s.must("POST", "/api/integration/gifting/send-gift", examples.HarborWebShopKey,
		`{"monetaryGift":`+gift+`,"paymentMethodID":2,
		"externalTransactionReferenceNumber":"`+reference+`","externalTransactionCustomerFirstName":"Carla",
		"externalTransactionCustomerLastName":"Diaz",
		"externalTransactionCustomerEmailAddress":"carla@example.com",
		"externalStorefrontID":"`+examples.HarborStorefront+`"}`, &order)
	return order.Gifts[0]
}

const (
	redeemPath   = "/api/integration/redemption/redeem-gift"
	validatePath = "/api/integration/redemption/validate-gift"
	giftPath     = "/api/integration/gifting/gifts/"
)

func TestSetupTakesEffectWhileServing(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	const added = "boon_live_a_key_that_was_added_while_serving"
	if status, _, err := s.call("GET", strings.TrimSuffix(giftPath, "/"), added, ""); err != nil ||
		status != http.StatusUnauthorized {
		t.Fatalf("before: %d %v, want 401", status, err)
	}
	file := strings.Replace(string(examples.HarborCoffee()),
		"    keys:\n", "    keys:\n      - {name: added, role: all, secret: "+added+"}\n", 1)
	s.apply([]byte(file))
	s.eventually(func() bool {
		status, _, _ := s.call("GET", strings.TrimSuffix(giftPath, "/"), added, "")
		return status == http.StatusOK
	})
}

// TestStopCutsNobodyOff stops the server under load: what was done is exactly what was answered.
func TestStopCutsNobodyOff(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	g := s.sell(`{"value":500,"deliveryMethodID":3}`)
	var wg sync.WaitGroup
	var mu sync.Mutex
	redeemed := 0
	for range 16 {
		wg.Go(func() {
			for {
				status, answer, err := s.call("POST", redeemPath, examples.HarborTillKey,
					`{"voucherID":"`+g.VoucherID+`","amount":0.01}`)
				switch {
				case err != nil: // the connection was closed; the count below tells whether a call was cut off
					return
				case status == http.StatusServiceUnavailable:
					return
				case status != http.StatusOK:
					t.Errorf("%d %s", status, answer)
					return
				}
				mu.Lock()
				redeemed++
				mu.Unlock()
			}
		})
	}
	s.eventually(func() bool {
		mu.Lock()
		defer mu.Unlock()
		return redeemed >= 50
	})
	if err := s.stop(); err != nil {
		t.Fatalf("stopping: %v", err)
	}
	wg.Wait()
	again, err := store.Open(t.Context(), store.Options{Dir: s.data, Database: s.database})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	var taken int64
	page, _, err := again.Check(func(string) {}).Page(t.Context(), ledger.Ref{}, 1000, 1000)
	for _, v := range page {
		taken += int64(v.Funded - v.Balance)
	}
	if err != nil || taken != int64(redeemed) {
		t.Fatalf("%d redemptions were answered, %d are there, %v", redeemed, taken, err)
	}
}

func TestLogsAndFilesHoldNoSecret(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"deliveryMethodID":1,"recipientDescription":"Ana","recipientContact":"ana@example.com"}`)
	s.become(g, "DELIVERED")
	s.must("POST", validatePath, examples.HarborTillKey, `{"voucherCode":"`+g.VoucherCode+`"}`, nil)
	s.must("POST", validatePath, examples.HarborTillKey, `{"voucherPublicToken":"`+g.GiftURL+`"}`, nil)
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherCode":"`+g.VoucherCode+`","amount":1}`, nil)
	s.call("POST", validatePath, examples.HarborTillKey, `{"voucherCode":"123456789012"}`)
	s.call("GET", "/g/"+g.VoucherPublicToken, "", "")
	s.call("GET", "/g/"+strings.Repeat("a", 22), "", "")
	s.call("GET", giftPath+"?secret="+g.VoucherCode, examples.HarborWebShopKey, "")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	secrets := []string{
		g.VoucherCode, g.VoucherPublicToken, examples.HarborTillKey, examples.HarborWebShopKey, "123456789012",
		strings.Repeat("a", 22), "ana@example.com",
	}
	logs := s.logs.String()
	for _, want := range []string{
		`"route":"` + redeemPath, `"route":"/g/{token}"`, `"status":200`, `"requestID":"`, `"code":"NOT_FOUND"`,
		`"account":"` + examples.HarborAccount,
		`"network":"127.0.0.0/24","account":"` + examples.HarborAccount +
			`","location":"` + examples.HarborPier39 + `","key":"`, `","keyName":"till"`} {
		if !strings.Contains(logs, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(logs, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	files, err := os.ReadDir(s.data)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(s.data + "/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets[:len(secrets)-1] { // where a gift goes is no secret of the store
			if bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s holds %q", file.Name(), secret)
			}
		}
	}
}

// TestValuesAreTold: the listener of the operator tells what the gifts of each live account hold, and the other one
// does not.
func TestValuesAreTold(t *testing.T) {
	t.Parallel()
	admin := freeAddress(t)
	s := startTesting(t, server.Config{AdminListen: admin})
	s.sandboxGift(`{"value":70,"deliveryMethodID":3}`)
	sold := s.sell(`{"value":25.5,"deliveryMethodID":3}`)
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+sold.VoucherID+`","amount":10}`, nil)
	s.stop() // what was made is summed up at the start, and a minute later
	s.run(server.Config{AdminListen: admin})
	told := regexp.MustCompile(`(?m)^boon_gifts_[a-z]+_value\{.*$`)
	var lines []string
	s.eventually(func() bool {
		_, text, err := (&service{T: t, url: "http://" + admin}).call("GET", "/metrics", "", "")
		if err != nil {
			t.Fatal(err)
		}
		lines = told.FindAllString(string(text), -1)
		return len(lines) > 0
	})
	of := `_value{account="` + examples.HarborAccount + `",currency="USD",kind="purchased",name="Harbor Coffee"} `
	if want := []string{"boon_gifts_issued" + of + "25.5", "boon_gifts_outstanding" + of + "15.5",
		"boon_gifts_redeemed" + of + "10"}; !slices.Equal(lines, want) {
		t.Errorf("the metrics tell\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	s.stop()
	s.run(server.Config{})
	if _, text, err := s.call("GET", "/metrics", "", ""); err != nil || told.Match(text) {
		t.Errorf("the metrics beside the calls tell of it, or %v", err)
	}
}

func TestOperatorsAddresses(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Version: "v1.2.3", Commit: "c0ffee"})
	if _, alive, err := s.call("GET", "/healthz", "", ""); string(alive) != "alive v1.2.3 c0ffee\n" {
		t.Errorf("/healthz says %q, %v", alive, err)
	}
	s.sell(`{"value":25,"deliveryMethodID":3}`)
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/docs", "/docs/errors"} {
		s.must("HEAD", path, "", "", nil)
	}
	status, metrics, err := s.call("GET", "/metrics", "", "")
	if err != nil || status != http.StatusOK {
		t.Fatalf("/metrics: %d %v", status, err)
	}
	for _, want := range []string{
		`boon_requests_total{route="/api/integration/gifting/send-gift",status="201"} 1`, "boon_request_seconds_bucket",
		"boon_engine_group_commands_sum 1", "boon_engine_group_seconds_count 1", "boon_engine_queue_depth 0",
		"boon_store_vouchers 1", "boon_store_database_bytes", "boon_store_wal_bytes",
		`boon_build_info{commit="c0ffee",goversion="` + runtime.Version() + `",version="v1.2.3"} 1`,
	} {
		if !strings.Contains(string(metrics), want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	for _, path := range []string{"/", "/healthz", "/g/" + strings.Repeat("a", 22), "/docs", "/nothing", "/api/nothing"} {
		resp, err := client.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.Header.Get("X-Request-ID") == "" || resp.Header.Get("Boon-Version") == "" ||
			len(resp.Header.Values("X-Request-ID")) != 1 {
			t.Errorf("%s answers without its X-Request-ID and Boon-Version, or with two: %v", path, resp.Header)
		}
	}
	if status, _, _ := s.call("GET", "/outbox", "", ""); status != http.StatusNotFound {
		t.Errorf("/outbox without --outbox: %d, want 404", status)
	}
}

// TestAdminListener: with a listener of their own, metrics are there and nowhere else.
func TestAdminListener(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{AdminListen: "127.0.0.1:0"}) // the log tells the port that was picked
	told := regexp.MustCompile(`"msg":"metrics are served","address":"(127.0.0.1:[1-9]\d*)/metrics"`).FindStringSubmatch(
		s.logs.String())
	if told == nil {
		t.Fatalf("the log does not say where metrics are served: %s", s.logs)
	}
	address := told[1]
	if status, _, err := s.call("GET", "/metrics", "", ""); err != nil || status != http.StatusNotFound {
		t.Errorf("/metrics where tills call: %d %v", status, err)
	}
	resp, err := client.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	metrics, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !bytes.Contains(metrics, []byte("boon_store_vouchers 0")) ||
		resp.Header.Get("X-Request-ID") == "" {
		t.Errorf("/metrics on its own listener: %d %v %.200s %v", resp.StatusCode, resp.Header, metrics, err)
	}
	if resp, err = client.Get("http://" + address + "/openapi.json"); err != nil ||
		resp.StatusCode != http.StatusNotFound {
		t.Errorf("/openapi.json there: %v %v", resp, err)
	}
	resp.Body.Close()
}

// What is not an address of the interface is refused as the interface does it, and not redirected: a POST would come
// without its body.
func TestUncleanAddressesAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	for _, path := range []string{"/api", "/api/", "/api//integration/gifting/send-gift",
		"//api/integration/gifting/send-gift", "/x/../api/integration/gifting/send-gift",
		"/api/integration/gifting/./send-gift", "/api/integration/gifting/send-gift/", "/api/integration%2Fgifting/send-gift",
		"/api/integration/requests/..", "/api/integration/requests/.", "/api/../api/integration/requests/x"} {
		for _, method := range []string{"GET", "POST"} {
			status, body, err := s.call(method, path, examples.HarborWebShopKey, `{}`)
			if err != nil || status != http.StatusNotFound || !strings.Contains(string(body), `"code":"NOT_FOUND"`) {
				t.Errorf("%s %s: %d %s %v", method, path, status, body, err)
			}
		}
	}
}

func TestPublicURLMustBeABareHost(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"gifts.example.com", "ftp://x",
		"https://x/shop", "https://x?a=1", "https://x#f", "https://u:p@x", "https://", "::"} {
		err := server.Run(t.Context(), server.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), PublicURL: bad})
		if err == nil || !strings.Contains(err.Error(), "public URL") {
			t.Errorf("%q: %v, want a sentence about the public URL", bad, err)
		}
	}
}

// TestSlowAndIdleClientsHarmNobody: ten thousand connections that send nothing, and a thousand of them that send a byte
// now and then, in their heads or in bodies that they announced to be long, while an honest till works. Nobody is
// refused for them, they get no memory for what they announced, and the slow ones are let go when their time is up.
func TestSlowAndIdleClientsHarmNobody(t *testing.T) {
	s := start(t, server.Config{})
	g := s.sell(`{"value":500,"deliveryMethodID":3}`)
	conns := s.dial(manyConnections(t))
	slow, heads := conns[:min(1000, len(conns))], 200
	for _, c := range slow[:heads] {
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nX-Slow: ", redeemPath)
	}
	before := heap()
	for _, c := range slow[heads:] {
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Length: 1000000\r\n\r\n{",
			redeemPath, examples.HarborTillKey)
	}
	for n := range 100 {
		s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":0.01}`, nil)
		s.must("GET", giftPath+g.VoucherID, examples.HarborWebShopKey, "", nil)
		for _, c := range slow[n*len(slow)/100 : (n+1)*len(slow)/100] {
			fmt.Fprint(c, "x")
		}
	}
	if after, most := heap(), 100<<10*(len(slow)-heads); after > before+most {
		t.Errorf("%d slow senders took %d bytes of memory, want at most %d", len(slow)-heads, after-before, most)
	}
	_, metrics, err := s.call("GET", "/metrics", "", "")
	for _, priority := range []string{"redeem", "validate", "write", "read"} {
		if want := `boon_requests_refused_total{priority="` + priority + `"} 0`; !strings.Contains(string(metrics), want) {
			t.Errorf("/metrics lacks %s, %v", want, err)
		}
	}
	slow[0].SetReadDeadline(time.Now().Add(timeout))
	if answer, err := io.ReadAll(slow[0]); err != nil {
		t.Errorf("the slow sender was not let go: %q %v", answer, err)
	}
}

// manyConnections is 10,000, or what the limit of open files leaves: each has an end here and one in the server.
func manyConnections(t *testing.T) int {
	if testing.Short() {
		return 1000
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	return int(min(10_000, files.Cur/2-files.Cur/20))
}

// dial opens connections that the test closes at its end.
func (s *service) dial(n int) []net.Conn {
	s.Helper()
	conns := make([]net.Conn, 0, n)
	s.Cleanup(func() {
		for _, c := range conns {
			c.Close()
		}
	})
	for range n {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			s.Fatalf("connection %d: %v", len(conns), err)
		}
		conns = append(conns, c)
	}
	return conns
}

// heap is the memory in use, in bytes.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestLogsCannotBeForged: what a client sends reaches no log line as it is: neither control characters nor lines of its
// own.
// TestATicketThatDoesNotAddUp is told in the log, without what is on it.
func TestATicketThatDoesNotAddUp(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"deliveryMethodID":3}`)
	for _, total := range []string{"1725", "525"} {
		s.must("POST", validatePath, examples.HarborTillKey, `{"voucherCode":"`+g.VoucherCode+`","ticketData":{"format":`+
			`"square","data":{"line_items":[{"name":"Secret sauce","total_money":{"amount":1725}}],"total_money":{"amount":`+
			total+`}}}}`, nil)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	logs := s.logs.String()
	const want = `"warning":"the parts of a ticket of the format square are 12.00 USD more than its total"`
	if strings.Count(logs, want) != 1 || !strings.Contains(logs, `"level":"WARN","msg":"request","route":"`+validatePath) ||
		strings.Contains(logs, "sauce") {
		t.Errorf("the log: %s", logs)
	}
}

func TestLogsCannotBeForged(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	const forged = "\x1b]0;owned\x07"
	for _, request := range []string{
		"GET /g/%1b%5d0%3bowned%07%0a%7b%22level%22:%22INFO%22%7d HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX-Request-ID: " + forged + "\r\nConnection: close\r\n\r\n",
		"GET /api/integration/requests/%0aowned HTTP/1.1\r\nHost: x\r\nX-Request-ID: owned\tx\r\nUser-Agent: " +
			"owned\r\nConnection: close\r\n\r\n",
		"OWNED /api/integration/redemption/redeem-gift HTTP/1.1\r\nHost: owned\r\nAuthorization: owned\r\nConnection: " +
			"close\r\n\r\n",
		"GET /" + forged + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"owned\r\n\r\n",
	} {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, request)
		answer, err := io.ReadAll(c)
		c.Close()
		if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 ")) || bytes.Contains(answer, []byte(forged)) {
			t.Errorf("%q: %q %v", request, answer, err)
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(s.logs.String()), "\n")
	if len(lines) < 4 {
		t.Errorf("only %d lines were logged", len(lines))
	}
	for _, line := range lines {
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil ||
			strings.Contains(line, "owned") || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' }) {
			t.Errorf("a line of the log was touched: %q", line)
		}
	}
}

// TestTrustedProxies: behind a proxy that is trusted, wrong keys are counted by the network that it names, and log
// lines name that; from anybody else the header counts for nothing.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	knock := func(s *service, forwarded string) int {
		r, err := http.NewRequest("GET", s.url+strings.TrimSuffix(giftPath, "/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "wrong")
		r.Header.Set("X-Forwarded-For", forwarded)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	trusted, err := clientip.ParseProxies("127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		config server.Config
		other  int // what the other network is answered
		logs   string
	}{
		"trusted": {server.Config{Proxies: trusted}, http.StatusUnauthorized, `"network":"203.0.113.0/24"`},
		"not":     {server.Config{}, http.StatusTooManyRequests, `"network":"127.0.0.0/24"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, tt.config)
			for n := range merchant.AnonymousBurst {
				if status := knock(s, fmt.Sprintf("1.2.3.4, 203.0.113.%d", n)); status != http.StatusUnauthorized {
					t.Fatalf("wrong key %d: %d", n, status)
				}
			}
			if status := knock(s, "5.6.7.8, 203.0.113.200"); status != http.StatusTooManyRequests {
				t.Errorf("one more from that network: %d, want 429", status)
			}
			if status := knock(s, "203.0.113.200, 198.51.100.1"); status != tt.other {
				t.Errorf("another network: %d, want %d", status, tt.other)
			}
			if err := s.stop(); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(s.logs.String(), tt.logs) {
				t.Errorf("the log lacks %s", tt.logs)
			}
		})
	}
}

// TestPrint: the addresses that send-gift gives for printing lead to PDFs, of one gift and of the whole order.
func TestPrint(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{PublicURL: "https://gifts.example.com"})
	var sent struct {
		PrintURL string
		Gifts    []struct{ PrintURL string }
	}
	s.must("POST", "/api/integration/gifting/send-gift", examples.HarborWebShopKey, `{
		"monetaryGift": {"value": 25, "deliveryMethodID": 3},
		"recipients": [{"recipientDescription": "Ana"}, {"recipientDescription": "Ben"}],
		"paymentMethodID": 2, "externalTransactionReferenceNumber": "WEB-1", "externalTransactionCustomerFirstName": "Carla",
		"externalTransactionCustomerLastName": "Diaz", "externalTransactionCustomerEmailAddress": "carla@example.com",
		"externalStorefrontID": "`+examples.HarborStorefront+`"}`, &sent)
	if len(sent.Gifts) != 2 || sent.PrintURL == sent.Gifts[0].PrintURL ||
		sent.Gifts[0].PrintURL == sent.Gifts[1].PrintURL {
		t.Fatalf("%+v", sent)
	}
	for _, address := range []string{sent.PrintURL, sent.Gifts[0].PrintURL, sent.Gifts[1].PrintURL} {
		path, ok := strings.CutPrefix(address, "https://gifts.example.com")
		status, pdf, err := s.call("GET", path, "", "")
		if err != nil || !ok || status != http.StatusOK || !bytes.HasPrefix(pdf, []byte("%PDF-")) {
			t.Errorf("GET %s: %d %.40q %v", address, status, pdf, err)
		}
		changed := strings.Replace(path, "/print.pdf", "", 1)
		status, _, err = s.call("GET", changed[:len(changed)-1]+"_/print.pdf", "", "")
		if err != nil || status != http.StatusNotFound {
			t.Errorf("an address that was not given: %d %v", status, err)
		}
	}
	for _, secret := range []string{sent.PrintURL[len("https://gifts.example.com/orders/"):],
		sent.Gifts[0].PrintURL[len("https://gifts.example.com/g/"):]} {
		if strings.Contains(s.logs.String(), strings.TrimSuffix(secret, "/print.pdf")) {
			t.Error("the log holds an address that can be spent")
		}
	}
}

// exchange writes a request as it is, all of it, and only then reads the answer.
func (s *service) exchange(t *testing.T, request string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatalf("writing the request: %v", err)
	}
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.80s: reading the answer: %v", request, err)
	}
	return resp
}

// isProblem checks an answer that must be a problem document with a name.
func isProblem(t *testing.T, what string, resp *http.Response, status int, code refusal.Code) {
	t.Helper()
	var problem struct{ Code, RequestID string }
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.Request.Method != http.MethodHead && resp.Request.Method != http.MethodConnect {
		err = json.Unmarshal(body, &problem)
		if problem.Code != string(code) || problem.RequestID != resp.Header.Get("X-Request-ID") {
			t.Errorf("%s: %s", what, body)
		}
	}
	if err != nil || resp.StatusCode != status || resp.Header.Get("Content-Type") != "application/problem+json" ||
		resp.Header.Get("X-Request-ID") == "" {
		t.Errorf("%s: %d %v %v %.200s", what, resp.StatusCode, resp.Header, err, body)
	}
}

// TestWhatIsNotThere: every path that is not there, with any method, is a problem document, unless the caller asks for
// HTML.
func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ask := func(method, path, accept string) *http.Response {
		return s.exchange(t, method+" "+path+" HTTP/1.1\r\nHost: x\r\nAccept: "+accept+"\r\nX-Request-ID: "+
			"mine\r\nContent-Length: 0\r\n\r\n")
	}
	for _, path := range []string{"/nowhere", "/api", "/api/integration/nothing",
		"/ap", "/g", "/healthz/x", "/docs/nothing", "/favicon.ico", "*"} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"} {
			if path == "*" && method != "OPTIONS" {
				continue
			}
			for _, accept := range []string{"*/*", "application/json", "text/html;q=0"} {
				resp := ask(method, path, accept)
				isProblem(t, method+" "+path, resp, http.StatusNotFound, refusal.NotFound)
				if resp.Header.Get("X-Request-ID") != "mine" {
					t.Errorf("%s %s: X-Request-ID is %q", method, path, resp.Header.Get("X-Request-ID"))
				}
			}
		}
	}
	isProblem(t, "CONNECT", s.exchange(t, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n"),
		http.StatusNotFound, refusal.NotFound)
	isProblem(t, "a gift that is not there", ask("GET", "/g/0000000000000000000000", "*/*"),
		http.StatusNotFound, refusal.NotFound)
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/", "/g/0000000000000000000000"} {
		resp := ask("POST", path, "*/*")
		isProblem(t, "POST "+path, resp, http.StatusMethodNotAllowed, refusal.NotSupported)
		if resp.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: Allow is %q", path, resp.Header.Get("Allow"))
		}
	}
	for _, method := range []string{"GET", "POST"} {
		resp := ask(method, "/nowhere", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")
		if resp.StatusCode != http.StatusNotFound || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") ||
			resp.Header.Get("X-Request-ID") != "mine" {
			t.Errorf("%s by a browser: %d %v", method, resp.StatusCode, resp.Header)
		}
	}
}

// TestTooLongABodyIsAnswered: also a client that writes everything before it reads gets its 413, announced or in
// chunks.
func TestTooLongABodyIsAnswered(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	const mebibyte = 1 << 20
	head := "POST /api/integration/gifting/send-gift HTTP/1.1\r\nHost: x\r\nAuthorization: " +
		examples.HarborWebShopKey + "\r\n"
	body := strings.Repeat("x", 8*mebibyte)
	for what, request := range map[string]string{
		"announced": head + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body,
		"in chunks": head + "Transfer-Encoding: chunked\r\n\r\n" +
			strings.Repeat("100000\r\n"+body[:mebibyte]+"\r\n", 8) + "0\r\n\r\n",
		"not sent": head + "Expect: 100-continue\r\nContent-Length: 9000000\r\n\r\n",
	} {
		isProblem(t, what, s.exchange(t, request), http.StatusRequestEntityTooLarge, refusal.ValidationFailure)
	}
}

// TestWhatIsNotHTTP: what net/http refuses before any handler is a problem document with a name too. The one exception
// is the 417 for an expectation other than 100-continue.
func TestWhatIsNotHTTP(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	const line, host = "GET /healthz HTTP/1.1\r\n", "Host: x\r\n"
	for request, want := range map[string]struct {
		status int
		code   refusal.Code
	}{
		"GARBAGE\r\n\r\n":          {400, refusal.ValidationFailure},
		"GET / HTTP/1.1 x\r\n\r\n": {400, refusal.ValidationFailure},
		line + "\r\n":              {400, refusal.ValidationFailure}, // no Host
		line + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n": {400, refusal.ValidationFailure},
		line + host + "Bad Header: 1\r\n\r\n":                          {400, refusal.ValidationFailure},
		line + host + "X: " + strings.Repeat("x", 64<<10) + "\r\n\r\n": {431, refusal.ValidationFailure},
		line + host + "Transfer-Encoding: gzip\r\n\r\n":                {501, refusal.NotSupported},
		"GET /healthz HTTP/3.0\r\n" + host + "\r\n":                    {505, refusal.NotSupported},
	} {
		resp := s.exchange(t, request)
		isProblem(t, request[:min(len(request), 80)], resp, want.status, want.code)
		id := resp.Header.Get("X-Request-ID")
		if named := `"requestID":"` + id + `","network":"127.0.0.0/24"`; !strings.Contains(s.logs.String(), named) {
			t.Errorf("%.80s: no log line has %s", request, named)
		}
	}
	if resp := s.exchange(t, line+host+"Expect: nothing\r\nContent-Length: "+
		"1\r\n\r\nx"); resp.StatusCode != http.StatusExpectationFailed || resp.Header.Get("X-Request-ID") != "" {
		t.Errorf("another expectation: %d %v", resp.StatusCode, resp.Header)
	}
}
