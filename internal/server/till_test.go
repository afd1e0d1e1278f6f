package server_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"boon.example/examples"
	"boon.example/internal/base/clientip"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/pin"
	"boon.example/internal/server"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// device is a phone at the counter: a browser with cookies.
type device struct {
	*service
	cookies map[string]*http.Cookie
}

func (s *service) device() *device { return &device{s, map[string]*http.Cookie{}} }

// do calls as a page of the service does, or as headers say.
func (d *device) do(method, path, body string, headers ...string) (int, string, *http.Response) {
	d.Helper()
	req, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	for _, c := range d.cookies {
		req.AddCookie(c)
	}
	resp, err := client.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		d.Fatal(err)
	}
	for _, c := range resp.Cookies() {
		if d.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(d.cookies, c.Name)
		}
	}
	return resp.StatusCode, string(answer), resp
}

// want is do with what is expected.
func (d *device) want(status int, in, method, path, body string, headers ...string) string {
	d.Helper()
	got, answer, _ := d.do(method, path, body, headers...)
	again := method == "GET" || slices.Contains(headers, "Idempotency-Key")
	for begun := time.Now(); again && got == http.StatusServiceUnavailable && time.Since(begun) < timeout; {
		time.Sleep(200 * time.Millisecond)
		got, answer, _ = d.do(method, path, body, headers...)
	}
	if got != status || !strings.Contains(answer, in) {
		d.Fatalf("%s %s: %d %s\nwant %d with %q", method, path, got, answer, status, in)
	}
	return answer
}

// link makes a key that waits for a device, and gives its token.
func (s *service) link(name, location string, may merchant.Permissions) (key merchant.Key, token string) {
	s.Helper()
	return s.linkAt(name, location, may, time.Now())
}

func (s *service) linkAt(name, location string, may merchant.Permissions, at time.Time, networks ...netip.Prefix) (
	key merchant.Key, token string) {
	s.Helper()
	return s.linkOf(examples.HarborAccount, name, location, may, at, networks...)
}

// pairedIn is a device that was paired as a till of an account.
func (s *service) pairedIn(account, location string) *device {
	s.Helper()
	_, token := s.linkOf(account, "Counter", location, 0, time.Now())
	d := s.device()
	d.want(http.StatusOK, `"name":"Counter"`, "POST", "/till/pair", `{"token":"`+token+`"}`)
	return d
}

func (s *service) linkOf(of, name, location string, may merchant.Permissions, at time.Time, networks ...netip.Prefix) (
	key merchant.Key, token string) {
	s.Helper()
	account, _ := guid.Parse(of)
	id, err := guid.Parse(location)
	if err != nil {
		s.Fatal(err)
	}
	role, _ := merchant.RoleByName("till")
	s.withStore(func(st *store.Store) (err error) {
		key, token, err = setup.CreateKey(s.Context(), st, setup.KeyRequest{Account: account, Name: name,
			Locations: []guid.ID{id}, Permissions: role | may, Till: true, Networks: networks}, at, rand.Reader)
		return err
	})
	return key, token
}

