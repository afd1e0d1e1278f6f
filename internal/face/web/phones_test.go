package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/pass/passtest"
	"boon.example/internal/sealed"
)

// phoneStore is a store of gifts that keeps which phones have passes.
type phoneStore struct {
	*fakeStore
	devices map[[32]byte]event.PassDevice
	writes  int
	finds   int
	moves   bool // the gift gets another card when a phone registers
}

func (s *phoneStore) Gift(ctx context.Context, account, voucher guid.ID) (gift.Gift, error) {
	s.finds++
	return s.fakeStore.Gift(ctx, account, voucher)
}

func (s *phoneStore) EventsEnd(context.Context, guid.ID) (merchant.EventPlace, error) {
	return merchant.EventPlace{}, nil
}

func (s *phoneStore) RegisterPass(_ context.Context, d event.PassDevice, _ time.Time) (bool, error) {
	s.writes++
	_, known := s.devices[d.Device]
	s.devices[d.Device] = d
	if s.moves {
		s.replace()
	}
	return !known, nil
}

func (s *phoneStore) UnregisterPass(_ context.Context, d *event.PassDevice) error {
	if s.writes++; s.devices[d.Device].Card == d.Card {
		delete(s.devices, d.Device)
	}
	return nil
}

func (s *phoneStore) PassesOf(_ context.Context, _ guid.ID, device [32]byte) (all []event.PassDevice, _ error) {
	if d, ok := s.devices[device]; ok {
		all = append(all, d)
	}
	return all, nil
}

func (s *phoneStore) PassChanged(context.Context, guid.ID, guid.ID, event.PassCard) (int64, error) {
	return 77, nil
}

func (s *phoneStore) GooglePass(context.Context, guid.ID, guid.ID) (event.PassCard, error) {
	return event.PassCard{}, nil
}

// replace gives the gift another card.
func (s *phoneStore) replace() {
	g := s.gifts[token]
	g.Card.Token, _ = codes.ParseToken("8nB2cD9fGhJkLmNpQrStUv")
	s.gifts[token] = g
}

// phoneWorld are pages whose passes change.
type phoneWorld struct {
	*testing.T
	http.Handler
	store  *phoneStore
	keys   *sealed.Keys
	serial string
	proof  string
	told   int
}

func newPhoneWorld(t *testing.T) *phoneWorld {
	t.Helper()
	keys, err := sealed.Create(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	w := &phoneWorld{T: t, keys: keys}
	w.store = &phoneStore{fakeStore: &fakeStore{gifts: map[string]gift.Gift{token: aGift(t)}, account: walletAccount(t)},
		devices: map[[32]byte]event.PassDevice{}}
	w.store.account.Wallet.Apple.PassType = passtest.PassType
	c := w.store.config(false)
	c.Phones, c.Proofs, c.Registered = w.store, keys, func(event.PassDevice) { w.told++ }
	w.Handler = Handler(c)
	var said struct{ SerialNumber, AuthenticationToken string }
	text := passJSON(t, asked(w, "/g/"+token+"/pass.pkpass", phone).Body.Bytes())
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		t.Fatal(err)
	}
	w.serial, w.proof = said.SerialNumber, said.AuthenticationToken
	return w
}

const registered = "/wallet/apple/v1/devices/library/registrations/" + passtest.PassType

// ask asks as a phone does that shows a proof.
func (w *phoneWorld) ask(method, path, authorization, body string) *httptest.ResponseRecorder {
	w.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", authorization)
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, r)
	return answer
}

