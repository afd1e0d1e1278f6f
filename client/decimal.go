package client

import (
	"bytes"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Decimal is an exact decimal number such as 25.50: an amount of money, or a quantity of items. It is kept as its
// text, so nothing is ever rounded. The zero Decimal is no number at all, which is how an absent or null amount
// reads; it is not 0.
//
// Two Decimals may be equal in value and differ in text (25 and 25.00): compare them with [Decimal.Cmp], not with ==.
type Decimal struct{ text string }

// maxDecimal bounds the text of a Decimal. The largest amount of the service has 20 characters.
const maxDecimal = 64

// ParseDecimal reads a number in plain notation: digits, at most one point with digits on both sides, perhaps a minus
// sign before. Exponents, plus signs, spaces and thousands separators are refused.
func ParseDecimal(s string) (Decimal, error) {
	digits := strings.TrimPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if len(s) > maxDecimal || !isDigits(whole) || len(whole) > 1 && whole[0] == '0' || point && !isDigits(fraction) {
		return Decimal{}, fmt.Errorf("%s is not a decimal number such as 25.50", strconv.Quote(s[:min(len(s), maxDecimal)]))
	}
	return Decimal{s}, nil
}

// MustDecimal is ParseDecimal for constants in a program; it panics where ParseDecimal fails.
func MustDecimal(s string) Decimal {
	d, err := ParseDecimal(s)
	if err != nil {
		panic("client: " + err.Error())
	}
	return d
}

// Whole is the Decimal of a whole number, for quantities.
func Whole(n int64) Decimal { return Decimal{strconv.FormatInt(n, 10)} }

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// String is the number as it was given: "25.50". The zero Decimal is "".
func (d Decimal) String() string { return d.text }

// Given reports whether there is a number at all; 0 is one.
func (d Decimal) Given() bool { return d.text != "" }

// Sign is -1, 0 or +1. The zero Decimal counts as 0.
func (d Decimal) Sign() int { return d.Rat().Sign() }

// Cmp compares the values: -1 if d is less than e, 0 if they are equal, +1 if d is more. The zero Decimal counts as 0.
func (d Decimal) Cmp(e Decimal) int { return d.Rat().Cmp(e.Rat()) }

// Rat is the value as an exact fraction, to reckon with.
func (d Decimal) Rat() *big.Rat {
	r, ok := new(big.Rat).SetString(d.text)
	if !ok {
		return new(big.Rat)
	}
	return r
}

// MarshalJSON writes a JSON number, or null for the zero Decimal.
func (d Decimal) MarshalJSON() ([]byte, error) {
	if d.text == "" {
		return []byte("null"), nil
	}
	return []byte(d.text), nil
}

// UnmarshalJSON reads a JSON number in plain notation, or null. A string is refused: the service writes numbers.
func (d *Decimal) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*d = Decimal{}
		return nil
	}
	n, err := ParseDecimal(string(b))
	if err != nil {
		return err
	}
	*d = n
	return nil
}

// MarshalText writes the number as text, so that a Decimal can be a flag or a cell.
func (d Decimal) MarshalText() ([]byte, error) { return []byte(d.text), nil }

// UnmarshalText is ParseDecimal; the empty text is the zero Decimal.
func (d *Decimal) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Decimal{}
		return nil
	}
	n, err := ParseDecimal(string(b))
	if err != nil {
		return err
	}
	*d = n
	return nil
}
