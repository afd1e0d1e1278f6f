package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/card"
	"boon.example/internal/post/delivery"
	"boon.example/internal/post/locale"
	"boon.example/internal/post/message"
	"boon.example/internal/post/qr"
	"boon.example/internal/refusal"
)

const (
	base  = "https://gifts.example.com"
	token = "7nB2cD9fGhJkLmNpQrStUv"

	sheetToken = "0000000000000000order8" // of the order guid.ID{8}
)

// fakeStore holds what the pages read.
type fakeStore struct {
	gifts    map[string]gift.Gift
	messages []message.Message
	history  []gift.Entry
	assets   []merchant.Asset
	account  *merchant.Account // nil: the usual one
	others   []*merchant.Account
	err      error         // what every read fails with
	slow     time.Duration // how long reading a picture takes
	replaced time.Time     // when the cards of all were; zero: they were not
	log      strings.Builder
}

func (s *fakeStore) GiftByToken(_ context.Context, t codes.Token) (gift.Gift, error) {
	g, ok := s.gifts[t.Reveal()]
	if !s.replaced.IsZero() {
		return gift.Gift{}, &gift.ReplacedError{Voucher: g.Voucher, At: s.replaced}
	}
	if !ok {
		return gift.Gift{}, refusal.New(refusal.NotFound, "There is no such gift.")
	}
	return g, s.err
}

func (s *fakeStore) Gifts(_ context.Context, f gift.Filter) (found []gift.Gift, _ error) {
	for _, g := range s.gifts {
		if g.AccountID == f.AccountID && (f.OrderID.IsZero() || g.OrderID == f.OrderID) &&
			(f.Before.IsZero() || g.ID.String() < f.Before.String()) {
			found = append(found, g)
		}
	}
	slices.SortFunc(found, func(a, b gift.Gift) int { return cmp.Compare(b.ID.String(), a.ID.String()) })
	return found[:min(f.Limit, len(found))], s.err
}

func (s *fakeStore) History(_ context.Context, _, _ guid.ID, seq, limit int) ([]gift.Entry, error) {
	rest := s.history[min(seq, len(s.history)):]
	return rest[:min(limit, len(rest))], s.err
}

func (s *fakeStore) Asset(_ context.Context, hash merchant.AssetHash) (merchant.Asset, error) {
	time.Sleep(s.slow)
	for _, a := range s.assets {
		if a.Hash == hash {
			return a, s.err
		}
	}
	return merchant.Asset{}, refusal.NotFound
}

func (s *fakeStore) Messages(_ context.Context, before guid.ID, limit int) ([]message.Message, error) {
	rest := s.messages
	if at := slices.IndexFunc(rest, func(m message.Message) bool { return m.ID == before }); at >= 0 {
		rest = rest[at+1:]
	}
	return rest[:min(limit, len(rest))], s.err
}

func (s *fakeStore) Message(_ context.Context, id guid.ID) (message.Message, error) {
	for _, m := range s.messages {
		if m.ID == id {
			return m, s.err
		}
	}
	return message.Message{}, cmp.Or(s.err, error(refusal.NotFound))
}

func (s *fakeStore) Gift(_ context.Context, account, voucher guid.ID) (gift.Gift, error) {
	for _, g := range s.gifts {
		if g.AccountID == account && g.ID == voucher {
			return g, s.err
		}
	}
	return gift.Gift{}, cmp.Or(s.err, error(refusal.NotFound))
}

func (s *fakeStore) Source(m *message.Message) ([]byte, error) {
	return []byte("Subject: =?utf-8?q?" + m.Subject + "?=\r\nMessage-ID: <" + m.ID.String() + "@x>\r\n\r\nbody"), s.err
}

var account = &merchant.Account{
	ID: guid.ID{1}, Name: "Harbor Coffee", Currency: money.Currency{Code: "USD", Decimals: 2}, Zone: time.UTC,
	Locations: []merchant.Location{{ID: guid.ID{2}, Name: "Pier 39"}, {ID: guid.ID{3}, Name: "Ferry Building"}},
	Designs:   []merchant.Design{{ID: guid.ID{4}, AccentColor: "#ffcc00", Headline: "Enjoy"}},
}

