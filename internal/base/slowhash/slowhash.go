// Package slowhash makes hashes of what people type to prove who they are, with argon2id. Each takes 19 MiB and some
// hundredths of a second: whoever calls it shares out how many are made at once.
package slowhash

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"golang.org/x/crypto/argon2"
)

// What a hash costs: the second choice of RFC 9106 with less memory, as OWASP names it. Hashes of other costs are
// refused, so that no set-up can make the service spend more.
const (
	memory = 19 * 1024 // KiB
	passes = 2
	lanes  = 1
	size   = 32 // bytes of the hash
	salt   = 16
	prefix = "$argon2id$v=19$m=19456,t=2,p=1$"
)

// Make makes the hash of a text, in the format of the argon2 tools.
func Make(text string) string {
	drawn := make([]byte, salt)
	rand.Read(drawn) // never fails
	return join(drawn, derive(text, drawn))
}

func join(salt, hash []byte) string {
	encode := base64.RawStdEncoding.EncodeToString
	return prefix + encode(salt) + "$" + encode(hash)
}

func derive(text string, salt []byte) []byte {
	return argon2.IDKey([]byte(text), salt, passes, memory, lanes, size)
}

// Valid reports whether text is a hash as Make makes them.
func Valid(text string) bool {
	_, _, ok := split(text)
	return ok
}

// Is reports whether a hash is that of a text. What is no hash is refused at once.
func Is(hash, text string) bool {
	salt, want, ok := split(hash)
	return ok && subtle.ConstantTimeCompare(derive(text, salt), want) == 1
}

func split(text string) (drawn, hash []byte, ok bool) {
	first, second, _ := strings.Cut(strings.TrimPrefix(text, prefix), "$")
	decode := base64.RawStdEncoding.DecodeString
	drawn, err := decode(first)
	hash, err2 := decode(second)
	ok = err == nil && err2 == nil && len(drawn) == salt && len(hash) == size && join(drawn, hash) == text
	return drawn, hash, ok
}