// TestTillsOfNetworks: a till that is limited to networks is paired and used from there only; a link that was opened
// elsewhere is still good.
func TestTillsOfNetworks(t *testing.T) {
	t.Parallel()
	trusted, err := clientip.ParseProxies("127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, server.Config{Proxies: trusted})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	_, token := s.linkAt("Counter 1", pier39, 0, time.Now(), netip.MustParsePrefix("203.0.113.0/24"))
	d := s.device()
	shop, home := []string{"X-Forwarded-For", "203.0.113.9"}, []string{"X-Forwarded-For", "203.0.114.9"}
	pair := `{"token":"` + token + `"}`
	d.want(http.StatusForbidden, "may not be used from 203.0.114.9", "POST", "/till/pair", pair, home...)
	d.want(http.StatusOK, "Counter 1", "POST", "/till/pair", pair, shop...)
	validate := `{"voucherCode":"` + g.VoucherCode + `"}`
	const path = "/till/api/redemption/validate-gift"
	d.want(http.StatusOK, `"currentBalance":50.00`, "POST", path, validate, shop...)
	d.want(http.StatusForbidden, "may not be used from 203.0.114.9", "POST", path, validate, home...)
	for _, own := range []string{"/till/state", "/till/today"} {
		d.want(http.StatusOK, "", "GET", own, "", shop...)
		d.want(http.StatusForbidden, "NOT_AUTHORIZED", "GET", own, "", home...)
	}
	d.want(http.StatusForbidden, "NOT_AUTHORIZED", "GET", "/till/receipts/"+pier39, "", home...)
	d.want(http.StatusForbidden, "NOT_AUTHORIZED", "POST", "/till/person", `{"name":"Ana","pin":"1234"}`, home...)
}

const pier39 = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11"

// paired is a device that was paired at Pier 39.
func (s *service) paired(name string, may merchant.Permissions) (*device, merchant.Key) {
	s.Helper()
	key, token := s.link(name, pier39, may)
	d := s.device()
	d.want(http.StatusOK, `"name":"`+name+`"`, "POST", "/till/pair", `{"token":"`+token+`"}`)
	return d, key
}

func (s *service) revoke(k merchant.Key) {
	s.Helper()
	s.withStore(func(st *store.Store) error {
		_, err := setup.RevokeKey(s.Context(), st, k.ID.String(), time.Now())
		return err
	})
}

// TestTill pairs a device, and lives a day with it.
func TestTill(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	key, token := s.link("Counter 1", pier39, merchant.MayReload)
	d := s.device()
	d.want(http.StatusUnauthorized, "UNAUTHENTICATED", "GET", "/till/state", "")
	d.want(http.StatusOK, "<button", "GET", "/till/pair", "")
	status, answer, resp := d.do("POST", "/till/pair", `{"token":"`+token+`"}`)
	if status != http.StatusOK {
		t.Fatalf("pairing: %d %s", status, answer)
	}
	var c *http.Cookie
	for _, set := range resp.Cookies() {
		if set.Name == "boon_till" {
			c = set
		}
	}
	if c == nil || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/till" || c.Secure ||
		c.MaxAge != 400*24*60*60 || !merchant.ValidKey(c.Value) || !strings.HasPrefix(c.Value, "boon_live_acct_") {
		t.Fatalf("the cookie is %v", resp.Header["Set-Cookie"])
	}
	var state struct {
		Merchant         string
		Location, Device struct{ Name, OrganizationID, KeyID string }
		May, People      []string
		Person           *string
	}
	if err := json.Unmarshal([]byte(d.want(http.StatusOK, "Harbor Coffee", "GET", "/till/state", "")),
		&state); err != nil {
		t.Fatal(err)
	}
	if state.Location.Name != "Pier 39" || state.Device.Name != "Counter 1" || state.Device.KeyID != key.ID.String() ||
		strings.Join(state.May, " ") != "validate redeem reverse reload" || len(state.People) != 0 || state.Person != nil {
		t.Errorf("the state is %+v", state)
	}

	code := `{"voucherCode":"` + g.VoucherCode + `"`
	d.want(http.StatusOK, `"currentBalance":50.00`, "POST", "/till/api/redemption/validate-gift", code+`}`)
	const redeem = "/till/api/redemption/redeem-gift"
	first := d.want(http.StatusOK, `"currentBalance":45.50`, "POST", redeem, code+`,"amount":4.50}`, "Idempotency-Key",
		"tap-1")
	again := d.want(http.StatusOK, "", "POST", redeem, code+`,"amount":4.50}`, "Idempotency-Key", "tap-1")
	if first != again {
		t.Errorf("a second tap was answered\n%s\nafter\n%s", again, first)
	}
	d.want(http.StatusOK, `"operation":"redeem-gift"`, "GET", "/till/api/requests/tap-1", "")
	var redeemed struct{ RedemptionID string }
	if err := json.Unmarshal([]byte(first), &redeemed); err != nil {
		t.Fatal(err)
	}
	d.want(http.StatusOK, "", "POST", "/till/api/redemption/reverse-redemption",
		`{"redemptionID":"`+redeemed.RedemptionID+`"}`)
	d.want(http.StatusForbidden, "NOT_AUTHORIZED", "POST", "/till/api/redemption/activate-gift", code+`}`)

	for _, line := range []string{`"route":"/api/integration/redemption/redeem-gift"`, `"keyName":"Counter 1"`} {
		if !strings.Contains(s.logs.String(), line) {
			t.Errorf("the log lacks %s", line)
		}
	}
	for _, secret := range []string{token, c.Value} {
		if strings.Contains(s.logs.String(), secret) {
			t.Error("the log has a secret of the till")
		}
	}
	s.revoke(key)
	s.eventually(func() bool {
		status, _, _ := d.do("POST", redeem, code+`,"amount":0.01}`)
		return status == http.StatusUnauthorized
	})
	for range merchant.AnonymousBurst + 2 { // it was a till once: that is no guess
		d.want(http.StatusUnauthorized, "UNAUTHENTICATED", "GET", "/till/state", "")
	}
}

// TestTillsRunNothingInline: a till's pages have neither script nor style inside, their policy lets none in, and
// nothing of another host.
func TestTillsRunNothingInline(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	inside := regexp.MustCompile(`<style|<script>|<script [^>]*type="module">|\s(style|on\w+)=|` +
		`(src|href)="(https?:|//)`)
	for _, path := range []string{"/till", "/till/pair"} {
		_, page, resp := s.device().do("GET", path, "")
		policy := resp.Header.Get("Content-Security-Policy")
		for _, loose := range []string{"'unsafe-inline'", "'unsafe-eval'", "http", "*", "//"} {
			if strings.Contains(policy, loose) {
				t.Errorf("the policy of %s lets %s in: %s", path, loose, policy)
			}
		}
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; ") {
			t.Errorf("the policy of %s is %q", path, policy)
		}
		if found := inside.FindString(page); found != "" || !strings.Contains(page, `<script type="module" src="/till/`) {
			t.Errorf("%s has %q: %s", path, found, page)
		}
	}
}