func aGift(t testing.TB) gift.Gift {
	t.Helper()
	code, err := codes.ParseVoucherCode("482915073364")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := codes.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	return gift.Gift{
		Voucher: gift.Voucher{
			ID: guid.ID{9}, AccountID: account.ID, Currency: account.Currency, Funded: 2500, Balance: 2500,
			Status: gift.Delivered,
		},
		Card: gift.Card{
			Code: code, Token: secret, Sender: "Ben", Recipient: "Anna", Contact: "anna@example.com", Method: contact.Email,
			Message: "Happy birthday!\nSee you on Friday.", DesignID: guid.ID{4}, DeliveryZone: "UTC",
		},
	}
}

func newFakeStore(t *testing.T, gifts ...gift.Gift) *fakeStore {
	return newStoreOf(t, account, gifts...)
}

func newStoreOf(t *testing.T, account *merchant.Account, gifts ...gift.Gift) *fakeStore {
	t.Helper()
	s := &fakeStore{gifts: map[string]gift.Gift{}, account: account}
	for i, g := range gifts {
		s.gifts[g.Card.Token.Reveal()] = g
		m, err := delivery.Render(&g, account, base, guid.ID{byte(i + 1)}, delivery.Pictures{}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		m.At = time.Date(2026, 3, 1, 12, 0, i, 0, time.UTC)
		s.messages = append(s.messages, m)
	}
	return s
}

func (s *fakeStore) handler(outbox bool) http.Handler { return Handler(s.config(outbox)) }

func (s *fakeStore) config(outbox bool) Config {
	c := Config{
		PublicURL: base, Gifts: s, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
		Directory: func() *merchant.Directory {
			d := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account.ID: cmp.Or(s.account, account)}}
			for _, a := range s.others {
				d.Accounts[a.ID] = a
			}
			return d
		},
		Order: func(_ context.Context, t codes.Token) (guid.ID, guid.ID, error) {
			if t.Reveal() != sheetToken {
				return guid.ID{}, guid.ID{}, refusal.NotFound
			}
			return account.ID, guid.ID{8}, nil
		},
	}
	if outbox {
		c.Messages = s
	}
	return c
}

func (s *fakeStore) get(t *testing.T, path string) (int, http.Header, string) {
	t.Helper()
	return request(t, s.handler(true), http.MethodGet, path)
}

func request(t *testing.T, h http.Handler, method, path string) (int, http.Header, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, w.Result().Header, string(body)
}

// TestReplacedCard: the page of a card that was replaced says so, and shows neither a code nor
// what the gift is worth, to programs as little as to people.
func TestReplacedCard(t *testing.T) {
	t.Parallel()
	g := aGift(t)
	s := newFakeStore(t, g)
	s.replaced = time.Date(2026, 3, 3, 23, 30, 0, 0, time.UTC)
	for _, path := range []string{"/g/" + token, "/g/" + token + PrintPath} {
		status, _, body := s.get(t, path)
		if status != http.StatusGone || !strings.Contains(visible(t, body), "This card was replaced on March 3, 2026.") {
			t.Errorf("%s: %d, %s", path, status, visible(t, body))
		}
		for _, hidden := range []string{g.Card.Code.Reveal(), g.Card.Code.Grouped(), token, "25.00", "<svg"} {
			if strings.Contains(body, hidden) {
				t.Errorf("%s shows %q", path, hidden)
			}
		}
	}
}

func TestGiftPage(t *testing.T) {
	t.Parallel()
	g := aGift(t)
	g.Status, g.Balance, g.Card.Terms = gift.Claimed, 1275, "Not for cash."
	g.Holds = []gift.OpenHold{{Left: 300, Until: time.Now().Add(time.Hour)}, {Left: 500, Until: time.Now()}}
	status, _, body := newFakeStore(t, g).get(t, "/g/"+token)
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	seen := visible(t, body)
	for _, want := range []string{
		"Harbor Coffee", "Enjoy", "$9.75", "left of $25.00", "$3.00 is held for a purchase",
		"For Anna, from Ben", "Happy birthday!",
		"See you on Friday.",
		"4829 1507 3364", "This gift does not expire.", "Pier 39", "Ferry Building", "Not for cash.",
	} {
		if !strings.Contains(seen, want) {
			t.Errorf("the page does not show %q:\n%s", want, seen)
		}
	}
	for _, absent := range []string{"anna@example.com", "482915073364", g.ID.String()} {
		if strings.Contains(body, absent) {
			t.Errorf("the page holds %q", absent)
		}
	}
	code, err := qr.Encode(base + "/g/" + token)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(body, code.SVG("QR code of this gift, to be scanned at the till")) {
		t.Error("the page has not the QR code of its own address")
	}
	if !strings.Contains(body, `href="/style/accent-ffcc00.css"`) {
		t.Error("the page has not the colour of its design")
	}
}

