package gift

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"sync"
)

// Decimal is an exact decimal number, as tills write them on tickets: it may be negative, and finer than any
// currency. It never changes.
type Decimal struct {
	n     *big.Int // nil: 0
	scale int      // the number is n / 10^scale; never negative
}

// Limits of a Decimal, so that reckoning with hostile ones stays cheap. Every number that a till keeps as a float fits.
const (
	maxWholeDigits = 18
	maxDigits      = 60 // without the zeros in front and at the end
	maxScale       = 400
)

// ErrTooLong tells that a number has more digits than any till writes.
var ErrTooLong = errors.New("has too many digits")

// ParseDecimal reads a JSON number. The error is one of ErrNotANumber, ErrOutOfRange and ErrTooLong.
func ParseDecimal(number Number) (Decimal, error) {
	negative, digits, exponent, ok := splitNumber(string(number))
	if !ok {
		return Decimal{}, ErrNotANumber
	}
	digits = strings.TrimLeft(digits, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	switch {
	case trimmed == "":
		return Decimal{}, nil
	case len(trimmed)+exponent > maxWholeDigits:
		return Decimal{}, ErrOutOfRange
	case len(trimmed) > maxDigits || exponent < -maxScale:
		return Decimal{}, ErrTooLong
	case exponent > 0:
		trimmed, exponent = trimmed+strings.Repeat("0", exponent), 0
	}
	n, _ := new(big.Int).SetString(trimmed, 10)
	if negative {
		n.Neg(n)
	}
	return Decimal{n, -exponent}, nil
}

// DecimalOf is a whole number.
func DecimalOf(n int64) Decimal { return Decimal{n: big.NewInt(n)} }

func (d Decimal) int() *big.Int {
	if d.n == nil {
		return new(big.Int)
	}
	return d.n
}

// Sign is -1, 0 or 1.
func (d Decimal) Sign() int { return d.int().Sign() }

// IsZero reports whether the number is 0, however it came about.
func (d Decimal) IsZero() bool { return d.Sign() == 0 }

// Add gives the sum.
func (d Decimal) Add(e Decimal) Decimal {
	if d.scale < e.scale {
		d, e = e, d
	}
	n := new(big.Int).Mul(e.int(), powerOfTen(d.scale-e.scale))
	return Decimal{n.Add(n, d.int()), d.scale}
}

// Mul gives the product.
func (d Decimal) Mul(e Decimal) Decimal {
	return Decimal{new(big.Int).Mul(d.int(), e.int()), d.scale + e.scale}
}

// Less is -|d|: what takes something away.
func (d Decimal) Less() Decimal {
	n := new(big.Int).Abs(d.int())
	return Decimal{n.Neg(n), d.scale}
}

// Round gives the number in units of a currency, half a unit rounded up. What is beyond all amounts becomes the
// largest or smallest.
func (d Decimal) Round(c Currency) Amount {
	// floor(d × 10^decimals + 1/2), over a common denominator
	unit := powerOfTen(d.scale)
	n := new(big.Int).Mul(d.int(), powerOfTen(c.Decimals))
	n.Add(n.Lsh(n, 1), unit)
	n.Div(n, new(big.Int).Lsh(unit, 1)) // rounds down, as the divisor is positive
	switch {
	case n.IsInt64():
		return Amount(n.Int64())
	case n.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// In writes the number in units of a currency, in one way for equal numbers: a whole number where it is one, else
// with as many decimals as it has.
func (d Decimal) In(c Currency) string {
	n, scale := d.int(), d.scale-c.Decimals
	if scale <= 0 {
		return new(big.Int).Mul(n, powerOfTen(-scale)).String()
	}
	text := new(big.Int).Abs(n).String()
	if missing := scale + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	point := len(text) - scale
	text = strings.TrimRight(strings.TrimRight(text[:point]+"."+text[point:], "0"), ".")
	if n.Sign() < 0 {
		text = "-" + text
	}
	return text
}

// powersOfTen are those that products of two Decimals need; they are only read.
var powersOfTen = sync.OnceValue(func() []*big.Int {
	powers := []*big.Int{big.NewInt(1)}
	for range 2*maxScale + 4 {
		powers = append(powers, new(big.Int).Mul(powers[len(powers)-1], big.NewInt(10)))
	}
	return powers
})

func powerOfTen(n int) *big.Int {
	if powers := powersOfTen(); n < len(powers) {
		return powers[n]
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
