// Package vendure_test has gifts pay in a real shop of Vendure, on SQLite, against a running service.
package vendure_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"boon.example/test/shops"
)

// world is a shop, and the service whose gifts pay there.
type world struct {
	*shop
}

// TestGiftsInVendure tells what sdk/vendure promises, in one shop.
func TestGiftsInVendure(t *testing.T) {
	t.Parallel()
	w := &world{shop: open(shops.Serve(t))}
	for _, part := range []struct {
		name string
		test func(*world)
	}{
		{"gift and card, and a refund", (*world).paysAndIsRefunded},
		{"a refund that gets no answer", (*world).refundWithoutAnswer},
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
	g, c := w.Sell(20), w.fill("coffee", 1, "")
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	w.WantWorth(g, 20, 20)
	c.place()
	paid := c.settled()
	w.WantWorth(g, 0, 0)
	if paid.Amount != 2000 || fmt.Sprint(paid.Metadata) != "map[public:map[lastFour:"+g.Code[8:]+"]]" {
		w.Errorf("the payment is %+v", paid)
	}
	want(w.T, c.refund(paid, 500), "map[state:Settled]")
	w.WantWorth(g, 5, 0)
	want(w.T, c.refund(paid, 1500), "map[state:Settled]")
	w.WantWorth(g, 20, 0)
	if told := c.refund(paid, 1); strings.Contains(told, "Settled") {
		w.Errorf("more than was paid is given back: %s", told)
	}
	w.WantKinds(g, "ISSUED HOLD REDEMPTION REVERSAL REVERSAL")
}

// refundWithoutAnswer: a refund that arrives, of which the shop is told nothing, gives nothing back twice when staff
// repeat it, whatever they say then.
func (w *world) refundWithoutAnswer() {
	g, c := w.Sell(20), w.fill("coffee", 1, "")
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	c.place()
	paid := c.settled()
	w.Line.Set(false, "/reverse-redemption")
	told := make(chan string)
	go func() { told <- c.refund(paid, 500) }()
	for waits := true; waits; {
		select {
		case <-w.Line.Kept:
		case text := <-told:
			want(w.T, text, "map[state:Failed]")
			waits = false
		}
	}
	w.Line.Set(false, "")
	w.WantWorth(g, 5, 0)
	want(w.T, c.refund(paid, 700), "map[state:Failed]") // another amount could be meant beside the first
	w.WantWorth(g, 5, 0)
	want(w.T, c.refund(paid, 500), "map[state:Settled]")
	w.WantWorth(g, 5, 0)
	want(w.T, c.refund(paid, 1500), "map[state:Settled]")
	w.WantWorth(g, 20, 0)
}

func (w *world) twoCarts() {
	g := w.Sell(40)
	carts := []*cart{w.fill("coffee", 1, ""), w.fill("coffee", 1, "")}
	var all sync.WaitGroup
	for _, c := range carts {
		all.Go(func() {
			if _, err := c.tryPay("gift", g.Spelled()); err != nil {
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
		balance, held := w.Worth(g)
		return balance == 10 && held == 10
	})
	if told := w.fill("coffee", 1, "").pay("gift", g.Code); !strings.HasPrefix(told, "Of this gift, ") {
		w.Errorf("of a gift that is held as a whole, a guest is told %q", told)
	}
}

// cancelled: staff cancel the payment, and the gift is free at once.
func (w *world) cancelled() {
	g, c := w.Sell(20), w.fill("coffee", 1, "")
	want(w.T, c.pay("gift", g.Token), "ArrangingPayment")
	_, _, payments := c.order()
	a, _ := w.ask("admin-api", w.staff(), `mutation {done: cancelPayment(id: "`+payments[0].ID+`")
		{... on Payment {state} ... on ErrorResult {message}}}`)
	want(w.T, fmt.Sprint(a["done"]), "map[state:Cancelled]")
	w.WantWorth(g, 20, 0)
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	w.WantWorth(g, 20, 20)
}

// away: nothing is lost while the service cannot be reached, before the hold and after it.
func (w *world) away() {
	g, c, late := w.Sell(20), w.fill("coffee", 1, ""), w.fill("coffee", 1, "")
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	w.Line.Set(true, "")
	if told := late.pay("gift", g.Code); !strings.HasPrefix(told, "The gift service gives no answer.") {
		w.Errorf("without the service, a guest is told %q", told)
	}
	want(w.T, late.pay("card", ""), "PaymentSettled")
	c.place()
	until(w.T, "a capture fails", func() bool {
		_, _, payments := c.order()
		return payments[0].ErrorMessage != ""
	})
	w.WantWorth(g, 20, 20)
	w.Line.Set(false, "")
	c.settled()
	w.WantWorth(g, 0, 0)
}

// killedAfterHold kills the engine when the service has held, and the engine does not know of it yet.
func (w *world) killedAfterHold() {
	g, c := w.Sell(20), w.fill("coffee", 1, "")
	w.Line.Set(false, "/hold-gift")
	answered := make(chan error, 1)
	go func() {
		_, err := c.tryPay("gift", g.Code)
		answered <- err
	}()
	<-w.Line.Kept
	w.Kill()
	if err := <-answered; err == nil {
		w.Error("a killed shop has answered")
	}
	w.Line.Set(false, "")
	w.WantWorth(g, 20, 20)
	w.start()
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	w.WantWorth(g, 20, 20)
	c.place()
	c.settled()
	w.WantKinds(g, "ISSUED HOLD REDEMPTION")
}

// abandoned: the hold of a cart that nobody comes back to ends by itself, and is never captured.
func (w *world) abandoned() {
	g, c := w.Sell(20), w.fill("coffee", 1, "")
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	w.Kill()
	w.start()
	w.Call("test/clock", `{"advance":"PT2H"}`)
	w.WantWorth(g, 20, 0)
	c.place()
	until(w.T, "the capture is refused", func() bool {
		_, _, payments := c.order()
		return payments[0].State == "Error"
	})
	w.WantWorth(g, 20, 0)
}

// sold: each piece is one gift, also if the engine starts again.
func (w *world) sold() {
	c := w.fill("gift", 2, `, customFields: {giftEmail: "ana@example.com", giftRecipient: "Ana", giftMessage: "Enjoy"}`)
	want(w.T, c.pay("gift", w.Sell(50).Code), "A gift cannot pay for a gift.")
	w.Line.Set(true, "")
	want(w.T, c.pay("card", ""), "PaymentSettled")
	w.Line.Set(false, "")
	bought := func() []any {
		return w.Call("integration/gifting/gifts?externalTransactionReferenceNumber="+c.code, "")["gifts"].([]any)
	}
	until(w.T, "two gifts are sent", func() bool { return len(bought()) == 2 })
	w.idle()
	w.Kill()
	w.start()
	w.idle()
	sent := bought()
	if len(sent) != 2 || shops.At(sent[0], "currentBalance") != 25.0 ||
		shops.At(sent[1], "recipientDescription") != "Ana" {
		w.Errorf("sold were %v", sent)
	}
}

// idle waits until the engine has nothing to do.
func (w *world) idle() {
	w.Helper()
	token := w.staff()
	until(w.T, "the engine has nothing to do", func() bool {
		a, _ := w.ask("admin-api", token, `{jobs(options: {filter: {isSettled: {eq: false}}}) {totalItems}}`)
		return shops.At(a, "jobs", "totalItems") == 0.0
	})
}

func (w *world) balance() {
	g := w.Sell(12)
	for _, shown := range []string{g.Code, g.Spelled(), g.Token, "https://gifts.example.com/g/" + g.Token} {
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
	w.Kill()
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
	if !files[".sqlite"] || !files[".json"] && !files[".html"] {
		w.Errorf("the shop has no database or no e-mails: %v", files)
	}
	w.WantNothingKept(all, "boon-gifts", "carla@example.com", "lastFour")
}