// TestGiftPageUsesAmongHolds: that a gift is often held hides no use of it.
func TestGiftPageUsesAmongHolds(t *testing.T) {
	t.Parallel()
	g := aGift(t)
	g.Status, g.Balance, g.Seq = gift.Claimed, 2000, 302
	s := newFakeStore(t, g)
	s.history = make([]gift.Entry, g.Seq)
	for i := range s.history {
		s.history[i].Kind = gift.HoldExpired
	}
	s.history[1] = gift.Entry{Kind: gift.Redemption, Delta: -500}
	_, _, body := s.get(t, "/g/"+token)
	if seen := visible(t, body); !strings.Contains(seen, "Used so far $5.00") {
		t.Errorf("the page shows %s", seen)
	}
}

func TestGiftPageStates(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, tc := range map[string]struct {
		change func(*gift.Gift)
		says   string
		code   bool
	}{
		"ready":           {func(*gift.Gift) {}, "Show this at the till", true},
		"failed delivery": {func(g *gift.Gift) { g.Status = gift.FailedDelivery }, "Show this at the till", true},
		"not yet": {func(g *gift.Gift) { g.ValidFrom = now.Add(time.Hour) },
			"Not valid yet Valid from ", true},
		"pending": {func(g *gift.Gift) { g.Status = gift.Pending }, "On its way This gift is on its way.", false},
		"redeemed": {func(g *gift.Gift) { g.Status, g.Balance = gift.Redeemed, 0 }, "Used in full This gift has been",
			false},
		"expired": {func(g *gift.Gift) { g.ValidUntil = now.Add(-time.Hour) }, "Expired This gift has expired",
			false},
		"cancelled": {func(g *gift.Gift) { g.Status = gift.Cancelled }, "Cancelled This gift was cancelled", false},
		"not activated": {func(g *gift.Gift) { g.Status, g.Funded, g.Balance, g.Fixed = gift.NotActivated, 0, 0, 2500 },
			"Not activated This card has no value", false},
		"blocked": {func(g *gift.Gift) { g.Blocked = gift.ReasonStolen },
			"Blocked This gift is blocked and cannot be used now. Please ask ", false},
		"purchase failed": {func(g *gift.Gift) { g.Status = gift.PurchaseFailed },
			"Purchase not completed The purchase of this gift was not completed", false},
	} {
		g := aGift(t)
		tc.change(&g)
		status, _, body := newFakeStore(t, g).get(t, "/g/"+token)
		if status != http.StatusOK || !strings.Contains(visible(t, body), tc.says) {
			t.Errorf("%s: status %d, page:\n%s", name, status, visible(t, body))
		}
		if code, picture := strings.Contains(body, "4829 1507 3364"), strings.Contains(body, "<svg"); code != tc.code ||
			picture != tc.code {
			t.Errorf("%s: code shown %t, QR code shown %t, want %t", name, code, picture, tc.code)
		}
	}
}

// TestNothingToSee: an unknown client learns nothing from the difference between a token that is malformed and one that
// is unknown.
func TestNothingToSee(t *testing.T) {
	t.Parallel()
	s := newFakeStore(t, aGift(t))
	_, _, want := s.get(t, "/nowhere")
	for _, path := range []string{
		"/g/" + strings.Repeat("0", 22), "/g/short", "/g/", "/g", "/g/" + token + "0", "/g/" + token + "/", "/g/g%2F" + token,
		"/g/%2F" + token,
		"/g/%00", "/g/%ff", "/g/" + strings.Repeat("x", 5000), "/g/https:%2F%2Fx%2Fg%2F" + token, "/style/",
		"/style/none.css",
		"/style/accent-red.css", "/style/accent-fff.css", "/style/accent-0b5fff%7D.css", "/outbox/1", "/outbox/" +
			guid.ID{7}.String(),
		"/outbox/" + guid.ID{7}.String() + "/html", "/favicon.ico",
	} {
		status, header, body := s.get(t, path)
		if status != http.StatusNotFound || body != want || header.Get("Location") != "" {
			t.Errorf("GET %.60s: status %d, the same page: %t", path, status, body == want)
		}
	}
	if s.log.Len() > 0 {
		t.Errorf("the log tells of it: %s", s.log.String())
	}
}

