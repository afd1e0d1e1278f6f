package google

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// kept stands in for a store, and for Google.
type kept struct {
	Store // nothing of it is asked but what is below

	mu      sync.Mutex
	designs []merchant.Design          // of the shop; every gift has the first, if there is one
	without []guid.ID                  // gifts that Google was never told of
	broken  map[guid.ID]error          // gifts that cannot be read
	due     []event.GooglePass         // the oldest first
	saved   map[guid.ID]event.PassCard // by gift
	answer  func(*http.Request) int    // 0: 200
	wrote   map[string]string          // bodies, by method and path
	told    map[string]int             // outcomes
}

var shop = &merchant.Account{ID: guid.ID{1}, Name: "Harbor Coffee", Zone: time.UTC,
	Currency: money.Currency{Code: "USD", Decimals: 2},
	Wallet:   merchant.Wallet{Google: merchant.GoogleWallet{Issuer: "33"}}}

// Gift implements Store.
func (k *kept) Gift(_ context.Context, account, voucher guid.ID) (g gift.Gift, err error) {
	code, err := codes.ParseVoucherCode("123456789012")
	g = gift.Gift{Voucher: gift.Voucher{ID: voucher, AccountID: account, Currency: shop.Currency, Funded: 2500,
		Balance: 1250, Status: gift.Delivered}, Card: gift.Card{Code: code}}
	if len(k.designs) > 0 {
		g.Card.DesignID = k.designs[0].ID
	}
	return g, errors.Join(err, k.broken[voucher])
}

// GoogleWithout implements Store: a step finds one gift.
func (k *kept) GoogleWithout(_ context.Context, _, before guid.ID, _ time.Time, _ int) ([]guid.ID, guid.ID, error) {
	at := slices.Index(k.without, before) + 1
	if at == len(k.without) {
		return nil, guid.ID{}, nil
	}
	return k.without[at : at+1], k.without[at], nil
}

// TouchGoogle implements Store.
func (k *kept) TouchGoogle(_ context.Context, account guid.ID, gifts []event.TouchedGift) error {
	for _, g := range gifts {
		k.due = append(k.due, event.GooglePass{AccountID: account, VoucherID: g.VoucherID, Changed: g.Position})
	}
	return nil
}

// GoogleDue implements Store.
func (k *kept) GoogleDue(_ context.Context, _ guid.ID, limit int) ([]event.GooglePass, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.due[:min(limit, len(k.due))]), nil
}

// SaveGoogle implements Store.
func (k *kept) SaveGoogle(_ context.Context, passes []event.GooglePass) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range passes {
		k.saved[p.VoucherID] = p.Card
		k.due = slices.DeleteFunc(k.due, func(d event.GooglePass) bool { return d.VoucherID == p.VoucherID })
	}
	return nil
}

func (k *kept) serve(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	status := http.StatusOK
	if k.answer != nil {
		if is := k.answer(r); is != 0 {
			status = is
		}
	}
	body, _ := io.ReadAll(r.Body)
	if status == http.StatusOK {
		k.wrote[r.Method+" "+r.URL.Path] = string(body)
	}
	w.WriteHeader(status)
	io.WriteString(w, `{"access_token":"opened","expires_in":3600}`)
}

// round writes once what is due, and gives what the log says.
func (k *kept) round(t *testing.T) (said string, err error) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	k.saved, k.wrote, k.told = map[guid.ID]event.PassCard{}, map[string]string{}, map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(k.serve))
	defer server.Close()
	at := Addresses{Tokens: server.URL + "/token", Objects: server.URL}
	var log strings.Builder
	w := &Writer{Store: k, Log: slog.New(slog.NewTextHandler(&log, nil)), PublicURL: "https://gifts.example.com", At: at,
		Now:     func(context.Context, *merchant.Account) (time.Time, error) { return time.Unix(1_800_000_000, 0), nil },
		Observe: func(outcome string) { k.told[outcome]++ }}
	w.Begin()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]string{"type": serviceAccount, "client_email": "a@b.example",
		"private_key_id": "1", "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))})
	if err != nil {
		t.Fatal(err)
	}
	is := *shop
	is.Wallet.Google.Key, is.Designs = string(text), k.designs
	err = w.all(&is, w.of(shop.ID))
	w.Stop()
	return log.String(), err
}

