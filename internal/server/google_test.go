package server_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"boon.example/examples"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/pass/google"
	"boon.example/internal/server"
	"boon.example/internal/store"
)

const googleIssuer = "3388000000012345678"

// googleWallet stands in for Google: it gives access tokens to whoever signs with the key of the service account, and
// keeps classes and objects as it is told.
type googleWallet struct {
	*testing.T
	server *httptest.Server
	key    *rsa.PrivateKey

	mu    sync.Mutex
	kept  map[string]map[string]any // by kind and id
	fails int                       // so many calls fail
	wrong []string
}

func newGoogle(t *testing.T) *googleWallet {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	g := &googleWallet{T: t, key: key, kept: map[string]map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", g.token)
	mux.HandleFunc("POST /v1/{kind}", g.insert)
	mux.HandleFunc("PATCH /v1/{kind}/{id}", g.patch)
	g.server = httptest.NewServer(mux)
	t.Cleanup(g.server.Close)
	return g
}

// claims are those of a token that the service account signed; nil: it did not.
func (g *googleWallet) claims(token string) (claims map[string]any) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	signature, wrong := base64.RawURLEncoding.DecodeString(parts[2])
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if wrong != nil || err != nil || json.Unmarshal(body, &claims) != nil ||
		rsa.VerifyPKCS1v15(&g.key.PublicKey, crypto.SHA256, digest[:], signature) != nil {
		return nil
	}
	return claims
}

func (g *googleWallet) token(w http.ResponseWriter, r *http.Request) {
	c := g.claims(r.FormValue("assertion"))
	if r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || c["iss"] != "gifts@example.com" ||
		c["scope"] != "https://www.googleapis.com/auth/wallet_object.issuer" || c["aud"] != g.server.URL+"/token" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	io.WriteString(w, `{"access_token":"opened","expires_in":3600,"token_type":"Bearer"}`)
}

// read reads a call; false: it is answered.
func (g *googleWallet) read(w http.ResponseWriter, r *http.Request) (body map[string]any, ok bool) {
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Header.Get("Authorization") != "Bearer opened" ||
		body["hasUsers"] != nil || strings.Contains(r.PathValue("kind"), "Object") && body["pin"] != nil {
		g.wrong = append(g.wrong, r.Method+" "+r.URL.Path)
	}
	if g.fails > 0 {
		g.fails--
		w.WriteHeader(http.StatusInternalServerError)
		return nil, false
	}
	return body, true
}

func (g *googleWallet) insert(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	body, ok := g.read(w, r)
	id, _ := body["id"].(string)
	name := r.PathValue("kind") + " " + id
	switch {
	case !ok:
	case g.kept[name] != nil:
		w.WriteHeader(http.StatusConflict)
	case r.PathValue("kind") == "giftCardObject" && g.kept["giftCardClass "+body["classId"].(string)] == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		maps.DeleteFunc(body, func(_ string, v any) bool { return v == nil })
		g.kept[name] = body
	}
}

func (g *googleWallet) patch(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	body, ok := g.read(w, r)
	is := g.kept[r.PathValue("kind")+" "+r.PathValue("id")]
	switch {
	case !ok:
	case is == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		maps.Copy(is, body)
		maps.DeleteFunc(is, func(_ string, v any) bool { return v == nil })
	}
}

// objects are what is kept of a gift, as JSON, the oldest state first: EXPIRED after ACTIVE.
func (g *googleWallet) objects(voucher string) (all []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, o := range g.kept {
		if strings.HasPrefix(name, "giftCardObject "+googleIssuer+"."+voucher) {
			text, err := json.Marshal(o)
			if err != nil {
				g.Error(err)
			}
			all = append(all, string(text))
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return strings.Index(a, `"ACTIVE"`) - strings.Index(b, `"ACTIVE"`) // -1: it is not
	})
	return all
}