func TestOutboxIsOff(t *testing.T) {
	t.Parallel()
	s := newFakeStore(t, aGift(t))
	h := s.handler(false)
	for _, path := range []string{
		"/outbox", "/outbox?kind=print", "/outbox/" + guid.ID{1}.String(), "/outbox/" + guid.ID{1}.String() + "/html",
		"/outbox/" + guid.ID{1}.String() + "/mail.eml",
	} {
		if status, _, _ := request(t, h, http.MethodGet, path); status != http.StatusNotFound {
			t.Errorf("GET %s without an outbox: %d, want 404", path, status)
		}
	}
	if _, _, body := request(t, h, http.MethodGet, "/"); strings.Contains(body, "/outbox") {
		t.Error("the front page links an outbox that is off")
	}
	if _, _, body := s.get(t, "/"); !strings.Contains(body, `href="/outbox"`) || !strings.Contains(body, `href="/docs"`) {
		t.Error("the front page does not link the outbox and the reference")
	}
}

// TestFrontPage: it speaks each of the guests' languages, has no field for a code, and a page that is missing leads
// there in its own language.
func TestFrontPage(t *testing.T) {
	t.Parallel()
	s := newFakeStore(t, aGift(t))
	for _, l := range merchant.Languages() {
		_, body := s.as(t, string(l), "/")
		for _, text := range []string{"front.headline", "front.scan", "front.till", "front.ask"} {
			if !strings.Contains(html.UnescapeString(body), locale.For(l).Text(text)) {
				t.Errorf("%s: the front page does not say %s", l, text)
			}
		}
		if strings.Contains(body, "<form") || strings.Contains(body, "<input") {
			t.Error("the front page asks for something")
		}
		_, missing := s.as(t, string(l), "/nowhere")
		if !strings.Contains(missing, fmt.Sprintf(`href="/?lang=%s"`, l)) {
			t.Errorf("%s: a page that is missing leads nowhere", l)
		}
	}
}

// paths is one of each kind of answer.
func paths(s *fakeStore) map[string]int {
	id := s.messages[0].ID.String()
	return map[string]int{
		"/": 200, "/g/" + token: 200, "/g/" + strings.Repeat("0", 22): 404, "/nowhere": 404, "/outbox": 200, "/outbox/" +
			id: 200,
		"/g/" + token + "/print.pdf": 200, "/g/" + token + "/print": 404, "/orders/x/print.pdf": 404, "/assets/00": 404,
		"/outbox/" + id + "/html": 200, "/outbox/" + id + "/mail.eml": 200, "/outbox?q=x&kind=print&before=" + id: 200,
		"/style/" + sheetName: 200, "/style/" + scriptName: 200, "/style/icon.svg": 200, "/style/accent-0b5fff.css": 200,
		"/style/none": 404, "//g": 307,
	}
}

