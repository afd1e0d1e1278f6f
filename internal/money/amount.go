// Package money has amounts, the currencies of ISO 4217, and decimal numbers as tickets have them.
package money

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"boon.example/internal/base/phrase"
)

// Amount is a count of the smallest units: cents of a USD gift, yen of a JPY gift, pieces of an item gift.
type Amount int64

// Currency is an ISO 4217 code with the number of its decimals.
type Currency struct {
	Code     string
	Decimals int
}

// Pieces is the unit of an item gift: whole numbers, no currency.
var Pieces = Currency{}

// ParseCurrency reads an ISO 4217 alphabetic code that is in use today. The error is a sentence, with the code that was
// probably meant.
func ParseCurrency(code string) (Currency, error) {
	if c, known := currencyOf(code); known {
		return c, nil
	}
	upper := strings.ToUpper(strings.TrimSpace(code))
	if c, known := currencyOf(cmp.Or(currencyNames[strings.TrimSuffix(upper, "S")], upper)); known {
		return Currency{}, phrase.New("This is not an ISO 4217 currency code in use, such as USD, EUR, JPY or KWD; "+
			"did you mean %s?", c.Code)
	}
	return Currency{}, phrase.New("This is not an ISO 4217 currency code in use, such as USD, EUR, JPY or KWD.")
}

func currencyOf(code string) (_ Currency, known bool) {
	if len(code) == 3 {
		for decimals, codes := range currencies {
			for c := range strings.FieldsSeq(codes) {
				if c == code {
					return Currency{code, decimals}, true
				}
			}
		}
	}
	return Currency{}, false
}

// currencyNames are what people write in place of a code. Codes lie too close together to guess from spelling: YEN is
// one letter from YER.
var currencyNames = map[string]string{"EURO": "EUR", "€": "EUR", "DOLLAR": "USD", "$": "USD", "US$": "USD",
	"YEN": "JPY", "¥": "JPY", "POUND": "GBP", "£": "GBP", "STERLING": "GBP", "RMB": "CNY", "YUAN": "CNY"}

// currencies are the active codes of ISO 4217 by number of decimals, funds and metals left out.
var currencies = [4]string{
	0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
	2: "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC " +
		"CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR " +
		"JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD " +
		"NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN " +
		"SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG",
	3: "BHD IQD JOD KWD LYD OMR TND",
}

// Number is a JSON number as the sender of a request wrote it, or another spelling of the same value; "" is none.
type Number string

// What can be wrong with a number that should be an amount.
var (
	ErrNotANumber  = errors.New("not a decimal number")
	ErrTooPrecise  = errors.New("has more decimals than the currency")
	ErrOutOfRange  = errors.New("is too large")
	ErrNotPositive = errors.New("is not above zero")
)

// Parse reads a JSON number as ParseSigned does, but only an amount above zero: what a gift is worth, and what is
// taken of it. The error is one of ErrNotANumber, ErrTooPrecise, ErrOutOfRange and ErrNotPositive.
func (c Currency) Parse(number Number) (Amount, error) {
	a, err := c.ParseSigned(number)
	if err != ErrNotANumber && strings.HasPrefix(string(number), "-") || err == nil && a == 0 {
		return 0, ErrNotPositive
	}
	return a, err
}

// Read reads an amount above zero, as Parse does, of at most limit. The error is a sentence for the sender.
func (c Currency) Read(number Number, limit Amount) (Amount, error) {
	amount, err := c.Parse(number)
	if err = c.sentence(amount, err, limit); err != nil {
		return 0, err
	}
	return amount, nil
}

// ReadSigned reads an amount that is not zero, as ParseSigned does. The error is a sentence for the sender.
func (c Currency) ReadSigned(number Number) (Amount, error) {
	amount, err := c.ParseSigned(number)
	if err = c.sentence(amount, err, NoLimit); err != nil {
		return 0, err
	}
	if amount == 0 {
		return 0, ErrZero
	}
	return amount, nil
}

// ErrZero is what ReadSigned says of zero.
var ErrZero = phrase.New("The amount must not be zero.")

