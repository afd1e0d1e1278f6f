package vendure_test

import (
	"bufio"
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
	"sync"
	"testing"
	"time"

	"boon.example/test/rig"
)

// shop is a running Vendure. What it logs outlives a kill, as its database does.
type shop struct {
	*testing.T
	folder, data, address, boon string
	log                         *os.File
	engine                      *exec.Cmd
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
	command(t, root, "mkdir", "boon", "shop")
	for _, client := range []string{"typescript", "vendure"} {
		to := filepath.Join(root, "boon/sdk", client)
		command(t, root, "mkdir", "-p", to)
		for _, part := range []string{"src", "package.json", "package-lock.json", "tsconfig.json"} {
			command(t, root, "cp", "-r", absolute(t, "../../sdk/"+client+"/"+part), to)
		}
	}
	for _, file := range []string{"shop.js", "package.json", "package-lock.json"} {
		command(t, root, "cp", absolute(t, "shop/"+file), folder)
	}
	readme, err := os.ReadFile("../../sdk/vendure/README.md")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "gifts.js"), block(t, readme, "js"))
	said, err := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c",
		"cd "+folder+"\nexport npm_config_prefer_offline=true npm_config_audit=false\n"+
			block(t, readme, "sh")).CombinedOutput()
	if regexp.MustCompile("ENOTFOUND|EAI_AGAIN|ECONNREFUSED").Match(said) {
		t.Skipf("LEFT OUT: npm gives no packages, so gifts pay in no shop of Vendure: %s", said)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return folder
}

// block is the first block of a language in a page, without what it is indented by.
func block(t *testing.T, page []byte, language string) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^( *)```" + language + "\n(.*?)^ *```").FindSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no block of %s", language)
	}
	return strings.ReplaceAll("\n"+string(found[2]), "\n"+string(found[1]), "\n")
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func command(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// open opens a shop that asks the service at an address.
func open(t *testing.T, boon string) *shop {
	t.Helper()
	s := &shop{T: t, folder: install(t), data: t.TempDir(), boon: boon}
	var err error
	if s.address, err = rig.FreeAddress(); err != nil {
		t.Fatal(err)
	}
	if s.log, err = os.Create(filepath.Join(s.data, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.log.Close() })
	s.start()
	t.Cleanup(s.kill)
	return s
}

// start starts the engine, and waits until it listens.
func (s *shop) start() {
	s.Helper()
	s.engine = exec.Command("node", "shop.js")
	s.engine.Dir = s.folder
	s.engine.Env = append(os.Environ(), "SHOP_DATA="+s.data, "SHOP_PORT="+s.address[strings.LastIndex(s.address, ":")+1:],
		"BOON_URL="+s.boon, "BOON_KEY="+key, "BOON_LOCATION="+location, "BOON_STOREFRONT="+storefront)
	out, err := s.engine.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	s.engine.Stderr = s.log
	if err := s.engine.Start(); err != nil {
		s.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		defer close(ready)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			_, _ = s.log.WriteString(line) // a lost line makes the search of the log fail, which looks for one
			if line == "ready\n" {
				ready <- true
			}
			if err != nil {
				return
			}
		}
	}()
	if !<-ready {
		text, _ := os.ReadFile(s.log.Name())
		s.Fatalf("the shop did not start:\n%s", tail(text))
	}
}

func tail(text []byte) []byte { return text[max(0, len(text)-4000):] }

// kill ends the engine as a power cut would.
func (s *shop) kill() {
	if s.engine.ProcessState == nil {
		_ = s.engine.Process.Kill() // it may have gone already
		_ = s.engine.Wait()         // which tells that it was killed
	}
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
	id := at(found, "search", "items", 0, "variants", 0, "id")
	added, token := s.ask("shop-api", "", fmt.Sprintf(`mutation {added: addItemToOrder(productVariantId: "%v", quantity: %d%s)
		{... on Order {code} ... on ErrorResult {message}}}`, id, pieces, custom))
	c := &cart{s, token, fmt.Sprint(at(added, "added", "code"))}
	c.do(`setCustomerForOrder(input: {firstName: "Carla", lastName: "Diaz", emailAddress: "carla@example.com"})
		{... on Order {code} ... on ErrorResult {message}}`)
	c.do(`setOrderShippingAddress(input: {streetLine1: "Pier 39", countryCode: "US"}) {... on Order {code}}`)
	method, _ := s.ask("shop-api", token, `{all: eligibleShippingMethods {id}}`)
	c.do(fmt.Sprintf(`setOrderShippingMethod(shippingMethodId: ["%v"]) {... on Order {code}}`, at(method, "all", 0, "id")))
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
	one := at(a, "all", "items", 0).(map[string]any)
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

// at is a value in an answer.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			value = value.(map[string]any)[step]
		case int:
			value = value.([]any)[step]
		}
	}
	return value
}

// line is a proxy before the service that can be told to fail.
type line struct {
	mu      sync.Mutex
	to      http.Handler
	away    bool
	swallow string        // the end of a path whose answer is kept
	kept    chan struct{} // is told of each
}

func (l *line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	away, keep := l.away, l.swallow != "" && strings.HasSuffix(r.URL.Path, l.swallow)
	l.mu.Unlock()
	switch {
	case away:
		panic(http.ErrAbortHandler) // which closes the connection
	case keep:
		l.to.ServeHTTP(discard{http.Header{}}, r)
		l.kept <- struct{}{}
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	l.to.ServeHTTP(w, r)
}

func (l *line) set(away bool, swallow string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away, l.swallow = away, swallow
}

// discard is an answer that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}
