package injection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"boon.example/internal/contact"
	"boon.example/test/rig"
)

// The set-up: one merchant whose second location and designs bear the texts that are tried.
const (
	key        = "boon_live_injection_0123456789abcdef0123456789ab"
	storefront = "0199a000-0000-7000-8000-000000000003"
	promotion  = "0199a000-0000-7000-8000-000000000004"
	place      = "0199a000-0000-7000-8000-000000000002"
)

func placeOf(n int) string  { return fmt.Sprintf("0199a000-0000-7000-8000-0000001%05d", n+1) }
func designOf(n int) string { return fmt.Sprintf("0199a000-0000-7000-8000-0000002%05d", n+1) }

func setupFile(texts []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `accounts:
  - id: 0199a000-0000-7000-8000-000000000001
    name: "Tom's <b>\"Tea\"</b> & {{.}}"
    currency: USD
    timeZone: UTC
    language: en
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}, {program: 33333333-3333-3333-3333-333333333333}]
    storefronts: [{id: %s, name: Web}]
    promotions: [{id: %s, name: Spring, validStarting: 2026-01-01T00:00:00Z, validForDays: 3650}]
    keys: [{name: till, role: all, secret: %s}]
    locations:
      - {id: %s, name: Here}
`, storefront, promotion, key, place)
	for n, s := range append([]string{"harmless"}, texts...) {
		fmt.Fprintf(&b, "      - {id: %s, name: %s}\n", placeOf(n-1), quoted(s))
	}
	b.WriteString("    voucherDesigns:\n")
	for n, s := range append([]string{"harmless"}, texts...) {
		fmt.Fprintf(&b, "      - {id: %s, name: %s, headline: %s, footer: {en: %s, ja: %s}}\n", designOf(n-1), quoted(s),
			quoted(s), quoted(s), quoted(s))
	}
	return b.Bytes()
}

// quoted writes a text for YAML, of which JSON is a part.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// world is the program, serving, with a mail server and an SMS gateway to send to.
type world struct {
	url     string
	mailbox *mailbox
	phone   *phone
	twins   map[string]*seen
	stop    func() string // and gives the log
}

func newWorld(t *testing.T, texts ...string) *world {
	t.Helper()
	w := &world{mailbox: newMailbox(t), phone: newPhone(t), twins: map[string]*seen{}}
	boon := &rig.Installation{Binary: binary, Flags: []string{"--data", filepath.Join(t.TempDir(), "data")}}
	file := filepath.Join(t.TempDir(), "setup.yaml")
	if err := os.WriteFile(file, setupFile(texts), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := boon.Run("apply", file); err != nil {
		t.Fatal(err)
	}
	s, err := boon.Start("127.0.0.1:0", "--smtp", w.mailbox.address, "--sms", w.phone.address)
	if err != nil {
		t.Fatal(err)
	}
	w.url = s.URL
	w.stop = sync.OnceValue(func() string { s.Stop(); return s.Logs() })
	t.Cleanup(func() { w.stop() })
	return w
}

// timeout is how long a message may be on its way, on a machine that has much else to do.
const timeout = time.Minute

// mailbox is a mail server that takes everything.
type mailbox struct {
	address string
	mu      sync.Mutex
	letters []letter
	by      map[string]string // by recipient
}

type letter struct{ to, text string }

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	m := &mailbox{by: map[string]string{}}
	address, done, err := rig.Mailbox(func(to, text string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.letters = append(m.letters, letter{to, text})
		m.by[to] = text
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	m.address = address
	return m
}

func (m *mailbox) all() []letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.letters
}

// settle waits until so many mails have come.
func (m *mailbox) settle(t *testing.T, n int) {
	t.Helper()
	for begun := time.Now(); len(m.all()) < n; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > timeout {
			t.Fatalf("%d of %d mails came", len(m.all()), n)
		}
	}
}

// phone is an SMS gateway that takes everything.
type phone struct {
	address string
	mu      sync.Mutex
	texts   map[string]string // by number
}

func newPhone(t *testing.T) *phone {
	t.Helper()
	p := &phone{texts: map[string]string{}}
	address, done := rig.Phone(func(form url.Values) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.texts[form.Get("To")] = form.Get("Body")
	})
	t.Cleanup(done)
	p.address = address
	return p
}

