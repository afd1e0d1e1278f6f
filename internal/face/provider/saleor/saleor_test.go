package saleor_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"boon.example/internal/face/provider/providertest"
	"boon.example/internal/face/provider/saleor"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
)

const (
	config = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1ca1"
	other  = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2ca1" // the other merchant's
)

// keys are the shop's, and one of somebody else.
var keys = sync.OnceValue(func() (made [2]*rsa.PrivateKey) {
	for n := range made {
		made[n], _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	return made
})

// site is a merchant whose gifts a shop of Saleor takes.
type site struct {
	*providertest.Shop
	at string // where the shop is
}

// open opens one. The shop tells its public key as Saleor does.
func open(t testing.TB) *site {
	t.Helper()
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/jwks.json" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &keys()[0].PublicKey,
			KeyID: "shop", Algorithm: "RS256", Use: "sig"}}}) // a cut answer fails the test
	}))
	t.Cleanup(shop.Close)
	providers := `      - {id: ` + config + `, name: Saleor, platform: saleor, app: "` + shop.URL + `",
         permissions: [redeem, validate, reverse], sites: [{name: default-channel, location: ` + providertest.Pier + `}]}
`
	others := strings.NewReplacer(config, other, providertest.Pier, providertest.Corner).Replace(providers)
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	return &site{providertest.Open(t, server.Config{WebhooksAllow: loopback},
		providertest.SetUp(providers, others)), shop.URL}
}

// signature signs a body as Saleor does: beside it, and not encoded.
func signature(t testing.TB, body string, key *rsa.PrivateKey, id string, encoded bool) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: id}},
		new(jose.SignerOptions).WithBase64(encoded))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.DetachedCompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (s *site) post(body string, headers ...string) providertest.Answer {
	s.Helper()
	return s.Call("POST", "/providers/saleor/"+config+"/webhook", body,
		append([]string{"Content-Type", "application/json"}, headers...)...)
}

// send posts a signed event.
func (s *site) send(body string) (answer map[string]any, text string) {
	s.Helper()
	a := s.post(body, "Saleor-Signature", signature(s.TB, body, keys()[0], "shop", false))
	if err := json.Unmarshal([]byte(a.Body), &answer); a.Status != 200 || err != nil {
		s.Fatalf("%s: %d %s", body, a.Status, a.Body)
	}
	return answer, a.Body
}

// session is an event of a storefront. Some members stand there that nobody asked for.
func session(typ, key, action, amount, code string) string {
	return fmt.Sprintf(`{"__typename":"%s","issuedAt":"2026-11-29T12:00:00+00:00","idempotencyKey":"%s",`+
		`"data":{"code":"%s"},"merchantReference":"VHJhbnNhY3Rpb25JdGVtOjE=",`+
		`"action":{"amount":%s,"currency":"USD","actionType":"%s"},`+
		`"sourceObject":{"__typename":"Checkout","id":"Q2hlY2tvdXQ6MQ==","channel":{"slug":"default-channel"}},`+
		`"transaction":{"id":"VHJhbnNhY3Rpb25JdGVtOjE=","pspReference":"","events":[]}}`, typ, key, code, amount, action)
}

func begin(key, action, amount, code string) string {
	return session("TransactionInitializeSession", key, action, amount, code)
}

// request is an event of staff; id is Saleor's of the request.
func request(typ, kind, id, psp, amount string) string {
	return asked(typ, kind, psp, amount, noted(id, kind+"_REQUEST", "", amount, 2), noted("done", kind+"_REQUEST", "x",
		amount, 1))
}

// asked is an event of staff, with what Saleor has noted of the transaction. Saleor lists the newest first.
func asked(typ, kind, psp, amount string, events ...string) string {
	return fmt.Sprintf(`{"__typename":"%s","action":{"amount":%s,"currency":"USD","actionType":"%s"},`+
		`"transaction":{"id":"VHJhbnNhY3Rpb25JdGVtOjE=","pspReference":"%s","checkout":null,`+
		`"order":{"id":"T3JkZXI6MQ==","number":"42","channel":{"slug":"default-channel"}},"events":[%s]}}`, typ, amount, kind,
		psp, strings.Join(events, ","))
}

// noted is what Saleor notes of a request or of an answer, in a minute.
func noted(id, typ, psp, amount string, minute int) string {
	return fmt.Sprintf(`{"id":"%s","type":"%s","createdAt":"2026-11-29T12:%02d:00.5+00:00","pspReference":"%s",`+
		`"amount":{"amount":%s}}`, id, typ, minute, psp, amount)
}

