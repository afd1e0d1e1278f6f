// Package publickey reads the public keys that verify the tokens of platforms.
package publickey

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	"boon.example/internal/base/phrase"
)

// minKeyBits is how long the key of a platform must be at least.
const minKeyBits = 2048

// Read takes the key out of a PEM block that verifies a platform's tokens. The error is a sentence.
func Read(text string) ([]byte, error) {
	block, rest := pem.Decode([]byte(text))
	if block == nil || block.Type != "PUBLIC KEY" || strings.TrimSpace(string(rest)) != "" {
		return nil, phrase.New("This is not a public key in PEM form, from -----BEGIN PUBLIC KEY----- to its end.")
	}
	if _, err := Parse(block.Bytes); err != nil {
		return nil, phrase.New("This is not an RSA public key of at least %d bits.", minKeyBits)
	}
	return block.Bytes, nil
}

// Parse gives the key from what Read gave.
func Parse(pkix []byte) (*rsa.PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(pkix)
	if key, ok := parsed.(*rsa.PublicKey); ok && key.N.BitLen() >= minKeyBits {
		return key, nil
	}
	return nil, fmt.Errorf("no RSA public key: %w", err)
}
