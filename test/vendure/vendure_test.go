// Package vendure_test has gifts pay in a real shop of Vendure, on SQLite, against a running service.
package vendure_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
)

const (
	key        = examples.HarborTestKey
	location   = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1d11"
	storefront = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1d21"
)

// world is a shop, and the service whose gifts pay there.
type world struct {
	*shop
	url   string
	line  *line
	gifts []gift
}

type gift struct{ ID, Code, Token string }

// TestGiftsInVendure tells what sdk/vendure promises, in one shop.
func TestGiftsInVendure(t *testing.T) {
	t.Parallel()
	service := boontest.Example(t, server.Config{Outbox: true})
	service.Apply(t, examples.HarborTest())
	to, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := &line{to: proxy, kept: make(chan struct{}, 8)}
	between := httptest.NewServer(front)
	t.Cleanup(between.Close)
	w := &world{shop: open(t, between.URL), url: service.URL, line: front}
	for _, part := range []struct {
		name string
		test func(*world)
	}{
		{"gift and card, and a refund", (*world).paysAndIsRefunded},
		{"two carts, one gift", (*world).twoCarts},
		{"a cancelled payment", (*world).cancelled},
		{"the service is away", (*world).away},
		{"killed after the hold", (*world).killedAfterHold},
		{"an abandoned cart", (*world).abandoned},
		{"gifts are sold", (*world).sold},
		{"the balance", (*world).balance},
		{"nothing is kept", (*world).nothingKept},
	} {
		t.Run(part.name, func(t *testing.T) {
			whole := w.T
			defer func() { w.T = whole }()
			w.T = t
			part.test(w)
		})
	}
}

// call asks the service.
func (w *world) call(path, body string) map[string]any {
	w.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+"/api/"+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil || response.StatusCode >= 300 {
		w.Fatalf("%s %s: %d %s", path, body, response.StatusCode, text)
	}
	return answer
}

// gift sells a printed gift.
func (w *world) gift(value int) gift {
	w.Helper()
	sent := at(w.call("integration/gifting/send-gift", fmt.Sprintf(`{"paymentMethodID":2,"monetaryGift":{"value":%d,`+
		`"deliveryMethodID":3},"externalTransactionReferenceNumber":"R","externalTransactionCustomerFirstName":"A",`+
		`"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",`+
		`"externalStorefrontID":"`+storefront+`"}`, value)), "gifts", 0).(map[string]any)
	g := gift{sent["voucherID"].(string), sent["voucherCode"].(string), sent["voucherPublicToken"].(string)}
	w.gifts = append(w.gifts, g)
	return g
}

// worth is a gift's balance, and how much of it is held.
func (w *world) worth(g gift) (balance, held float64) {
	w.Helper()
	is := w.call("integration/gifting/gifts/"+g.ID, "")
	return is["currentBalance"].(float64), is["heldBalance"].(float64)
}

func (w *world) wantWorth(g gift, balance, held float64) {
	w.Helper()
	if is, isHeld := w.worth(g); is != balance || isHeld != held {
		w.Errorf("the gift has %v, of which %v is held; want %v and %v", is, isHeld, balance, held)
	}
}