func charge(id, psp, amount string) string {
	return request("TransactionChargeRequested", "CHARGE", id, psp, amount)
}

func refund(id, psp, amount string) string {
	return request("TransactionRefundRequested", "REFUND", id, psp, amount)
}

func cancel(psp string) string {
	return request("TransactionCancelationRequested", "CANCEL", "c", psp, "null")
}

// want sends an event and wants these members of its answer.
func (s *site) want(body, members string) (psp string) {
	s.Helper()
	answer, text := s.send(body)
	psp, _ = answer["pspReference"].(string)
	got := fmt.Sprintf("%v %v %v", answer["result"], answer["amount"], answer["actions"])
	if got != members {
		s.Errorf("%s\nis answered %s, want %s", body, text, members)
	}
	return psp
}

// TestStory: a gift pays a part, is charged in two parts, refunded in parts and whole again; each repeat changes
// nothing.
func TestStory(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("15")
	hold := s.want(begin("k1", "AUTHORIZATION", "20.00", g.Code), "AUTHORIZATION_SUCCESS 15 [CHARGE CANCEL]")
	_, first := s.send(begin("k1", "AUTHORIZATION", "20.00", g.Code))
	if _, again := s.send(begin("k1", "AUTHORIZATION", "20.00", g.Code)); first != again ||
		strings.Contains(first, g.Code) ||
		!strings.Contains(first, `"name":"Gift `+g.Code[8:]+`"`) {
		t.Errorf("a repeat is answered %s, first it was %s", again, first)
	}
	s.want(begin("k2", "AUTHORIZATION", "1", g.Code), "AUTHORIZATION_FAILURE 1 <nil>")
	one := s.want(charge("e1", hold, "10.0"), "CHARGE_SUCCESS 10 [REFUND CHARGE CANCEL]")
	again := s.want(charge("e1", hold, "10.0"), "CHARGE_SUCCESS 10 [REFUND CHARGE CANCEL]")
	if again != one || one == hold {
		t.Errorf("a repeat of the charge is %s, it was %s", again, one)
	}
	s.want(charge("e2", hold, "5.01"), "CHARGE_FAILURE 5.01 <nil>")
	s.want(charge("e3", hold, "2"), "CHARGE_SUCCESS 2 [REFUND CHARGE CANCEL]")
	s.want(refund("e0", hold, "1"), "REFUND_SUCCESS 1 [REFUND CHARGE CANCEL]")
	s.want(charge("e9", hold, "1"), "CHARGE_SUCCESS 1 [REFUND CHARGE CANCEL]")
	s.want(cancel(hold), "CANCEL_SUCCESS <nil> [REFUND]")
	s.want(cancel(hold), "CANCEL_SUCCESS <nil> [REFUND]")
	s.want(charge("e4", hold, "1"), "CHARGE_FAILURE 1 <nil>")
	s.want(refund("e5", hold, "4"), "REFUND_SUCCESS 4 [REFUND]")
	s.want(refund("e5", hold, "4"), "REFUND_SUCCESS 4 [REFUND]")
	s.want(refund("e6", hold, "9"), "REFUND_FAILURE 9 <nil>")
	s.want(refund("e7", hold, "8"), "REFUND_SUCCESS 8 []") // of all charges
	s.want(refund("e8", hold, "0.01"), "REFUND_FAILURE 0.01 <nil>")
	is := s.API("gifting/gifts/"+g.ID, "")
	if is["currentBalance"] != 15.0 || is["heldBalance"] != 0.0 {
		t.Errorf("the gift is not whole again: %v", is["text"])
	}
}

