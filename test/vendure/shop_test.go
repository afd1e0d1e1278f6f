package vendure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"boon.example/test/rig"
	"boon.example/test/shops"
)

// shop is a running Vendure, and the service whose gifts pay there.
type shop struct {
	*shops.Boon
	*shops.Engine

	folder, data, address string
	database              string // of PostgreSQL; "": SQLite
	currency              string // in which guests buy; "": dollars
}

// install does what README.md of sdk/vendure says, beside a copy of the clients, in a shop whose packages are locked.
func install(t *testing.T) (folder string) {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("LEFT OUT: there is no %s, so gifts pay in no shop of Vendure", name)
		}
	}
	root := t.TempDir()
	folder = filepath.Join(root, "shop")
	shops.Command(t, root, "mkdir", "boon", "shop")
	for _, client := range []string{"typescript", "vendure"} {
		to := filepath.Join(root, "boon/sdk", client)
		shops.Command(t, root, "mkdir", "-p", to)
		for _, part := range []string{"src", "package.json", "package-lock.json", "tsconfig.json"} {
			shops.Command(t, root, "cp", "-r", absolute(t, "../../sdk/"+client+"/"+part), to)
		}
	}
	for _, file := range []string{"shop.js", "package.json", "package-lock.json"} {
		shops.Command(t, root, "cp", absolute(t, "shop/"+file), folder)
	}
	readme, err := os.ReadFile("../../sdk/vendure/README.md")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "gifts.js"), shops.Block(t, readme, "js"))
	said, err := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c",
		"cd "+folder+"\nexport npm_config_prefer_offline=true npm_config_audit=false\n"+
			shops.Block(t, readme, "sh")).CombinedOutput()
	if regexp.MustCompile("ENOTFOUND|EAI_AGAIN|ECONNREFUSED").Match(said) {
		t.Skipf("LEFT OUT: npm gives no packages, so gifts pay in no shop of Vendure: %s", said)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return folder
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// open opens a shop that asks the service.
func open(boon *shops.Boon) *shop {
	boon.Helper()
	data := boon.TempDir()
	s := &shop{Boon: boon, Engine: shops.NewEngine(boon.T, filepath.Join(data, "log")), folder: install(boon.T),
		data: data}
	var err error
	if s.address, err = rig.FreeAddress(); err != nil {
		boon.Fatal(err)
	}
	s.start()
	return s
}

// start starts the engine, and waits until it listens.
func (s *shop) start() {
	s.Helper()
	c := exec.Command("node", "shop.js")
	c.Dir = s.folder
	c.Env = append(os.Environ(), "SHOP_DATA="+s.data, "SHOP_DATABASE="+s.database,
		"SHOP_PORT="+s.address[strings.LastIndex(s.address, ":")+1:],
		"BOON_URL="+s.URL, "BOON_KEY="+shops.Key, "BOON_LOCATION="+shops.Location, "BOON_STOREFRONT="+shops.Storefront)
	s.Start(s.T, c, func(line string) bool { return line == "ready\n" })
}

// ask has the engine answer a query of GraphQL; token is a session's, "": a new one.
func (s *shop) ask(api, token, query string) (answer map[string]any, session string) {
	s.Helper()
	answer, session, err := s.try(api, token, query)
	if err != nil {
		s.Fatal(err)
	}
	return answer, session
}

func (s *shop) try(api, token, query string) (answer map[string]any, session string, _ error) {
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if s.currency != "" && api == "shop-api" {
		api += "?currencyCode=" + s.currency
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+"/"+api, bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, "", err
	}
	var told struct {
		Data   map[string]any
		Errors []struct{ Message string }
	}
	if err := json.Unmarshal(text, &told); err != nil {
		return nil, "", fmt.Errorf("%s: %w %s", query, err, text)
	}
	if len(told.Errors) > 0 {
		return nil, "", fmt.Errorf("%s: %s", query, text)
	}
	return told.Data, response.Header.Get("vendure-auth-token"), nil
}

// cart is a guest with something in the cart, ready to pay.
type cart struct {
	*shop
	token, code string
}

// fill fills a cart with pieces of a thing.
func (s *shop) fill(thing string, pieces int, custom string) *cart {
	s.Helper()
	found, _ := s.ask("shop-api", "", `{search: products(options: {filter: {name: {eq: "`+thing+`"}}}) {items {variants {id}}}}`)
	id := shops.At(found, "search", "items", 0, "variants", 0, "id")
	added, token := s.ask("shop-api", "", fmt.Sprintf(`mutation {added: addItemToOrder(productVariantId: "%v", quantity: %d%s)
		{... on Order {code} ... on ErrorResult {message}}}`, id, pieces, custom))
	c := &cart{s, token, fmt.Sprint(shops.At(added, "added", "code"))}
	c.do(`setCustomerForOrder(input: {firstName: "Carla", lastName: "Diaz", emailAddress: "carla@example.com"})
		{... on Order {code} ... on ErrorResult {message}}`)
	c.do(`setOrderShippingAddress(input: {streetLine1: "Pier 39", countryCode: "US"}) {... on Order {code}}`)
	method, _ := s.ask("shop-api", token, `{all: eligibleShippingMethods {id}}`)
	c.do(fmt.Sprintf(`setOrderShippingMethod(shippingMethodId: ["%v"]) {... on Order {code}}`, shops.At(method, "all", 0, "id")))
	c.do(`transitionOrderToState(state: "ArrangingPayment") {... on Order {code} ... on ErrorResult {message}}`)
	return c
}

func (c *cart) do(mutation string) map[string]any {
	c.Helper()
	answer, _ := c.ask("shop-api", c.token, "mutation {done: "+mutation+"}")
	return answer["done"].(map[string]any)
}

// pay pays with a method; code is the gift's. It gives the order's state, or why the payment was refused.
func (c *cart) pay(method, code string) string {
	c.Helper()
	told, err := c.tryPay(method, code)
	if err != nil {
		c.Fatal(err)
	}
	return told
}

func (c *cart) tryPay(method, code string) (string, error) {
	answer, _, err := c.try("shop-api", c.token, `mutation {done: addPaymentToOrder(input: {method: "`+method+
		`", metadata: {code: "`+code+`"}}) {... on Order {state} ... on ErrorResult {message}
		... on PaymentDeclinedError {paymentErrorMessage} ... on PaymentFailedError {paymentErrorMessage}}}`)
	if err != nil {
		return "", err
	}
	done := answer["done"].(map[string]any)
	for _, member := range []string{"state", "paymentErrorMessage", "message"} {
		if text, is := done[member].(string); is {
			return text, nil
		}
	}
	return fmt.Sprint(done), nil
}

// place pays the rest by card, which places the order. What a gift holds may be captured already.
func (c *cart) place() {
	c.Helper()
	if state := c.pay("card", ""); !strings.HasPrefix(state, "Payment") {
		c.Errorf("with all paid, the order is %s", state)
	}
}

// payment is what staff see of a payment.
type payment struct {
	ID, State, Method, TransactionID string
	Amount                           int
	Metadata                         any
	ErrorMessage                     string
}

// order is what staff see of the order of a cart.
func (c *cart) order() (id, state string, payments []payment) {
	c.Helper()
	a, _ := c.ask("admin-api", c.staff(), `{all: orders(options: {filter: {code: {eq: "`+c.code+`"}}}) {items {id state
		lines {id} payments {id state method transactionId amount metadata errorMessage}}}}`)
	one := shops.At(a, "all", "items", 0).(map[string]any)
	text, err := json.Marshal(one["payments"])
	if err != nil {
		c.Fatal(err)
	}
	if err := json.Unmarshal(text, &payments); err != nil {
		c.Fatal(err)
	}
	return one["id"].(string), one["state"].(string), payments
}

// staff signs the administrator in.
func (s *shop) staff() string {
	s.Helper()
	_, token := s.ask("admin-api", "", `mutation {login(username: "admin", password: "admin") {__typename}}`)
	return token
}

// refund gives back of a payment, and tells the state of the refund.
func (c *cart) refund(paid payment, amount int) string {
	c.Helper()
	a, _ := c.ask("admin-api", c.staff(), fmt.Sprintf(`mutation {done: refundOrder(input: {lines: [], shipping: 0, adjustment: 0,
		amount: %d, paymentId: "%s", reason: "cold"}) {... on Refund {state} ... on ErrorResult {message}}}`, amount, paid.ID))
	return fmt.Sprint(a["done"])
}

// until waits for a condition, for as long as the test may run.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		select {
		case <-t.Context().Done():
			t.Fatalf("it never came that %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
