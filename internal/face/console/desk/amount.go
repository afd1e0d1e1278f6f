package desk

import (
	"encoding/json"
	"strings"

	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// ReadAmount reads an amount of a currency that the member typed into a field. What may mean two amounts is refused
// with both, as shown writes them.
func (r *Request) ReadAmount(field refusal.Field, typed string, c money.Currency,
	shown func(money.Amount) string) (json.Number, error) {
	return r.amount(field, typed, c, r.Locale.Readings(typed, c), shown)
}

// ReadAmountOfFile is ReadAmount of what stands in a file, which may be written in another language.
func (r *Request) ReadAmountOfFile(field refusal.Field, text string, c money.Currency,
	shown func(money.Amount) string) (json.Number, error) {
	return r.amount(field, text, c, r.Locale.ReadingsOfFile(text, c), shown)
}

func (r *Request) amount(field refusal.Field, typed string, c money.Currency, readings []money.Number,
	shown func(money.Amount) string) (json.Number, error) {
	n, wrong := r.meant(typed, c, readings, shown)
	if wrong != "" {
		return "", refusal.At(refusal.ValidationFailure, field, "%s", wrong)
	}
	return n, nil
}

// Meant is what an amount means that the member typed into a form which shows what is wrong beside its field: a number,
// or a sentence that says why it is none, or which two it could be.
func (r *Request) Meant(typed string, c money.Currency) (n json.Number, wrong string) {
	return r.meant(typed, c, r.Locale.Readings(typed, c), func(a money.Amount) string { return r.Locale.Money(a, c) })
}

func (r *Request) meant(typed string, c money.Currency, readings []money.Number,
	shown func(money.Amount) string) (n json.Number, wrong string) {
	if len(readings) == 1 {
		return json.Number(readings[0]), ""
	}
	if len(readings) == 2 {
		one, notOne := c.ParseSigned(readings[0])
		other, notOther := c.ParseSigned(readings[1])
		if notOne == nil && notOther == nil {
			return "", r.Locale.Text("console.amount.both", typed, shown(one), shown(other), r.plain(c, one),
				r.plain(c, other))
		}
	}
	return "", r.Locale.Text("console.amount.none", typed, r.plain(c, 1250))
}

// Typed is a number of the set-up as the member would type it: 750,50 in German. What is no amount stays as it is.
func (r *Request) Typed(number string, c money.Currency) string {
	a, err := c.ParseSigned(money.Number(number))
	if err != nil {
		return number
	}
	return r.plain(c, a)
}

// plain is an amount as it can be typed: without what groups its digits.
func (r *Request) plain(c money.Currency, a money.Amount) string {
	point := strings.Trim(r.Locale.Decimal("0.0"), "0")
	return strings.Replace(c.Format(a), ".", point, 1)
}