// TestLostAnswers: Saleor gives a request up whose answer is lost, and does not send it again. If staff ask once more,
// nothing is done twice; what they ask for after that is something new. Saleor lists the newest event first, and once
// listed the oldest first.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	const charges, refunds = "TransactionChargeRequested", "TransactionRefundRequested"
	for _, c := range []struct {
		typ, kind    string
		once, second float64 // what the gift has then
		oldestFirst  bool
	}{{charges, "CHARGE", 10, 5, false}, {refunds, "REFUND", 5, 10, false}, {charges, "CHARGE", 10, 5, true}} {
		s := open(t)
		g := s.Gift("15")
		hold := s.want(begin("k1", "AUTHORIZATION", "15", g.Code), "AUTHORIZATION_SUCCESS 15 [CHARGE CANCEL]")
		if c.kind == "REFUND" {
			s.want(charge("all", hold, "15"), "CHARGE_SUCCESS 15 [REFUND]")
		}
		has := func(want float64) {
			t.Helper()
			if is := s.API("gifting/gifts/"+g.ID, "")["currentBalance"]; is != want {
				t.Errorf("%s: the gift has %v, want %v", c.kind, is, want)
			}
		}
		is := func(events ...string) (psp string) {
			t.Helper()
			if c.oldestFirst {
				events = slices.Clone(events)
				slices.Reverse(events)
			}
			body := asked(c.typ, c.kind, hold, "5", events...)
			answer, text := s.send(body)
			if got := fmt.Sprintf("%v %v", answer["result"], answer["amount"]); got != c.kind+"_SUCCESS 5" {
				t.Errorf("%s\nis answered %s", body, text)
			}
			return fmt.Sprint(answer["pspReference"])
		}
		of := func(id, typ, psp string, minute int) string { return noted(id, c.kind+typ, psp, "5", minute) }
		lost := is(of("e1", "_REQUEST", "", 1))
		gaveUp := []string{of("f1", "_FAILURE", "", 2), of("e1", "_REQUEST", "", 1)}
		again := append([]string{of("e2", "_REQUEST", "", 3)}, gaveUp...)
		for range 2 {
			if psp := is(again...); psp != lost {
				t.Errorf("%s: what was asked for once more is %s, first it was %s", c.kind, psp, lost)
			}
		}
		has(c.once)
		known := append([]string{of("e3", "_REQUEST", "", 5), of("s2", "_SUCCESS", lost, 4), of("e2", "_REQUEST", lost, 3)},
			gaveUp...)
		if psp := is(known...); psp == lost {
			t.Errorf("%s: another request of the amount is taken for the lost one", c.kind)
		}
		has(c.second)
	}
}

// TestChargeAtOnce: a channel that charges at once redeems.
func TestChargeAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("15")
	paid := s.want(begin("k1", "CHARGE", "20", g.Code), "CHARGE_SUCCESS 15 [REFUND]")
	s.want(charge("e1", paid, "1"), "CHARGE_FAILURE 1 <nil>")
	s.want(cancel(paid), "CANCEL_FAILURE <nil> <nil>")
	s.want(refund("e2", paid, "15"), "REFUND_SUCCESS 15 []")
	for range 2 {
		s.want(session("TransactionProcessSession", "", "AUTHORIZATION", "6", g.Code),
			"AUTHORIZATION_SUCCESS 6 [CHARGE CANCEL]")
	}
	if is := s.API("gifting/gifts/"+g.ID, ""); is["availableBalance"] != 9.0 {
		t.Errorf("the gift is %v", is["text"])
	}
}

// TestTwoCheckouts: two checkouts never get more of a gift than it has.
func TestTwoCheckouts(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("30")
	var all sync.WaitGroup
	var mu sync.Mutex
	sum := 0.0
	for n := range 4 {
		all.Go(func() {
			answer, _ := s.send(begin(fmt.Sprint("k", n), "AUTHORIZATION", "20", g.Code))
			mu.Lock()
			defer mu.Unlock()
			if answer["result"] == "AUTHORIZATION_SUCCESS" {
				sum += answer["amount"].(float64)
			}
		})
	}
	all.Wait()
	if sum != 30 {
		t.Errorf("of a gift of 30, %v is held", sum)
	}
}