// TestWhoMayAskForAPass: without the proof of a pass nothing is told, written or looked up, whatever is sent; who goes
// on is slowed down, and is told of no key.
func TestWhoMayAskForAPass(t *testing.T) {
	t.Parallel()
	flipped := func(proof string, at int) string {
		b, err := base64.RawURLEncoding.DecodeString(proof)
		if err != nil {
			t.Fatal(err)
		}
		b[at] ^= 1
		return base64.RawURLEncoding.EncodeToString(b)
	}
	for name, test := range map[string]func(w *phoneWorld) (passType, serial, authorization string){
		"no proof": func(w *phoneWorld) (string, string, string) { return passtest.PassType, w.serial, "" },
		"another scheme": func(w *phoneWorld) (string, string, string) {
			return passtest.PassType, w.serial, "Bearer " + w.proof
		},
		"another gift": func(w *phoneWorld) (string, string, string) {
			return passtest.PassType, guid.ID{1: 9}.String(), "ApplePass " + w.proof
		},
		"no gift": func(w *phoneWorld) (string, string, string) { return passtest.PassType, "%00", "ApplePass " + w.proof },
		"another type": func(w *phoneWorld) (string, string, string) {
			return "pass.com.example.other", w.serial, "ApplePass " + w.proof
		},
		"another card": func(w *phoneWorld) (string, string, string) {
			return passtest.PassType, w.serial, "ApplePass " + flipped(w.proof, 0)
		},
		"an unknown key": func(w *phoneWorld) (string, string, string) {
			return passtest.PassType, w.serial, "ApplePass " + flipped(w.proof, 8)
		},
		"another proof": func(w *phoneWorld) (string, string, string) {
			return passtest.PassType, w.serial, "ApplePass " + flipped(w.proof, 24)
		},
		"a short proof": func(w *phoneWorld) (string, string, string) { return passtest.PassType, w.serial, "ApplePass AA" },
		"a long proof": func(w *phoneWorld) (string, string, string) {
			return passtest.PassType, w.serial, "ApplePass " + strings.Repeat(w.proof, 200)
		},
	} {
		w := newPhoneWorld(t)
		w.store.finds = 0
		passType, serial, authorization := test(w)
		of := "/wallet/apple/v1/devices/library/registrations/" + passType + "/" + serial
		for n := range merchant.AnonymousBurst + 1 {
			for _, ask := range [][2]string{{"POST", of}, {"DELETE", of}, {"GET", "/wallet/apple/v1/passes/" + passType + "/" +
				serial}} {
				answer := w.ask(ask[0], ask[1], authorization, `{"pushToken":"aa"}`)
				if answer.Code != 401 && (n == 0 || answer.Code != 429 || answer.Header().Get("Retry-After") == "") {
					t.Fatalf("%s: %s is answered with %d, %v", name, ask[0], answer.Code, answer.Header())
				}
				if n == merchant.AnonymousBurst && answer.Code != 429 {
					t.Errorf("%s: it goes on", name)
				}
			}
		}
		if w.store.writes+w.store.finds+w.told > 0 {
			t.Errorf("%s: %d writes, %d look-ups", name, w.store.writes, w.store.finds)
		}
	}
}

