package main

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/go-jose/go-jose/v4"
)

const saleorID = "0199a000-0000-7000-8000-000000010014"

// saleorShop is a shop of Saleor: it tells the key by which it signs its events.
type saleorShop struct {
	server *httptest.Server
	signer jose.Signer
}

func openSaleorShop() (*saleorShop, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "shop"}},
		new(jose.SignerOptions).WithBase64(false))
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "shop",
			Algorithm: "RS256", Use: "sig"}}}) // a cut answer makes the service refuse every event
	}))
	return &saleorShop{server, signer}, nil
}

// event is one in which a guest typed a code, signed.
func (s *saleorShop) event(kind, code string) question {
	body := fmt.Sprintf(`{"__typename":%q,"idempotencyKey":%q,"data":{"code":%q},`+
		`"action":{"amount":1,"currency":"USD","actionType":"AUTHORIZATION"},`+
		`"sourceObject":{"id":"1","channel":{"slug":"web"}},"transaction":{"id":%[2]q}}`, kind, rand.Text(), code)
	signed, err := s.signer.Sign([]byte(body))
	if err != nil { // by a key that was made for this
		panic(err)
	}
	signature, err := signed.DetachedCompactSerialize()
	if err != nil {
		panic(err)
	}
	return question{method: http.MethodPost, path: "/providers/saleor/" + saleorID + "/webhook", body: body,
		says: "AUTHORIZATION_FAILURE", headers: "Saleor-Signature: " + signature + "\r\n"}
}