// wait gives what has come to an address.
func wait(t *testing.T, mu *sync.Mutex, by map[string]string, to string) string {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		mu.Lock()
		text, came := by[to]
		mu.Unlock()
		if came {
			return text
		}
		if time.Since(begun) > timeout {
			t.Fatalf("nothing came to %s", to)
		}
	}
}

// sentGift is what send-gift says of a gift, and where it goes.
type sentGift struct {
	VoucherID, VoucherPublicToken, GiftURL string
	PrintURL                               *string
	contact                                string
}

var serial struct {
	sync.Mutex
	n int
}

// request makes a request for a gift of these texts.
func (w *world) request(kind string, n int, f fields) map[string]any {
	serial.Lock()
	serial.n++
	contact := serial.n
	serial.Unlock()
	gift := map[string]any{"deliveryMethodID": map[string]int{"email": 1, "sms": 2, "printed": 3}[kind], "quantity": 2}
	switch kind {
	case "email":
		gift["recipientContact"] = fmt.Sprintf("r%d@example.com", contact)
	case "sms":
		gift["recipientContact"] = fmt.Sprintf("41522%05d", contact)
	}
	body := map[string]any{"itemGift": gift}
	for _, name := range inGift {
		if s, ok := f[name]; ok {
			gift[name] = s
		}
	}
	for _, name := range inRequest {
		if s, ok := f[name]; ok {
			body[name] = s
		}
	}
	if kind == "printed" {
		body["paymentMethodID"], body["promotionID"], body["promotionalTerms"] = 4, promotion, "x"
		if s, ok := f["promotionalTerms"]; ok {
			body["promotionalTerms"] = s
		}
		return body
	}
	body["paymentMethodID"], body["externalStorefrontID"], body["externalTransactionCustomerEmailAddress"] = 2, storefront,
		"ann@example.com"
	for _, name := range inPayment {
		body[name] = "x"
		if s, ok := f[name]; ok {
			body[name] = s
		}
	}
	return body
}

// send sends a gift of these texts, leaving out those that are refused for a reason that is known; nil: it cannot be
// sent at all.
func (w *world) send(t *testing.T, n int, kind string, f fields) (*sentGift, fields) {
	t.Helper()
	sent := fields{}
	for name, s := range f {
		if (name == "promotionalTerms") == (kind == "printed") || name != "promotionalTerms" &&
			!strings.HasPrefix(name, "external") {
			sent[name] = s
		}
	}
	for range 2 {
		body := w.request(kind, n, sent)
		if body["itemGift"].(map[string]any)["label"] == nil {
			body["itemGift"].(map[string]any)["label"] = "Latte"
		}
		status, answer := w.call(t, "POST", "/api/integration/gifting/send-gift", body)
		if status == http.StatusCreated {
			var order struct{ Gifts []sentGift }
			if err := json.Unmarshal(answer, &order); err != nil {
				t.Fatal(err)
			}
			g := order.Gifts[0]
			if contact.Blank(sent["senderDescription"]) { // a name that shows nothing is as good as none
				delete(sent, "senderDescription")
			}
			g.contact, _ = body["itemGift"].(map[string]any)["recipientContact"].(string)
			return &g, sent
		}
		var problem struct{ Messages []struct{ Path, Text string } }
		if err := json.Unmarshal(answer, &problem); err != nil || status != http.StatusBadRequest {
			t.Errorf("%q is answered %d %s", f, status, answer)
			return nil, nil
		}
		for _, m := range problem.Messages {
			name := m.Path[strings.LastIndex(m.Path, ".")+1:]
			if refusable(name, f[name]) == "" {
				t.Errorf("%s %q is refused without reason: %s", name, f[name], m.Text)
			}
			delete(sent, name)
		}
	}
	t.Errorf("%q is refused although everything was left out that was wrong", f)
	return nil, nil
}

// delivered waits until the service knows that a message has come.
func (w *world) delivered(t *testing.T, g *sentGift) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		var now struct{ Status string }
		_, body := w.call(t, "GET", "/api/integration/gifting/gifts/"+g.VoucherID, nil)
		if err := json.Unmarshal(body, &now); err != nil {
			t.Fatal(err)
		}
		if now.Status == "DELIVERED" {
			return
		}
		if time.Since(begun) > timeout {
			t.Fatalf("the gift is %s", now.Status)
		}
	}
}

