package web

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/pass"
	"boon.example/internal/post/pass/passtest"
)

// walletAccount is the usual account with a certificate for passes.
func walletAccount(t testing.TB) *merchant.Account {
	t.Helper()
	f := passtest.New(t, time.Now().AddDate(0, 1, 0))
	a := *account
	a.Wallet.Apple = merchant.AppleWallet{Certificate: string(f.Certificate), Key: string(f.Key)}
	return &a
}

// asked asks as a device does.
func asked(h http.Handler, path, agent string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("User-Agent", agent)
	r.Header.Set("Accept", "text/html")
	h.ServeHTTP(w, r)
	return w
}

const phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)"

// TestPass: the page offers a pass just where the merchant has a certificate, the gift can be used, and the device may
// have a wallet; the pass is in the language of the page, and leads a till to the gift.
func TestPass(t *testing.T) {
	t.Parallel()
	store := &fakeStore{gifts: map[string]gift.Gift{token: aGift(t)}, account: walletAccount(t)}
	h := store.handler(false)
	page := asked(h, "/g/"+token+"?lang=de", phone).Body.String()
	link := `<a href="/g/` + token + `/pass.pkpass?lang=de">Zu Apple Wallet hinzufügen</a>`
	if !strings.Contains(page, link) {
		t.Errorf("the page has no button for the pass: %s", page)
	}
	for _, agent := range []string{"Mozilla/5.0 (Linux; Android 15)", "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"} {
		if page := asked(h, "/g/"+token, agent).Body.String(); strings.Contains(page, "pkpass") {
			t.Errorf("%s is offered a pass", agent)
		}
	}
	w := asked(h, "/g/"+token+"/pass.pkpass?lang=de", phone)
	if w.Code != 200 || w.Header().Get("Content-Type") != pass.Kind || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("the pass is answered with %d, %v", w.Code, w.Header())
	}
	said := passJSON(t, w.Body.Bytes())
	for _, part := range []string{"https://gifts.example.com/g/" + token, "4829 1507 3364", "Guthaben"} {
		if !strings.Contains(said, part) {
			t.Errorf("the pass lacks %q: %s", part, said)
		}
	}

	used := aGift(t)
	used.Status, used.Balance = gift.Redeemed, 0
	store = &fakeStore{gifts: map[string]gift.Gift{token: used}, account: store.account}
	h = store.handler(false)
	if page := asked(h, "/g/"+token, phone).Body.String(); strings.Contains(page, "pkpass") {
		t.Error("a gift that is used up is offered for the wallet")
	}
	if said := passJSON(t, asked(h, "/g/"+token+"/pass.pkpass", phone).Body.Bytes()); strings.Contains(said, token) ||
		strings.Contains(said, "4829") || !strings.Contains(said, `"voided":true`) {
		t.Errorf("the pass of a gift that is used up says %s", said)
	}
}

// TestNoPass: without a certificate, of an unknown gift, and of a card that was replaced there is no pass.
func TestNoPass(t *testing.T) {
	t.Parallel()
	gifts := map[string]gift.Gift{token: aGift(t)}
	with := walletAccount(t)
	for name, test := range map[string]struct {
		store  *fakeStore
		path   string
		status int
	}{
		"without a certificate": {&fakeStore{gifts: gifts}, token, 404},
		"of an unknown gift":    {&fakeStore{gifts: gifts, account: with}, "8nB2cD9fGhJkLmNpQrStUv", 404},
		"of a replaced card":    {&fakeStore{gifts: gifts, account: with, replaced: time.Now()}, token, 410},
	} {
		w := asked(test.store.handler(false), "/g/"+test.path+"/pass.pkpass", phone)
		if w.Code != test.status || w.Header().Get("Content-Type") == pass.Kind {
			t.Errorf("a pass %s: %d, %v", name, w.Code, w.Header())
		}
	}
}

func passJSON(t *testing.T, pkpass []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(pkpass), int64(len(pkpass)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("pass.json")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil || !json.Valid(text) {
		t.Fatalf("pass.json: %v, %s", err, text)
	}
	return string(text)
}

// BenchmarkPass makes a pass as often as phones ask for it.
func BenchmarkPass(b *testing.B) {
	h := (&fakeStore{gifts: map[string]gift.Gift{token: aGift(b)}, account: walletAccount(b)}).handler(false)
	for b.Loop() {
		if w := asked(h, "/g/"+token+"/pass.pkpass", phone); w.Code != 200 {
			b.Fatal(w.Code)
		}
	}
}

// TestBarCode: a design may have the code stand as a bar code, too, where the code is shown.
func TestBarCode(t *testing.T) {
	t.Parallel()
	with := *account
	with.Designs = []merchant.Design{{ID: account.Designs[0].ID, BarCode: true}}
	designed, used, plain := aGift(t), aGift(t), aGift(t)
	plain.Card.DesignID = guid.ID{}
	used.Status, used.Balance = gift.Redeemed, 0
	for name, test := range map[string]struct {
		account *merchant.Account
		gift    gift.Gift
		shown   bool
	}{
		"with":             {&with, designed, true},
		"without":          {account, designed, false},
		"of one used up":   {&with, used, false},
		"without a design": {&with, plain, false},
	} {
		h := (&fakeStore{gifts: map[string]gift.Gift{token: test.gift}, account: test.account}).handler(false)
		page := asked(h, "/g/"+token, phone).Body.String()
		if shown := strings.Contains(page, "<title>Bar code of this gift</title>"); shown != test.shown {
			t.Errorf("a page %s shows a bar code: %t", name, shown)
		}
	}
}

// TestWhatIsKeptHasALimit: what is made is kept, up to a number, and what fails is not.
func TestWhatIsKeptHasALimit(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var in map[int]int
	created := 0
	ask := func(key int) {
		got, err := kept(&mu, &in, 3, key, func() (int, error) { created++; return 10 * key, nil })
		if got != 10*key || err != nil {
			t.Errorf("%d is %d, %v", key, got, err)
		}
	}
	for key := range 10 {
		ask(key)
		ask(key)
	}
	if len(in) != 3 || created != 10 {
		t.Errorf("%d are kept, %d were made", len(in), created)
	}
	if _, err := kept(&mu, &in, 3, 99, func() (int, error) { return 0, io.ErrUnexpectedEOF }); err == nil ||
		len(in) != 3 {
		t.Errorf("a failure is kept: %v, %v", in, err)
	}
}
