package vtex_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/face/provider/providertest"
	"boon.example/internal/face/provider/vtex"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
)

const (
	config      = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c91"
	others      = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c91"
	secret      = "5f0cda7e9b1c4d3280aa6f9e1b7c2d41-vtex"
	otherSecret = "e83d1f604bc7492a9c5be7f21a0d6843-vtex"
)

func open(t testing.TB) *hub { return with(t, `permissions: [validate, redeem, reverse]`) }

// with opens a hub of a provider with other fields.
func with(t testing.TB, fields string) *hub {
	return &hub{providertest.Open(t, server.Config{}, setUp(fields)), config, "vtexappkey-harbor", secret}
}

func setUp(fields string) []byte {
	return providertest.SetUp(`      - {id: `+config+`, name: VTEX, platform: vtex,
         app: vtexappkey-harbor, secret: `+secret+`, sites: [{name: web, location: `+providertest.Pier+`}],
         `+fields+`}
`, `      - {id: `+others+`, name: VTEX, platform: vtex, app: vtexappkey-corner, secret: `+otherSecret+`,
         sites: [{name: web, location: `+providertest.Corner+`}], permissions: [validate, redeem, reverse]}
`)
}

// hub is VTEX's Gift Card Hub: it writes two slashes after the address that it was given.
type hub struct {
	*providertest.Shop
	config, app, secret string
}

func (h *hub) send(method, path, body string) providertest.Answer {
	h.Helper()
	return h.Call(method, "/providers/vtex/"+h.config+"/"+path, body, "X-PROVIDER-API-AppKey", h.app,
		"X-PROVIDER-API-AppToken", h.secret, "Content-Type", "application/vnd.vtex.giftcards.v1+json", "Accept",
		"application/vnd.vtex.giftcards.v1+json", "x-vtex-operation-id", uuid.NewString(), "REST-Range", "resources=0-10")
}

// want makes a call and wants its status and what is in its answer.
func (h *hub) want(status int, in, method, path, body string) (answer map[string]any) {
	h.Helper()
	a := h.send(method, path, body)
	if a.Status != status || !strings.Contains(a.Body, in) {
		h.Errorf("%s %s %s: %d %s, want %d with %s", method, path, body, a.Status, a.Body, status, in)
	}
	_ = json.Unmarshal([]byte(a.Body), &answer)
	return answer
}

func search(code string) string {
	return `{"client":{"id":"c","email":"a@example.com","document":"1"},"cart":{"grandTotal":182,"relationName":null,` +
		`"redemptionCode":"` + code + `","discounts":-20,"shipping":2,"taxes":0,"itemsTotal":200,"items":[]}}`
}

func debit(value, token, request string) string {
	return `{"operation":"Debit","value":` + value + `,"description":"Purchase","redemptionToken":"` + token +
		`","redemptionCode":"****","requestId":"` + request + `","orderInfo":{"orderId":"v5195004lux-01","sequence":1}}`
}

func credit(value, token, request string) string {
	return strings.Replace(debit(value, token, request), "Debit", "Credit", 1)
}

func part(value, request string) string {
	return `{"value":` + value + `,"requestId":"` + request + `"}`
}

// TestRepeats: a request debits a card once, whatever happened since, and is told what it was told first; of another
// card it is another debit.
func TestRepeats(t *testing.T) {
	t.Parallel()
	h := open(t)
	g, other := h.Gift("50"), h.Gift("50")
	debited := func(card providertest.Card, value, request string) providertest.Answer {
		return h.send("POST", "/giftcards/"+card.ID+"/transactions", debit(value, h.token("/giftcards/"+card.ID), request))
	}
	first := debited(g, "20", "r-1")
	debited(g, "5", "r-2")
	if again := debited(g, "20.0", "r-1"); first.Status != 200 || again.Status != 200 || again.Body != first.Body {
		t.Errorf("a repeat is told %d %s, not %d %s", again.Status, again.Body, first.Status, first.Body)
	}
	if a := debited(other, "20", "r-1"); a.Status != 200 || a.Body == first.Body {
		t.Errorf("of another card: %d %s", a.Status, a.Body)
	}
	h.want(200, `"balance":25.00`, "GET", "/giftcards/"+g.ID, "")
	h.want(200, `"balance":30.00`, "GET", "/giftcards/"+other.ID, "")
	h.Verify()
}

