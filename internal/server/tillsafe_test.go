package server_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
)

// wrongPINs has a device try wrong PINs of a person, and gives how many were answered.
func (d *device) wrongPINs(person string, n int) (answered int) {
	d.Helper()
	for i := range n {
		status, answer, _ := d.do("POST", personPath, `{"name":"`+person+`","pin":"`+strconv.Itoa(9000+i)+`"}`)
		switch status {
		case http.StatusForbidden:
			answered++
		case http.StatusTooManyRequests:
			return answered
		default:
			d.Fatalf("a wrong PIN of %s: %d %s", person, status, answer)
		}
	}
	return answered
}

// TestALostTillKeepsNobodyOut: a till at which wrong PINs of everybody are tried keeps nobody out of another till,
// at any instance. Its PINs rest there, which the log, a metric, an event and the audit trail tell once.
func TestALostTillKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.apply(withPeople(t))
	lost, lostKey := s.paired("Lost phone", 0)
	own, _ := s.paired("Counter 1", 0)
	other := s.beside(server.Config{})
	beside, _ := other.paired("Counter 2", 0)
	for _, name := range []string{"Ana", "Ben"} {
		if n := lost.wrongPINs(name, 8); n != merchant.PINBurst {
			t.Errorf("%d wrong PINs of %s were answered", n, name)
		}
		lost.want(http.StatusTooManyRequests, "RATE_LIMITED", "POST", personPath, `{"name":"`+name+`","pin":"4711"}`)
		for _, d := range []*device{own, beside} {
			d.want(http.StatusOK, `"person":"`+name+`"`, "POST", personPath, `{"name":"`+name+`","pin":"4711"}`)
		}
	}
	const line = `"msg":"somebody may be guessing a PIN: it is paused after too many wrong ones"`
	if n := strings.Count(s.logs.String(), line); n != 2 {
		t.Errorf("the log tells %d times that PINs rest", n)
	}
	if _, metrics, _ := own.do("GET", "/metrics", ""); !strings.Contains(metrics, "\nboon_pins_limited_total 2\n") {
		t.Error("the metric of paused PINs is not 2")
	}
	var events struct {
		Events []struct {
			Data struct {
				Key struct{ KeyID, KeyName string }
			}
		}
	}
	s.eventually(func() bool {
		s.must("GET", "/api/integration/events?type=till.pin_limited", examples.HarborOfficeKey, "", &events)
		return len(events.Events) == 2
	})
	if key := events.Events[0].Data.Key; key.KeyID != lostKey.ID.String() || key.KeyName != "Lost phone" {
		t.Errorf("the event is about the key %+v", key)
	}
	_, text, _ := s.call("GET", "/api/integration/audit?limit=200", examples.HarborOfficeKey, "")
	if n := strings.Count(string(text), `wrong ones at till Lost phone"`); n != 2 {
		t.Errorf("the audit trail tells %d times that PINs rest: %s", n, text)
	}
}

// TestWrongPINsAtManyTills: many tills together have fifty wrong PINs of a person; then the person waits at all of
// them, which is told.
func TestWrongPINsAtManyTills(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.apply(withPeople(t))
	answered := 0
	for n := range merchant.AllTillsPINBurst/merchant.PINBurst + 3 { // some come again meanwhile
		d, _ := s.paired(fmt.Sprint("Counter ", n), 0)
		answered += d.wrongPINs("Ana", merchant.PINBurst)
	}
	if answered < merchant.AllTillsPINBurst || answered >= merchant.AllTillsPINBurst+3*merchant.PINBurst {
		t.Errorf("%d wrong PINs were answered", answered)
	}
	if !strings.Contains(s.logs.String(), `"where":"at all tills of the account"`) {
		t.Error("the log does not tell that the PIN is paused at all tills")
	}
	d, _ := s.paired("Counter", 0)
	d.want(http.StatusOK, `"person":"Ben"`, "POST", personPath, `{"name":"Ben","pin":"4711"}`)
}

// TestACopiedSignInEndsWithTheShift: a copy of the cookie of whoever signed in is worth nothing once that person has
// signed out, or somebody else has signed in, at any instance.
func TestACopiedSignInEndsWithTheShift(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.apply(withPeople(t))
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	d, _ := s.paired("Counter 1", 0)
	other := s.beside(server.Config{})
	taken := `{"voucherCode":"` + g.VoucherCode + `","amount":0.01}`
	for _, end := range []struct {
		how          string
		method, body string
	}{{"signed out", "DELETE", ""}, {"Ben signed in", "POST", `{"name":"Ben","pin":"4711"}`}} {
		d.want(http.StatusOK, `"person":"Ana"`, "POST", personPath, `{"name":"Ana","pin":"4711"}`)
		thief, beside := s.device(), other.device()
		for name, c := range d.cookies {
			thief.cookies[name], beside.cookies[name] = c, c
		}
		s.eventually(func() bool { // the other instance has learned of the till
			status, _, _ := beside.do("POST", tillRedeem, taken)
			return status == http.StatusOK
		})
		thief.want(http.StatusOK, "", "POST", tillRedeem, taken)
		_, _, resp := d.do(end.method, personPath, end.body)
		if set := resp.Header["Set-Cookie"]; end.method == "DELETE" && !slices.ContainsFunc(set, func(c string) bool {
			return strings.HasPrefix(c, "boon_person=;") && strings.Contains(c, "Max-Age=0")
		}) {
			t.Errorf("signing out leaves the cookie on the device: %q", set)
		}
		thief.want(http.StatusForbidden, `"path":"person"`, "POST", tillRedeem, taken)
		s.eventually(func() bool {
			status, _, _ := beside.do("POST", tillRedeem, taken)
			return status == http.StatusForbidden
		})
	}
	d.want(http.StatusOK, "", "POST", tillRedeem, taken)
}

