package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"boon.example/internal/merchant"
)

// The platforms' side of the set-up.
const (
	toastID     = "0199a000-0000-7000-8000-000000010011"
	toastSecret = "5f0cda7e9b1c4d3280aa6f9e1b7c2d41-toast"
	wixID       = "0199a000-0000-7000-8000-000000010012"
	wixApp      = "c3a7e0d4-0000-4000-8000-00000000a991"
	vtexID      = "0199a000-0000-7000-8000-000000010013"
	vtexApp     = "vtexappkey-timing"
	vtexSecret  = "5f0cda7e9b1c4d3280aa6f9e1b7c2d41-vtex"
)

// newWixKey makes the key that Wix signs with, and its public part as PEM.
func newWixKey() (key *rsa.PrivateKey, public string, err error) {
	if key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		return nil, "", err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), err
}

// way is one in which whoever has guessed too often can go on asking about codes.
type way struct {
	name string
	call call // of a platform
	of   func(code string) question
}

// call names a call of a platform, as Calls of the platform's package does.
type call struct {
	platform merchant.Platform
	name     string
}

// The operations of tills that take a code.
var tillBodies = map[string]string{
	"validate-gift": "", "redeem-gift": `,"amount":1`, "hold-gift": `,"amount":1`, "cash-out-gift": "",
	"activate-gift": `,"amount":5,` + paid, "reload-gift": `,"amount":5,` + paid,
}

const (
	redemption = "/api/integration/redemption/"
	paid       = `"paymentMethodID":2,"externalTransactionReferenceNumber":"r","externalTransactionCustomerFirstName":"A",` +
		`"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",` +
		`"externalStorefrontID":"` + web + `"`
)

// undoings are the operations that undo by an Idempotency-Key and a code, and the key with which that was done.
var undoings = map[string]string{"reverse-redemption": "used", "release-hold": "used", "reverse-reload": "used",
	"reverse-activation": "used"}

// ways are all of them: every operation that takes a code, which TestEveryOperationWithACodeIsAWay holds to the OpenAPI
// file, and every call of a platform that does.
func (w *world) ways() (all []way) {
	for operation, more := range tillBodies {
		all = append(all, way{name: operation, of: func(code string) question {
			return question{key: guesserKey, method: http.MethodPost, path: redemption + operation,
				body: fmt.Sprintf(`{"voucherCode":%q%s}`, code, more), code: "RATE_LIMITED"}
		}})
	}
	all = append(all, way{name: "redeem-gifts", of: func(code string) question {
		return question{key: guesserKey, method: http.MethodPost, path: redemption + "redeem-gifts",
			body: fmt.Sprintf(`{"gifts":[{"voucherCode":%q,"amount":1}]}`, code), code: "RATE_LIMITED"}
	}})
	for operation, key := range undoings {
		all = append(all, way{name: operation, of: func(code string) question {
			return question{key: guesserKey, method: http.MethodPost, path: redemption + operation,
				body: fmt.Sprintf(`{"idempotencyKey":%q,"voucherCode":%q}`, key, code), code: "RATE_LIMITED"}
		}})
	}
	return append(all, w.platforms()...)
}

// platforms are the calls of platforms in which a code stands. TestEveryCallOfAPlatformIsAWay holds them to the tables
// of the platforms' packages.
func (w *world) platforms() (all []way) {
	for kind, k := range toastKinds {
		all = append(all, way{"Toast's " + kind, call{merchant.Toast, kind},
			func(code string) question { return toast(kind, code, k.more) }})
	}
	for _, method := range []string{"balance", "redeem"} {
		all = append(all, way{"Wix's " + method, call{merchant.Wix, method},
			func(code string) question { return w.wix(method, code) }})
	}
	for _, event := range []string{"TransactionInitializeSession", "TransactionProcessSession"} {
		all = append(all, way{"Saleor's " + event, call{merchant.Saleor, event},
			func(code string) question { return w.saleor.event(event, code) }})
	}
	const search = "giftcards/_search"
	return append(all, way{"VTEX's search", call{merchant.VTEX, http.MethodPost + " " + search}, vtexSearch})
}

func vtexSearch(code string) question {
	return question{method: http.MethodPost, path: "/providers/vtex/" + vtexID + "/giftcards/_search",
		body: fmt.Sprintf(`{"cart":{"redemptionCode":%q}}`, code), says: "[]",
		headers: "X-Provider-Api-Appkey: " + vtexApp + "\r\nX-Provider-Api-Apptoken: " + vtexSecret + "\r\n"}
}