// TestTillReachesLittle: a till gets at nothing but what a till does.
func TestTillReachesLittle(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	d, _ := s.paired("Counter 1", 0)
	for _, call := range []string{
		"POST gifting/send-gift", "GET gifting/gifts", "GET gifting/activity", "POST redemption/hold-gift",
		"POST redemption/capture-hold",
		"GET redemption/redeem-gift", "POST requests/a", "GET requests/", "GET requests/a/b",
		"GET requests/..%2fgifting%2fgifts/x",
		"POST gifting/cancel-gift", "GET requests%2fa", "POST redemption%2fredeem-gift", "POST redemption/redeem-gift/",
		"POST redemption/new-cards/a", "GET redemption/new-cards/", "GET redemption/new-cards/a/b",
	} {
		method, path, _ := strings.Cut(call, " ")
		d.want(http.StatusNotFound, "NOT_FOUND", method, "/till/api/"+path, "")
	}
	d.want(http.StatusNotFound, "No request with this Idempotency-Key", "GET",
		"/till/api/requests/..%2f..%2fgifting%2fgifts", "")
	d.want(http.StatusNotFound, "No card was replaced", "GET",
		"/till/api/redemption/new-cards/7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f9c99", "")
	// elsewhere, and with another key in the header, it is the till that calls, or nobody
	d.want(http.StatusForbidden, "NOT_AUTHORIZED", "POST", "/till/api/redemption/validate-gift",
		`{"voucherCode":"123456789012","organizationID":"`+examples.HarborLongWharf+`"}`, "Authorization",
		examples.HarborOfficeKey)
	d.want(http.StatusUnauthorized, "UNAUTHENTICATED", "GET", "/api/integration/gifting/gifts", "")
	nobody := s.device()
	nobody.want(http.StatusUnauthorized, "UNAUTHENTICATED", "POST", "/till/api/redemption/validate-gift",
		`{"voucherCode":"123456789012"}`, "Authorization", examples.HarborOfficeKey)
}

// TestTillsKeyIsForItsPages: neither a till's key nor the token of its link works as an API key, nor the token as a
// cookie, nor another key in the cookie.
func TestTillsKeyIsForItsPages(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	d, _ := s.paired("Counter 1", 0)
	_, token := s.link("Counter 2", pier39, 0)
	s.learned()
	for name, text := range map[string]string{"a till's key": d.cookies["boon_till"].Value, "a link's token": token} {
		for _, header := range []string{text, "Bearer " + text} {
			if status, answer, err := s.call("POST", validatePath, header, `{"voucherCode":"123456789012"}`); err != nil ||
				status != http.StatusUnauthorized {
				t.Errorf("%s as an API key: %d %s %v", name, status, answer, err)
			}
		}
	}
	for name, text := range map[string]string{"a link's token": token, "an API key": examples.HarborTillKey} {
		thief := s.device()
		thief.cookies["boon_till"] = &http.Cookie{Name: "boon_till", Value: text}
		thief.want(http.StatusUnauthorized, "UNAUTHENTICATED", "GET", "/till/state", "")
		thief.want(http.StatusUnauthorized, "UNAUTHENTICATED", "POST", "/till/api/redemption/validate-gift",
			`{"voucherCode":"123456789012"}`)
		if t.Failed() {
			t.Fatalf("%s in the cookie", name)
		}
	}
}