// TestRefusals: what is refused is a failure with one sentence, and moves nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("15")
	good := begin("k1", "AUTHORIZATION", "20", g.Code)
	for _, c := range []struct{ from, to, message string }{
		{g.Code, "123456789012", "There is no"},
		{g.Code, s.OthersGift("5").Code, "There is no"},
		{g.Code, "12", "A voucher code is 12 digits"},
		{`{"code":"` + g.Code + `"}`, "null", "The storefront sends the code"},
		{`"USD"`, `"EUR"`, "The gifts of this account are in USD."},
		{"default-channel", "other", "This provider has no site of this name"},
		{`"amount":20`, `"amount":0`, "The amount must be above zero"},
		{`"amount":20`, `"amount":20.001`, "The amount must be above zero"},
		{`"k1"`, `""`, "The idempotencyKey must have"},
		{g.Code, s.ItemsOnly().Code, ""},
	} {
		answer, text := s.send(strings.Replace(good, c.from, c.to, 1))
		message, _ := answer["message"].(string)
		if answer["result"] != "AUTHORIZATION_FAILURE" || !strings.Contains(message, c.message) || len(message) > 512 ||
			!strings.HasSuffix(message, ".") || strings.Contains(text, g.Code) {
			t.Errorf("%s in place of %s: %s", c.to, c.from, text)
		}
	}
	hold := s.want(begin("k2", "AUTHORIZATION", "20", g.Code), "AUTHORIZATION_SUCCESS 15 [CHARGE CANCEL]")
	s.want(charge("", hold, "1"), "CHARGE_FAILURE 1 <nil>")
	s.want(charge("e1", "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11", "1"), "CHARGE_FAILURE 1 <nil>")
	s.want(charge("e1", "no id", "1"), "CHARGE_FAILURE 1 <nil>")
	mine := s.API("redemption/redeem-gift", `{"voucherID":"`+s.Gift("5").ID+`","amount":5,"organizationID":"`+
		providertest.Pier+`"}`)
	s.want(refund("e1", mine["redemptionID"].(string), "5"), "REFUND_FAILURE 5 <nil>")
	for _, body := range []string{`{"__typename":"OrderCreated"}`, `{`, `[]`, ``} {
		if a := s.post(body, "Saleor-Signature", signature(t, body, keys()[0], "shop", false)); a.Status != 400 {
			t.Errorf("%q is answered %d %s", body, a.Status, a.Body)
		}
	}
}

