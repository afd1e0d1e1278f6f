// Package vendure_test has gifts pay in a real shop of Vendure, on SQLite and on PostgreSQL, against a running
// service.
package vendure_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
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
		{"two payments of a cart at once", (*world).twoPayments},
		{"amounts of other currencies", (*world).amounts},
		{"a cancelled payment", (*world).cancelled},
		{"the service is away", (*world).away},
		{"killed after the hold", (*world).killedAfterHold},
		{"an abandoned cart", (*world).abandoned},
		{"gifts are sold", (*world).sold},
		{"a gift for a gift", (*world).giftForGift},
		{"another currency", (*world).otherCurrency},
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

// twoPayments: on a database that has several transactions at once, payments of one cart at the same moment never have
// the same hold, and are together what the gift has.
func (w *world) twoPayments() {
	pgtest.Need(w.T)
	database, err := pgtest.Start()
	if err != nil {
		w.Fatal(err)
	}
	data := w.TempDir()
	s := &shop{Boon: w.Boon, Engine: shops.NewEngine(w.T, filepath.Join(data, "log")), folder: w.folder, data: data,
		database: database.URL}
	w.Cleanup(func() {
		s.Kill()
		if err := database.Close(); err != nil {
			w.Error(err)
		}
	})
	if s.address, err = rig.FreeAddress(); err != nil {
		w.Fatal(err)
	}
	s.start()
	g, c := w.Sell(20), s.fill("coffee", 2, "")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := c.tryPay("gift", g.Code); err != nil {
				w.Error(err)
			}
		})
	}
	all.Wait()
	_, _, payments := c.order()
	sum, holds := 0, map[string]bool{}
	for _, p := range payments {
		if p.State == "Authorized" {
			sum += p.Amount
			holds[p.TransactionID] = true
		}
	}
	if sum != 2000 || len(holds) != 1 {
		w.Errorf("of a gift of 2000, %d pay for the cart: %+v", sum, payments)
	}
	w.WantWorth(g, 20, 20)
	c.place()
	paid := c.settled()
	w.WantWorth(g, 0, 0)
	for range 2 { // at once
		all.Go(func() { want(w.T, c.refund(paid, 500), "map[state:Settled]") })
	}
	all.Wait()
	w.WantWorth(g, 10, 0)
}

// amounts: Vendure counts every currency in hundredths, or in what the shop says.
func (w *world) amounts() {
	script := `const {Amounts} = require("boon-vendure/dist/amounts.js");
		const two = new Amounts(2), three = new Amounts(3);
		console.log(JSON.stringify([two.covering(1999, "USD"), two.covering(123456, "JPY"), two.covering(123400, "JPY"),
			two.covering(1255, "KWD"), three.covering(12341, "USD"), three.covering(1255, "KWD"),
			two.part(0, 61750, "JPY"), two.part(61750, 61750, "JPY"), two.part(0, 40, "JPY"), two.part(500, 250, "USD"),
			two.told(0.29), two.told(1.255), two.told(1235), three.told(1.255), three.told(19.99)]))`
	program := exec.CommandContext(w.Context(), "node", "-e", script)
	program.Dir = w.folder
	told, err := program.CombinedOutput()
	if err != nil {
		w.Fatalf("%v\n%s", err, told)
	}
	want(w.T, strings.TrimSpace(string(told)),
		"[19.99,1235,1234,12.55,12.35,1.255,618,617,0,2.5,29,125,123500,1255,19990]")
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

// giftForGift: a guest pays for goods with a gift, and then puts a gift into the cart in place of them.
func (w *world) giftForGift() {
	g, c := w.Sell(25), w.fill("coffee", 1, "")
	want(w.T, c.pay("gift", g.Code), "ArrangingPayment")
	found, _ := w.ask("shop-api", c.token, `{activeOrder {lines {id}}
		search: products(options: {filter: {name: {eq: "gift"}}}) {items {variants {id}}}}`)
	state := func(to string) {
		is := c.do(`transitionOrderToState(state: "` + to + `") {... on Order {state}
			... on OrderStateTransitionError {transitionError}}`)
		want(w.T, fmt.Sprint(is), "map[state:"+to+"]")
	}
	state("AddingItems")
	c.do(fmt.Sprintf(`addItemToOrder(productVariantId: "%v", quantity: 1)
		{... on Order {code} ... on ErrorResult {message}}`, shops.At(found, "search", "items", 0, "variants", 0, "id")))
	c.do(fmt.Sprintf(`removeOrderLine(orderLineId: "%v") {... on Order {code} ... on ErrorResult {message}}`,
		shops.At(found, "activeOrder", "lines", 0, "id")))
	method, _ := w.ask("shop-api", c.token, `{all: eligibleShippingMethods {id}}`)
	c.do(fmt.Sprintf(`setOrderShippingMethod(shippingMethodId: ["%v"]) {... on Order {code}}`,
		shops.At(method, "all", 0, "id")))
	state("ArrangingPayment")
	state("PaymentAuthorized")
	until(w.T, "the capture is refused", func() bool {
		_, _, payments := c.order()
		return payments[0].State == "Error" && payments[0].ErrorMessage == "A gift cannot pay for a gift."
	})
	w.idle()
	w.WantWorth(g, 25, 0)
	sold := w.Call("integration/gifting/gifts?externalTransactionReferenceNumber="+c.code, "")["gifts"]
	if len(sold.([]any)) > 0 {
		w.Errorf("a gift bought %v", sold)
	}
}

// otherCurrency: an order in another currency than the gifts' is neither paid by one, nor sells one.
func (w *world) otherCurrency() {
	staff := w.staff()
	found, _ := w.ask("admin-api", staff, `{activeChannel {id} productVariants {items {id price}}}`)
	w.ask("admin-api", staff, fmt.Sprintf(`mutation {updateChannel(input: {id: "%v", availableCurrencyCodes: [USD, EUR]})
		{... on Channel {id} ... on ErrorResult {message}}}`, shops.At(found, "activeChannel", "id")))
	for _, variant := range shops.At(found, "productVariants", "items").([]any) {
		w.ask("admin-api", staff, fmt.Sprintf(`mutation {updateProductVariants(input: [{id: "%v", prices: [
			{currencyCode: USD, price: %[2]v}, {currencyCode: EUR, price: %[2]v}]}]) {id}}`, shops.At(variant, "id"),
			shops.At(variant, "price")))
	}
	w.currency = "EUR"
	defer func() { w.currency = "" }()
	g := w.Sell(40)
	want(w.T, w.fill("coffee", 1, "").pay("gift", g.Code), "This gift pays in USD only.")
	w.WantWorth(g, 40, 0)
	c := w.fill("gift", 1, "")
	want(w.T, c.pay("card", ""), "PaymentSettled")
	until(w.T, "the job says why", func() bool {
		a, _ := w.ask("admin-api", w.staff(), `{jobs(options: {filter: {isSettled: {eq: false}}}) {items {error}}}`)
		return strings.Contains(fmt.Sprint(a), "in USD, and the order is in EUR")
	})
	sold := w.Call("integration/gifting/gifts?externalTransactionReferenceNumber="+c.code, "")["gifts"]
	if len(sold.([]any)) > 0 {
		w.Errorf("an order in euros sold %v", sold)
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