// newGoogleWallet is a service whose merchant has a service account.
func newGoogleWallet(t *testing.T) (*service, *googleWallet) {
	t.Helper()
	g := newGoogle(t)
	s := start(t, server.Config{PublicURL: "https://gifts.example.com",
		Google: google.Addresses{Tokens: g.server.URL + "/token", Objects: g.server.URL + "/v1"}})
	g.apply(s, googleIssuer, examples.HarborCoffee())
	s.learned()
	s.followed()
	t.Cleanup(func() {
		if len(g.wrong) > 0 {
			t.Errorf("Google was asked what it does not take: %q", g.wrong)
		}
	})
	return s, g
}

// followed waits until the service follows what happens to the gifts of the merchant: it begins a moment after it has
// read the set-up, and knows nothing of what happened before.
func (s *service) followed() {
	s.Helper()
	s.withStore(func(beside *store.Store) error {
		s.eventually(func() bool { _, known := s.walletPlace(beside); return known })
		return nil
	})
}

// walletsTold waits until wallets were told of all that happened to the merchant's gifts until now, where the merchant
// has any. On PostgreSQL an event can be read only when no older transaction is open, whosever it is.
func (s *service) walletsTold() {
	s.Helper()
	s.withStore(func(beside *store.Store) error {
		if _, known := s.walletPlace(beside); !known {
			return nil
		}
		drawn, err := beside.Drawn(s.Context())
		if err != nil {
			return err
		}
		s.eventually(func() bool {
			done, err := beside.Committed(s.Context(), drawn)
			return err == nil && done
		})
		end, err := beside.EventsEnd(s.Context(), s.harbor())
		if err != nil {
			return err
		}
		s.eventually(func() bool { place, _ := s.walletPlace(beside); return place == end })
		return nil
	})
}

// walletPlace is up to where wallets of the merchant's guests were told; known is false where nobody has begun to.
func (s *service) walletPlace(beside *store.Store) (place merchant.EventPlace, known bool) {
	s.Helper()
	place, known, err := beside.PassPlace(s.Context(), s.harbor())
	if err != nil {
		s.Fatal(err)
	}
	return place, known
}

// harbor is the id of the merchant whose set-up the tests have.
func (s *service) harbor() guid.ID {
	s.Helper()
	id, err := guid.Parse(examples.HarborAccount)
	if err != nil {
		s.Fatal(err)
	}
	return id
}

// apply gives a merchant the service account, with an issuer.
func (g *googleWallet) apply(s *service, issuer string, file []byte) {
	g.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(g.key)
	if err != nil {
		g.Fatal(err)
	}
	account, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "gifts@example.com",
		"private_key_id": "k1", "private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"token_uri": "http://elsewhere.example/"})
	if err != nil {
		g.Fatal(err)
	}
	s.apply([]byte(strings.Replace(string(file), "    keys:\n", "    wallet: {google: {issuerID: '"+issuer+
		"', serviceAccount: '"+string(account)+"'}}\n    keys:\n", 1)))
}

// save asks for the link that saves a gift; "": there is none.
func (s *service) save(g soldGift) string {
	s.Helper()
	direct := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := direct.Get(s.url + "/g/" + g.VoucherPublicToken + "/google")
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		return ""
	}
	return resp.Header.Get("Location")
}

