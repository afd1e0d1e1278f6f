// Package pin keeps the PINs of people at tills as argon2id hashes. It knows nothing of gifts.
package pin

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"golang.org/x/crypto/argon2"
)

// A PIN has so many digits.
const (
	Shortest = 4
	Longest  = 8
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

// The reasons why a PIN is refused.
var (
	errDigits = errors.New("a PIN has 4 to 8 digits")
	errEasy   = errors.New("this PIN would be among the first that somebody tries; choose another one")
)

// Check refuses a text that is no PIN, and a PIN that is easily guessed: one digit again and again, digits in a row, a
// pair repeated, a year.
func Check(pin string) error {
	if len(pin) < Shortest || len(pin) > Longest || strings.Trim(pin, "0123456789") != "" {
		return errDigits
	}
	step, evenly := pin[1]-pin[0], true // modulo 256, and for the step of 246 from 9 to 0
	pair := true
	for n := 1; n < len(pin); n++ {
		d := pin[n] - pin[n-1]
		evenly = evenly && (d == step || d-step == 246 || step-d == 246)
		pair = pair && (n < 2 || pin[n] == pin[n-2])
	}
	year := len(pin) == 4 && (strings.HasPrefix(pin, "19") || strings.HasPrefix(pin, "20"))
	if pair || year || evenly && (step <= 1 || step == 255 || step == 247 || step == 9) {
		return errEasy
	}
	return nil
}

// Hash makes the hash of a PIN, in the format of the argon2 tools.
func Hash(pin string) (string, error) {
	if err := Check(pin); err != nil {
		return "", err
	}
	drawn := make([]byte, salt)
	rand.Read(drawn) // never fails
	return encode(drawn, derive(pin, drawn)), nil
}

// Draw draws a PIN of six digits for somebody's first sign-in.
func Draw() string {
	for {
		n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
		if err != nil {
			panic(err) // it never fails
		}
		if drawn := fmt.Sprintf("%06d", n); Check(drawn) == nil {
			return drawn
		}
	}
}

func encode(salt, hash []byte) string {
	text := base64.RawStdEncoding.EncodeToString
	return prefix + text(salt) + "$" + text(hash)
}

func derive(pin string, salt []byte) []byte {
	return argon2.IDKey([]byte(pin), salt, passes, memory, lanes, size)
}

// Valid reports whether text is a hash as Hash makes them.
func Valid(text string) bool {
	_, _, ok := split(text)
	return ok
}

// Is reports whether a hash is that of a PIN. It takes 19 MiB and some hundredths of a second.
func Is(hash, pin string) bool {
	salt, want, ok := split(hash)
	return ok && len(pin) <= Longest && subtle.ConstantTimeCompare(derive(pin, salt), want) == 1
}

func split(text string) (drawn, hash []byte, ok bool) {
	first, second, _ := strings.Cut(strings.TrimPrefix(text, prefix), "$")
	decode := base64.RawStdEncoding.DecodeString
	drawn, err := decode(first)
	hash, err2 := decode(second)
	ok = err == nil && err2 == nil && len(drawn) == salt && len(hash) == size && encode(drawn, hash) == text
	return drawn, hash, ok
}
