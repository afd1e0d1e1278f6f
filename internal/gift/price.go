package gift

import (
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// ReadPrice reads what was paid for value in a currency: above zero, and at most what the value is worth. worth is zero
// for pieces of which nobody said what they are worth together. "" is 0: the value was paid for as a whole. It fails
// with VALIDATION_FAILURE at the field.
func ReadPrice(f refusal.Field, number money.Number, in money.Currency, worth money.Amount) (money.Amount, error) {
	if number == "" {
		return 0, nil
	}
	price, err := in.Read(number, money.NoLimit)
	switch {
	case err != nil:
		return 0, refusal.At(refusal.ValidationFailure, f, "%s", err)
	case worth == 0:
		return 0, refusal.At(refusal.ValidationFailure, f, "Nobody said what these pieces are worth together (%s), so "+
			"Boon cannot tell which part of that was paid for: leave %s out.", refusal.FieldEquivalentValue,
			refusal.FieldPricePaid)
	case price > worth:
		return 0, refusal.At(refusal.ValidationFailure, f, "At most %s can be paid for this: it is not worth more.",
			in.Money(worth))
	}
	return price, nil
}
