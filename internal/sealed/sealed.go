// Package sealed keeps voucher codes and tokens secret at rest: a keyed hash (HMAC-SHA-256) finds them, AES-256-GCM
// shows them to whoever may see them. The keys lie in a file of their own, outside the database, so that a stolen copy
// of the database or of a backup redeems nothing: a 12-digit code under a plain hash would be found by trying all of
// them.
//
// Everything that it makes begins with one byte that names the key it was made with, so that keys can be rotated
// without touching what is there. It knows no database and no file but its own.
package sealed

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"sync"
	"sync/atomic"

	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
)

// HashSize is the length of a CodeHash, TokenHash and AddressHash: the key's id and an HMAC-SHA-256.
const HashSize = 1 + sha256.Size

// Keys are the keys of one installation. They are safe for concurrent use, also while they are read anew.
type Keys struct {
	from Place // to be read again; no path: nowhere
	ring atomic.Pointer[ring]
}

// ring is what a key file held at one moment. It never changes.
type ring struct {
	byID    map[byte]*version
	current *version // what new hashes and ciphertexts are made with
}

// version is one generation of keys.
type version struct {
	id          byte
	name        string    // tells keys apart that have the same id, and is no secret
	macs        sync.Pool // of HMACs under the key that finds
	fingerprint []byte
	chain       []byte      // derived from the same key, in a domain of its own
	cursor      []byte      // likewise
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
	v := &version{id: id, fingerprint: fingerprint, seal: aead}
	v.macs.New = func() any { return hmac.New(sha256.New, lookup) }
	v.chain = v.hash("chain", "")[1:]
	v.cursor = v.hash("cursor", "")[1:]
	// Over all three parts, so that files are told apart that differ in one of them.
	v.name = hex.EncodeToString(v.hash("name", string(seal)+string(fingerprint))[1:9])
	return v, nil
}

// hash is the key's id and the HMAC of text in a domain. A domain never contains the zero byte that ends it.
func (k *Keys) hash(domain, text string) []byte { return k.ring.Load().current.hash(domain, text) }

func (v *version) hash(domain, text string) []byte {
	mac := v.macs.Get().(hash.Hash)
	defer v.macs.Put(mac)
	mac.Reset()
	mac.Write([]byte(domain + "\x00" + text))
	return mac.Sum(append(make([]byte, 0, HashSize), v.id))
}

// hashes are those that text can have been given: with every key, the current one first.
func (k *Keys) hashes(domain, text string) [][]byte {
	r := k.ring.Load()
	all := make([][]byte, 1, len(r.byID))
	all[0] = r.current.hash(domain, text)
	for _, v := range r.byID {
		if v != r.current {
			all = append(all, v.hash(domain, text))
		}
	}
	return all
}

// CodeHash is what a new voucher code will be found by.
func (k *Keys) CodeHash(c codes.VoucherCode) []byte {
	s := c.Spellings()[0]
	return k.hash(s.Domain, s.Text)
}

// CodeHashes are what a voucher code is found by, whichever key it was made with; the likeliest comes first. Those of a
// code that was typed are of all its spellings.
func (k *Keys) CodeHashes(c codes.VoucherCode) (all [][]byte) {
	for _, s := range c.Spellings() {
		all = append(all, k.hashes(s.Domain, s.Text)...)
	}
	return all
}

// TokenHashes are the same of a token.
func (k *Keys) TokenHashes(t codes.Token) [][]byte { return k.hashes("token", t.Reveal()) }

// TokenHash is what a new token will be found by. It shares no value with any CodeHash.
func (k *Keys) TokenHash(t codes.Token) []byte { return k.hash("token", t.Reveal()) }

// ActivationHash is what a card of a stock of an account will be found by when it is sold: it shares no value with any
// CodeHash, also where the account has codes of other systems with as many digits. ActivationHashes are those that it
// can have been given: with every key, the current one first.
func (k *Keys) ActivationHash(account guid.ID, c codes.ActivationCode) []byte {
	return k.hash("activation", string(account[:])+c.Reveal())
}