// TestDescriptions: a transaction is told with the description that it came with, whether it debits, holds or loads;
// what cannot be kept as it is refuses nothing.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	h := with(t, "permissions: [validate, redeem, reverse, reload], holdDays: 3, storefront: "+providertest.Storefront)
	direct := with(t, "permissions: [validate, redeem, reverse]")
	card := "/giftcards/" + h.Gift("50").ID
	told := func(request, body, want string) {
		t.Helper()
		made := h.want(200, `"id"`, "POST", card+"/transactions", body)
		path := card + "/transactions/" + fmt.Sprint(made["id"])
		if got := h.want(200, `"requestId":"`+request+`"`, "GET", path, "")["description"]; got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
	token := h.token(card)
	say := func(body, words string) string { return strings.Replace(body, `"Purchase"`, words, 1) }
	told("d-1", debit("1", token, "d-1"), "Purchase")
	told("d-2", say(debit("1", token, "d-2"), `""`), "")
	told("d-3", say(debit("1", token, "d-3"), `"Compra nº\n7"`), "Compra nº 7")
	told("d-4", say(debit("1", token, "d-4"), `"`+strings.Repeat("é", 201)+`"`), strings.Repeat("é", 200))
	told("c-1", say(credit("1", token, "c-1"), `"Devolução"`), "Devolução")
	h.Verify()
	h, card = direct, "/giftcards/"+direct.Gift("50").ID
	told("d-1", debit("1", h.token(card), "d-1"), "Purchase")
}

// TestStory is an order from the search to the return of a part, as the Hub asks for it: it looks before it posts, and
// repeats.
func TestStory(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.Gift("50")
	card := "/giftcards/" + g.ID
	h.want(200, `[{"id":"`+g.ID+`","provider":"VTEX","balance":50.00,"_self":{"href":"`+card+`"}}]`, "POST",
		"/giftcards/_search", search(g.Code))
	for _, none := range []string{"", "000000000000", "abcdef"} {
		h.want(200, "[]", "POST", "giftcards/_search/", search(none))
	}
	shown := h.want(200, `"balance":50.00`, "GET", card+"?ts=17", "")
	token := fmt.Sprint(shown["redemptionToken"])
	if len(token) != 64 || shown["id"] != g.ID || strings.Contains(fmt.Sprint(shown), g.Code) {
		t.Errorf("the card is shown as %v", shown)
	}
	made := h.want(200, `"cardId":"`+g.ID+`"`, "POST", card+"/transactions", debit("30.0", token, "r-1"))
	h.want(200, fmt.Sprint(made["id"]), "POST", card+"/transactions", debit("3e1", token, "r-1"))
	h.want(400, `"INSUFFICIENT_BALANCE"`, "POST", card+"/transactions", debit("20.01", token, "r-2"))
	h.want(400, `"IDEMPOTENCY_MISMATCH"`, "POST", card+"/transactions", debit("5", token, "r-1"))
	h.want(200, `"balance":20.00`, "GET", card, "")
	path := card + "/transactions/" + fmt.Sprint(made["id"])
	h.want(200, `"requestId":"r-1"`, "GET", path, "")
	h.want(200, `"value":30.00,"description":"Purchase"`, "GET", path, "")
	h.want(200, `"value":30.00`, "GET", path+"/authorization", "")
	h.want(200, fmt.Sprint(made["id"]), "GET", card+"/transactions", "")
	// settled in parts, never more than was taken
	h.want(200, "[]", "GET", path+"/settlements", "")
	h.want(200, `"value":10.00`, "POST", path+"/settlements", part("10", "s-1"))
	h.want(200, `"value":10.00`, "POST", path+"/settlements", part("10", "s-1"))
	h.want(400, `"IDEMPOTENCY_MISMATCH"`, "POST", path+"/settlements", part("11", "s-1"))
	h.want(400, "20.00 USD is left", "POST", path+"/settlements", part("30", "s-2"))
	var all sync.WaitGroup
	for n := range 4 { // at once: only two of them fit
		all.Go(func() { h.send("POST", path+"/settlements", part("10", fmt.Sprintf("s-3-%d", n))) })
	}
	all.Wait()
	if a := h.send("GET", path+"/settlements", ""); strings.Count(a.Body, `"value":10.00`) != 3 {
		t.Errorf("settled: %s", a.Body)
	}
	// given back in parts
	h.want(200, "[]", "GET", path+"/cancellations", "")
	h.want(200, `"value":12.50`, "POST", path+"/cancellations", part("12.5", "c-1"))
	h.want(200, `"value":12.50`, "POST", path+"/cancellations", part("12.5", "c-1"))
	h.want(400, "17.50 USD", "POST", path+"/cancellations", part("30", "c-2"))
	h.want(200, `"value":17.50`, "POST", path+"/cancellations", part("17.5", "c-3"))
	h.want(400, `"ALREADY_REVERSED"`, "POST", path+"/cancellations", part("1", "c-4"))
	if a := h.send("GET", path+"/cancellations", ""); strings.Count(a.Body, `"oid"`) != 2 {
		t.Errorf("given back: %s", a.Body)
	}
	h.want(200, `"balance":50.00`, "GET", card, "")
	// a requestId counts for each card
	second := h.Gift("50")
	other := "/giftcards/" + second.ID
	h.want(200, `"cardId":"`+second.ID+`"`, "POST", other+"/transactions", debit("30.0", h.token(other), "r-1"))
	h.want(200, `"balance":20.00`, "GET", other, "")
	if a := h.History(g.ID); !strings.Contains(a, `"v5195004lux-01/r-1"`) || !strings.Contains(a, `"keyName":"VTEX"`) {
		t.Errorf("the history: %s", a)
	}
}

