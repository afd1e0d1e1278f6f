package codes

import (
	"crypto/rand"
	"crypto/subtle"
	"io"
	"math/big"
	"strings"

	"boon.example/internal/refusal"
)

// ActivationCode is the second number on a card of a stock: 16 digits that stand where the cover does not hide them. A
// till that sells the card scans them, so that nobody has to see the code that the card pays with. It gives a card its
// value and finds nothing else, so it is of another type than VoucherCode: where the one is asked for, the other does
// not compile. It is a secret like the code.
type ActivationCode struct{ secret }

// ActivationDigits is how many digits an activation code has.
const ActivationDigits = 16

// NewActivationCode draws an activation code: first digit 1-9, as spreadsheets drop zeros, 15 more from random. It
// shares no digits with the code of its card: who reads the one knows nothing of the other.
func NewActivationCode(random io.Reader) (ActivationCode, error) {
	lowest, count := big.NewInt(1_000_000_000_000_000), ActivationSpace()
	n, err := rand.Int(random, count)
	if err != nil {
		return ActivationCode{}, err
	}
	return ActivationCode{newSecret(n.Add(n, lowest).String())}, nil
}

// ActivationSpace is among how many numbers one is drawn.
func ActivationSpace() *big.Int { return big.NewInt(9_000_000_000_000_000) }

// ReadActivationCode reads an activation code as a machine sends it, and as people and scanners write it: what a
// scanner puts around it, and spaces, dashes and dots in it make no difference.
func ReadActivationCode(s string) (ActivationCode, error) {
	text := tidied(s)
	if len(text) != ActivationDigits || strings.Trim(text, "0123456789") != "" {
		return ActivationCode{}, refusal.At(refusal.InvalidCodeFormat, refusal.FieldActivationCode,
			"An activation code is 16 digits.")
	}
	return ActivationCode{newSecret(text)}, nil
}

// Grouped gives the digits as a person reads them, in fours; "" for the zero code.
func (c ActivationCode) Grouped() string { return inFours(c.Reveal()) }

// Is reports whether a card with the activation code c is one that was asked for by a code. How long that takes does
// not tell how much of them is the same.
func (c ActivationCode) Is(asked ActivationCode) bool {
	return subtle.ConstantTimeCompare([]byte(c.Reveal()), []byte(asked.Reveal())) == 1
}
