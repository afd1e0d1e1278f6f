package medusa_test

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

// shop is a running Medusa, and the service whose gifts pay there.
type shop struct {
	*shops.Boon
	*shops.Engine

	folder, database, address string
	stock                     struct{ Region, Variant, Guests, Staff string }
}

// install does what README.md of sdk/medusa says, beside a copy of the clients, in a shop whose packages are locked.
func install(t *testing.T) (folder string) {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("LEFT OUT: there is no %s, so gifts pay in no shop of Medusa", name)
		}
	}
	root := t.TempDir()
	folder = filepath.Join(root, "shop")
	shops.Command(t, root, "mkdir", "-p", "boon/sdk/typescript", "boon/sdk/medusa", "shop")
	for from, parts := range map[string][]string{
		"../../sdk/typescript": {"src", "package.json", "package-lock.json", "tsconfig.json"},
		"../../sdk/medusa":     {"src", "package.json", "tsconfig.json"},
		"shop":                 {"medusa-config.js", "stock.js", "package.json", "package-lock.json"},
	} {
		for _, part := range parts {
			from, err := filepath.Abs(filepath.Join(from, part))
			if err != nil {
				t.Fatal(err)
			}
			to := folder
			if at := strings.Index(from, "/sdk/"); at >= 0 {
				to = filepath.Dir(filepath.Join(root, "boon", from[at:]))
			}
			shops.Command(t, root, "cp", "-r", from, to)
		}
	}
	readme, err := os.ReadFile("../../sdk/medusa/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "gifts.js"), []byte(shops.Block(t, readme, "js")), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c",
		"cd "+folder+"\nexport npm_config_prefer_offline=true npm_config_audit=false\nnpm ci --ignore-scripts\n"+
			shops.Block(t, readme, "sh")).CombinedOutput()
	if regexp.MustCompile("ENOTFOUND|EAI_AGAIN|ECONNREFUSED").Match(said) {
		t.Skipf("LEFT OUT: npm gives no packages, so gifts pay in no shop of Medusa: %s", said)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return folder
}

// open makes a shop that asks the service.
func open(boon *shops.Boon, database string) *shop {
	boon.Helper()
	s := &shop{Boon: boon, Engine: shops.NewEngine(boon.T, filepath.Join(boon.TempDir(), "log")), folder: install(boon.T),
		database: database}
	var err error
	if s.address, err = rig.FreeAddress(); err != nil {
		boon.Fatal(err)
	}
	s.medusa("", "db:migrate")
	stock := s.medusa("stock ", "exec", "./stock.js")
	if err := json.Unmarshal([]byte(stock), &s.stock); err != nil {
		boon.Fatalf("%v: %s", err, stock)
	}
	return s
}

func (s *shop) run(capture string, args ...string) *exec.Cmd {
	c := exec.Command("node", append([]string{"node_modules/@medusajs/cli/cli.js"}, args...)...)
	c.Dir = s.folder
	c.Env = append(os.Environ(), "SHOP_DATABASE="+s.database, "NODE_ENV=production", "MEDUSA_DISABLE_TELEMETRY=true",
		"LOG_LEVEL=debug", "BOON_URL="+s.URL, "BOON_KEY="+shops.Key, "BOON_LOCATION="+shops.Location, "BOON_CAPTURE="+capture)
	return c
}

// medusa has the engine do something, and gives the rest of the line that begins with a word.
func (s *shop) medusa(line string, args ...string) string {
	s.Helper()
	out, err := s.run("", args...).CombinedOutput()
	if _, write := s.Logged.Write(out); err != nil || write != nil {
		s.Fatalf("medusa %v: %v %v\n%s", args, err, write, shops.Tail(out))
	}
	_, found, _ := strings.Cut("\n"+string(out), "\n"+line)
	found, _, _ = strings.Cut(found, "\n")
	return found
}

// start starts the engine, and waits until it listens. Who captures is "" for the engine, or "by staff".
func (s *shop) start(capture string) {
	s.Helper()
	host, port, _ := strings.Cut(s.address, ":")
	s.Start(s.T, s.run(capture, "start", "--host", host, "--port", port),
		func(line string) bool { return strings.Contains(line, "Server is ready") })
}

// ask has the engine answer; what it refuses fails the test.
func (s *shop) ask(path string, body any) map[string]any {
	s.Helper()
	answer, err := s.try(path, body)
	if err != nil {
		s.Fatal(err)
	}
	return answer
}

// try asks the engine; a body of nil is a GET.
func (s *shop) try(path string, body any) (answer map[string]any, _ error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Publishable-Api-Key", s.stock.Guests)
	if strings.HasPrefix(path, "/admin/") {
		r.SetBasicAuth(s.stock.Staff, "")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("%s: %d %w %s", path, response.StatusCode, err, text)
	}
	if response.StatusCode >= 300 {
		return nil, fmt.Errorf("%s: %d %s", path, response.StatusCode, text)
	}
	return answer, nil
}

// cart is a guest with coffee for 30.00 in the cart, ready to pay.
type cart struct {
	*shop
	id, collection string
	order          string // once it is placed
}

func (s *shop) fill() *cart {
	s.Helper()
	made := s.ask("/store/carts", object{"region_id": s.stock.Region, "email": "carla@example.com",
		"items": []object{{"variant_id": s.stock.Variant, "quantity": 1}}})
	c := &cart{shop: s, id: shops.At(made, "cart", "id").(string)}
	c.collection = shops.At(s.ask("/store/payment-collections", object{"cart_id": c.id}),
		"payment_collection", "id").(string)
	return c
}

type object = map[string]any

// show shows a gift to pay with, and gives what the engine keeps of it, or why it cannot pay.
func (c *cart) show(code string) string {
	c.Helper()
	answer, err := c.try("/store/boon/payment-sessions", object{"payment_collection_id": c.collection, "code": code})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(shops.At(answer, "payment_session", "data"))
}

// holds shows a gift that can pay.
func (c *cart) holds(g shops.Gift) {
	c.Helper()
	want := regexp.MustCompile(`^map\[currency:USD hold_id:[0-9a-f-]{36} last_four:` + g.Code[8:] + ` state:held\]$`)
	if kept := c.show(g.Code); !want.MatchString(kept) {
		c.Fatalf("what is kept of a payment is %q", kept)
	}
}

// card pays without a gift.
func (c *cart) card() {
	c.Helper()
	c.ask("/store/payment-collections/"+c.collection+"/payment-sessions", object{"provider_id": "pp_system_default"})
}

// place completes the cart.
func (c *cart) place() {
	c.Helper()
	if err := c.tryPlace(); err != nil {
		c.Fatal(err)
	}
}

func (c *cart) tryPlace() error {
	answer, err := c.try("/store/carts/"+c.id+"/complete", object{})
	if err != nil {
		return err
	}
	if answer["type"] != "order" {
		return fmt.Errorf("no order was placed: %v", answer["error"])
	}
	c.order = shops.At(answer, "order", "id").(string)
	return nil
}

// payment is what staff see of the payment of an order.
func (c *cart) payment() (id, state string) {
	c.Helper()
	is := c.ask("/admin/orders/"+c.order+"?fields=payment_status,*payment_collections.payments", nil)
	is = shops.At(is, "order").(map[string]any)
	return shops.At(is, "payment_collections", 0, "payments", 0, "id").(string), is["payment_status"].(string)
}

// refund gives back of what was paid.
func (c *cart) refund(amount float64) error {
	id, _ := c.payment()
	_, err := c.try("/admin/payments/"+id+"/refund", object{"amount": amount})
	return err
}