// TestAnotherOrder: another order's Debit with a requestId that was used is refused, or both would have one payment.
func TestAnotherOrder(t *testing.T) {
	t.Parallel()
	h := open(t)
	card := "giftcards/" + h.Gift("50").ID
	first := debit("5", h.token(card), "1")
	h.want(200, "", "POST", card+"/transactions", first)
	h.want(400, `"IDEMPOTENCY_MISMATCH"`, "POST", card+"/transactions", strings.Replace(first, "lux-01", "lux-02", 1))
	h.want(200, "", "POST", card+"/transactions", first)
	h.want(200, `"balance":45.00`, "GET", card, "")
}

// TestOneRequestOneChange: a requestId counts once for a card, be it for a Debit or a Credit, and once for what is
// cancelled.
func TestOneRequestOneChange(t *testing.T) {
	t.Parallel()
	h := with(t, `permissions: [validate, redeem, reverse, reload], storefront: `+providertest.Storefront)
	card := "giftcards/" + h.Gift("50").ID
	token := h.token(card)
	for n := range 10 {
		var all sync.WaitGroup
		var taken, loaded providertest.Answer
		request := fmt.Sprint("x-", n)
		all.Go(func() { taken = h.send("POST", card+"/transactions", debit("1", token, request)) })
		all.Go(func() { loaded = h.send("POST", card+"/transactions", credit("1", token, request)) })
		all.Wait()
		if taken.Status+loaded.Status != 600 {
			t.Errorf("%d %s, %d %s", taken.Status, taken.Body, loaded.Status, loaded.Body)
		}
	}
	path := card + "/transactions/"
	taken := fmt.Sprint(h.want(200, "", "POST", path, debit("5", token, "a"))["id"])
	loaded := fmt.Sprint(h.want(200, "", "POST", path, credit("7", token, "b"))["id"])
	h.want(200, "", "POST", path+taken+"/cancellations", part("5", "k"))
	h.want(400, `"IDEMPOTENCY_MISMATCH"`, "POST", path+loaded+"/cancellations", part("7", "k"))
	h.want(200, "", "POST", path+loaded+"/cancellations", part("7", "l"))
	h.Verify()
}

