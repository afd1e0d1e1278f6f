// Package sealed keeps voucher codes and tokens secret at rest: a keyed hash (HMAC-SHA-256) finds them, AES-256-GCM shows
// them to whoever may see them. The keys lie in a file of their own, outside the database, so that a stolen copy of the
// database or of a backup redeems nothing: a 12-digit code under a plain hash would be found by trying all of them.
//
// Everything that it makes begins with one byte that names the key it was made with, so that keys can be rotated without
// touching what is there. It knows no database and no file but its own.
package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"

	"boon.example/internal/gift"
)

// HashSize is the length of a CodeHash, TokenHash and AddressHash: the key's id and an HMAC-SHA-256.
const HashSize = 1 + sha256.Size

// Keys are the keys of one installation. They are safe for concurrent use.
type Keys struct {
	byID    map[byte]*version
	current *version // what new hashes and ciphertexts are made with
}

// version is one generation of keys.
type version struct {
	id          byte
	lookup      []byte
	fingerprint []byte
	seal        cipher.AEAD // with a random nonce of its own making, put before the ciphertext
}

// keySize is the length of each key: 256 bits.
const keySize = 32

func newVersion(id byte, lookup, seal, fingerprint []byte) (*version, error) {
	block, err := aes.NewCipher(seal)
	if err != nil {
		return nil, err
	}
	// A random nonce of 96 bits is safe for 2^32 messages under one key, which is more gifts than one key should see.
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &version{id: id, lookup: lookup, fingerprint: fingerprint, seal: aead}, nil
}

// hash is the key's id and the HMAC of text in a domain. A domain never contains the zero byte that ends it.
func (k *Keys) hash(domain, text string) []byte { return k.current.hash(domain, text) }

func (v *version) hash(domain, text string) []byte {
	mac := hmac.New(sha256.New, v.lookup)
	mac.Write([]byte(domain + "\x00" + text))
	return mac.Sum(append(make([]byte, 0, HashSize), v.id))
}

// CodeHash is what a voucher code is found by.
func (k *Keys) CodeHash(c gift.VoucherCode) []byte { return k.hash("code", c.Reveal()) }

// TokenHash is what a token is found by. It shares no value with any CodeHash.
func (k *Keys) TokenHash(t gift.Token) []byte { return k.hash("token", t.Reveal()) }

// AddressHash is what a client address is counted under, so that no address needs to be kept.
func (k *Keys) AddressHash(address string) []byte { return k.hash("address", address) }

// Fingerprint is a keyed hash of a request, by which a repeat is told from another request. Keyed, because a request can
// hold a voucher code. Its first byte is the key's id.
func (k *Keys) Fingerprint(request []byte) (f [32]byte) {
	mac := hmac.New(sha256.New, k.current.fingerprint)
	mac.Write(request)
	f[0] = k.current.id
	copy(f[1:], mac.Sum(nil))
	return f
}

// Seal encrypts plain. It can be opened with the same boundTo only: what is sealed for one record is of no use in another.
func (k *Keys) Seal(plain, boundTo []byte) []byte {
	v := k.current
	return v.seal.Seal([]byte{v.id}, nil, plain, boundTo)
}

var errTampered = errors.New("a sealed value does not open: it was changed, moved to another record, or sealed with other keys")

// Open decrypts what Seal made. It fails when the value was changed, when it was sealed for another record, and when its
// key is not among these.
func (k *Keys) Open(sealed, boundTo []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, errTampered
	}
	v := k.byID[sealed[0]]
	if v == nil {
		return nil, fmt.Errorf("a sealed value names key %d, which is not in the key file", sealed[0])
	}
	plain, err := v.seal.Open(nil, nil, sealed[1:], boundTo)
	if err != nil {
		return nil, errTampered
	}
	return plain, nil
}