// TestOneGiftHoldsUpNoOther: gifts that do not open, and those that Google never takes, are told of and left out; the
// others go on, however many there are before them.
func TestOneGiftHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	k := &kept{broken: map[guid.ID]error{}}
	for n := range 3 * perRound {
		p := event.GooglePass{AccountID: shop.ID, VoucherID: guid.ID{2, byte(n)}, Changed: int64(n + 1)}
		if k.due = append(k.due, p); n < 2*perRound {
			k.broken[p.VoucherID] = fmt.Errorf("gift: %w", refusal.UnexpectedError)
		}
	}
	last := k.due[len(k.due)-1].VoucherID
	k.answer = func(r *http.Request) int {
		if strings.Contains(r.URL.Path, last.String()) {
			return http.StatusBadRequest
		}
		return 0
	}
	said, err := k.round(t)
	if err != nil || len(k.due) != 0 || k.told[unreadable] != 2*perRound || k.told[refused] != 1 ||
		k.told[written] != perRound-1 {
		t.Errorf("%d are due, told are %v: %v", len(k.due), k.told, err)
	}
	if !strings.Contains(said, "level=ERROR") || !strings.Contains(said, " gift=02") {
		t.Errorf("the log says %s", said)
	}
}

// TestNoPassIsLostWithoutAccess: while Google gives no access, nothing is taken for refused.
func TestNoPassIsLostWithoutAccess(t *testing.T) {
	t.Parallel()
	k := &kept{due: []event.GooglePass{{AccountID: shop.ID, VoucherID: guid.ID{2}, Changed: 1}}}
	k.answer = func(r *http.Request) int {
		if r.URL.Path == "/token" {
			return http.StatusBadRequest
		}
		return 0
	}
	if _, err := k.round(t); err == nil || len(k.due) != 1 || k.told[failed] != 1 {
		t.Errorf("%d are due, told are %v: %v", len(k.due), k.told, err)
	}
}

// TestOldCardsDieFirst: the object of a card that was replaced dies even if Google takes the class no more.
func TestOldCardsDieFirst(t *testing.T) {
	t.Parallel()
	old := event.PassCard{9}
	k := &kept{due: []event.GooglePass{{AccountID: shop.ID, VoucherID: guid.ID{2}, Card: old, Changed: 1}}}
	k.answer = func(r *http.Request) int {
		if strings.Contains(r.URL.Path, "Class") {
			return http.StatusBadRequest
		}
		return 0
	}
	if _, err := k.round(t); err != nil {
		t.Fatal(err)
	}
	g, err := k.Gift(t.Context(), shop.ID, guid.ID{2})
	if err != nil || CardAt("33", &g) == old {
		t.Fatalf("the gift has its old card: %v", err)
	}
	dead := k.wrote["PATCH /giftCardObject/"+ObjectID("33", guid.ID{2}, old)]
	if !strings.Contains(dead, `"EXPIRED"`) || strings.Contains(dead, "1234") {
		t.Errorf("Google has %q of the old card; it was told %v", dead, k.wrote)
	}
}

// TestGiftsThatAreGone: the object of a gift whose import was taken back dies, and Google gets none of one that it had
// no object of.
func TestGiftsThatAreGone(t *testing.T) {
	t.Parallel()
	had, never := guid.ID{2}, guid.ID{3}
	k := &kept{broken: map[guid.ID]error{had: refusal.NotFound, never: refusal.NotFound},
		due: []event.GooglePass{{AccountID: shop.ID, VoucherID: had, Card: event.PassCard{9}, Changed: 1},
			{AccountID: shop.ID, VoucherID: never, Changed: 1}}}
	if _, err := k.round(t); err != nil || len(k.due) != 0 || k.saved[had] != (event.PassCard{}) || len(k.wrote) != 2 {
		t.Errorf("%d are due, %v are saved, Google has %v: %v", len(k.due), k.saved, k.wrote, err)
	}
	dead := k.wrote["PATCH /giftCardObject/"+ObjectID("33", had, event.PassCard{9})]
	if !strings.Contains(dead, `"EXPIRED"`) || !strings.Contains(dead, `"barcode":null`) ||
		!strings.Contains(dead, `"balance":null`) || strings.Contains(dead, "classId") {
		t.Errorf("Google has %q of a gift that is gone", dead)
	}
}