// TestSettlements: no more is settled than was taken and not given back before, and each requestId once.
func TestSettlements(t *testing.T) {
	t.Parallel()
	h := open(t)
	card := "giftcards/" + h.Gift("50").ID
	token := h.token(card)
	taken := func(value, request string) string {
		id := fmt.Sprint(h.want(200, "", "POST", card+"/transactions", debit(value, token, request))["id"])
		return card + "/transactions/" + id
	}
	path := taken("20", "r-1")
	h.want(200, "", "POST", path+"/settlements", part("0.01", "s-1"))
	h.want(400, "19.99 USD is left", "POST", path+"/settlements", part("92233720368547758.07", "s-2"))
	h.want(200, "", "POST", path+"/cancellations", part("5", "c-1"))
	h.want(400, "14.99 USD is left", "POST", path+"/settlements", part("15", "s-3"))
	h.want(200, "", "POST", path+"/settlements", part("4.99", "s-4"))
	h.want(200, "", "POST", path+"/cancellations", part("12", "c-2")) // 2 of these were settled
	h.want(400, "0.00 USD is left", "POST", path+"/settlements", part("0.01", "s-5"))
	h.want(200, `"value":4.99`, "POST", path+"/settlements", part("4.99", "s-4"))
	if settled, back := h.sum(path+"/settlements"), h.sum(path+"/cancellations"); settled != 5_00 || back != 17_00 {
		t.Errorf("settled %d, given back %d", settled, back)
	}
	for n := range 10 { // two of one requestId at once, while the card is used
		path, answers := taken("3", fmt.Sprint("t-", n)), [2]providertest.Answer{}
		var all sync.WaitGroup
		for n := range answers {
			all.Go(func() { answers[n] = h.send("POST", path+"/settlements", part(fmt.Sprint(n+1), "s")) })
		}
		all.Go(func() { taken("0.01", fmt.Sprint("u-", n)) })
		all.Wait()
		if answers[0].Status+answers[1].Status != 600 {
			t.Errorf("1 is told %s, 2 is told %s", answers[0].Body, answers[1].Body)
		}
	}
	h.Verify()
}

// inTurn is a store that commits one group at a time, and that of a cancellation only when it is told to.
type inTurn struct {
	engine.Store
	mu          sync.Mutex
	begun, goOn chan struct{}
}

func (s *inTurn) Group(ctx context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(want.Requests, func(k ledger.RequestKey) bool { return k.Operation == "vtex-cancellation" }) {
		close(s.begun)
		<-s.goOn
	}
	return s.Store.Group(ctx, want, decide)
}

// TestSettledWhileCancelled: what is given back while a settlement is on its way is settled no more.
func TestSettledWhileCancelled(t *testing.T) {
	t.Parallel()
	store := &inTurn{begun: make(chan struct{}), goOn: make(chan struct{})}
	h := &hub{providertest.Open(t, server.Config{Under: func(under engine.Store) engine.Store {
		store.Store = under
		return store
	}}, setUp(`permissions: [validate, redeem, reverse]`)), config, "vtexappkey-harbor", secret}
	card := "giftcards/" + h.Gift("50").ID
	id := fmt.Sprint(h.want(200, "", "POST", card+"/transactions", debit("20", h.token(card), "r-1"))["id"])
	path := card + "/transactions/" + id
	var all sync.WaitGroup
	all.Go(func() { h.want(200, "", "POST", path+"/cancellations", part("20", "c-1")) })
	<-store.begun
	all.Go(func() { h.want(400, "0.00 USD is left", "POST", path+"/settlements", part("20", "s-1")) })
	time.Sleep(300 * time.Millisecond) // by now it has read that nothing was given back, most likely
	close(store.goOn)
	all.Wait()
	h.Verify()
}

// TestNotSpendableHere: what can be redeemed with a ticket or a verification code only is not found, nor shown as worth
// something.
func TestNotSpendableHere(t *testing.T) {
	t.Parallel()
	h := open(t)
	certain, stock := h.ItemsOnly(), h.Stock(1, `,"verificationCodes":true`)[0]
	verified := h.API("redemption/activate-gift", `{"voucherCode":"`+stock.Code+`","amount":25,"paymentMethodID":2,`+
		`"externalTransactionReferenceNumber":"R","externalTransactionCustomerFirstName":"A",`+
		`"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",`+
		`"externalStorefrontID":"`+providertest.Storefront+`","organizationID":"`+providertest.Pier+`"}`)
	for code, id := range map[string]string{certain.Code: certain.ID, stock.Code: fmt.Sprint(verified["voucherID"])} {
		h.want(200, "[]", "POST", "giftcards/_search", search(code))
		h.want(200, `"balance":0.00`, "GET", "giftcards/"+id, "")
	}
}

// broken are members with a text that is no UTF-8, and none that a call is about.
var broken = []string{`"a":"Ann \ud83d"`, `"a":"\ude00"`, "\"a\":\"Ann \xff\"", "\"a\":{\"\xc3\":[\"\xed\xa0\xbd\"]}",
	`"\ud83d":1`}

