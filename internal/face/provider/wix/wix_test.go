package wix_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"boon.example/internal/face/provider/providertest"
	"boon.example/internal/face/provider/wix"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
)

const (
	config      = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c81"
	others      = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c81"
	app         = "c3a7e0d4-0000-4000-8000-00000000a991"
	pierSite    = "11111111-aaaa-4000-8000-000000000011"
	wharfSite   = "11111111-aaaa-4000-8000-000000000012"
	cornerSite  = "11111111-aaaa-4000-8000-000000000021"
	unknownSite = "00000000-bbbb-4000-8000-000000000000"
)

// keys are Wix's, and one of somebody else.
var keys = sync.OnceValue(func() (made [2]*rsa.PrivateKey) {
	for n := range made {
		made[n], _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	return made
})

func publicPEM(k *rsa.PrivateKey) string {
	der, _ := x509.MarshalPKIXPublicKey(&k.PublicKey)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func setUp() []byte {
	key, _ := json.Marshal(publicPEM(keys()[0]))
	return providertest.SetUp(`      - {id: `+config+`, name: Wix, platform: wix, app: `+app+`, publicKey: `+string(key)+`,
         permissions: [validate, redeem, reverse], sites: [{name: `+pierSite+`, location: `+providertest.Pier+`},
           {name: `+wharfSite+`, location: `+providertest.Wharf+`}]}
`, `      - {id: `+others+`, name: Wix, platform: wix, app: `+app+`-2, publicKey: `+string(key)+`,
         permissions: [validate, redeem, reverse], sites: [{name: `+cornerSite+`, location: `+providertest.Corner+`}]}
`)
}

type site struct {
	*providertest.Shop
	config, app, instance string
}

func open(t testing.TB) *site {
	return &site{providertest.Open(t, server.Config{}, setUp()), config, app, pierSite}
}

// token signs a request as Wix does; change alters the claims.
func (s *site) token(request string, change func(jwt.MapClaims)) string {
	s.Helper()
	now := time.Now()
	claims := jwt.MapClaims{"iss": "wix.com", "aud": s.app, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"data": map[string]any{"request": json.RawMessage(request), "metadata": map[string]any{"instanceId": s.instance,
			"requestId": uuid.NewString(), "currency": "USD", "identity": map[string]any{"identityType": "MEMBER"},
			"languages": []string{"en-US"}, "somethingNew": 1}}}
	if change != nil {
		change(claims)
	}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(keys()[0])
	if err != nil {
		s.Fatal(err)
	}
	return signed
}

func (s *site) send(method, token string) providertest.Answer {
	s.Helper()
	return s.Call("POST", "/providers/wix/"+s.config+"/v1/"+method, token, "Content-Type", "text/plain; charset=utf-8")
}

// want makes a call and wants its status and what is in its answer.
func (s *site) want(status int, in, method, request string) map[string]any {
	s.Helper()
	a := s.send(method, s.token(request, nil))
	if a.Status != status || !strings.Contains(a.Body, in) {
		s.Errorf("%s %s: %d %s, want %d with %s", method, request, a.Status, a.Body, status, in)
	}
	var answer map[string]any
	_ = json.Unmarshal([]byte(a.Body), &answer)
	return answer
}

func code(code string) string { return `{"code":"` + code + `"}` }

func redeem(code, amount, order string) string {
	return fmt.Sprintf(`{"code":"%s","amount":%s,"orderId":"%s","currencyCode":"USD","locationId":null}`, code, amount, order)
}

func void(transaction any) string { return fmt.Sprintf(`{"transactionId":"%v"}`, transaction) }

func refused(code string) string { return `{"applicationError":{"code":"` + code + `"}}` }

// TestRepeats: an order is redeemed of a card once, whatever happened since, and told what it was told first; of
// another card it is another redemption.
func TestRepeats(t *testing.T) {
	t.Parallel()
	s := open(t)
	g, other := s.Gift("50"), s.Gift("50")
	order := uuid.NewString()
	first := s.send("redeem", s.token(redeem(g.Code, "20", order), nil))
	s.want(200, `"remainingBalance":25.00`, "redeem", redeem(g.Code, "5", uuid.NewString()))
	if again := s.send("redeem", s.token(redeem(g.Code, "20.0", order), nil)); first.Status != 200 || again.Body !=
		first.Body || !strings.Contains(first.Body, `"remainingBalance":30.00`) {
		t.Errorf("a repeat is told %s, not %d %s", again.Body, first.Status, first.Body)
	}
	if a := s.send("redeem", s.token(redeem(other.Code, "20", order), nil)); a.Status != 200 || a.Body == first.Body {
		t.Errorf("of another card: %d %s", a.Status, a.Body)
	}
	for _, card := range []providertest.Card{g, other} {
		if n := strings.Count(s.History(card.ID), `"REDEMPTION"`); n != map[bool]int{true: 2, false: 1}[card.ID == g.ID] {
			t.Errorf("%d redemptions of card %s", n, card.ID)
		}
	}
	s.Verify()
}

// TestRefusedOrder: an order that was refused any number of times may be tried again. Only wrong verification codes are
// kept; after too many of them the order is refused as the last of them was.
func TestRefusedOrder(t *testing.T) {
	t.Parallel()
	s := open(t)
	g, order := s.Gift("50"), uuid.NewString()
	for n := range 21 {
		s.want(428, refused("INSUFFICIENT_FUNDS"), "redeem", redeem(g.Code, fmt.Sprintf("51.%02d", n), order))
	}
	s.want(200, `"remainingBalance":40.00`, "redeem", redeem(g.Code, "10", order))
	s.want(409, refused("ALREADY_REDEEMED"), "redeem", redeem(g.Code, "51", order))
	card := s.Stock(1, `,"verificationCodes":true`)[0]
	verified := s.API("redemption/activate-gift", `{"voucherCode":"`+card.Code+`","amount":25,"paymentMethodID":2,`+
		`"externalTransactionReferenceNumber":"R","externalTransactionCustomerFirstName":"A",`+
		`"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",`+
		`"externalStorefrontID":"`+providertest.Storefront+`","organizationID":"`+providertest.Pier+`"}`)
	wrong, order := "0000", uuid.NewString()
	if card.Verification == wrong {
		wrong = "0001"
	}
	pin := func(order, pin string) string {
		return strings.Replace(redeem(card.Code, "1", order), `"amount"`, `"pin":"`+pin+`","amount"`, 1)
	}
	for n := 1; n <= 20; n++ {
		s.want(404, refused("GIFT_CARD_NOT_FOUND"), "redeem", pin(order, wrong))
		if n%gift.MaxWrongCodes == 0 {
			s.API("gifting/unblock-gift", fmt.Sprintf(`{"voucherID":"%v","reason":"asked"}`, verified["voucherID"]))
		}
	}
	s.want(404, refused("GIFT_CARD_NOT_FOUND"), "redeem", pin(order, card.Verification))
	s.want(200, `"remainingBalance":24.00`, "redeem", pin(uuid.NewString(), card.Verification))
	s.Verify()
}

// TestCertainItems: a gift for certain items cannot be redeemed without a ticket, so that its balance is not told.
func TestCertainItems(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.want(428, refused("GIFT_CARD_DISABLED"), "balance", code(s.ItemsOnly().Code))
}

// TestReplacedCard: what was done with a card before it was replaced is told by its code, and given back; nothing new
// is done with it.
func TestReplacedCard(t *testing.T) {
	t.Parallel()
	s := open(t)
	g, order := s.Gift("50"), uuid.NewString()
	a := s.want(200, `"remainingBalance":40.00`, "redeem", redeem(g.Code, "10", order))
	s.API("gifting/replace-gift", `{"voucherID":"`+g.ID+`","reason":"lost"}`)
	s.want(200, `"remainingBalance":40.00`, "redeem", redeem(g.Code, "10", order))
	s.want(409, refused("ALREADY_REDEEMED"), "redeem", redeem(g.Code, "9", order))
	s.want(428, refused("GIFT_CARD_DISABLED"), "redeem", redeem(g.Code, "10", uuid.NewString()))
	s.want(428, refused("GIFT_CARD_DISABLED"), "balance", code(g.Code))
	s.want(428, refused("GIFT_CARD_DISABLED"), "balance", redeem(g.Code, "10", order))
	s.want(200, `"remainingBalance":50.00`, "void", void(a["transactionId"]))
	s.Verify()
}

// TestStory is a purchase on a site: the shopper applies a code, the order takes a part, a second one fails and is
// voided.
func TestStory(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("50")
	s.want(200, `{"balance":50.00,"currencyCode":"USD"}`, "balance", code(g.Code))
	first := uuid.NewString()
	a := s.want(200, `{"remainingBalance":30.00,"currencyCode":"USD","transactionId":"`, "redeem", redeem(g.Code, "20", first))
	s.want(200, fmt.Sprint(a["transactionId"]), "redeem", redeem(g.Code, "2e1", first)) // its answer was lost
	s.want(409, refused("ALREADY_REDEEMED"), "redeem", redeem(g.Code, "19.99", first))
	b := s.want(200, `"remainingBalance":0.01`, "redeem", redeem(g.Code, "29.99", uuid.NewString()))
	s.want(200, `{"remainingBalance":30.00,"currencyCode":"USD"}`, "void", void(b["transactionId"]))
	s.want(409, refused("ALREADY_VOIDED"), "void", void(b["transactionId"]))
	s.want(200, `"balance":30.00`, "balance", code(g.Code))
	s.want(200, `"remainingBalance":50.00`, "void", void(a["transactionId"]))
	s.want(409, refused("ALREADY_REDEEMED"), "redeem", redeem(g.Code, "20", first)) // or the order would be free
	// what is held is not there to be spent
	s.API("redemption/hold-gift", `{"voucherID":"`+g.ID+`","amount":45,"organizationID":"`+providertest.Pier+`"}`)
	s.want(200, `"balance":5.00`, "balance", code(g.Code))
	order := uuid.NewString()
	s.want(428, refused("INSUFFICIENT_FUNDS"), "redeem", redeem(g.Code, "10", order))
	s.want(428, refused("INSUFFICIENT_FUNDS"), "redeem", redeem(g.Code, "10", order))
	s.want(200, `"remainingBalance":1.00`, "redeem", redeem(g.Code, "4", order)) // which was refused took nothing
	s.want(409, refused("ALREADY_REDEEMED"), "redeem", redeem(g.Code, "1", order))
	if h := s.History(g.ID); strings.Count(h, `"keyName":"Wix"`) != 5 || !strings.Contains(h, order) {
		t.Errorf("the history does not name Wix and its orders: %s", h)
	}
	for _, secret := range []string{g.Code, "eyJ"} {
		if strings.Contains(s.Service.Log.String(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
	s.Verify()
}

// TestLimits: guesses, days and permissions are limited as through the interface.
func TestLimits(t *testing.T) {
	t.Parallel()
	limited := bytes.Replace(setUp(), []byte("permissions: [validate, redeem, reverse]"),
		[]byte("limits: {redeemedPerDay: 40}, permissions: [validate, redeem]"), 1)
	s := &site{providertest.Open(t, server.Config{}, limited), config, app, pierSite}
	g := s.Gift("50")
	s.Missed(config, true, merchant.ShopGuessBurst-1)
	a := s.want(200, "", "redeem", redeem(g.Code, "30", uuid.NewString()))
	s.want(404, refused("GIFT_CARD_NOT_FOUND"), "redeem", redeem(g.Code, "10.01", uuid.NewString()))
	s.want(200, `"remainingBalance":10.00`, "redeem", redeem(g.Code, "10", uuid.NewString()))
	s.want(403, "", "void", void(a["transactionId"])) // which the set-up does not permit
	s.want(200, `"balance":10.00`, "balance", code(g.Code))
	s.want(404, refused("GIFT_CARD_NOT_FOUND"), "balance", code("999990000007")) // the last one that may be wrong
	s.want(404, refused("GIFT_CARD_NOT_FOUND"), "balance", code(g.Code))
	if !strings.Contains(s.Service.Log.String(), `"code":"RATE_LIMITED"`) {
		t.Error("the guesses were not limited")
	}
}

// TestALimitedSiteLooksNoCardUp: once too many wrong codes were tried, no method looks a card up, whether there is one
// or not. An order that was paid before is told so, and voided, all the same.
func TestALimitedSiteLooksNoCardUp(t *testing.T) {
	t.Parallel()
	s := open(t)
	g, later, order := s.Gift("50"), s.Gift("50"), uuid.NewString()
	paid := s.want(200, `"remainingBalance":40.00`, "redeem", redeem(g.Code, "10", order))
	s.Missed(config, true, merchant.ShopGuessBurst)
	for s.send("balance", s.token(code(g.Code), nil)).Status == 200 { // the service reads the count again after a moment
	}
	requests := map[string]func(string) string{"balance": code,
		"redeem": func(c string) string { return redeem(c, "5", order) }, "void": func(c string) string { return void(c) }}
	for _, method := range wix.Methods() {
		request := requests[method]
		if request == nil {
			t.Fatalf("say what %s asks for", method)
		}
		for _, code := range []string{later.Code, s.OthersGift("5").Code, "999990000008"} {
			s.NoLookUp(method, func() { s.want(404, "NOT_FOUND", method, request(code)) })
		}
	}
	s.NoLookUp("what was done", func() {
		s.want(200, `"remainingBalance":40.00`, "redeem", redeem(g.Code, "10", strings.ToUpper(order)))
		s.want(200, `"remainingBalance":50.00`, "void", void(paid["transactionId"]))
	})
	s.Verify()
}

// TestNineErrors produces each of Wix's errors.
func TestNineErrors(t *testing.T) {
	t.Parallel()
	s := open(t)
	g, blocked, order := s.Gift("10"), s.Gift("10"), uuid.NewString()
	s.API("gifting/block-gift", `{"voucherID":"`+blocked.ID+`","reasonCode":"LOST"}`)
	card := s.Stock(1, "")[0]
	for _, c := range []struct {
		status               int
		code, method, asking string
	}{
		{404, "GIFT_CARD_NOT_FOUND", "balance", code("ABCDEFGH")},
		{404, "GIFT_CARD_NOT_FOUND", "balance", code("000000000000")},
		{404, "GIFT_CARD_NOT_FOUND", "redeem", redeem("ABCDEFGH", "1", order)},
		{428, "GIFT_CARD_DISABLED", "balance", code(blocked.Code)},
		{428, "GIFT_CARD_DISABLED", "balance", code(card.Code)},
		{428, "GIFT_CARD_DISABLED", "redeem", redeem(blocked.Code, "1", order)},
		{428, "INSUFFICIENT_FUNDS", "redeem", redeem(g.Code, "10.01", order)},
		{428, "MISSING_CURRENCY", "redeem", `{"code":"` + g.Code + `","amount":1,"orderId":"` + order + `"}`},
		{400, "CURRENCY_NOT_SUPPORTED", "redeem", strings.Replace(redeem(g.Code, "1", order), "USD", "EUR", 1)},
		{404, "TRANSACTION_NOT_FOUND", "void", void(order)},
		{404, "TRANSACTION_NOT_FOUND", "void", void(order + ":" + g.ID)},
	} {
		s.want(c.status, refused(c.code), c.method, c.asking)
	}
	// what is no call of Wix's
	for _, asking := range []string{redeem(g.Code, "0", order), redeem(g.Code, "-1", order),
		redeem(g.Code, "1.001", order),
		redeem(g.Code, `"one"`, order), redeem(g.Code, "1e400", order), redeem(g.Code, "1", "order"), `{"code":7}`} {
		s.want(400, "", "redeem", asking)
	}
	s.want(404, "", "refund", code(g.Code))
	s.want(200, `"balance":10.00`, "balance", code(g.Code))
}

// TestTokens: nothing is answered to what Wix did not sign for this provider, now.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("10")
	request := code(g.Code)
	hour := time.Now().Add(-time.Hour)
	for name, change := range map[string]func(jwt.MapClaims){
		"another issuer":   func(c jwt.MapClaims) { c["iss"] = "wix.example" },
		"another app":      func(c jwt.MapClaims) { c["aud"] = "c3a7e0d4-0000-4000-8000-00000000a992" },
		"expired":          func(c jwt.MapClaims) { c["exp"] = hour.Unix() },
		"no end":           func(c jwt.MapClaims) { delete(c, "exp") },
		"not valid yet":    func(c jwt.MapClaims) { c["nbf"] = time.Now().Add(time.Hour).Unix() },
		"of tomorrow":      func(c jwt.MapClaims) { c["iat"] = time.Now().Add(time.Hour).Unix() },
		"without a claim":  func(c jwt.MapClaims) { delete(c, "data") },
		"without audience": func(c jwt.MapClaims) { delete(c, "aud") },
	} {
		if a := s.send("balance", s.token(request, change)); a.Status != http.StatusUnauthorized || a.Body != "" {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	near := func(c jwt.MapClaims) { c["iat"] = time.Now().Add(30 * time.Second).Unix() }
	if a := s.send("balance", s.token(request, near)); a.Status != 200 {
		t.Errorf("a clock that is ahead by half a minute: %d", a.Status)
	}
	if a := s.send("balance", s.token(request, func(c jwt.MapClaims) { c["aud"] = []string{"x", app} })); a.Status != 200 {
		t.Errorf("one of two audiences: %d", a.Status)
	}
}

// TestBrokenTexts: a text that is no UTF-8, in a token that Wix signed, refuses no call that is not about it, and is
// never taken for a token of somebody else's. A name that is there twice is refused.
func TestBrokenTexts(t *testing.T) {
	t.Parallel()
	s := open(t)
	g, order := s.Gift("50"), uuid.NewString()
	more := func(request, members string) string { return "{" + members + "," + request[1:] }
	for _, broken := range []string{`"pin":"\ud83d"`, `"pin":"\ude00"`, "\"pin\":\"\xff\"", `"note":{"by":["Ann \ud83d"]}`,
		`"\ud83d":1`} {
		s.want(200, `"balance":`, "balance", more(code(g.Code), broken))
		a := s.want(200, "remainingBalance", "redeem", more(redeem(g.Code, "1", order), broken))
		if again := s.want(200, "", "redeem", redeem(g.Code, "1", order)); again["transactionId"] != a["transactionId"] {
			t.Errorf("%s: another redemption", broken)
		}
	}
	s.want(200, `"remainingBalance":50.00`, "void", more(void(order+":"+g.ID), `"reason":"\ud83d"`))
	s.want(404, refused("GIFT_CARD_NOT_FOUND"), "balance", code(g.Code+`\ud83d`))
	for _, twice := range []string{`"code":"` + g.Code + `"`, `"a":1,"a":1`, "\"\xff\":1,\"\xff\":1"} {
		if a := s.send("balance", s.token(more(code(g.Code), twice), nil)); a.Status/100 != 4 {
			t.Errorf("%s: %d %s", twice, a.Status, a.Body)
		}
	}
}

// TestForgedTokens: the algorithm is fixed, and another's key signs nothing.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("10")
	good := s.token(code(g.Code), nil)
	parsed, _, err := jwt.NewParser().ParseUnverified(good, jwt.MapClaims{})
	if err != nil {
		t.Fatal(err)
	}
	claims := maps.Clone(parsed.Claims.(jwt.MapClaims))
	sign := func(m jwt.SigningMethod, key any) string {
		token, err := jwt.NewWithClaims(m, claims).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	named := jwt.NewWithClaims(jwt.SigningMethodRS256, claims) // by a key that the token itself brings, or names
	n, e := keys()[1].N, big.NewInt(int64(keys()[1].E))
	named.Header["kid"], named.Header["jku"] = "../../../dev/null", "http://127.0.0.1/keys"
	named.Header["jwk"] = map[string]string{"kty": "RSA", "n": base64.RawURLEncoding.EncodeToString(n.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(e.Bytes())}
	brought, err := named.SignedString(keys()[1])
	if err != nil {
		t.Fatal(err)
	}
	critical := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	critical.Header["crit"], critical.Header["b64"] = []string{"b64"}, true
	unknown, err := critical.SignedString(keys()[0])
	if err != nil {
		t.Fatal(err)
	}
	text := func(claim string) string {
		return s.token(code(g.Code), func(c jwt.MapClaims) {
			c[claim] = fmt.Sprint(time.Now().Add(map[bool]time.Duration{true: time.Minute}[claim == "exp"]).Unix())
		})
	}
	other := strings.Split(s.token(code("000000000000"), nil), ".")
	parts := strings.Split(good, ".")
	for name, token := range map[string]string{
		"none":                             sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType),
		"the key as secret":                sign(jwt.SigningMethodHS256, []byte(publicPEM(keys()[0]))),
		"PS256":                            sign(jwt.SigningMethodPS256, keys()[0]),
		"another's key":                    sign(jwt.SigningMethodRS256, keys()[1]),
		"its own key":                      brought,
		"another's body":                   parts[0] + "." + other[1] + "." + parts[2],
		"no token":                         `{"data":{"request":` + code(g.Code) + `}}`,
		"nothing":                          "",
		"a header that must be understood": unknown,
		"an exp that is a text":            text("exp"),
		"an iat that is a text":            text("iat"),
		"an nbf that is a text":            text("nbf"),
	} {
		if a := s.send("balance", token); a.Status != http.StatusUnauthorized || a.Body != "" {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

// TestThief: a site can undo only what it took itself, with the merchant's own provider, where it stands.
func TestThief(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("50")
	a := s.want(200, "", "redeem", redeem(g.Code, "20", uuid.NewString()))
	b := s.API("redemption/redeem-gift", `{"voucherID":"`+g.ID+`","amount":5,"organizationID":"`+providertest.Pier+`"}`)
	s.want(404, refused("TRANSACTION_NOT_FOUND"), "void", void(b["redemptionID"]))
	wharf := &site{s.Shop, config, app, wharfSite}
	wharf.want(404, refused("TRANSACTION_NOT_FOUND"), "void", void(a["transactionId"]))
	corner := &site{s.Shop, others, app + "-2", cornerSite}
	corner.want(404, refused("TRANSACTION_NOT_FOUND"), "void", void(a["transactionId"]))
	corner.want(404, refused("GIFT_CARD_NOT_FOUND"), "balance", code(g.Code))
	theirs := s.OthersGift("9")
	s.want(404, refused("GIFT_CARD_NOT_FOUND"), "redeem", redeem(theirs.Code, "1", uuid.NewString()))
	corner.want(200, `"balance":9.00`, "balance", code(theirs.Code))
	// a token of one provider, or for one method, at another's
	if a := (&site{s.Shop, others, app, pierSite}).send("balance", s.token(code(g.Code), nil)); a.Status != 401 {
		t.Errorf("another provider took the token: %d %s", a.Status, a.Body)
	}
	unknown := &site{s.Shop, config, app, unknownSite}
	if a := unknown.send("balance", unknown.token(code(g.Code), nil)); a.Status != 403 {
		t.Errorf("an unknown site: %d %s", a.Status, a.Body)
	}
	for _, method := range []string{"redeem", "void"} {
		if a := s.send(method, s.token(code(g.Code), nil)); a.Status == 200 {
			t.Errorf("a token for balance was taken by %s: %s", method, a.Body)
		}
	}
	s.want(200, `"balance":25.00`, "balance", code(g.Code))
	// the account's own keys can say any printable key, and never meet those of the site
	transaction := fmt.Sprint(a["transactionId"])
	if got := s.Call("GET", "/api/integration/requests/"+transaction, "", "Authorization",
		"boon_test_demo_only_harbor_coffee_head_office"); got.Status != 404 {
		t.Errorf("a key of the account is told of the site's calls: %s", got.Body)
	}
}

// TestNetworks: a set-up may say where Wix calls from; a token that comes from elsewhere is refused.
func TestNetworks(t *testing.T) {
	t.Parallel()
	for networks, status := range map[string]int{"203.0.113.0/24": 403, "127.0.0.0/8": 200} {
		from := bytes.Replace(setUp(), []byte("permissions:"), []byte("networks: ["+networks+"], permissions:"), 1)
		s := &site{providertest.Open(t, server.Config{}, from), config, app, pierSite}
		if a := s.send("balance", s.token(code(s.Gift("10").Code), nil)); a.Status != status {
			t.Errorf("%s: %d %s, want %d", networks, a.Status, a.Body, status)
		}
	}
}

// TestEvents: each change is one event under the provider's name; what is repeated or refused is none.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := open(t)
	g, order := s.Gift("50"), uuid.NewString()
	a := s.want(200, "", "redeem", redeem(g.Code, "20", order))
	s.want(200, "", "redeem", redeem(g.Code, "20", order))
	s.want(428, refused("INSUFFICIENT_FUNDS"), "redeem", redeem(g.Code, "31", uuid.NewString()))
	s.want(200, "", "void", void(a["transactionId"]))
	s.want(409, refused("ALREADY_VOIDED"), "void", void(a["transactionId"]))
	s.WantEvents(g.ID, 1, "gift.redeemed Wix", "gift.redemption_reversed Wix")
}

// TestSpellings: a guest types the code as the mail shows it.
func TestSpellings(t *testing.T) {
	t.Parallel()
	s := open(t)
	g := s.Gift("50")
	for _, typed := range providertest.Spellings(g.Code) {
		s.want(200, `{"balance":50.00,"currencyCode":"USD"}`, "balance", code(typed))
	}
}