// TestGoogleHasGiftsAsTheyAre: Google gets an object of each gift that is sold, and its balance after each use; the
// link names the object and tells nothing of the gift; items have none.
func TestGoogleHasGiftsAsTheyAre(t *testing.T) {
	t.Parallel()
	s, at := newGoogleWallet(t)
	g := s.sell(twenty)
	s.eventually(func() bool { return s.save(g) != "" })
	link := s.save(g)
	token, ok := strings.CutPrefix(link, "https://pay.google.com/gp/v/save/")
	claims := at.claims(token)
	if !ok || claims["aud"] != "google" || claims["typ"] != "savetowallet" || claims["iss"] != "gifts@example.com" {
		t.Fatalf("the link is %s, of %v", link, claims)
	}
	told, err := json.Marshal(claims["payload"])
	if err != nil {
		t.Fatal(err)
	}
	// The value as Boon or Google would write it: an id may end with its digits.
	for _, secret := range []string{g.VoucherCode, g.VoucherPublicToken, `"20"`, `:20`, `"20000000`} {
		if strings.Contains(string(told), secret) {
			t.Errorf("the link tells %s", told)
		}
	}
	if !strings.Contains(string(told), `"id":"`+googleIssuer+"."+g.VoucherID) {
		t.Errorf("the link names %s", told)
	}
	page := func() string {
		_, body, err := s.call("GET", "/g/"+g.VoucherPublicToken, "", "")
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if !strings.Contains(page(), `/google">Add to Google Wallet</a>`) {
		t.Errorf("the page has no link: %s", page())
	}
	all := at.objects(g.VoucherID)
	for _, part := range []string{`"micros":"20000000"`, `"currencyCode":"USD"`, `"ACTIVE"`, "/g/" + g.VoucherPublicToken} {
		if len(all) != 1 || !strings.Contains(all[0], part) {
			t.Errorf("Google has %s, without %s", all, part)
		}
	}
	at.mu.Lock()
	at.fails = 2
	at.mu.Unlock()
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherCode":"`+g.VoucherCode+`","amount":5}`, nil)
	s.eventually(func() bool { return strings.Contains(at.objects(g.VoucherID)[0], `"micros":"15000000"`) })
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherCode":"`+g.VoucherCode+`","amount":15}`, nil)
	s.eventually(func() bool { return strings.Contains(at.objects(g.VoucherID)[0], `"COMPLETED"`) })
	if is := at.objects(g.VoucherID)[0]; strings.Contains(is, g.VoucherPublicToken) ||
		strings.Contains(page(), "/google") {
		t.Errorf("of a gift that is used up Google has %s", is)
	}
	for _, secret := range []string{"PRIVATE KEY", "opened", g.VoucherPublicToken} {
		if strings.Contains(s.logs.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// TestGooglesOldCardsAreDead: when a card is replaced, the object of the old one says so and nothing else, and the new
// card has an object of its own.
func TestGooglesOldCardsAreDead(t *testing.T) {
	t.Parallel()
	s, at := newGoogleWallet(t)
	g := s.sell(twenty)
	s.eventually(func() bool { return s.save(g) != "" })
	var replaced struct {
		Gift soldGift
		soldGift
	}
	s.must("POST", "/api/integration/gifting/replace-gift", examples.HarborOfficeKey,
		`{"voucherID":"`+g.VoucherID+`","reason":"lost"}`, &replaced)
	if s.save(g) != "" {
		t.Error("the old card can be saved")
	}
	s.eventually(func() bool { return len(at.objects(g.VoucherID)) == 2 })
	all := at.objects(g.VoucherID)
	for _, secret := range []string{"/g/", `"barcode"`, `"balance"`, g.VoucherCode, "micros"} {
		if strings.Contains(all[0], secret) {
			t.Errorf("the old object has %q: %s", secret, all[0])
		}
	}
	if !strings.Contains(all[0], `"EXPIRED"`) || !strings.Contains(all[0], "This card was replaced") ||
		!strings.Contains(all[1], `"ACTIVE"`) || strings.Contains(all[1], g.VoucherPublicToken) {
		t.Errorf("Google has %s", all)
	}
}

// TestGoogleWithAnotherIssuer: where the merchant becomes another issuer, no link leads to an object that this one does
// not have; after the next use it has one, of a class of its own, also where the card was replaced meanwhile.
func TestGoogleWithAnotherIssuer(t *testing.T) {
	t.Parallel()
	const other = "4400000000000000004"
	s, at := newGoogleWallet(t)
	used, replaced := s.sell(twenty), s.sell(twenty)
	s.eventually(func() bool { return s.save(used) != "" && s.save(replaced) != "" })
	at.apply(s, other, examples.HarborCoffee())
	s.eventually(func() bool { return s.save(used) == "" && s.save(replaced) == "" })
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherCode":"`+used.VoucherCode+`","amount":5}`, nil)
	var card struct{ Gift soldGift }
	s.must("POST", "/api/integration/gifting/replace-gift", examples.HarborOfficeKey,
		`{"voucherID":"`+replaced.VoucherID+`","reason":"lost"}`, nil)
	s.must("GET", giftPath+replaced.VoucherID, examples.HarborOfficeKey, "", &card.Gift)
	for _, g := range []soldGift{used, card.Gift} {
		link := ""
		s.eventually(func() bool { link = s.save(g); return link != "" })
		told, err := json.Marshal(at.claims(strings.TrimPrefix(link, "https://pay.google.com/gp/v/save/"))["payload"])
		if err != nil || !strings.Contains(string(told), `"`+other+"."+g.VoucherID) {
			t.Errorf("the link names %s, %v", told, err)
		}
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	kinds := map[string]int{}
	for name := range at.kept {
		if kind, _, is := strings.Cut(name, " "+other+"."); is {
			kinds[kind]++
		}
	}
	if kinds["giftCardClass"] != 1 || kinds["giftCardObject"] != 2 {
		t.Errorf("the other issuer has %v", kinds)
	}
}

// TestGoogleWithAnotherDesign: a design that changes is changed at Google with the next gift of it that is written.
func TestGoogleWithAnotherDesign(t *testing.T) {
	t.Parallel()
	s, at := newGoogleWallet(t)
	const blue, green = `"hexBackgroundColor":"#0b5fff"`, `"hexBackgroundColor":"#0a7d32"`
	const design = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c41" // Harbor
	class := func() string {
		at.mu.Lock()
		defer at.mu.Unlock()
		text, err := json.Marshal(at.kept["giftCardClass "+googleIssuer+"."+design])
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	own := `{"value":20.00,"deliveryMethodID":3,"voucherDesignID":"` + design + `"}`
	s.sell(own)
	s.eventually(func() bool { return strings.Contains(class(), blue) })
	at.apply(s, googleIssuer, []byte(strings.Replace(string(examples.HarborCoffee()), "#0b5fff", "#0a7d32", 1)))
	s.learned()
	s.sell(own)
	s.eventually(func() bool { return strings.Contains(class(), green) })
}

// TestGoogleLearnsOfEarlierGifts: gifts that were sold before the merchant had a service account get an object though
// nothing happens to them, and are told of afterwards; a gift that was used up gets none.
func TestGoogleLearnsOfEarlierGifts(t *testing.T) {
	t.Parallel()
	at := newGoogle(t)
	s := start(t, server.Config{PublicURL: "https://gifts.example.com",
		Google: google.Addresses{Tokens: at.server.URL + "/token", Objects: at.server.URL + "/v1"}})
	used, one, two := s.sell(twenty), s.sell(twenty), s.sell(twenty)
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherCode":"`+used.VoucherCode+`","amount":20}`, nil)
	at.apply(s, googleIssuer, examples.HarborCoffee())
	s.learned()
	s.eventually(func() bool { return s.save(one) != "" && s.save(two) != "" })
	if all := at.objects(used.VoucherID); len(all) > 0 {
		t.Errorf("Google has a gift that was used up: %s", all)
	}
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherCode":"`+one.VoucherCode+`","amount":5}`, nil)
	s.eventually(func() bool { return strings.Contains(at.objects(one.VoucherID)[0], `"micros":"15000000"`) })
	if len(at.wrong) > 0 {
		t.Errorf("Google was asked what it does not take: %q", at.wrong)
	}
}