// TestBrokenTexts: a shopper's name that a form cut in the middle of a character refuses no call; a text that the call
// is about is refused as a wrong one, and so is a name that is there twice.
func TestBrokenTexts(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.Gift("50")
	card := "giftcards/" + g.ID
	token := h.token(card)
	with := func(body, more string) string {
		for _, in := range []string{`"orderInfo":{`, `"cart":{`} {
			body = strings.Replace(body, in, in+more+",", 1)
		}
		return "{" + more + "," + body[1:]
	}
	for n, more := range broken {
		h.want(200, g.ID, "POST", "giftcards/_search", with(search(g.Code), more))
		id := fmt.Sprint("r-", n)
		made := h.want(200, "cardId", "POST", card+"/transactions", with(debit("1", token, id), more))
		h.want(200, fmt.Sprint(made["id"]), "POST", card+"/transactions", debit("1", token, id))
		path := card + "/transactions/" + fmt.Sprint(made["id"])
		h.want(200, "oid", "POST", path+"/settlements", with(part("1", id), more))
		h.want(200, "oid", "POST", path+"/cancellations", with(part("1", id), more))
	}
	h.want(200, "[]", "POST", "giftcards/_search", search(g.Code+`\ud83d`))
	for _, body := range []string{debit("1", token, `r\ud83d`), debit("1", token+`\ud83d`, "r"), debit(`"1\ud83d"`, token, "r"),
		strings.Replace(debit("1", token, "r"), "Debit", `Debit\ud83d`, 1), with(debit("1", token, "r"), `"value":1`),
		with(debit("1", token, "r"), `"b":1,"b":1`), with(debit("1", token, "r"), "\"b\xff\":1,\"b\xff\":1")} {
		h.want(400, `"VALIDATION_FAILURE"`, "POST", card+"/transactions", body)
	}
	h.want(200, `"balance":50.00`, "GET", card, "")
}

// TestLargeCart: a search has the whole cart in it, up to half a MiB.
func TestLargeCart(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.Gift("50")
	for _, kib := range []int{10, 100, 450} {
		cart := strings.Replace(search(g.Code), `"items":[]`, `"items":["`+strings.Repeat("a", kib<<10)+`"]`, 1)
		if a := h.send("POST", "giftcards/_search", cart); a.Status != 200 || !strings.Contains(a.Body, g.ID) {
			t.Errorf("a cart of %d KiB: %d %s", kib, a.Status, a.Body)
		}
	}
	if a := h.send("POST", "giftcards/_search", strings.Repeat(" ", 600<<10)+search(g.Code)); a.Status != 400 ||
		!strings.Contains(a.Body, `"VALIDATION_FAILURE"`) {
		t.Errorf("a body of 600 KiB: %d %s", a.Status, a.Body)
	}
}

// TestStoreAway: while the store cannot be asked, each call is answered with a status and a document that say so.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.Gift("50")
	h.want(200, g.ID, "POST", "giftcards/_search", search(g.Code))
	token, _ := h.want(200, "", "GET", "giftcards/"+g.ID, "")["redemptionToken"].(string)
	made, _ := h.want(200, "", "POST", "giftcards/"+g.ID+"/transactions", debit("5", token, "r-1"))["id"].(string)
	back := h.Away()
	for _, r := range vtex.Routes() {
		path := strings.Replace(strings.Replace(r.Pattern, "*", g.ID, 1), "*", made, 1)
		body := debit("5", token, "r-2")
		switch {
		case path == "giftcards" && r.Method == "POST": // is refused whatever the store has
			continue
		case strings.HasSuffix(path, "_search"):
			body = search(g.Code)
		}
		a := h.once(r.Method, "/providers/vtex/"+h.config+"/"+path, body, "X-PROVIDER-API-AppKey", h.app,
			"X-PROVIDER-API-AppToken", h.secret)
		if a.Status != 503 || !strings.Contains(a.Body, `"code":"UNAVAILABLE"`) || a.Header.Get("Retry-After") == "" ||
			a.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %s %v", r.Method, path, a.Status, a.Body, a.Header)
		}
	}
	if a := h.once("GET", "/providers/vtex/"+h.config+"/giftcards/"+g.ID, "", "X-PROVIDER-API-AppKey", h.app,
		"X-PROVIDER-API-AppToken", "wrong"); a.Status != 503 || !strings.Contains(a.Body, `"code":"UNAVAILABLE"`) {
		t.Errorf("with a wrong token: %d %s", a.Status, a.Body)
	}
	back()
}