// TestSignatures: nobody but the shop is heard.
func TestSignatures(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("15")
	body := begin("k1", "AUTHORIZATION", "10", g.Code)
	right := signature(t, body, keys()[0], "shop", false)
	hmac, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: jose.JSONWebKey{
		Key: keys()[0].N.Bytes(), KeyID: "shop"}}, new(jose.SignerOptions).WithBase64(false))
	if err != nil {
		t.Fatal(err)
	}
	shared, err := hmac.Sign([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	symmetric, err := shared.DetachedCompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	for what, headers := range map[string][]string{
		"none":                 nil,
		"empty":                {"Saleor-Signature", ""},
		"of somebody else":     {"Saleor-Signature", signature(t, body, keys()[1], "shop", false)},
		"by an unknown key":    {"Saleor-Signature", signature(t, body, keys()[0], "other", false)},
		"of another body":      {"Saleor-Signature", signature(t, body+" ", keys()[0], "shop", false)},
		"of the encoded body":  {"Saleor-Signature", signature(t, body, keys()[0], "shop", true)},
		"symmetric":            {"Saleor-Signature", symmetric},
		"of no algorithm":      {"Saleor-Signature", "eyJhbGciOiJub25lIiwiYjY0IjpmYWxzZSwiY3JpdCI6WyJiNjQiXX0.."},
		"with the body inside": {"Saleor-Signature", strings.Replace(right, "..", ".e30.", 1)},
		"old header only":      {"X-Saleor-Signature", right},
	} {
		if a := s.post(body, headers...); a.Status != 401 || a.Body != "" && strings.Contains(a.Body, "SUCCESS") {
			t.Errorf("a signature %s is answered %d %s", what, a.Status, a.Body)
		}
	}
	if is := s.API("gifting/gifts/"+g.ID, ""); is["heldBalance"] != 0.0 {
		t.Errorf("a forged event held %v", is["heldBalance"])
	}
	s.want(body, "AUTHORIZATION_SUCCESS 10 [CHARGE CANCEL]")
}

// TestInstallation: Saleor reads a manifest, and hands a token over that is not kept.
func TestInstallation(t *testing.T) {
	t.Parallel()
	s := open(t)
	a := s.Call("GET", "/providers/saleor/"+config+"/manifest", "")
	var m struct {
		ID, Name, Version, TokenTargetURL string
		Permissions                       []string
		Webhooks                          []struct {
			Query, TargetURL string
			SyncEvents       []string
		}
	}
	if err := json.Unmarshal([]byte(a.Body), &m); err != nil || a.Status != 200 || len(m.Webhooks) != 6 ||
		!slices.Equal(m.Permissions, []string{"HANDLE_PAYMENTS"}) ||
		!strings.HasSuffix(m.TokenTargetURL, config+"/register") {
		t.Errorf("the manifest is %d %s", a.Status, a.Body)
	}
	for _, hook := range m.Webhooks {
		if strings.Count(hook.Query, "{") != strings.Count(hook.Query, "}") ||
			!strings.HasSuffix(hook.TargetURL, "/webhook") {
			t.Errorf("a webhook is %+v", hook)
		}
	}
	const token = `{"auth_token":"a-token-of-the-shop"}`
	register := func(api string) int {
		return s.Call("POST", "/providers/saleor/"+config+"/register", token, "Content-Type", "application/json",
			"Saleor-Api-Url", api).Status
	}
	if got := register(s.at + "/graphql/"); got != 200 {
		t.Errorf("the shop is answered %d", got)
	}
	for _, api := range []string{"", "https://thief.example.com/graphql/", s.at + ".example.com/graphql/"} {
		if got := register(api); got != 403 {
			t.Errorf("%q is answered %d", api, got)
		}
	}
	for path, want := range map[string]int{config: 404, config + "/other": 404, config + "/webhook": 405,
		"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1cff/manifest": 401, "x/manifest": 401} {
		if got := s.Call("GET", "/providers/saleor/"+path, "").Status; got != want {
			t.Errorf("GET %s is answered %d, want %d", path, got, want)
		}
	}
	if strings.Contains(s.Service.Log.String(), "a-token-of-the-shop") {
		t.Error("the shop's token is logged")
	}
}

// TestSpellings: a gift is found by its code as people write and copy it.
func TestSpellings(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("50")
	for n, typed := range providertest.Spellings(g.Code) {
		s.want(begin(fmt.Sprint("k-", n), "AUTHORIZATION", "1.00", typed), "AUTHORIZATION_SUCCESS 1 [CHARGE CANCEL]")
	}
}

// TestStoreAway: while the store cannot be asked, no event is answered as one that was refused or done, for Saleor
// keeps what it was answered; afterwards the same event does what it says, once.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("50")
	held := s.want(begin("k-1", "AUTHORIZATION", "20.00", g.Code), "AUTHORIZATION_SUCCESS 20 [CHARGE CANCEL]")
	events := map[string]string{
		"PaymentGatewayInitializeSession": "", // it asks for nothing
		"TransactionInitializeSession":    begin("k-2", "AUTHORIZATION", "10.00", g.Code),
		"TransactionProcessSession":       session("TransactionProcessSession", "k-3", "AUTHORIZATION", "5.00", g.Code),
		"TransactionChargeRequested":      charge("c-1", held, "5.00"),
		"TransactionRefundRequested":      refund("r-1", held, "5.00"),
		"TransactionCancelationRequested": cancel(held),
	}
	back := s.Away()
	shop := *s.Shop
	shop.Once = true
	for _, kind := range saleor.Calls() {
		body, known := events[kind]
		if !known {
			t.Errorf("say what a %s is about", kind)
		}
		if body == "" {
			continue
		}
		a := shop.Call("POST", "/providers/saleor/"+config+"/webhook", body, "Content-Type", "application/json",
			"Saleor-Signature", signature(t, body, keys()[0], "shop", false))
		if a.Status != http.StatusServiceUnavailable || strings.Contains(a.Body, "result") {
			t.Errorf("%s is answered %d %s", kind, a.Status, a.Body)
		}
	}
	back()
	for range 2 {
		s.want(events["TransactionInitializeSession"], "AUTHORIZATION_SUCCESS 10 [CHARGE CANCEL]")
	}
	s.Verify()
}

// TestALimitedShopLooksNoCodeUp: a shop whose guests have typed too many wrong codes learns of none, whichever event it
// sends, and no event looks a gift up by its code.
func TestALimitedShopLooksNoCodeUp(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("50")
	s.Missed(config, true, merchant.ShopGuessBurst)
	for _, kind := range saleor.Calls() {
		told := map[string]bool{}
		for n, code := range []string{g.Code, s.OthersGift("5").Code, "999990000008"} {
			s.NoLookUp(kind, func() {
				_, text := s.send(session(kind, fmt.Sprint(kind, n), "AUTHORIZATION", "1.00", code))
				told[text] = true
			})
		}
		if len(told) != 1 {
			t.Errorf("%s tells codes apart: %v", kind, slices.Collect(maps.Keys(told)))
		}
	}
}