// codeless are the calls of platforms in which no code stands, and what stands there.
var codeless = map[call]string{
	{merchant.Saleor, "PaymentGatewayInitializeSession"}:             "nothing of a gift",
	{merchant.Saleor, "TransactionChargeRequested"}:                  "the id of a hold",
	{merchant.Saleor, "TransactionCancelationRequested"}:             "the id of a hold",
	{merchant.Saleor, "TransactionRefundRequested"}:                  "the id of a hold or a redemption",
	{merchant.Wix, "void"}:                                           "the id of a transaction",
	{merchant.VTEX, "POST giftcards"}:                                "nothing: it is refused before its body is read",
	{merchant.VTEX, "GET giftcards/*"}:                               "the gift's id, which the search told",
	{merchant.VTEX, "POST giftcards/*/transactions"}:                 "the gift's id",
	{merchant.VTEX, "GET giftcards/*/transactions"}:                  "the gift's id",
	{merchant.VTEX, "GET giftcards/*/transactions/*"}:                "the ids of the gift and of a transaction",
	{merchant.VTEX, "GET giftcards/*/transactions/*/authorization"}:  "the ids of the gift and of a transaction",
	{merchant.VTEX, "GET giftcards/*/transactions/*/settlements"}:    "the ids of the gift and of a transaction",
	{merchant.VTEX, "POST giftcards/*/transactions/*/settlements"}:   "the ids of the gift and of a transaction",
	{merchant.VTEX, "GET giftcards/*/transactions/*/cancellations"}:  "the ids of the gift and of a transaction",
	{merchant.VTEX, "POST giftcards/*/transactions/*/cancellations"}: "the ids of the gift and of a transaction",
}

// toastKinds are the types of Toast's transactions: the member of the body, and what stands in it beside the code.
var toastKinds = map[string]struct{ member, more string }{
	"GIFTCARD_GET_BALANCE": {"getBalance", ""},
	"GIFTCARD_REDEEM":      {"redeem", `,"redeemedValue":1`},
	"GIFTCARD_REVERSE":     {"reverse", `,"previousTransaction":"none"`},
	"GIFTCARD_ACTIVATE":    {"activate", `,"initialBalance":5`},
	"GIFTCARD_ADD_VALUE":   {"addValue", `,"additionalValue":5`},
}

func toast(kind, code, more string) question {
	return question{key: toastSecret, method: http.MethodPost, path: "/providers/toast/" + toastID,
		body: fmt.Sprintf(`{"%sTransactionInformation":{"giftCardIdentifier":%q%s}}`, toastKinds[kind].member, code, more),
		says: "ERROR_CARD_INVALID",
		headers: "Toast-Transaction-Type: " + kind + "\r\nToast-Transaction-GUID: " + rand.Text() +
			"\r\nToast-Restaurant-External-ID: " + here + "\r\n"}
}

func (w *world) wix(method, code string) question {
	request := fmt.Sprintf(`{"code":%q,"amount":1,"currencyCode":"USD","orderId":%q}`, code, theirs)
	now := time.Now()
	token, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{"iss": "wix.com", "aud": wixApp,
		"iat": now.Unix(), "exp": now.Add(24 * time.Hour).Unix(), "data": map[string]any{
			"request": json.RawMessage(request), "metadata": map[string]string{"instanceId": here}}}).SignedString(w.wixKey)
	if err != nil { // of a key that was made for this
		panic(err)
	}
	return question{method: http.MethodPost, path: "/providers/wix/" + wixID + "/v1/" + method, body: token,
		says: "GIFT_CARD_NOT_FOUND"}
}

// use makes what can be undone by an Idempotency-Key, and then guesses in every way more often than is allowed.
func (w *world) use() error {
	card, err := w.card()
	if err != nil {
		return err
	}
	sold, err := w.sell(shopKey, web, "")
	if err != nil {
		return err
	}
	for operation, id := range map[string]string{"redeem-gift": sold.VoucherID, "hold-gift": sold.VoucherID,
		"reload-gift": sold.VoucherID, "activate-gift": card} {
		_, err := w.done(redemption+operation, "used", fmt.Sprintf(`{"voucherID":%q%s}`, id, tillBodies[operation]))
		if err != nil {
			return err
		}
	}
	const shopGuesses = 1000
	for n := range shopGuesses + 5 {
		code := fmt.Sprintf("%012d", 200_000_000_000+n)
		asked := []question{w.wix("balance", code), vtexSearch(code),
			w.saleor.event("TransactionInitializeSession", code)}
		if n < 25 { // more than a till may guess at once
			asked = append(asked, validate(guesserKey, code, ""), toast("GIFTCARD_GET_BALANCE", code, ""))
		}
		for _, q := range asked {
			if _, err := w.ask(q); err != nil {
				return err
			}
		}
	}
	return nil
}

// card makes a card of a stock.
func (w *world) card() (id string, err error) {
	made, err := w.done("/api/integration/gifting/create-stock", "stock",
		fmt.Sprintf(`{"count":1,"organizationID":%q}`, here))
	if err != nil {
		return "", err
	}
	a, err := w.client.Get(w.server.URL+"/api/integration/gifting/gifts?orderID="+made["orderID"].(string), guesserKey)
	if err != nil {
		return "", err
	}
	var list struct{ Gifts []sold }
	if err := json.Unmarshal(a.Body, &list); err != nil || len(list.Gifts) != 1 {
		return "", fmt.Errorf("the cards of a stock: %d %s %w", a.Status, a.Body, err)
	}
	return list.Gifts[0].VoucherID, nil
}

// done makes a call of the guesser's that succeeds.
func (w *world) done(path, key, body string) (answer map[string]any, err error) {
	a, err := w.client.Post(w.server.URL+path, guesserKey, key, body)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil || a.Code() != "OK" {
		return nil, fmt.Errorf("%s: %d %s %w", path, a.Status, a.Body, err)
	}
	return answer, nil
}