// TestOneUnreadHoldsUpNoOther: a gift that cannot be read for whatever reason is left out while others can be; where
// none can be read, the store is at fault, and nothing is left out.
func TestOneUnreadHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	one, other := guid.ID{2}, guid.ID{3}
	all := []event.GooglePass{{AccountID: shop.ID, VoucherID: one, Changed: 1}, {AccountID: shop.ID, VoucherID: other,
		Changed: 2}}
	unscannable := errors.New("converting NULL to int64 is unsupported")
	k := &kept{due: slices.Clone(all), broken: map[guid.ID]error{one: unscannable}}
	if said, err := k.round(t); err != nil || len(k.due) != 0 || k.told[unreadable] != 1 || k.told[written] != 1 ||
		!strings.Contains(said, "level=ERROR") {
		t.Errorf("%d are due, told are %v: %v\n%s", len(k.due), k.told, err, said)
	}
	k = &kept{due: slices.Clone(all), broken: map[guid.ID]error{one: unscannable, other: unscannable}}
	if _, err := k.round(t); err == nil || len(k.due) != 2 || k.told[failed] != 2 {
		t.Errorf("%d are due, told are %v: %v", len(k.due), k.told, err)
	}
}

// TestALogoThatGoogleCannotFetch: Google refuses a class whose picture it cannot fetch. The gifts of the design have
// passes all the same, without the logo, and the log says so once.
func TestALogoThatGoogleCannotFetch(t *testing.T) {
	t.Parallel()
	k := &kept{designs: []merchant.Design{{ID: guid.ID{7}, Logo: merchant.AssetHash{1}}}}
	for n := range byte(3) {
		k.due = append(k.due, event.GooglePass{AccountID: shop.ID, VoucherID: guid.ID{2, n}, Changed: 1})
	}
	k.answer = func(r *http.Request) int {
		text, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(text))
		if err != nil || bytes.Contains(text, []byte("programLogo")) {
			return http.StatusBadRequest
		}
		return 0
	}
	said, err := k.round(t)
	if err != nil || k.told[written] != 3 || k.told[refused] != 0 {
		t.Errorf("told are %v: %v", k.told, err)
	}
	class := k.wrote["PATCH /giftCardClass/"+ClassID("33", &merchant.Account{Designs: k.designs},
		&gift.Gift{Card: gift.Card{DesignID: guid.ID{7}}})]
	if !strings.Contains(class, "Harbor Coffee") || strings.Count(said, "logo") != 1 {
		t.Errorf("the class is %q, the log says %s", class, said)
	}
}

// TestEarlierGifts: a step finds some gifts that Google was never told of, and the next one comes a while later; where
// no gift is left, it comes a day later; a writer that stops takes none.
func TestEarlierGifts(t *testing.T) {
	t.Parallel()
	k := &kept{without: []guid.ID{{2, 9}, {2, 8}}}
	w := &Writer{Store: k, Now: func(context.Context, *merchant.Account) (time.Time, error) { return time.Now(), nil }}
	w.Begin()
	of := w.of(shop.ID)
	for n, want := range []int{1, 1, 2, 2} {
		if n == 2 {
			of.earlier = time.Now()
		}
		of.due = false
		if err := w.lookBack(shop, of); err != nil || len(k.due) != want || of.due != (n%2 == 0) {
			t.Errorf("look %d: %+v are due, %t: %v", n, k.due, of.due, err)
		}
	}
	if wait := time.Until(of.earlier); wait > lookPause || of.before != k.without[1] {
		t.Errorf("after gifts were found, the next look is in %s", wait)
	}
	of.earlier = time.Now()
	if err := w.lookBack(shop, of); err != nil || len(k.due) != 2 || !of.before.IsZero() ||
		time.Until(of.earlier) < lookAgain/2 {
		t.Errorf("after the last, the next look is at %s: %v", of.earlier, err)
	}
	w.Stop()
	of.earlier = time.Time{}
	if err := w.lookBack(shop, of); err != nil || len(k.due) != 2 {
		t.Errorf("a writer that stops looks for more: %v", err)
	}
}
