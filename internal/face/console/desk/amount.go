package desk

import (
	"encoding/json"
	"errors"
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
	if len(readings) == 1 {
		return json.Number(readings[0]), nil
	}
	sentence := r.Locale.Text("console.amount.none", typed, r.plain(c, 1250))
	if len(readings) == 2 {
		one, wrong := c.ParseSigned(readings[0])
		other, alsoWrong := c.ParseSigned(readings[1])
		if err := errors.Join(wrong, alsoWrong); err != nil {
			return "", err
		}
		sentence = r.Locale.Text("console.amount.both", typed, shown(one), shown(other), r.plain(c, one), r.plain(c, other))
	}
	return "", refusal.At(refusal.ValidationFailure, field, "%s", sentence)
}

// plain is an amount as it can be typed: without what groups its digits.
func (r *Request) plain(c money.Currency, a money.Amount) string {
	point := strings.Trim(r.Locale.Decimal("0.0"), "0")
	return strings.Replace(c.Format(a), ".", point, 1)
}
