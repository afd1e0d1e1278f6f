// Package pin keeps the PINs of people at tills as argon2id hashes. It knows nothing of gifts.
package pin

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/base/slowhash"
)

// A PIN has so many digits.
const (
	Shortest = 4
	Longest  = 8
)

// The reasons why a PIN is refused.
var (
	errDigits = phrase.New("a PIN has 4 to 8 digits")
	errEasy   = phrase.New("this PIN would be among the first that somebody tries; choose another one")
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
	return slowhash.Make(pin), nil
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

// Valid reports whether text is a hash as Hash makes them.
func Valid(text string) bool { return slowhash.Valid(text) }

// Is reports whether a hash is that of a PIN. It takes 19 MiB and some hundredths of a second.
func Is(hash, pin string) bool { return len(pin) <= Longest && slowhash.Is(hash, pin) }