// once makes a call and repeats it for no reason.
func (h *hub) once(method, path, body string, headers ...string) providertest.Answer {
	h.Helper()
	shop := *h.Shop
	shop.Once = true
	return shop.Call(method, path, body, headers...)
}

// TestNoRoom: a large body for which there is no room is refused with a status that says to come again.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	h := open(t)
	begin := func() net.Conn {
		conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "POST /providers/vtex/%s/giftcards/_search HTTP/1.1\r\nHost: shop\r\n"+
			"Connection: close\r\nX-PROVIDER-API-AppKey: %s\r\nX-PROVIDER-API-AppToken: %s\r\nContent-Length: %d\r\n\r\n%s",
			config, h.app, secret, 500_000, strings.Repeat(" ", 450_000))
		return conn
	}
	told := ""
	for deadline := time.Now().Add(20 * time.Second); !strings.HasPrefix(told, "HTTP/1.1 503 ") &&
		time.Now().Before(deadline); {
		// Each holds all but the end of a body, once the service has come to read it and until it waits no longer.
		for range 60 {
			begin()
		}
		last := begin()
		if err := last.SetReadDeadline(deadline); err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(last, strings.Repeat(" ", 50_000))
		answer, _ := io.ReadAll(last)
		told = string(answer)
	}
	if !strings.HasPrefix(told, "HTTP/1.1 503 ") || !strings.Contains(told, `"code":"UNAVAILABLE"`) {
		t.Errorf("without room: %s", told)
	}
}

// TestRedemptionsGiveAttemptsBack: all who shop there share one limit on guessing, and mistype. It takes a thousand
// wrong codes to close the checkout; from then on each four gifts that are redeemed give one attempt back.
func TestRedemptionsGiveAttemptsBack(t *testing.T) {
	t.Parallel()
	h := open(t)
	next := h.Gift("50")
	wrong := func() { h.want(200, "[]", "POST", "giftcards/_search", search("999990000007")) }
	h.Missed(config, true, merchant.ShopGuessBurst-1)
	h.want(200, next.ID, "POST", "giftcards/_search", search(next.Code))
	wrong()
	h.want(200, "[]", "POST", "giftcards/_search", search(next.Code))
	for n := range 4 {
		g := h.Gift("50")
		card := "giftcards/" + g.ID
		h.want(200, "[]", "POST", "giftcards/_search", search(next.Code))
		h.want(200, "", "POST", card+"/transactions", debit("5", h.token(card), fmt.Sprint("r-", n)))
	}
	h.want(200, next.ID, "POST", "giftcards/_search", search(next.Code))
	wrong()
	h.want(200, "[]", "POST", "giftcards/_search", search(next.Code))
}

// TestALimitedShopLooksNoCardUp: once too many wrong codes were tried, no address looks a card up, whether there is one
// or not.
func TestALimitedShopLooksNoCardUp(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.Gift("50")
	h.Missed(config, true, merchant.ShopGuessBurst)
	for _, address := range vtex.Routes() {
		for _, code := range []string{g.Code, h.OthersGift("5").Code, "999990000008"} {
			path := strings.ReplaceAll(address.Pattern, "*", g.ID)
			h.NoLookUp(address.Pattern, func() {
				if a := h.send(address.Method, path, search(code)); strings.HasSuffix(path, "_search") && a.Body != "[]" {
					t.Errorf("a search by %s finds %s", code, a.Body)
				}
			})
		}
	}
}