// ActivationHashes see ActivationHash.
func (k *Keys) ActivationHashes(account guid.ID, c codes.ActivationCode) [][]byte {
	return k.hashes("activation", string(account[:])+c.Reveal())
}

// SheetHash is what the link to an order's printed sheet will be found by, and SheetHashes are what it can have been
// noted under.
func (k *Keys) SheetHash(t codes.Token) []byte { return k.hash("sheet", t.Reveal()) }

// SheetHashes are the hashes of a link, with every key.
func (k *Keys) SheetHashes(t codes.Token) [][]byte { return k.hashes("sheet", t.Reveal()) }

// StaffHash is what the token of an invitation to the console, or of a session there, will be found by; StaffHashes are
// what it can have been noted under.
func (k *Keys) StaffHash(token string) []byte { return k.hash("staff", token) }

// StaffHashes are the hashes of such a token, with every key.
func (k *Keys) StaffHashes(token string) [][]byte { return k.hashes("staff", token) }

// GuestHash is what the token of a guest's link or session will be found by; GuestHashes are what it can have been
// noted under.
func (k *Keys) GuestHash(token string) []byte { return k.hash("guest", token) }

// GuestHashes are the hashes of such a token, with every key.
func (k *Keys) GuestHashes(token string) [][]byte { return k.hashes("guest", token) }

// passProof is the length of what proves a pass: the key's id, and 128 bits of the HMAC.
const passProof = 17

// PassProof proves later that this text was written into a pass by whoever has the key file. It is kept nowhere.
func (k *Keys) PassProof(text string) []byte { return k.hash("pass", text)[:passProof] }

// PassProven reports whether proof is what PassProof made of a text, with whichever key. The error is ErrUnknownKey.
func (k *Keys) PassProven(proof []byte, text string) (bool, error) {
	if len(proof) != passProof {
		return false, nil
	}
	v, err := k.version(proof[0])
	if err != nil {
		return false, err
	}
	return hmac.Equal(v.hash("pass", text)[:passProof], proof), nil
}

// searchSize is the length of a SearchHash: the key's id, and enough of the HMAC to tell what people look for apart.
const searchSize = 12

// SearchHash is what a gift of an account is found by beside its code: its first byte is the key's id.
func (k *Keys) SearchHash(account guid.ID, text string) []byte {
	return k.hash("search", string(account[:])+text)[:searchSize]
}

// SearchHashes are those that it can have been given: with every key, the current one first.
func (k *Keys) SearchHashes(account guid.ID, text string) [][]byte {
	all := k.hashes("search", string(account[:])+text)
	for i := range all {
		all[i] = all[i][:searchSize]
	}
	return all
}

// AddressHash is what a client address is counted under, so that no address needs to be kept.
func (k *Keys) AddressHash(address string) []byte { return k.hash("address", address) }

// ContactHash is what messages to a contact are counted under, of an account or a key, so that no contact needs to be
// kept.
func (k *Keys) ContactHash(owner guid.ID, contact string) []byte {
	return k.hash("contact", owner.String()+" "+contact)
}

// ContactHashes are those that it can have been given: with every key.
func (k *Keys) ContactHashes(owner guid.ID, contact string) [][]byte {
	return k.hashes("contact", owner.String()+" "+contact)
}

// SignIn proves later that this text was proven to be true once: who signed in, where, and until when.
func (k *Keys) SignIn(text string) []byte { return k.hash("sign-in", text) }

// SignedIn reports whether proof is what SignIn made of a text, with whichever key.
func (k *Keys) SignedIn(proof []byte, text string) bool {
	return slices.ContainsFunc(k.hashes("sign-in", text), func(is []byte) bool { return hmac.Equal(is, proof) })
}

// Fingerprint is a keyed hash of a request, by which a repeat is told from another request. Keyed, because a request
// can hold a voucher code. Its first byte is the key's id.
func (k *Keys) Fingerprint(request []byte) [32]byte { return k.ring.Load().current.print(request) }