// TestPairingIsOnce: of all devices that open a link at once, one gets the till; one that comes late gets none.
func TestPairingIsOnce(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	other := s.beside(server.Config{})
	_, token := s.link("Counter 1", pier39, 0)
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for n := range 8 {
		wg.Go(func() {
			d := []*service{s, other}[n%2].device()
			status, _, _ := d.do("POST", "/till/pair", `{"token":"`+token+`"}`)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	wg.Wait()
	if statuses[http.StatusOK] != 1 || statuses[http.StatusUnauthorized] != 7 {
		t.Errorf("8 devices with one link: %v", statuses)
	}
	_, good := s.linkAt("Counter 4", pier39, 0, time.Now().Add(-13*time.Minute))
	s.device().want(http.StatusOK, "", "POST", "/till/pair", `{"token":"`+good+`"}`)
	_, late := s.linkAt("Counter 2", pier39, 0, time.Now().Add(-15*time.Minute-time.Second))
	s.device().want(http.StatusUnauthorized, "15 minutes", "POST", "/till/pair", `{"token":"`+late+`"}`)
	key, revoked := s.link("Counter 3", pier39, 0)
	s.revoke(key)
	s.device().want(http.StatusUnauthorized, "15 minutes", "POST", "/till/pair", `{"token":"`+revoked+`"}`)
}

// TestGuessedTokens: wrong tokens count as attempts without a key, and so do keys that there never were.
func TestGuessedTokens(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	for n := range merchant.AnonymousBurst {
		d := s.device()
		if n%2 == 0 {
			d.want(http.StatusUnauthorized, "", "POST", "/till/pair", `{"token":"`+rand.Text()+`"}`)
			continue
		}
		d.cookies["boon_till"] = &http.Cookie{Name: "boon_till", Value: rand.Text()}
		d.want(http.StatusUnauthorized, "", "GET", "/till/state", "")
	}
	for _, path := range []string{"/till/pair", "/till/api/redemption/validate-gift"} {
		d := s.device()
		d.cookies["boon_till"] = &http.Cookie{Name: "boon_till", Value: rand.Text()}
		d.want(http.StatusTooManyRequests, "RATE_LIMITED", "POST", path, `{"token":"`+rand.Text()+`"}`)
	}
	d, _ := s.paired("Counter 1", 0) // who has the right one is let in
	d.want(http.StatusOK, "", "GET", "/till/state", "")
}

// TestOtherOriginsCannotCallATill: whatever a page of another site sends with the cookies of this one is refused.
func TestOtherOriginsCannotCallATill(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{PublicURL: "https://gifts.example.com"})
	_, token := s.link("Counter 2", pier39, 0)
	d, _ := s.paired("Counter 1", 0)
	if c := d.cookies["__Host-boon_till"]; c == nil || !c.Secure {
		t.Error("the cookie of a service over TLS goes over plain HTTP too")
	}
	for _, foreign := range [][]string{
		{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
		{"Origin", "null"},
	} {
		for _, path := range []string{"/till/api/redemption/redeem-gift", "/till/pair"} {
			d.want(http.StatusForbidden, "another origin", "POST", path, `{"token":"`+token+`"}`, foreign...)
		}
	}
	for _, own := range [][]string{{"Origin", "https://gifts.example.com"}, {"Sec-Fetch-Site", "same-origin"}} {
		d.want(http.StatusNotFound, "NOT_FOUND", "POST", "/till/api/redemption/validate-gift",
			`{"voucherCode":"123456789012"}`, own...)
	}
}

// people adds people to the example's set-up, each with the PIN 4711 but for Zoe, who has 8052.
func withPeople(t *testing.T) []byte {
	t.Helper()
	hash := func(typed string) string {
		h, err := pin.Hash(typed)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	return []byte(strings.Replace(string(examples.HarborCoffee()), "    storefronts:\n", `    people:
      - {name: Ana, pin: "`+hash("4711")+`", may: [reverse, activate]}
      - {name: Ben, pin: "`+hash("4711")+`", locations: [`+pier39+`]}
      - {name: Zoe, pin: "`+hash("8052")+`", locations: [`+examples.HarborLongWharf+`]}
    storefronts:
`, 1))
}

const (
	personPath  = "/till/person"
	tillRedeem  = "/till/api/redemption/redeem-gift"
	tillReverse = "/till/api/redemption/reverse-redemption"
)

// TestPeopleAtATill: where people are named, one of them signs in before value moves, may do what the set-up says,
// and stands in history and log.
func TestPeopleAtATill(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.apply(withPeople(t))
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	d, _ := s.paired("Counter 1", merchant.MayReload)
	taken := `{"voucherCode":"` + g.VoucherCode + `","amount":1}`
	d.want(http.StatusOK, `"people":["Ana","Ben"],"person":null,"personUntil":null,"may":["validate"],"deviceMay":["validate","redeem","reverse","reload"]`,
		"GET", "/till/state", "")
	d.want(http.StatusOK, "", "POST", "/till/api/redemption/validate-gift", `{"voucherCode":"`+g.VoucherCode+`"}`)
	d.want(http.StatusForbidden, `"path":"person"`, "POST", tillRedeem, taken)
	d.want(http.StatusNotFound, `"path":"name"`, "POST", personPath, `{"name":"Zoe","pin":"8052"}`)
	d.want(http.StatusForbidden, `"path":"pin"`, "POST", personPath, `{"name":"Ben","pin":"4712"}`)

	_, answer, resp := d.do("POST", personPath, `{"name":"Ben","pin":"4711"}`)
	if c := d.cookies["boon_person"]; c == nil || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode ||
		c.Path != "/till" ||
		c.MaxAge != 12*60*60 || !strings.Contains(answer, `"person":"Ben"`) {
		t.Fatalf("%s %v", answer, resp.Header["Set-Cookie"])
	}
	ben := d.cookies["boon_person"]
	d.want(http.StatusOK, `"person":"Ben"`, "GET", "/till/state", "")
	d.want(http.StatusOK, "", "POST", tillRedeem, taken, "Idempotency-Key", "tap-1")
	d.want(http.StatusForbidden, "Ben may not reverse redemptions", "POST", tillReverse, `{"idempotencyKey":"tap-1"}`)
	d.want(http.StatusForbidden, "Ben may not reload gifts", "POST", "/till/api/redemption/reload-gift", taken)
	d.want(http.StatusOK, `"person":null`, "DELETE", personPath, "")
	d.want(http.StatusForbidden, `"path":"person"`, "POST", tillRedeem, taken)
	// what became of a call is told, whoever stands there
	d.want(http.StatusOK, `"operation":"redeem-gift"`, "GET", "/till/api/requests/tap-1", "")

	d.want(http.StatusOK, `"may":["validate","redeem","reverse"]`, "POST", personPath, `{"name":"Ana","pin":"4711"}`)
	d.want(http.StatusOK, "", "POST", tillReverse, `{"idempotencyKey":"tap-1"}`)
	var history struct {
		Entries []struct{ Kind, Person string }
	}
	s.must("GET", giftPath+g.VoucherID+"/history", examples.HarborOfficeKey, "", &history)
	people := map[string]string{}
	for _, e := range history.Entries {
		people[e.Kind] = e.Person
	}
	if people["REDEMPTION"] != "Ben" || people["REVERSAL"] != "Ana" || people["ISSUED"] != "" {
		t.Errorf("the history names %v", people)
	}
	var trail struct {
		Entries []struct{ Action, KeyName, Person, Address, User, What string }
	}
	s.must("GET", "/api/integration/audit?limit=200", examples.HarborOfficeKey, "", &trail)
	done := map[string]string{}
	for _, e := range trail.Entries {
		done[e.Action+e.Person] = e.KeyName + " from " + e.Address
		if strings.Contains(e.What, "paired a device as till Counter 1") {
			done["paired"] = e.KeyName + " from " + e.Address + e.User
		}
	}
	for _, what := range []string{"gift.redeemedBen", "gift.redemption_reversedAna", "paired", "till.signed_inBen",
		"till.signed_inAna"} {
		if done[what] != "Counter 1 from 127.0.0.1" {
			t.Errorf("the audit trail says of %s %q", what, done)
		}
	}
	if !strings.Contains(s.logs.String(), `"person":"Ben"`) {
		t.Error("the log does not name who stood at the till")
	}

	// the cookie of somebody is worth nothing on another device, changed, or once the PIN is another one
	second, _ := s.paired("Counter 2", 0)
	second.cookies["boon_person"] = ben
	second.want(http.StatusOK, `"person":null`, "GET", "/till/state", "")
	second.want(http.StatusForbidden, `"path":"person"`, "POST", tillRedeem, taken)
	d.cookies["boon_person"] = ben // Ana signed in after him
	d.want(http.StatusOK, `"person":null`, "GET", "/till/state", "")
	d.want(http.StatusOK, `"person":"Ben"`, "POST", personPath, `{"name":"Ben","pin":"4711"}`)
	ben = d.cookies["boon_person"]
	for n := range len(ben.Value) {
		forged := []byte(ben.Value)
		if forged[n]++; n == len(forged)-1 {
			forged = forged[:n-1]
		}
		d.cookies["boon_person"] = &http.Cookie{Name: "boon_person", Value: string(forged)}
		if _, answer, _ := d.do("GET", "/till/state", ""); strings.Contains(answer, `"person":"`) {
			t.Fatalf("the cookie changed at %d is taken: %s", n, answer)
		}
	}
	d.cookies["boon_person"] = ben
	s.apply(withPeople(t)) // PINs of other salts: each was given anew
	s.eventually(func() bool {
		status, _, _ := d.do("POST", tillRedeem, taken)
		return status == http.StatusForbidden
	})
}

// TestWrongPINs: after five wrong ones a person waits at a till, at all instances, with right and wrong PINs alike, and
// nobody else does; also when they come at once.
func TestWrongPINs(t *testing.T) {
	t.Parallel()
	if merchant.PINBurst != 5 || merchant.PINRefill != time.Minute {
		t.Errorf("after %d wrong PINs a person waits for %v", merchant.PINBurst, merchant.PINRefill)
	}
	s := start(t, server.Config{})
	s.apply(withPeople(t))
	other := s.beside(server.Config{})
	first, _ := s.paired("Counter 1", 0)
	second := other.device()
	second.cookies["boon_till"] = first.cookies["boon_till"]
	other.learned()
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for n := range 12 {
		wg.Go(func() {
			d := s.device()
			d.cookies["boon_till"] = first.cookies["boon_till"]
			status, _, _ := d.do("POST", personPath, `{"name":"Ana","pin":"90`+strconv.Itoa(10+n)+`"}`)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	wg.Wait()
	// A try for which the service had no time is answered 503, as on a busy machine; it counts all the same.
	if statuses[http.StatusForbidden]+statuses[http.StatusServiceUnavailable] != 5 ||
		statuses[http.StatusForbidden] == 0 || statuses[http.StatusTooManyRequests] != 7 {
		t.Errorf("12 wrong PINs at once: %v", statuses)
	}
	for _, d := range []*device{first, second} {
		for _, typed := range []string{"4711", "9000"} {
			status, answer, resp := d.do("POST", personPath, `{"name":"Ana","pin":"`+typed+`"}`)
			wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
			if status != http.StatusTooManyRequests || !strings.Contains(answer, "RATE_LIMITED") || err != nil || wait < 10 ||
				wait > 60 {
				t.Errorf("%s while Ana waits: %d %s, again in %d s, %v", typed, status, answer, wait, err)
			}
		}
		d.want(http.StatusOK, `"person":"Ben"`, "POST", personPath, `{"name":"Ben","pin":"4711"}`)
	}
	status, text, _ := s.call("GET", "/api/integration/audit?limit=200", examples.HarborOfficeKey, "")
	audit := string(text)
	if n := strings.Count(audit, `"the PIN of Ana is paused after 5 wrong ones at till Counter 1"`); status != 200 || n != 1 {
		t.Errorf("the audit trail tells %d times that Ana's PIN is paused: %s", n, audit)
	}
}

// TestToday: a till lists what was done with it today, with sums, by person; nothing of other tills.
func TestToday(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.apply(withPeople(t))
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	var order struct{ Gifts []soldGift }
	s.must("POST", "/api/integration/gifting/send-gift", examples.HarborWebShopKey,
		`{"itemGift":{"label":"Latte","quantity":2,"terms":"Any size.","equivalentValue":11,"deliveryMethodID":3},
		"paymentMethodID":2,"externalTransactionReferenceNumber":"W-2","externalTransactionCustomerFirstName":"Carla",
		"externalTransactionCustomerLastName":"Diaz","externalTransactionCustomerEmailAddress":"carla@example.com",
		"externalStorefrontID":"`+examples.HarborStorefront+`"}`, &order)
	item := order.Gifts[0].VoucherCode
	d, _ := s.paired("Counter 1", merchant.MayReload)
	other, _ := s.paired("Counter 2", 0)
	d.want(http.StatusForbidden, `"path":"person"`, "GET", "/till/today", "") // it is nothing for guests
	signIn := func(d *device, name string) {
		d.want(http.StatusOK, "", "POST", personPath, `{"name":"`+name+`","pin":"4711"}`)
	}
	take := func(d *device, amount, key string) {
		d.want(http.StatusOK, "", "POST", tillRedeem, `{"voucherCode":"`+g.VoucherCode+`","amount":`+amount+`}`,
			"Idempotency-Key", key)
	}
	signIn(d, "Ben")
	d.want(http.StatusOK, `"entries":[],"sums":[],"byPerson":[]`, "GET", "/till/today", "")
	take(d, "4.5", "a")
	take(d, "10", "b")
	d.want(http.StatusOK, "", "POST", tillRedeem, `{"voucherCode":"`+item+`","amount":1}`)
	signIn(d, "Ana")
	d.want(http.StatusOK, "", "POST", tillReverse, `{"idempotencyKey":"a"}`)
	signIn(other, "Ana")
	take(other, "7", "c")
	var today struct {
		Complete bool
		Entries  []struct {
			Kind, Person, LastFour string
			Amount                 json.Number
			Currency               *string
		}
		Sums     []sum
		ByPerson []struct {
			Person string
			Sums   []sum
		}
	}
	if err := json.Unmarshal([]byte(d.want(http.StatusOK, "", "GET", "/till/today", "")), &today); err != nil {
		t.Fatal(err)
	}
	usd := "USD"
	want := []sum{{"TAKEN", &usd, 2, "14.50"}, {"TAKEN", nil, 1, "1"}, {"GIVEN_BACK", &usd, 1, "4.50"}}
	if diff := cmp.Diff(want, today.Sums); diff != "" || !today.Complete || len(today.Entries) != 4 {
		t.Errorf("%+v\n%s", today, diff)
	}
	if len(today.ByPerson) != 2 || today.ByPerson[0].Person != "Ana" ||
		cmp.Diff(want[:2], today.ByPerson[1].Sums) != "" || cmp.Diff(want[2:], today.ByPerson[0].Sums) != "" {
		t.Errorf("by person: %+v", today.ByPerson)
	}
	if e := today.Entries[0]; e.Kind != "REVERSAL" || e.Person != "Ana" || e.Amount != "4.50" ||
		e.LastFour != g.VoucherCode[8:] || today.Entries[1].LastFour != item[8:] {
		t.Errorf("the newest is %+v", e)
	}
}

// TestReceiptsOfATill: a till tells the receipt of what was done with it, as the interface gave it then; nothing of
// what another till did, unless somebody who may look gifts up stands at it; and nothing while nobody does.
func TestReceiptsOfATill(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.apply(bytes.Replace(withPeople(t), []byte("locations: ["+pier39+"]}"), []byte("role: desk}"), 1))
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	d, _ := s.paired("Counter 1", merchant.MayReload)
	other, _ := s.paired("Counter 2", 0)
	signIn := func(d *device, name string) {
		d.want(http.StatusOK, "", "POST", personPath, `{"name":"`+name+`","pin":"4711"}`)
	}
	type moved struct {
		RedemptionID, ReversalID string
		Receipt                  struct{ Lines []string }
	}
	do := func(at *device, path, body string) (m moved) {
		answer := at.want(http.StatusOK, "", "POST", path, body, "Idempotency-Key", rand.Text())
		if err := json.Unmarshal([]byte(answer), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	take := func(at *device, amount string) moved {
		return do(at, tillRedeem+"?receipt=true", `{"voucherCode":"`+g.VoucherCode+`","amount":`+amount+`}`)
	}
	receipt := func(at *device, id string, status int, want string) {
		t.Helper()
		at.want(status, want, "GET", "/till/receipts/"+id, "")
	}
	signIn(d, "Ana")
	first := take(d, "4.5")
	lines, err := json.Marshal(first.Receipt.Lines)
	if err != nil || len(first.Receipt.Lines) < 4 {
		t.Fatal(first, err)
	}
	take(d, "10") // what is left was more then
	receipt(d, first.RedemptionID, http.StatusOK, `{"lines":`+string(lines)+`,"requestID"`)
	back := do(d, tillReverse, `{"redemptionID":"`+first.RedemptionID+`"}`)
	receipt(d, back.ReversalID, http.StatusNotFound, "")
	receipt(d, g.VoucherID, http.StatusNotFound, "")
	receipt(d, "x", http.StatusBadRequest, `"path":"entryID"`)
	signIn(other, "Ana")
	receipt(other, first.RedemptionID, http.StatusNotFound, "")
	signIn(other, "Ben") // who may look gifts up
	receipt(other, first.RedemptionID, http.StatusOK, `{"lines":`+string(lines))
	d.want(http.StatusOK, "", "DELETE", personPath, "")
	receipt(d, first.RedemptionID, http.StatusForbidden, `"path":"person"`)
	s.device().want(http.StatusUnauthorized, "", "GET", "/till/receipts/"+first.RedemptionID, "")
}

type sum struct {
	Kind     string
	Currency *string
	Count    int
	Amount   json.Number
}

// TestATillOfAnotherMerchant: who pairs a device by another merchant's link has a till of theirs, which knows nothing
// of the own gifts; and nobody's PIN is good at another merchant's till.
func TestATillOfAnotherMerchant(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.apply(withPeople(t))
	s.apply(examples.AsagaoTea())
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	account, _ := guid.Parse("0c5e7a10-93d4-4f0b-8a6e-5b1d2c3e4f01")
	location, _ := guid.Parse("0c5e7a10-93d4-4f0b-8a6e-5b1d2c3e4f11")
	role, _ := merchant.RoleByName("till")
	var token string
	s.withStore(func(st *store.Store) (err error) {
		_, token, err = setup.CreateKey(t.Context(), st, setup.KeyRequest{Account: account, Name: "Counter 1",
			Locations: []guid.ID{location}, Permissions: role, Till: true}, time.Now(), rand.Reader)
		return err
	})
	theirs, _ := s.paired("Counter 1", 0)
	theirs.want(http.StatusOK, "", "POST", personPath, `{"name":"Ana","pin":"4711"}`)
	theirs.want(http.StatusOK, "", "POST", tillRedeem, `{"voucherCode":"`+g.VoucherCode+`","amount":1}`, "Idempotency-Key",
		"tap-1")

	d := s.device()
	d.want(http.StatusOK, `"people":[],"person":null`, "POST", "/till/pair", `{"token":"`+token+`"}`)
	d.cookies["boon_person"] = theirs.cookies["boon_person"]
	d.want(http.StatusOK, `"person":null`, "GET", "/till/state", "")
	d.want(http.StatusNotFound, "", "POST", personPath, `{"name":"Ana","pin":"4711"}`)
	d.want(http.StatusForbidden, "cannot be used here", "POST", "/till/api/redemption/validate-gift",
		`{"voucherCode":"`+g.VoucherCode+`"}`)
	d.want(http.StatusNotFound, "", "GET", "/till/api/requests/tap-1", "")
	d.want(http.StatusNotFound, "", "POST", tillReverse, `{"idempotencyKey":"tap-1"}`, "Idempotency-Key", "undo")
	d.want(http.StatusOK, `"entries":[]`, "GET", "/till/today", "")
}

// TestALongDay: of a day with more entries than a till lists, it lists the newest, and its sums are those of all.
func TestALongDay(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	d, _ := s.paired("Counter 1", 0)
	d.takesOften(g.VoucherCode, 520)
	today := d.want(http.StatusOK, `"sums":[{"kind":"TAKEN","currency":"USD","count":520,"amount":5.20}]`, "GET",
		"/till/today", "")
	if n := strings.Count(today, `"entryID"`); n != 500 || !strings.Contains(today, `"complete":true`) {
		t.Errorf("%d entries are listed of %.200s", n, today)
	}
}

// TestTooMuchToday: of a day with more entries than are summed up, list and sums are those of the newest, and the
// answer says that it is not complete; what another till did counts for nothing.
func TestTooMuchToday(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{TillDay: 3})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	d, _ := s.paired("Counter 1", 0)
	other, _ := s.paired("Counter 2", 0)
	take := func(at *device, amount string) {
		at.want(http.StatusOK, "", "POST", tillRedeem, `{"voucherCode":"`+g.VoucherCode+`","amount":`+amount+`}`,
			"Idempotency-Key", rand.Text())
	}
	for _, amount := range []string{"1", "2", "4"} {
		take(d, amount)
		take(other, "0.5")
	}
	d.want(http.StatusOK, `"complete":true`, "GET", "/till/today", "")
	d.want(http.StatusOK, `"count":3,"amount":7.00`, "GET", "/till/today", "")
	take(d, "8")
	d.want(http.StatusOK, `"complete":false`, "GET", "/till/today", "")
	today := d.want(http.StatusOK, `"sums":[{"kind":"TAKEN","currency":"USD","count":3,"amount":14.00}],"byPerson":[{`+
		`"person":null,"sums":[{"kind":"TAKEN","currency":"USD","count":3,"amount":14.00}]}]`, "GET", "/till/today", "")
	if n := strings.Count(today, `"entryID"`); n != 3 {
		t.Errorf("%d entries are listed of %s", n, today)
	}
}

// TestALostTill: two seconds after it was revoked a till does nothing, at any instance; the quickest of three times
// counts, as this machine has other work.
func TestALostTill(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	other := s.beside(server.Config{})
	var all []time.Duration
	for n := range 3 {
		d, key := s.paired(fmt.Sprint("Counter ", n), 0)
		beside := other.device()
		beside.cookies = d.cookies
		s.eventually(func() bool { status, _, _ := beside.do("GET", "/till/state", ""); return status == http.StatusOK })
		s.revoke(key)
		begun := time.Now()
		for _, at := range []*device{d, beside} {
			s.eventually(func() bool {
				status, _, _ := at.do("GET", "/till/state", "")
				return status == http.StatusUnauthorized
			})
		}
		if all = append(all, time.Since(begun)); all[n] < 2*time.Second {
			return
		}
	}
	t.Errorf("revoked tills went on for %v", all)
}

// TestATillIsRevokedWhileItSends: what a revoked till had begun to send comes to nothing.
func TestATillIsRevokedWhileItSends(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	d, key := s.paired("Counter 1", 0)
	body := `{"voucherCode":"` + g.VoucherCode + `","amount":1}`
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nCookie: boon_till=%s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nConnection: close\r\n\r\n%s", tillRedeem, s.address, d.cookies["boon_till"].Value, len(body),
		body[:10])
	time.Sleep(100 * time.Millisecond) // it was let in
	s.revoke(key)
	s.learned()
	if _, err := io.WriteString(conn, body[10:]); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 401 ") {
		t.Errorf("%v %s", err, answer)
	}
	var left struct{ CurrentBalance json.Number }
	s.must("GET", giftPath+g.VoucherID, examples.HarborOfficeKey, "", &left)
	if left.CurrentBalance != "50.00" {
		t.Errorf("%s are left", left.CurrentBalance)
	}
}
