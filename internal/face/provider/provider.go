// Package provider is what the protocols of platforms have in common that call an account as their gift card provider:
// how amounts stand in their bodies, and that members which they add one day are no reason to refuse.
//
// Each protocol has a package of its own, which reads the platform's words, has a Call do what they mean, and answers
// in them. Nothing of value is decided in one.
package provider

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Path is where the platforms call: their name follows, and the provider's id.
const Path = "/providers/"

// MaxBody is how long the body of a platform's call may be.
const MaxBody = 64 << 10

// Read reads a body, or a part of one. A text in it that is no UTF-8, such as half of a character that a shop's form
// cut off, is no reason to refuse what nobody reads; one that is read has U+FFFD in place of it. A name is there once.
func Read(body []byte, into any) error {
	return json.Unmarshal(body, into, jsontext.AllowInvalidUTF8(true))
}

// Amount is a number of a platform as it stands in a body: a JSON number, or a text that holds one.
type Amount money.Number

var errNoAmount = errors.New("this is neither a number nor a text")

// UnmarshalJSON keeps the number as it is written. null is none.
func (a *Amount) UnmarshalJSON(text []byte) error {
	v := jsontext.Value(text)
	switch v.Kind() {
	case 'n':
		*a = ""
	case '0':
		*a = Amount(v)
	case '"':
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return err
		}
		*a = Amount(s)
	default:
		return errNoAmount
	}
	return nil
}

// In reads an amount above zero. Nothing is rounded: more decimals than the currency has are an error.
func (a Amount) In(c money.Currency) (money.Amount, error) { return c.Parse(money.Number(a)) }

// OrZeroIn is In for an amount that may be zero.
func (a Amount) OrZeroIn(c money.Currency) (money.Amount, error) {
	amount, err := a.In(c)
	if err == money.ErrNotPositive {
		if amount, err = c.ParseSigned(money.Number(a)); err == nil && amount < 0 {
			err = money.ErrNotPositive
		}
	}
	return amount, err
}

// IsReference reports whether a text can be a platform's own id of something: 1 to 100 printable ASCII characters
// without spaces.
func IsReference(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= 100
}

// NeedsTicket reports whether a gift is good for certain items only: it cannot be redeemed where no ticket is sent.
func NeedsTicket(a *merchant.Account, v *gift.Voucher) bool {
	return len(v.GoodFor(a)) > 0 && !v.TicketOptional(a)
}