func TestHeadersOnEveryAnswer(t *testing.T) {
	t.Parallel()
	s := newFakeStore(t, aGift(t))
	h := s.handler(true)
	for path, want := range paths(s) {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete,
			http.MethodOptions} {
			status, header, _ := request(t, h, method, path)
			reads, there := method == http.MethodGet || method == http.MethodHead, path != "/nowhere" &&
				path != "/g/"+token+"/print"
			if !reads && there && want != 307 {
				if status != http.StatusMethodNotAllowed || header.Get("Allow") != "GET, HEAD" {
					t.Errorf("%s %s: status %d, Allow %q", method, path, status, header.Get("Allow"))
				}
			} else if status != want {
				t.Errorf("%s %s: status %d, want %d", method, path, status, want)
			}
			csp := header.Get("Content-Security-Policy")
			if !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "*") ||
				strings.Contains(csp, "script") && (path != "/g/"+token || !strings.HasSuffix(csp, "; script-src 'self'")) {
				t.Errorf("%s %s: policy %q", method, path, csp)
			}
			if strings.Contains(csp, "unsafe") && (!strings.HasSuffix(path, "/html") || !strings.Contains(csp, "sandbox")) {
				t.Errorf("%s %s: inline styles are allowed outside of the sandbox: %q", method, path, csp)
			}
			for name, value := range map[string]string{
				"X-Robots-Tag": "noindex, nofollow, noarchive", "Referrer-Policy": "no-referrer",
				"X-Content-Type-Options": "nosniff",
			} {
				if header.Get(name) != value {
					t.Errorf("%s %s: %s is %q, want %q", method, path, name, header.Get(name), value)
				}
			}
			cached := header.Get("Cache-Control") != "no-store"
			if cached && !(strings.HasPrefix(path, "/style/") && status == 200) {
				t.Errorf("%s %s may be cached: %q", method, path, header.Get("Cache-Control"))
			}
		}
	}
}

// TestHead: over a real connection, HEAD has the headers of GET and no body.
func TestHead(t *testing.T) {
	t.Parallel()
	s := newFakeStore(t, aGift(t))
	server := httptest.NewServer(s.handler(true))
	defer server.Close()
	answers := map[string]http.Header{}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/g/"+token, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if (len(body) == 0) != (method == http.MethodHead) {
			t.Errorf("%s: a body of %d bytes", method, len(body))
		}
		answer.Header.Del("Date")
		answers[method] = answer.Header
	}
	if !maps.EqualFunc(answers["GET"], answers["HEAD"], slices.Equal) {
		t.Errorf("headers of GET %v, of HEAD %v", answers["GET"], answers["HEAD"])
	}
}

// TestFailure: an internal error is a kind page without the reason, and a line in the log without the token.
func TestFailure(t *testing.T) {
	t.Parallel()
	s := newFakeStore(t, aGift(t))
	s.err = errors.New("disk on fire")
	for _, path := range []string{"/g/" + token, "/outbox", "/outbox/" + guid.ID{1}.String()} {
		status, _, body := s.get(t, path)
		if status != http.StatusInternalServerError || !strings.Contains(body, "Something went wrong") ||
			strings.Contains(body, "fire") {
			t.Errorf("GET %s: %d %s", path, status, body)
		}
	}
	if !strings.Contains(s.log.String(), "disk on fire") || strings.Contains(s.log.String(), token) {
		t.Errorf("log: %s", s.log.String())
	}
	g := aGift(t)
	g.AccountID = guid.ID{77}
	lost := &fakeStore{gifts: map[string]gift.Gift{token: g}}
	if status, _, _ := lost.get(t, "/g/"+token); status != http.StatusInternalServerError {
		t.Errorf("a gift of an account that is not in the set-up: %d, want 500", status)
	}
}