// TestCookiesBesideThoseOfATill: over TLS, cookies of the short name that another page of the domain set neither
// unpair a till nor make one.
func TestCookiesBesideThoseOfATill(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{PublicURL: "https://gifts.example.com"})
	d, _ := s.paired("Counter 1", 0)
	const name = "__Host-boon_till"
	own := d.cookies[name]
	if own == nil || own.Path != "/" || !own.Secure || !own.HttpOnly || own.Domain != "" ||
		own.SameSite != http.SameSiteStrictMode {
		t.Fatalf("the cookies are %v", d.cookies)
	}
	planted := []string{"Cookie", name + "=" + own.Value + "; boon_till=planted; boon_till=again"}
	d.cookies = map[string]*http.Cookie{}
	d.want(http.StatusOK, "Counter 1", "GET", "/till/state", "", planted...)
	alone := s.device() // another page of the domain makes no device a till
	alone.cookies["boon_till"] = &http.Cookie{Name: "boon_till", Value: own.Value}
	alone.want(http.StatusUnauthorized, "UNAUTHENTICATED", "GET", "/till/state", "")
}

// TestATillBecomesAnotherOnlyIfItIsSaid: a device that is a till stays one when it opens another's link, unless the
// call names the till that it is; then that till's key ends. Nobody ends the key of another device.
func TestATillBecomesAnotherOnlyIfItIsSaid(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	d, key := s.paired("Counter 1", 0)
	third, thirdKey := s.paired("Counter 3", 0)
	_, token := s.link("Somebody's", pier39, 0)
	d.want(http.StatusBadRequest, `This device is the till Counter 1 of Harbor Coffee already`, "POST", "/till/pair",
		`{"token":"`+token+`"}`)
	d.want(http.StatusBadRequest, `"path":"instead"`, "POST", "/till/pair",
		`{"token":"`+token+`","instead":"`+thirdKey.ID.String()+`"}`)
	d.want(http.StatusOK, `"name":"Counter 1"`, "GET", "/till/state", "")
	was := s.device()
	was.cookies["boon_till"] = d.cookies["boon_till"]
	d.want(http.StatusOK, `"name":"Somebody's"`, "POST", "/till/pair",
		`{"token":"`+token+`","instead":"`+key.ID.String()+`"}`)
	was.want(http.StatusUnauthorized, "UNAUTHENTICATED", "GET", "/till/state", "")
	_, another := s.link("Counter 4", pier39, 0)
	s.device().want(http.StatusOK, "", "POST", "/till/pair",
		`{"token":"`+another+`","instead":"`+thirdKey.ID.String()+`"}`)
	third.want(http.StatusOK, `"name":"Counter 3"`, "GET", "/till/state", "")
}

// TestSignInsLastTwelveHours: a sign-in ends by itself, whatever the cookie's keeper says, and nobody makes one
// longer by signing in again and again.
func TestSignInsLastTwelveHours(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.apply(withPeople(t))
	d, _ := s.paired("Counter 1", 0)
	for range 3 {
		d.want(http.StatusOK, "", "POST", personPath, `{"name":"Ana","pin":"4711"}`)
	}
	b, err := base64.RawURLEncoding.DecodeString(d.cookies["boon_person"].Value)
	if err != nil || len(b) < 8 {
		t.Fatal(err)
	}
	var seconds int64
	for _, one := range b[:8] {
		seconds = seconds<<8 | int64(one)
	}
	if lasts := time.Until(time.Unix(seconds, 0)); lasts > 12*time.Hour+time.Minute || lasts < 11*time.Hour {
		t.Errorf("the third sign-in lasts %v", lasts)
	}
}

