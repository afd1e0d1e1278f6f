// Package google makes gifts passes of Google Wallet. Google keeps each pass as an object, which a service account of
// the merchant writes; a guest saves it by a link that names the object and nothing else.
package google

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"boon.example/internal/base/phrase"
)

// Account is a service account of Google, which acts for a merchant.
type Account struct {
	Email string // by which Google knows it
	keyID string
	key   *rsa.PrivateKey
}

// file is what a file of a service account has that matters.
type file struct {
	Type  string `json:"type"`
	Email string `json:"client_email"`
	KeyID string `json:"private_key_id"`
	Key   string `json:"private_key"`
}

// serviceAccount is the type that the file says.
const serviceAccount = "service_account"

// ReadAccount reads the JSON file of a service account, as Google gives it, and keeps of it what is needed, as JSON.
// The error is a sentence, and tells nothing of the key. Addresses in the file are of no account: Google's are known.
func ReadAccount(text []byte) (kept string, err error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return "", phrase.New("This is no JSON file of a service account. Make one at Google Cloud, under IAM, Service " +
			"Accounts, Keys.")
	}
	if f.Type != serviceAccount || !strings.Contains(f.Email, "@") || f.KeyID == "" {
		return "", phrase.New("This is no file of a service account: such a file has the type service_account, a " +
			"client_email, a private_key_id and a private_key.")
	}
	if _, err := keyOf(f.Key); err != nil {
		return "", err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return "", errors.New("This file of a service account cannot be read.")
	}
	return strings.TrimSpace(b.String()), nil
}

// The bits of a key: Google's have 2,048. To check a key takes time that grows much faster than its length.
const (
	minBits, maxBits = 2048, 4096
	maxKey           = 5_000 // bytes
)

func keyOf(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "PRIVATE KEY" || len(block.Bytes) > maxKey {
		return nil, phrase.New("The private_key of this service account cannot be read; take the file as Google gave it.")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok || key.N.BitLen() < minBits || key.N.BitLen() > maxBits {
		return nil, phrase.New("The private_key of this service account is no RSA key of 2,048 to 4,096 bits; take the " +
			"file as Google gave it.")
	}
	return key, nil
}

// NewAccount makes an account of what ReadAccount kept. The error is a sentence.
func NewAccount(kept string) (*Account, error) {
	var f file
	if err := json.Unmarshal([]byte(kept), &f); err != nil {
		return nil, phrase.New("The service account cannot be read; apply its file again.")
	}
	key, err := keyOf(f.Key)
	if err != nil {
		return nil, err
	}
	return &Account{Email: f.Email, keyID: f.KeyID, key: key}, nil
}

// CheckIssuer says what is wrong with the digits by which Google knows a merchant: they stand in addresses.
func CheckIssuer(digits string) error {
	if digits == "" || len(digits) > 25 || strings.Trim(digits, "0123456789") != "" {
		return phrase.New("This must be the issuer ID of the Google Pay & Wallet Console: up to 25 digits, such as " +
			"3388000000012345678.")
	}
	return nil
}

// sign makes a JSON Web Token (RFC 7519) of claims, by RS256.
func (a *Account) sign(claims any) (string, error) {
	head, err := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": a.keyID})
	if err != nil {
		return "", fmt.Errorf("signing for Google: %w", err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("signing for Google: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body)
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, a.key, crypto.SHA256, digest[:])
	if err != nil {
		return "", fmt.Errorf("signing for Google: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// saveAddress begins the link by which a guest saves a pass.
const saveAddress = "https://pay.google.com/gp/v/save/"

// SaveURL is the link by which a guest saves the object of a gift to Google Wallet. It names the object and its
// class: nothing of the gift is in it.
func (a *Account) SaveURL(object, class string) (string, error) {
	type named struct {
		ID    string `json:"id"`
		Class string `json:"classId"`
	}
	token, err := a.sign(struct {
		Issuer   string   `json:"iss"`
		Audience string   `json:"aud"`
		Type     string   `json:"typ"`
		Origins  []string `json:"origins"`
		Payload  struct {
			Objects []named `json:"giftCardObjects"`
		} `json:"payload"`
	}{a.Email, "google", "savetowallet", []string{}, struct {
		Objects []named `json:"giftCardObjects"`
	}{[]named{{object, class}}}})
	if err != nil {
		return "", err
	}
	return saveAddress + token, nil
}