// TestHostilePhones: what a phone sends is bounded and of one form; one pass has no more than so many writes; and a
// card that is replaced while a phone registers leaves nothing behind.
func TestHostilePhones(t *testing.T) {
	t.Parallel()
	w := newPhoneWorld(t)
	own := "ApplePass " + w.proof
	for body, want := range map[string]int{
		"":                                  400,
		"[]":                                400,
		`{"pushToken":""}`:                  400,
		`{"pushToken":"../../3/device/aa"}`: 400,
		`{"pushToken":"` + strings.Repeat("a", 201) + `"}`:           400,
		`{"pushToken":"aa","x":"` + strings.Repeat("a", 8192) + `"}`: 413,
		`{"pushToken":"AA00ff"}`:                                     201,
	} {
		if got := w.ask("POST", registered+"/"+w.serial, own, body).Code; got != want {
			t.Errorf("%.40s is answered with %d, want %d", body, got, want)
		}
	}
	long := "/wallet/apple/v1/devices/" + strings.Repeat("x", 8000) + "/registrations/" + passtest.PassType
	many := 0
	for range writeRate.Burst {
		if w.ask("POST", long+"/"+w.serial, own, `{"pushToken":"aa"}`).Code == 429 {
			many++
		}
	}
	if many == 0 || w.store.writes > writeRate.Burst || len(w.store.devices) != 2 || w.told != w.store.writes {
		t.Errorf("%d were refused, %d writes, %d devices, %d told", many, w.store.writes, len(w.store.devices), w.told)
	}
	for path, want := range map[string]int{registered: 200, registered + "?passesUpdatedSince=%00": 200,
		registered + "?passesUpdatedSince=999": 200, registered + "?passesUpdatedSince=0": 204,
		strings.Replace(registered, "library", "unknown", 1): 204, "/wallet/apple/v1/nothing": 404} {
		if got := w.ask("GET", path, "", "").Code; got != want {
			t.Errorf("GET %s is answered with %d, want %d", path, got, want)
		}
	}

	w = newPhoneWorld(t)
	w.store.moves = true
	if got := w.ask("POST", registered+"/"+w.serial, "ApplePass "+w.proof, `{"pushToken":"aa"}`).Code; got != 401 ||
		len(w.store.devices) > 0 || w.told > 0 {
		t.Errorf("a phone registers beside a replacement: %d, %d devices", got, len(w.store.devices))
	}
}

// TestPassesOfGiftsThatAreGone: the pass of a gift whose import was taken back says what that of a replaced card says,
// also to a phone that has the pass as of the newest event. No phone begins to be told of it.
func TestPassesOfGiftsThatAreGone(t *testing.T) {
	t.Parallel()
	w := newPhoneWorld(t)
	own, path := "ApplePass "+w.proof, "/wallet/apple/v1/passes/"+passtest.PassType+"/"+w.serial
	pass := func(since string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
		r.Header.Set("Authorization", own)
		r.Header.Set("If-Modified-Since", since)
		answer := httptest.NewRecorder()
		w.ServeHTTP(answer, r)
		return answer
	}
	at := pass("").Header().Get("Last-Modified")
	if is := pass(at); is.Code != http.StatusNotModified {
		t.Fatalf("the pass that the phone has is answered with %d", is.Code)
	}
	g := w.store.gifts[token]
	delete(w.store.gifts, token)
	answer := pass(at)
	if answer.Code != http.StatusOK {
		t.Fatalf("the pass of a gift that is gone is answered with %d", answer.Code)
	}
	said := passJSON(t, answer.Body.Bytes())
	for _, secret := range []string{g.Card.Code.Grouped(), token, g.Card.Sender, "barcodes", "balance", "expirationDate"} {
		if strings.Contains(said, secret) {
			t.Errorf("the pass has %q: %s", secret, said)
		}
	}
	if !strings.Contains(said, `"voided":true`) || !strings.Contains(said, w.proof) {
		t.Errorf("the pass says %s", said)
	}
	if is := w.ask("POST", registered+"/"+w.serial, own, `{"pushToken":"aa"}`).Code; is != 401 || w.store.writes > 0 {
		t.Errorf("a phone registers: %d", is)
	}
}

// TestPassesThatDoNotChange: where phones cannot ask by HTTPS, a pass does not say that they may.
func TestPassesThatDoNotChange(t *testing.T) {
	t.Parallel()
	store := &phoneStore{fakeStore: &fakeStore{gifts: map[string]gift.Gift{token: aGift(t)}, account: walletAccount(t)}}
	c := store.config(false)
	c.Phones, c.PublicURL = store, "http://localhost:8080"
	h := Handler(c)
	said := passJSON(t, asked(h, "/g/"+token+"/pass.pkpass", phone).Body.Bytes())
	if strings.Contains(said, "webServiceURL") || strings.Contains(said, "authenticationToken") {
		t.Errorf("the pass says %s", said)
	}
	if got := asked(h, registered, phone).Code; got != 404 {
		t.Errorf("the address is answered with %d", got)
	}
}
