// Package shops has what the tests of gifts in shop engines share: the service and its gifts, the line to it that can
// be cut, and the program of an engine with all that it logs.
package shops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
)

// What a shop calls the service with.
const (
	Key        = examples.HarborTestKey
	Location   = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1d11"
	Storefront = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1d21"
)

// Boon is a running service whose gifts pay in a shop. T is the test that looks at it now.
type Boon struct {
	*testing.T

	URL   string // for the shop, by way of Line
	Line  *Line
	Gifts []Gift // that were sold

	own string // for the test
}

// Gift is one that was sold.
type Gift struct{ ID, Code, Token string }

// Serve starts a service, until the test is over.
func Serve(t *testing.T) *Boon {
	t.Helper()
	service := boontest.Example(t, server.Config{Outbox: true})
	service.Apply(t, examples.HarborTest())
	to, err := url.Parse(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	line := &Line{to: httputil.NewSingleHostReverseProxy(to), Kept: make(chan struct{}, 8)}
	between := httptest.NewServer(line)
	t.Cleanup(between.Close)
	return &Boon{T: t, URL: between.URL, Line: line, own: service.URL}
}

// Spelled is the code of a gift with what copying and other keyboards leave in it: marks that nobody sees, a dash and a
// space that do not break, wide digits.
func (g Gift) Spelled() string {
	wide := strings.Map(func(r rune) rune { return r - '0' + '０' }, g.Code[:4])
	return " \u202a" + wide + "\u2011" + g.Code[4:8] + "\u00a0" + g.Code[8:] + "\u202c"
}

// Call asks the service past the line; a body of "" is a GET.
func (b *Boon) Call(path, body string) map[string]any {
	b.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(b.Context(), method, b.own+"/api/"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+Key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil || response.StatusCode >= 300 {
		b.Fatalf("%s %s: %d %s", path, body, response.StatusCode, text)
	}
	return answer
}

// Sell sells a printed gift.
func (b *Boon) Sell(value int) Gift {
	b.Helper()
	sent := At(b.Call("integration/gifting/send-gift", fmt.Sprintf(`{"paymentMethodID":2,"monetaryGift":{"value":%d,`+
		`"deliveryMethodID":3},"externalTransactionReferenceNumber":"R","externalTransactionCustomerFirstName":"A",`+
		`"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",`+
		`"externalStorefrontID":"`+Storefront+`"}`, value)), "gifts", 0).(map[string]any)
	g := Gift{sent["voucherID"].(string), sent["voucherCode"].(string), sent["voucherPublicToken"].(string)}
	b.Gifts = append(b.Gifts, g)
	return g
}

// Worth is a gift's balance, and how much of it is held.
func (b *Boon) Worth(g Gift) (balance, held float64) {
	b.Helper()
	is := b.Call("integration/gifting/gifts/"+g.ID, "")
	return is["currentBalance"].(float64), is["heldBalance"].(float64)
}

// WantWorth looks at a gift's balance, and at how much of it is held.
func (b *Boon) WantWorth(g Gift, balance, held float64) {
	b.Helper()
	if is, isHeld := b.Worth(g); is != balance || isHeld != held {
		b.Errorf("the gift has %v, of which %v is held; want %v and %v", is, isHeld, balance, held)
	}
}

// WantKinds looks at what happened to a gift.
func (b *Boon) WantKinds(g Gift, want string) {
	b.Helper()
	var kinds []string
	for _, e := range b.Call("integration/gifting/gifts/"+g.ID+"/history", "")["entries"].([]any) {
		kinds = append(kinds, e.(map[string]any)["kind"].(string))
	}
	if got := strings.Join(kinds, " "); got != want {
		b.Errorf("the gift's history is %q, want %q", got, want)
	}
}

// WantNothingKept looks for codes, tokens and the API key in all that a shop wrote. signs show that it is all.
func (b *Boon) WantNothingKept(all []byte, signs ...string) {
	b.Helper()
	for _, sign := range append(signs, b.Gifts[0].Code[8:]) {
		if !bytes.Contains(all, []byte(sign)) {
			b.Errorf("what the shop wrote has no %q, so it is not all", sign)
		}
	}
	secrets := []string{Key}
	for _, g := range b.Gifts {
		secrets = append(secrets, g.Code, g.Token, strings.TrimSpace(g.Spelled()), g.Code[:4]+"-"+g.Code[4:8]+" "+g.Code[8:])
	}
	for _, secret := range secrets {
		if bytes.Contains(all, []byte(secret)) {
			b.Errorf("the shop has kept %q", secret)
		}
	}
}

// Line is a proxy before the service that can be told to fail.
type Line struct {
	Kept chan struct{} // is told of each answer that was swallowed

	mu      sync.Mutex
	to      http.Handler
	away    bool
	swallow string // the end of a path whose answer is kept
}

// Set cuts the line, or keeps the answers to a path from the shop; "": to none.
func (l *Line) Set(away bool, swallow string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away, l.swallow = away, swallow
}

func (l *Line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	away, keep := l.away, l.swallow != "" && strings.HasSuffix(r.URL.Path, l.swallow)
	l.mu.Unlock()
	switch {
	case away:
		panic(http.ErrAbortHandler) // which closes the connection
	case keep:
		l.to.ServeHTTP(discard{http.Header{}}, r)
		l.Kept <- struct{}{}
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	l.to.ServeHTTP(w, r)
}

// discard is an answer that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

// At is a value in an answer.
func At(value any, path ...any) any {
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

// Block is the first block of a language in a page, without what it is indented by.
func Block(t *testing.T, page []byte, language string) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^( *)```" + language + "\n(.*?)^ *```").FindSubmatch(page)
	if found == nil {
		t.Fatalf("the page has no block of %s", language)
	}
	return strings.ReplaceAll("\n"+string(found[2]), "\n"+string(found[1]), "\n")
}

// Command runs a program in a folder.
func Command(t *testing.T, folder, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}