// TestPagesAreSelfContained: no script, no inline style, nothing from another host, one h1, headings in order, a
// language, a main.
func TestPagesAreSelfContained(t *testing.T) {
	t.Parallel()
	g := aGift(t)
	g.Card.Terms, g.ValidFrom = "Not for cash.", time.Now().Add(time.Hour)
	s := newFakeStore(t, g)
	for path, status := range paths(s) {
		if strings.HasPrefix(path, "/style/") && status == 200 || strings.HasSuffix(path, "/html") ||
			strings.HasSuffix(path, ".eml") || strings.HasSuffix(path, "/print.pdf") && status == 200 || status == 307 {
			continue
		}
		_, header, body := s.get(t, path)
		if header.Get("Content-Type") != "text/html; charset=utf-8" ||
			!strings.HasPrefix(body, "<!doctype html>\n<html lang=\"en\" dir=\"ltr\">\n") {
			t.Errorf("%s: type %q, begins %.60q", path, header.Get("Content-Type"), body)
		}
		level, mains := 0, 0
		for _, tag := range tags(t, body) {
			switch tag.Data {
			case "style", "base", "object", "embed":
				t.Errorf("%s has a %s", path, tag.Data)
			case "form":
				if !strings.HasPrefix(path, "/outbox") || !strings.HasSuffix(header.Get("Content-Security-Policy"),
					"; form-action 'self'") {
					t.Errorf("%s has a form", path)
				}
			case "script":
				if path != "/g/"+token || len(tag.Attr) != 2 || tag.Attr[0].Val != "/style/"+scriptName {
					t.Errorf("%s has a script: %v", path, tag)
				}
			case "main":
				mains++
			case "h1", "h2", "h3", "h4":
				if next := int(tag.Data[1] - '0'); next > level+1 || next == 1 && level > 0 {
					t.Errorf("%s: h%d after h%d", path, next, level)
				} else {
					level = next
				}
			}
			for _, a := range tag.Attr {
				inline := a.Key == "style" || strings.HasPrefix(a.Key, "on") || a.Key == "srcdoc"
				foreign := (a.Key == "href" || a.Key == "src") && !strings.HasPrefix(a.Val, "/") &&
					!strings.HasPrefix(a.Val, base+"/g/") && !strings.HasPrefix(a.Val, "?lang=") &&
					!(tag.Data == "a" && aMap.MatchString(tag.String()))
				if inline || foreign || strings.HasPrefix(a.Val, "//") {
					t.Errorf("%s: <%s %s=%q>", path, tag.Data, a.Key, a.Val)
				}
			}
		}
		if mains != 1 || level == 0 {
			t.Errorf("%s: %d main elements, deepest heading %d", path, mains, level)
		}
	}
	for _, text := range []string{string(sheet), string(icon), string(accentSheet(card.White))} {
		if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), "//") ||
			strings.Contains(text, "@import") ||
			strings.Contains(text, "url(") {
			t.Error("a style sheet or the icon loads something")
		}
	}
}

func TestStyle(t *testing.T) {
	t.Parallel()
	s := newFakeStore(t, aGift(t))
	_, header, body := s.get(t, "/style/accent-0B5FFF.css")
	const want = ":root{--accent:#0b5fff;--accent-shade:#0847bf;--on-accent:#ffffff;--link:#0b5fff;" +
		"--link-on-white:#0b5fff}\n@media screen and (prefers-color-scheme:dark){:root{--link:#4082ff}}\n"
	if body != want || header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("type %q: %s", header.Get("Content-Type"), body)
	}
	_, header, body = s.get(t, "/style/"+sheetName)
	named := regexp.MustCompile(`^boon-[0-9a-f]{16}\.css$`).MatchString(sheetName)
	if body != string(sheet) || !strings.Contains(header.Get("Cache-Control"), "immutable") || !named {
		t.Errorf("%s: %v", sheetName, header)
	}
	if _, header, _ = s.get(t, "/style/icon.svg"); header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("icon: %v", header)
	}
}