// sentence says what is wrong with an amount that was read; nil: nothing.
func (c Currency) sentence(amount Amount, err error, limit Amount) error {
	switch {
	case err == ErrTooPrecise && c.Decimals == 0:
		return phrase.New("An amount in %s has no decimals.", c.Code)
	case err == ErrTooPrecise:
		return phrase.New("An amount in %s has at most %d decimals.", c.Code, c.Decimals)
	case err == ErrNotPositive:
		return phrase.New("The amount must be above zero.")
	case err == ErrOutOfRange && limit == NoLimit:
		return phrase.New("The amount is too large.")
	case err == ErrOutOfRange || err == nil && amount > limit:
		return phrase.New("The amount must be at most %s.", c.Money(limit))
	case err != nil:
		return phrase.New("The amount must be a decimal number.")
	}
	return nil
}

// NoLimit is above every amount.
const NoLimit Amount = math.MaxInt64

// ParseSigned reads a JSON number (RFC 8259, section 6) as an amount, be it negative or zero. 25, 25.0 and 2.5e1 are
// the same amount; what is not a whole number of the smallest unit is refused, never rounded. No float is involved,
// and the work is bounded by the length of the text, whatever its exponent says. The error is one of ErrNotANumber,
// ErrTooPrecise and ErrOutOfRange.
func (c Currency) ParseSigned(number Number) (Amount, error) {
	negative, digits, exponent, ok := splitNumber(string(number))
	if !ok {
		return 0, ErrNotANumber
	}
	digits = strings.TrimLeft(digits, "0")
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed) + c.Decimals
	switch {
	case digits == "":
		return 0, nil
	case exponent < 0:
		return 0, ErrTooPrecise
	case len(trimmed)+exponent > 19:
		return 0, ErrOutOfRange
	}
	n, err := strconv.ParseInt(trimmed+strings.Repeat("0", exponent), 10, 64)
	if err != nil {
		return 0, ErrOutOfRange
	}
	if negative {
		n = -n
	}
	return Amount(n), nil
}

// splitNumber takes a JSON number apart: value = ±digits × 10^exponent. Exponents beyond any amount are
// clamped, so that they can be reckoned with.
func splitNumber(s string) (negative bool, digits string, exponent int, ok bool) {
	s, negative = strings.CutPrefix(s, "-")
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		sign, power := 1, s[e+1:]
		if power != "" && (power[0] == '+' || power[0] == '-') {
			if power[0] == '-' {
				sign = -1
			}
			power = power[1:]
		}
		if !isDigits(power) {
			return false, "", 0, false
		}
		const beyond = 1 << 30
		n, err := strconv.Atoi(power)
		if err != nil || n > beyond {
			n = beyond
		}
		s, exponent = s[:e], sign*n
	}
	whole, fraction, point := strings.Cut(s, ".")
	if !isDigits(whole) || len(whole) > 1 && whole[0] == '0' || point && !isDigits(fraction) {
		return false, "", 0, false
	}
	return negative, whole + fraction, exponent - len(fraction), true
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// Format writes the amount with the currency's decimals: 25.50, 2550, 2.550.
func (c Currency) Format(a Amount) string { return string(c.Append(nil, a)) }

// Append appends what Format writes; the result is a JSON number.
func (c Currency) Append(b []byte, a Amount) []byte {
	if a < 0 {
		b = append(b, '-')
	}
	n := uint64(a)
	if a < 0 {
		n = -n
	}
	from := len(b)
	b = strconv.AppendUint(b, n, 10)
	if c.Decimals == 0 {
		return b
	}
	for len(b)-from <= c.Decimals {
		b = slices.Insert(b, from, '0')
	}
	return slices.Insert(b, len(b)-c.Decimals, '.')
}

// Money writes an amount for people: "25.50 USD", or "3" for pieces.
func (c Currency) Money(a Amount) string {
	if c.Code == "" {
		return c.Format(a)
	}
	return c.Format(a) + " " + c.Code
}

// Country is the ISO 3166-1 code of the country that the currency belongs to, with which its own code begins (ISO
// 4217); "": it belongs to none, or to several.
func (c Currency) Country() string {
	if len(c.Code) != 3 || c.Code[0] == 'X' || c.Code == "EUR" {
		return ""
	}
	return c.Code[:2]
}