// TestALongHistory: the list of a card that was used a thousand times has the transactions among its newest changes;
// an older one is found by its id as ever.
func TestALongHistory(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.Gift("50")
	card := "giftcards/" + g.ID
	token := h.token(card)
	old := h.want(200, "", "POST", card+"/transactions", debit("1", token, "old"))
	var uses sync.WaitGroup
	for n := range 8 {
		uses.Go(func() {
			for m := range 125 {
				h.send("POST", card+"/transactions", debit("0.01", token, fmt.Sprint("use-", n, "-", m)))
			}
		})
	}
	uses.Wait()
	last := h.want(200, "", "POST", card+"/transactions", debit("2", token, "last"))
	h.want(200, `"balance":37.00`, "GET", card, "")
	var listed []struct{ ID string }
	a := h.send("GET", card+"/transactions", "")
	if err := json.Unmarshal([]byte(a.Body), &listed); err != nil || len(listed) != 200 ||
		listed[199].ID != fmt.Sprint(last["id"]) || strings.Contains(a.Body, fmt.Sprint(old["id"])) {
		t.Errorf("%d transactions are listed, %v: %.200s", len(listed), err, a.Body)
	}
	h.want(200, `"requestId":"old"`, "GET", card+"/transactions/"+fmt.Sprint(old["id"]), "")
}

// TestNoNewCards: a card that VTEX asks for is refused, and nothing is sold.
func TestNoNewCards(t *testing.T) {
	t.Parallel()
	h := open(t)
	asked := `{"relationName":"loyalty","caption":"c","profileId":"a@example.com","emissionDate":"2026-11-25T00:00:00",` +
		`"expiringDate":"2027-11-25T00:00:00","restrictedToOwner":false,"multipleRedemptions":true,"multipleCredits":true,` +
		`"currencyCode":"USD"}`
	h.want(400, `"NOT_SUPPORTED"`, "POST", "/giftcards", asked)
	if a := h.API("gifting/gifts?limit=1", ""); !strings.Contains(a["text"].(string), `"gifts":[]`) {
		t.Errorf("there is a gift: %s", a["text"])
	}
	if a := (&hub{h.Shop, config, h.app, otherSecret}).send("POST", "giftcards", asked); a.Status != 403 || a.Body != "" {
		t.Errorf("with a wrong token: %d %s", a.Status, a.Body)
	}
}

// TestNetworks: a set-up may say where a platform calls from; whoever has its secret elsewhere is nobody.
func TestNetworks(t *testing.T) {
	t.Parallel()
	h := with(t, `permissions: [validate, redeem, reverse], networks: [203.0.113.0/24]`)
	g := h.Gift("50")
	if a := h.send("GET", "giftcards/"+g.ID, ""); a.Status != 403 || a.Body != "" {
		t.Errorf("from elsewhere: %d %s", a.Status, a.Body)
	}
	if log := h.Service.Log.String(); !strings.Contains(log, `"code":"NOT_AUTHORIZED"`) {
		t.Error("the log does not say why")
	}
	h = with(t, `permissions: [validate, redeem, reverse], networks: [203.0.113.0/24, 127.0.0.1]`)
	g = h.Gift("50")
	h.want(200, g.ID, "GET", "giftcards/"+g.ID, "")
}

// TestSettlementsHaveNoLimitOfTheDay: a large shop settles more transactions in a day than a key may ask for in vain.
func TestSettlementsHaveNoLimitOfTheDay(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.Gift("50")
	card := "giftcards/" + g.ID
	token := fmt.Sprint(h.want(200, "", "GET", card, "")["redemptionToken"])
	h.Kept(config, merchant.MaxKeptPerDay)
	made := h.want(200, "", "POST", card+"/transactions", debit("30", token, "r-1"))
	h.want(200, "", "POST", card+"/transactions/"+fmt.Sprint(made["id"])+"/settlements", part("30", "s-1"))
	h.want(400, "RATE_LIMITED", "POST", card+"/transactions", debit("21", token, "r-2"))
}