// dressed sends a printed gift for a location and with a design of the set-up.
func (w *world) dressed(t *testing.T, n int) *sentGift {
	t.Helper()
	body := w.request("printed", n, fields{"senderDescription": "Ann", "label": "Latte"})
	body["itemGift"].(map[string]any)["organizationID"], body["itemGift"].(map[string]any)["voucherDesignID"] = placeOf(n),
		designOf(n)
	status, answer := w.call(t, "POST", "/api/integration/gifting/send-gift", body)
	var order struct{ Gifts []sentGift }
	if err := json.Unmarshal(answer, &order); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	return &order.Gifts[0]
}

func (w *world) call(t *testing.T, method, path string, body any) (int, []byte) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, &b)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", key)
	return do(t, r)
}

func do(t *testing.T, r *http.Request) (int, []byte) {
	t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, got
}

// named makes a call with a text as its X-Request-ID and its User-Agent; sent is false for what no header can hold.
func (w *world) named(t *testing.T, s string) (answered string, sent bool) {
	t.Helper()
	s = strings.TrimSpace(s)
	if s == "" || strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0 {
		return "", false
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", w.url+"/api/integration/gifting/gifts?limit=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", key)
	r.Header.Set("X-Request-ID", s)
	r.Header.Set("User-Agent", s)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	answer.Body.Close()
	return answer.Header.Get("X-Request-ID"), true
}

// visit opens a path that ends in a text.
func (w *world) visit(t *testing.T, in, s string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", w.url+in, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Path, r.URL.RawPath = in+s, in+url.PathEscape(s)
	r.Header.Set("Authorization", key)
	status, body := do(t, r)
	return status, string(body)
}

// logs stops the service and reads its log: every line is one JSON object without a raw control character.
func (w *world) logs(t *testing.T) {
	t.Helper()
	lines := 0
	for line := range strings.Lines(w.stop()) {
		line = strings.TrimSuffix(line, "\n")
		var members map[string]any
		if err := json.Unmarshal([]byte(line), &members); err != nil || members["msg"] == nil || members["forged"] != nil {
			t.Errorf("a line of the log is no JSON object of ours: %q", line)
		}
		if strings.IndexFunc(line, unicode.IsControl) >= 0 {
			t.Errorf("a line of the log holds a control character: %q", line)
		}
		lines++
	}
	if lines < 100 {
		t.Errorf("only %d lines were logged", lines)
	}
}

// tables has the terminal's commands show all gifts: nothing that they print commands a terminal, and there is a row
// for each gift.
func (w *world) tables(t *testing.T) {
	t.Helper()
	harmless := func(out []byte) {
		t.Helper()
		if i := bytes.IndexFunc(out, func(r rune) bool {
			return r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
		}); i >= 0 {
			t.Errorf("the terminal is sent %q", out[max(0, i-40):min(len(out), i+40)])
		}
	}
	run := func(args ...string) []byte {
		t.Helper()
		c := exec.Command(binary, append(append([]string{"gift"}, args...), "--url", w.url)...)
		c.Env = append(os.Environ(), "BOON_KEY="+key)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("boon gift %v: %v", args, err)
		}
		harmless(out)
		return out
	}
	var ids []string
	for _, line := range bytes.Split(bytes.TrimSpace(run("list", "--limit", "0", "--json")), []byte("\n")) {
		var g struct{ VoucherID string }
		if err := json.Unmarshal(line, &g); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, g.VoucherID)
	}
	rows := strings.Split(strings.TrimSpace(string(run("list", "--limit", "0"))), "\n")
	if len(rows) != len(ids)+1 {
		t.Errorf("the table has %d rows for %d gifts", len(rows)-1, len(ids))
	}
	for n, row := range rows[1:] {
		if n < len(ids) && !strings.HasPrefix(row, ids[n]+"  ") {
			t.Errorf("row %d is not that of %s: %q", n, ids[n], row)
		}
	}
	for n, id := range ids {
		if n%12 != 0 { // three gifts hold the same texts, and each call is a process
			continue
		}
		seen := map[string]bool{}
		for line := range strings.Lines(string(run("show", id))) {
			name, _, ok := strings.Cut(line, "  ")
			if ok && seen[name] && name == "code" {
				t.Errorf("gift %s is shown with two codes", id)
			}
			seen[name] = true
		}
	}
}