// TestContrast: every text colour of the style sheet on every ground it stands on, in both themes (WCAG 2.2, 1.4.3 and
// 1.4.11).
func TestContrast(t *testing.T) {
	t.Parallel()
	light, dark, ok := strings.Cut(string(sheet), "@media screen and (prefers-color-scheme: dark)")
	if !ok {
		t.Fatal("there is no dark theme")
	}
	property := regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`)
	theme := map[string]string{}
	for _, css := range []string{light, dark} {
		for _, m := range property.FindAllStringSubmatch(css, -1) {
			theme[m[1]] = m[2]
		}
		for _, pair := range []string{
			"text ground", "text surface", "muted ground", "muted surface", "link ground", "link surface", "text calm",
			"text warn", "text off", "text done", "text stop",
			"on-accent over", "on-accent over-shade", "on-accent accent", "on-accent accent-shade", "focus ground",
			"focus surface",
		} {
			front, back, _ := strings.Cut(pair, " ")
			a, aOK := card.ParseColor(theme[front])
			b, bOK := card.ParseColor(theme[back])
			if ratio := card.Contrast(a, b); !aOK || !bOK || ratio < 4.5 {
				t.Errorf("%s (%s on %s): %.2f", pair, theme[front], theme[back], ratio)
			}
		}
	}
}

func TestOutbox(t *testing.T) {
	t.Parallel()
	sms := aGift(t)
	sms.Card.Method, sms.Card.Contact = contact.SMS, "+14155550132"
	s := newFakeStore(t, aGift(t), sms)
	link := `<a href="` + base + "/g/" + token + `">` + base + "/g/" + token + "</a>"

	_, _, body := s.get(t, "/outbox")
	for _, want := range []string{
		"E-mail DELIVERED March 1, 2026, 12:00:00 UTC A gift for you from Ben To anna@example.com from Harbor Coffee",
		"SMS DELIVERED March 1, 2026, 12:00:01 UTC Your gift from Ben",
	} {
		if !strings.Contains(visible(t, body), want) {
			t.Errorf("the list does not show %q:\n%s", want, visible(t, body))
		}
	}
	_, header, body := s.get(t, "/outbox/"+guid.ID{1}.String())
	if !strings.Contains(body, link) || !strings.Contains(visible(t, body), "> Happy birthday! > See you on Friday.") {
		t.Errorf("the mail's page has not its text with a link:\n%s", body)
	}
	if !strings.Contains(body, `sandbox="allow-popups`) || !strings.Contains(header.Get("Content-Security-Policy"),
		"frame-src 'self'") {
		t.Error("the mail's HTML is not shown in a sandbox")
	}
	if _, _, body = s.get(t, "/outbox/"+guid.ID{1}.String()+"/html"); !strings.Contains(body,
		`src="data:image/png;base64,`) ||
		strings.Contains(body, "cid:") || !strings.HasPrefix(s.messages[0].HTML, body[:2000]) {
		t.Error("the frame does not hold the mail's HTML, with its QR code")
	}
	if _, _, body = s.get(t, "/outbox/"+guid.ID{2}.String()); !strings.Contains(body, link) ||
		strings.Contains(body, "<iframe") {
		t.Errorf("the SMS's page:\n%s", body)
	}
	if status, _, _ := s.get(t, "/outbox/"+guid.ID{2}.String()+"/html"); status != http.StatusNotFound {
		t.Errorf("the HTML of an SMS: %d, want 404", status)
	}
	if _, _, body = (&fakeStore{}).get(t, "/outbox"); !strings.Contains(body, "Nothing has been sent yet") {
		t.Error("an empty outbox does not say so")
	}
}

// hostile are texts that try to be more than text.
var hostile = []string{
	`<script>alert(1)</script>`, `</p></main><h1>You won</h1>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`,
	`' onmouseover='alert(1)`, `" style="display:none`, `javascript:alert(1)`, `<a href="https://evil.example">here</a>`,
	`<!-- `, `--> x`, `<![CDATA[x]]>`, `<style>*{display:none}</style>`, `<iframe srcdoc="x">`,
	`<base href="//evil.example">`,
	`<meta http-equiv=refresh content=0>`, `</title><script>x</script>`, `{{.Code}}`, `{{template "body" .}}`, `${7*7}`,
	`{{printf "%d" 1}}`,
	"Ben\r\nSet-Cookie: x=y", "Ben\nSubject: You won", "Ben\r\n\r\n<html>", "\u202egpj.exe", "a\u2066b\u2069\u2069c",
	"\u202aembedded",
	"שלום עולם", "مرحبا بالعالم", "\u200b\u200b\u200b", "zero\u200bwidth\u200djoin", "\ufeffBOM", "NUL\x00byte",
	"bell\x07 and \x1b[31mred",
	"line\u2028separator\u2029paragraph\u0085next", "Z̸̡̛" + strings.Repeat("\u0336", 60), strings.Repeat("W", 200),
	strings.Repeat("word ", 40),
	"👩‍👩‍👧‍👦 🏳️‍🌈", "&lt;b&gt; &amp; &#60;", `\u003cscript\u003e`, "`${x}`", "\xff\xfe bad utf-8",
	"</svg><script>x</script>", "]]>", "%3Cscript%3E",
}