// TestOwnPINAtTheFirstSignIn: a PIN that a key sets over the interface is good for one sign-in, at which the person
// chooses another one that no list of easy ones has. Nobody signs in before there is a PIN.
func TestOwnPINAtTheFirstSignIn(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	file := strings.Replace(string(examples.HarborCoffee()), "    storefronts:\n",
		"    people: [{name: Ana, role: desk}]\n    storefronts:\n", 1)
	s.apply([]byte(file))
	d, _ := s.paired("Counter 1", merchant.MayReload)
	sign := func(status int, in, pin, own string) {
		d.Helper()
		d.want(status, in, "POST", personPath, `{"name":"Ana","pin":"`+pin+`","newPIN":"`+own+`"}`)
	}
	sign(http.StatusForbidden, "Ana has no PIN yet", "471199", "")
	var set struct{ PIN, PINState string }
	s.must("POST", "/api/integration/people/set-pin", examples.HarborOfficeKey, `{"name":"Ana"}`, &set)
	if set.PINState != "FIRST" || len(set.PIN) != 6 {
		t.Fatalf("the PIN that was set is %+v", set)
	}
	sign(http.StatusForbidden, `"path":"pin"`, "000000", "8052")
	sign(http.StatusBadRequest, `"path":"newPIN"`, set.PIN, "")
	sign(http.StatusBadRequest, "among the first that somebody tries", set.PIN, "1234")
	sign(http.StatusBadRequest, "Choose another one", set.PIN, set.PIN)
	d.want(http.StatusOK, `"person":null`, "GET", "/till/state", "")
	sign(http.StatusOK, `"may":["validate","redeem","reverse"]`, set.PIN, "805249")
	d.want(http.StatusOK, `"person":"Ana"`, "GET", "/till/state", "")
	sign(http.StatusForbidden, `"path":"pin"`, set.PIN, "")
	sign(http.StatusOK, `"person":"Ana"`, "805249", "")
	s.apply([]byte(file)) // it says no PIN: Ana keeps her own
	sign(http.StatusOK, `"person":"Ana"`, "805249", "")
	_, text, _ := s.call("GET", "/api/integration/audit?limit=200", examples.HarborOfficeKey, "")
	for _, what := range []string{"set the PIN of Ana", "Ana chose a PIN at till Counter 1"} {
		if !strings.Contains(string(text), what) {
			t.Errorf("the audit trail lacks %q", what)
		}
	}
	for _, secret := range []string{set.PIN, "805249"} {
		if strings.Contains(string(text), secret) || strings.Contains(s.logs.String(), secret) {
			t.Error("a PIN stands in the log or in the audit trail")
		}
	}
}

// TestTheDayOfAShop: somebody who may look gifts up sees what all tills of the location did, others and another
// location's tills do not count; a day before is chosen, and one to come is refused.
func TestTheDayOfAShop(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	file := strings.Replace(string(withPeople(t)), "locations: ["+pier39+"]}", "role: desk}", 1)
	file = strings.Replace(file, "      - id: "+pier39+"\n", "      - id: "+pier39+"\n        dayEnds: \"04:30\"\n", 1)
	s.apply([]byte(file))
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	first, _ := s.paired("Counter 1", 0)
	second, _ := s.paired("Counter 2", 0)
	for n, d := range []*device{first, second} {
		d.want(http.StatusOK, "", "POST", personPath, `{"name":"Ana","pin":"4711"}`)
		d.want(http.StatusOK, "", "POST", tillRedeem, fmt.Sprintf(`{"voucherCode":"%s","amount":%d}`, g.VoucherCode, n+1))
	}
	first.want(http.StatusForbidden, `"path":"tills"`, "GET", "/till/today?tills=shop", "")
	first.want(http.StatusOK, `"mayShop":false`, "GET", "/till/today", "")
	first.want(http.StatusOK, `"person":"Ben"`, "POST", personPath, `{"name":"Ben","pin":"4711"}`)
	shop := first.want(http.StatusOK, `"sums":[{"kind":"TAKEN","currency":"USD","count":2,"amount":3.00}]`, "GET",
		"/till/today?tills=shop", "")
	for _, want := range []string{`"till":"Counter 1"`, `"till":"Counter 2"`, `"mayShop":true`, `"shop":true`} {
		if !strings.Contains(shop, want) {
			t.Errorf("the shop's day lacks %s: %s", want, shop)
		}
	}
	own := first.want(http.StatusOK, `"count":1,"amount":1.00`, "GET", "/till/today", "")
	var day struct{ Day, From, To string }
	if err := json.Unmarshal([]byte(own), &day); err != nil {
		t.Fatal(err)
	}
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	from, err := time.Parse(time.RFC3339, day.From)
	if at := from.In(zone); err != nil || at.Format("15:04") != "04:30" || at.Format(time.DateOnly) != day.Day {
		t.Errorf("the day of a shop that closes at half past four is %+v", day)
	}
	before := from.In(zone).AddDate(0, 0, -1).Format(time.DateOnly)
	first.want(http.StatusOK, `"day":"`+before+`"`, "GET", "/till/today?day="+before, "")
	first.want(http.StatusOK, `"entries":[],"sums":[]`, "GET", "/till/today?day="+before, "")
	first.want(http.StatusBadRequest, `"path":"day"`, "GET", "/till/today?day=2999-01-01", "")
	first.want(http.StatusBadRequest, `"path":"tills"`, "GET", "/till/today?tills=all", "")
	first.want(http.StatusOK, `"peopleMay":[{"name":"Ana","may":["validate","redeem","reverse"]},{"name":"Ben",`, "GET",
		"/till/state", "")
}