// kinds are those of what happened to a gift.
func (w *world) kinds(g gift) (kinds []string) {
	w.Helper()
	for _, e := range w.call("integration/gifting/gifts/"+g.ID+"/history", "")["entries"].([]any) {
		kinds = append(kinds, e.(map[string]any)["kind"].(string))
	}
	return kinds
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// settled waits until all of an order is paid, and gives what the gift paid.
func (c *cart) settled() (by payment) {
	c.Helper()
	until(c.T, "all is paid", func() bool { _, state, _ := c.order(); return state == "PaymentSettled" })
	_, _, payments := c.order()
	n := slices.IndexFunc(payments, func(p payment) bool { return p.Method == "gift" && p.State == "Settled" })
	if n < 0 {
		c.Fatalf("no gift has paid: %+v", payments)
	}
	return payments[n]
}

func (w *world) paysAndIsRefunded() {
	g, c := w.gift(20), w.fill("coffee", 1, "")
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	w.wantWorth(g, 20, 20)
	c.place()
	paid := c.settled()
	w.wantWorth(g, 0, 0)
	if paid.Amount != 2000 || fmt.Sprint(paid.Metadata) != "map[public:map[lastFour:"+g.Code[8:]+"]]" {
		w.Errorf("the payment is %+v", paid)
	}
	want(w.T, c.refund(paid, 500), "map[state:Settled]")
	w.wantWorth(g, 5, 0)
	want(w.T, c.refund(paid, 1500), "map[state:Settled]")
	w.wantWorth(g, 20, 0)
	if told := c.refund(paid, 1); strings.Contains(told, "Settled") {
		w.Errorf("more than was paid is given back: %s", told)
	}
	want(w.T, strings.Join(w.kinds(g), " "), "ISSUED HOLD REDEMPTION REVERSAL REVERSAL")
}

func (w *world) twoCarts() {
	g := w.gift(40)
	carts := []*cart{w.fill("coffee", 1, ""), w.fill("coffee", 1, "")}
	var all sync.WaitGroup
	for _, c := range carts {
		all.Go(func() {
			if _, err := c.tryPay("gift", " "+g.Code[:4]+"-"+g.Code[4:8]+" "+g.Code[8:]); err != nil {
				w.Error(err)
			}
		})
	}
	all.Wait()
	sum := 0
	for _, c := range carts {
		if _, _, payments := c.order(); len(payments) == 1 {
			sum += payments[0].Amount
		}
	}
	if sum != 4000 {
		w.Errorf("the carts were paid %d of a gift of 4000", sum)
	}
	until(w.T, "the cart that is paid in full is captured, and the other one holds the rest", func() bool {
		balance, held := w.worth(g)
		return balance == 10 && held == 10
	})
	if told := w.fill("coffee", 1, "").pay("gift", g.Code); !strings.HasPrefix(told, "Of this gift, ") {
		w.Errorf("of a gift that is held as a whole, a guest is told %q", told)
	}
}

// cancelled: staff cancel the payment, and the gift is free at once.
func (w *world) cancelled() {
	g, c := w.gift(20), w.fill("coffee", 1, "")
	want(w.T, c.pay("gift", g.Token), "ArrangingPayment")
	_, _, payments := c.order()
	a, _ := w.ask("admin-api", w.staff(), `mutation {done: cancelPayment(id: "`+payments[0].ID+`")
		{... on Payment {state} ... on ErrorResult {message}}}`)
	want(w.T, fmt.Sprint(a["done"]), "map[state:Cancelled]")
	w.wantWorth(g, 20, 0)
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	w.wantWorth(g, 20, 20)
}

// away: nothing is lost while the service cannot be reached, before the hold and after it.
func (w *world) away() {
	g, c, late := w.gift(20), w.fill("coffee", 1, ""), w.fill("coffee", 1, "")
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	w.line.set(true, "")
	if told := late.pay("gift", g.Code); !strings.HasPrefix(told, "The gift service gives no answer.") {
		w.Errorf("without the service, a guest is told %q", told)
	}
	want(w.T, late.pay("card", ""), "PaymentSettled")
	c.place()
	until(w.T, "a capture fails", func() bool {
		_, _, payments := c.order()
		return payments[0].ErrorMessage != ""
	})
	w.wantWorth(g, 20, 20)
	w.line.set(false, "")
	c.settled()
	w.wantWorth(g, 0, 0)
}

// killedAfterHold kills the engine when the service has held, and the engine does not know of it yet.
func (w *world) killedAfterHold() {
	g, c := w.gift(20), w.fill("coffee", 1, "")
	w.line.set(false, "/hold-gift")
	answered := make(chan error, 1)
	go func() {
		_, err := c.tryPay("gift", g.Code)
		answered <- err
	}()
	<-w.line.kept
	w.kill()
	if err := <-answered; err == nil {
		w.Error("a killed shop has answered")
	}
	w.line.set(false, "")
	w.wantWorth(g, 20, 20)
	w.start()
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	w.wantWorth(g, 20, 20)
	c.place()
	c.settled()
	want(w.T, strings.Join(w.kinds(g), " "), "ISSUED HOLD REDEMPTION")
}

// abandoned: the hold of a cart that nobody comes back to ends by itself, and is never captured.
func (w *world) abandoned() {
	g, c := w.gift(20), w.fill("coffee", 1, "")
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	w.kill()
	w.start()
	w.call("test/clock", `{"advance":"PT2H"}`)
	w.wantWorth(g, 20, 0)
	c.place()
	until(w.T, "the capture is refused", func() bool {
		_, _, payments := c.order()
		return payments[0].State == "Error"
	})
	w.wantWorth(g, 20, 0)
}

// sold: each piece is one gift, also if the engine starts again.
func (w *world) sold() {
	c := w.fill("gift", 2, `, customFields: {giftEmail: "ana@example.com", giftRecipient: "Ana", giftMessage: "Enjoy"}`)
	want(w.T, c.pay("gift", w.gift(50).Code), "A gift cannot pay for a gift.")
	w.line.set(true, "")
	want(w.T, c.pay("card", ""), "PaymentSettled")
	w.line.set(false, "")
	bought := func() []any {
		return w.call("integration/gifting/gifts?externalTransactionReferenceNumber="+c.code, "")["gifts"].([]any)
	}
	until(w.T, "two gifts are sent", func() bool { return len(bought()) == 2 })
	w.idle()
	w.kill()
	w.start()
	w.idle()
	sent := bought()
	if len(sent) != 2 || at(sent[0], "currentBalance") != 25.0 || at(sent[1], "recipientDescription") != "Ana" {
		w.Errorf("sold were %v", sent)
	}
}

// idle waits until the engine has nothing to do.
func (w *world) idle() {
	w.Helper()
	token := w.staff()
	until(w.T, "the engine has nothing to do", func() bool {
		a, _ := w.ask("admin-api", token, `{jobs(options: {filter: {isSettled: {eq: false}}}) {totalItems}}`)
		return at(a, "jobs", "totalItems") == 0.0
	})
}

func (w *world) balance() {
	g := w.gift(12)
	for _, shown := range []string{g.Code, g.Token, "https://gifts.example.com/g/" + g.Token} {
		a, _ := w.ask("shop-api", "", `mutation {is: giftBalance(code: "`+shown+`") {lastFour available currencyCode}}`)
		want(w.T, fmt.Sprint(a["is"]), "map[available:1200 currencyCode:USD lastFour:"+g.Code[8:]+"]")
	}
	for n := range 12 {
		_, _, err := w.try("shop-api", "", fmt.Sprintf(`mutation {giftBalance(code: "1234567890%02d") {lastFour}}`, n))
		switch text := fmt.Sprint(err); {
		case n < 9 && !strings.Contains(text, "There is no such gift."), n == 11 && !strings.Contains(text, "Too many codes"):
			w.Errorf("wrong code %d: %s", n, text)
		}
	}
	_, _, err := w.try("shop-api", "", `mutation {giftBalance(code: "`+g.Code+`") {lastFour}}`)
	if !strings.Contains(fmt.Sprint(err), "Too many codes") {
		w.Errorf("a guesser is told %v of a true code", err)
	}
}

// nothingKept looks for codes and tokens in all that the shop has written.
func (w *world) nothingKept() {
	w.kill()
	var all []byte
	files := map[string]bool{}
	err := filepath.WalkDir(w.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[filepath.Ext(path)] = true
		all = append(all, text...)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	for _, sign := range []string{"boon-gifts", "carla@example.com", "lastFour", w.gifts[0].Code[8:]} {
		if !bytes.Contains(all, []byte(sign)) {
			w.Errorf("what the shop wrote has no %q, so it is not all", sign)
		}
	}
	if !files[".sqlite"] || !files[".json"] && !files[".html"] {
		w.Errorf("the shop has no database or no e-mails: %v", files)
	}
	for _, g := range w.gifts {
		for _, secret := range []string{g.Code, g.Token, g.Code[:4] + "-" + g.Code[4:8] + " " + g.Code[8:]} {
			if bytes.Contains(all, []byte(secret)) {
				w.Errorf("the shop has kept %q", secret)
			}
		}
	}
	if bytes.Contains(all, []byte(key)) {
		w.Error("the shop has kept the API key")
	}
}