// TestHostileTexts puts each text into every place that a sender or a merchant can write to and looks at the gift page,
// in each language, and the outbox: the markup is that of a harmless gift, and what can be seen of the text is seen.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	fill := func(text string) *fakeStore {
		g := aGift(t)
		g.Item = true
		for _, field := range []*string{
			&g.Card.Sender, &g.Card.Recipient, &g.Card.Message, &g.Card.Label, &g.Card.Terms, &g.Card.PromotionalTerms,
		} {
			*field = text
		}
		g.Items = []merchant.Item{{ID: "X", Name: text}, {ID: "Z"}}
		a := *account
		a.Name, a.Locations = text, []merchant.Location{{ID: guid.ID{2}, Name: text, Jurisdiction: "US-CA"}}
		translated := merchant.Translations{merchant.German: text, merchant.Japanese: text}
		a.Designs = []merchant.Design{{ID: guid.ID{4}, AccentColor: "#ffcc00", Headline: text, HeadlineIn: translated,
			Footer:   text,
			FooterIn: translated}}
		g.Blocked, g.Status, g.Seq = "", gift.Claimed, 1
		s := newStoreOf(t, &a, g)
		s.history = []gift.Entry{{Kind: gift.Redemption, Delta: -1, Actor: merchant.Actor{LocationID: guid.ID{2}}}}
		return s
	}
	_, _, page := fill("Latte").get(t, "/g/"+token)
	if !strings.Contains(visible(t, page), "Good for Latte, Z") {
		t.Errorf("the page does not say what the gift is good for: %s", visible(t, page))
	}
	pages := []string{"/outbox", "/outbox/" + guid.ID{1}.String()}
	for _, l := range merchant.Languages() {
		pages = append(pages, "/g/"+token+"?lang="+string(l))
	}
	want := map[string]string{}
	for like, text := range map[string]string{"": "x", "long": strings.Repeat("x", 200)} {
		harmless := fill(text)
		for _, path := range pages {
			_, _, body := harmless.get(t, path)
			want[path+like] = shape(t, body)
		}
	}
	for _, text := range hostile {
		text += "!" // so that there is something to see
		s := fill(text)
		lines := card.Lines(text)
		for _, path := range pages {
			status, _, body := s.get(t, path)
			if status != http.StatusOK {
				t.Errorf("%q on %s: status %d", text, path, status)
			}
			like := path
			if folded(lines) != "" {
				like += "long"
			}
			if got := shape(t, body); got != want[like] && len(lines) == 1 {
				t.Errorf("%q changes the markup of %s:\n%s\nwant:\n%s", text, path, got, want[like])
			}
			if strings.HasPrefix(path, "/outbox") {
				continue
			}
			for _, line := range lines {
				// what is put in so that no program makes a link of it
				unspaced := strings.NewReplacer(" ", "", "\u2060", "").Replace
				if !strings.Contains(unspaced(visible(t, body)), unspaced(strings.ToValidUTF8(strings.Join(strings.Fields(line),
					" "), "\ufffd"))) {
					t.Errorf("%q: the page does not show %q:\n%s", text, line, visible(t, body))
				}
			}
		}
	}
	if len(hostile) < 30 {
		t.Errorf("only %d hostile texts", len(hostile))
	}
}

// aMap is a link to a map, which is told nothing but what to search for.
var aMap = regexp.MustCompile(`^<a class="map" href="https://www\.openstreetmap\.org/search\?query=[%+.0-9A-Z_a-z~-]+" ` +
	`target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer">$`)

// tags lists the start tags of a page.
func tags(t *testing.T, page string) []html.Token {
	t.Helper()
	var all []html.Token
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				t.Fatal(z.Err())
			}
			return all
		case html.StartTagToken, html.SelfClosingTagToken:
			all = append(all, z.Token())
		}
	}
}

// shape is the markup of a page without its texts.
func shape(t *testing.T, page string) string {
	t.Helper()
	var b strings.Builder
	for _, tag := range tags(t, page) {
		text := tag.String()
		if tag.Data == "meta" { // what messengers show of the page
			for i, a := range tag.Attr {
				if a.Key == "property" && i+1 < len(tag.Attr) && strings.HasPrefix(a.Val, "og:") {
					text = a.Val
				}
			}
		}
		if aMap.MatchString(text) {
			text = "a map"
		}
		fmt.Fprintln(&b, text)
	}
	return b.String()
}

// visible is what a reader sees of a page, spaces folded.
func visible(t *testing.T, page string) string {
	t.Helper()
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.TextToken:
			b.WriteString(z.Token().Data)
		}
	}
}