// TestThief: a shop reaches its own merchant's gifts, and undoes only what it took itself.
func TestThief(t *testing.T) {
	t.Parallel()
	h := open(t)
	corner := &hub{h.Shop, others, "vtexappkey-corner", otherSecret}
	g, other := h.Gift("50"), h.Gift("50")
	card := "giftcards/" + g.ID
	for _, wrong := range []*hub{{h.Shop, config, h.app, otherSecret}, {h.Shop, config, "vtexappkey-corner", secret},
		{h.Shop, others, h.app, secret}, {h.Shop, uuid.NewString(), h.app, secret}} {
		if a := wrong.send("GET", card, ""); a.Status != 403 || a.Body != "" {
			t.Errorf("wrong credentials: %d %s", a.Status, a.Body)
		}
	}
	if a := (&hub{h.Shop, config, "", ""}).send("GET", card, ""); a.Status != 401 || a.Body != "" {
		t.Errorf("no credentials: %d %s", a.Status, a.Body)
	}
	corner.want(404, `"NOT_FOUND"`, "GET", card, "")
	corner.want(200, "[]", "POST", "giftcards/_search", search(g.Code))
	token := fmt.Sprint(h.want(200, "", "GET", card, "")["redemptionToken"])
	for _, bad := range []string{"", "00", token + "00", strings.Repeat("0", 64),
		fmt.Sprint(h.want(200, "", "GET", "giftcards/"+other.ID, "")["redemptionToken"])} {
		h.want(400, "redemptionToken", "POST", card+"/transactions", debit("5", bad, "r-1"))
	}
	b := h.API("redemption/redeem-gift", `{"voucherID":"`+g.ID+`","amount":5,"organizationID":"`+providertest.Pier+`"}`)
	till := card + "/transactions/" + fmt.Sprint(b["redemptionID"])
	h.want(404, `"NOT_FOUND"`, "GET", till, "")
	h.want(404, `"NOT_FOUND"`, "POST", till+"/cancellations", part("5", "c-1"))
	h.want(200, "[]", "GET", card+"/transactions", "")
	for _, value := range []string{"0", "-1", "1.001", "1e400", `"x"`, "null", "true"} {
		h.want(400, `"VALIDATION_FAILURE"`, "POST", card+"/transactions", debit(value, token, "r-9"))
	}
	h.want(400, `"VALIDATION_FAILURE"`, "POST", card+"/transactions", debit("1", token, ""))
	h.want(400, `"VALIDATION_FAILURE"`, "POST", card+"/transactions", strings.Replace(debit("1", token, "r-9"), "Debit", "debit", 1))
	h.want(403, `may not reload`, "POST", card+"/transactions", credit("1", token, "r-9"))
	h.want(400, "", "POST", card+"/transactions", "{")
	h.want(404, "", "GET", "giftcards/x", "")
	h.want(404, "", "GET", "elsewhere", "")
	h.want(405, "", "DELETE", card, "")
	h.API("gifting/block-gift", `{"voucherID":"`+other.ID+`","reasonCode":"LOST"}`)
	h.want(200, "[]", "POST", "giftcards/_search", search(other.Code))
	h.want(200, `"balance":45.00`, "GET", card, "")
	for _, hidden := range []string{secret, g.Code, token} {
		if strings.Contains(h.Service.Log.String(), hidden) {
			t.Errorf("the log has %s", hidden)
		}
	}
}

// TestNoWayOut: what a proxy lets through as a platform's address leads to no other.
func TestNoWayOut(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, path := range []string{"%2e%2e/outbox", "%2e%2e/metrics", "vtex/%2e%2e/%2E%2E/healthz", "..%2foutbox",
		"%2e%2e/api/integration/gifting/gifts"} {
		a := h.Call("GET", "/providers/"+path, "", "Authorization", "boon_test_demo_only_harbor_coffee_head_office")
		if a.Status != 404 || !strings.Contains(a.Body, `"NOT_FOUND"`) {
			t.Errorf("%s: %d %.100s", path, a.Status, a.Body)
		}
	}
}

// FuzzBodies: what a body holds beside what is asked for is let be, and no body is too odd to be answered.
func FuzzBodies(f *testing.F) {
	f.Add([]byte(search("481516234299")))
	f.Add([]byte(debit("5", "t", "r")))
	h := open(f)
	g := h.Gift("50")
	f.Fuzz(func(t *testing.T, body []byte) {
		h := &hub{h.Shop.Of(t), h.config, h.app, h.secret}
		for _, path := range []string{"giftcards/_search", "giftcards/" + g.ID + "/transactions"} {
			if a := h.send("POST", path, string(body)); a.Status >= 500 {
				t.Errorf("%s: %d", path, a.Status)
			}
		}
	})
}

// TestSpellings: a guest types the code as the mail shows it.
func TestSpellings(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.Gift("50")
	for _, typed := range providertest.Spellings(g.Code) {
		h.want(200, `[{"id":"`+g.ID+`"`, "POST", "/giftcards/_search", search(typed))
	}
	h.want(200, "[]", "POST", "/giftcards/_search", search(g.Code+"1"))
}
