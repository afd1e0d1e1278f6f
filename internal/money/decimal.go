package money

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"strings"
	"sync"
)

// Decimal is an exact decimal number, as tills write them on tickets: it may be negative, and finer than any
// currency. It never changes. Almost all of them are kept, and reckoned with, as an int64.
type Decimal struct {
	small int64    // the number is small / 10^scale
	large *big.Int // if it is set, this / 10^scale
	scale int      // never negative
}

// Limits of a Decimal, so that reckoning with hostile ones stays cheap. Every number that a till keeps as a float fits.
const (
	maxWholeDigits = 18
	maxDigits      = 60 // without the zeros in front and at the end
	maxScale       = 400
)

// ErrTooLong tells that a number has more digits than any till writes.
var ErrTooLong = errors.New("has too many digits")

// ReadDecimal is ParseDecimal for the bytes of a number.
func ReadDecimal(number []byte) (Decimal, error) {
	digits := number
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > maxSmallDigits || digits[0] == '0' && len(digits) > 1 && digits[1] != '.' {
		return ParseDecimal(Number(number))
	}
	d, point := Decimal{}, -1
	for i, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			d.small = d.small*10 + int64(c-'0')
		case c == '.' && point < 0 && i > 0 && i < len(digits)-1:
			point = i
		default:
			return ParseDecimal(Number(number))
		}
	}
	if point >= 0 {
		d.scale = len(digits) - 1 - point
	}
	if len(digits) < len(number) {
		d.small = -d.small
	}
	return d, nil
}

// maxSmallDigits is how many digits any int64 can have.
const maxSmallDigits = 18

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
	return decimal(n, -exponent), nil
}

// decimal is n / 10^scale.
func decimal(n *big.Int, scale int) Decimal {
	if n.IsInt64() {
		return Decimal{small: n.Int64(), scale: scale}
	}
	return Decimal{large: n, scale: scale}
}

// DecimalOf is a whole number.
func DecimalOf(n int64) Decimal { return Decimal{small: n} }

// Decimal is an amount in the currency's major units.
func (c Currency) Decimal(a Amount) Decimal { return Decimal{small: int64(a), scale: c.Decimals} }

func (d Decimal) int() *big.Int {
	if d.large == nil {
		return big.NewInt(d.small)
	}
	return d.large
}

// Sign is -1, 0 or 1.
func (d Decimal) Sign() int {
	if d.large != nil {
		return d.large.Sign()
	}
	return cmp.Compare(d.small, 0)
}

// IsZero reports whether the number is 0, however it came about.
func (d Decimal) IsZero() bool { return d.Sign() == 0 }

// times is a × 10^power, if that is an int64.
func times(a int64, power int) (int64, bool) {
	if power >= len(smallPowers) || a > smallLimits[power] || a < -smallLimits[power] {
		return 0, a == 0
	}
	return a * smallPowers[power], true
}

// smallPowers are the powers of ten that are an int64, and smallLimits what each can multiply; they are only read.
var smallPowers, smallLimits = func() (powers, limits [19]int64) {
	power := int64(1)
	for n := range powers {
		powers[n], limits[n] = power, math.MaxInt64/power
		power *= 10
	}
	return powers, limits
}()

// IsWhole reports whether the number has no decimals.
func (d Decimal) IsWhole() bool {
	return d.scale == 0 || d.Add(DecimalOf(int64(-d.Round(Pieces)))).IsZero()
}

// Add gives the sum.
func (d Decimal) Add(e Decimal) Decimal {
	if d.scale < e.scale {
		d, e = e, d
	}
	if d.large == nil && e.large == nil {
		n, ok := times(e.small, d.scale-e.scale)
		if sum := d.small + n; ok && (sum > d.small) == (n > 0) {
			return Decimal{small: sum, scale: d.scale}
		}
	}
	n := new(big.Int).Mul(e.int(), powerOfTen(d.scale-e.scale))
	return decimal(n.Add(n, d.int()), d.scale)
}

// Mul gives the product.
func (d Decimal) Mul(e Decimal) Decimal {
	const half = math.MaxInt32
	if d.large == nil && e.large == nil && d.small <= half && d.small >= -half && e.small <= half && e.small >= -half {
		return Decimal{small: d.small * e.small, scale: d.scale + e.scale}
	}
	return decimal(new(big.Int).Mul(d.int(), e.int()), d.scale+e.scale)
}

// Less is -|d|: what takes something away.
func (d Decimal) Less() Decimal {
	if d.large == nil {
		return Decimal{small: min(d.small, -d.small), scale: d.scale}
	}
	n := new(big.Int).Abs(d.large)
	return decimal(n.Neg(n), d.scale)
}

// Round gives the number in units of a currency, half a unit rounded up. What is beyond all amounts becomes the
// largest or smallest.
func (d Decimal) Round(c Currency) Amount {
	if d.large == nil {
		if finer := d.scale - c.Decimals; finer <= 0 {
			if n, ok := times(d.small, -finer); ok {
				return Amount(n)
			}
		} else if finer < len(smallPowers) {
			unit := smallPowers[finer]
			n, rest := d.small/unit, d.small%unit
			if rest < 0 {
				n, rest = n-1, rest+unit
			}
			if rest >= unit-rest {
				n++
			}
			return Amount(n)
		}
	}
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