func (v *version) print(request []byte) (f [32]byte) {
	mac := hmac.New(sha256.New, v.fingerprint)
	mac.Write(request)
	f[0] = v.id
	copy(f[1:], mac.Sum(nil))
	return f
}

// Fingerprinted tells whether a fingerprint is that of a request, with whichever key it was made. The error is
// ErrUnknownKey.
func (k *Keys) Fingerprinted(f [32]byte, request []byte) (bool, error) {
	v, err := k.version(f[0])
	if err != nil {
		return false, err
	}
	is := v.print(request)
	return hmac.Equal(is[:], f[:]), nil
}

// version is the key with an id. When it is not known, the file may have been given it since.
func (k *Keys) version(id byte) (*version, error) {
	if v := k.ring.Load().byID[id]; v != nil {
		return v, nil
	}
	if err := k.Reload(); err != nil {
		return nil, fmt.Errorf("%w: key %d: %w", ErrUnknownKey, id, err)
	}
	if v := k.ring.Load().byID[id]; v != nil {
		return v, nil
	}
	return nil, fmt.Errorf("%w: key %d is not in %s; copy the key file of the instance on which `boon key-file rotate` "+
		"ran to it",
		ErrUnknownKey, id, cmp.Or(k.from.Path, "the key file"))
}

// Seal encrypts plain. It can be opened with the same boundTo only: what is sealed for one record is of no use in
// another.
func (k *Keys) Seal(plain, boundTo []byte) []byte {
	return k.ring.Load().current.sealed(plain, boundTo)
}

func (v *version) sealed(plain, boundTo []byte) []byte {
	return v.seal.Seal([]byte{v.id}, nil, plain, boundTo)
}

// SealWith is Seal with the key of this id. The error is ErrUnknownKey.
func (k *Keys) SealWith(id byte, plain, boundTo []byte) ([]byte, error) {
	v, err := k.version(id)
	if err != nil {
		return nil, err
	}
	return v.sealed(plain, boundTo), nil
}

// SealOnce is Seal for what there is without end: each record has a key of its own, derived from its name, so that no
// key ever sees too many messages, and those of codes see none of these. A domain never contains the zero byte.
func (k *Keys) SealOnce(domain string, plain, record []byte) []byte {
	v := k.ring.Load().current
	return v.once(domain, record).Seal([]byte{v.id}, nil, plain, record)
}

// OpenOnce decrypts what SealOnce made; it fails as Open does.
func (k *Keys) OpenOnce(domain string, sealed, record []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, ErrTampered
	}
	v, err := k.version(sealed[0])
	if err != nil {
		return nil, fmt.Errorf("a sealed value does not open: %w", err)
	}
	plain, err := v.once(domain, record).Open(nil, nil, sealed[1:], record)
	if err != nil {
		return nil, ErrTampered
	}
	return plain, nil
}

// once is the cipher of a record.
func (v *version) once(domain string, record []byte) cipher.AEAD {
	block, err := aes.NewCipher(v.hash("once "+domain, string(record))[1:])
	if err != nil {
		panic(err) // the key has the right length
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // likewise
	}
	return aead
}

// ErrUnknownKey tells that something was made with a key that this key file lacks. Other instances may have it.
var ErrUnknownKey = errors.New("the key file lacks a key")

// ErrTampered tells that something does not open with the key that it names.
var ErrTampered = errors.New("a sealed value does not open: it was changed, moved to another record, or sealed with " +
	"other keys")

// Open decrypts what Seal made. It fails when the value was changed, when it was sealed for another record, and when
// its key is not among these.
func (k *Keys) Open(sealed, boundTo []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, ErrTampered
	}
	v, err := k.version(sealed[0])
	if err != nil {
		return nil, fmt.Errorf("a sealed value does not open: %w", err)
	}
	plain, err := v.seal.Open(nil, nil, sealed[1:], boundTo)
	if err != nil {
		return nil, ErrTampered
	}
	return plain, nil
}
