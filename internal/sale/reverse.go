package sale

import (
	"errors"

	"boon.example/internal/gift"
	"boon.example/internal/refusal"
)

// Part is what a gift paid of a sale, and the gift as it is now.
type Part struct {
	gift.Context // of the reversal
	Voucher      *gift.Voucher
	Taken        *gift.Undoable
}

// Reverse gives back all that is left of what the gifts of one sale paid, or nothing: then it tells which of the gifts
// are in the way. What one of them was given back before stays so; ALREADY_REVERSED tells that all were.
func Reverse(paid []Part, ask gift.Reverse) (after []gift.Voucher, entries []gift.Entry, _ error) {
	if ask.Number != "" || ask.Amount != 0 {
		return nil, nil, refusal.At(refusal.ValidationFailure, refusal.FieldAmount,
			"Several gifts paid for this sale, and by its key all of them get back what they paid. To give back a part, "+
				"name a redemption by its redemptionID.")
	}
	var inTheWay *refusal.Error
	for n, p := range paid {
		if p.Taken.Left() == 0 && (len(entries) > 0 || inTheWay != nil || n < len(paid)-1) {
			continue
		}
		ask.Context = p.Context
		v, e, err := p.Voucher.Reverse(*p.Taken, ask)
		if err == nil {
			after, entries = append(after, v), append(entries, e)
			continue
		}
		refused, ok := errors.AsType[*refusal.Error](err)
		if !ok || refused.Code != refusal.RedemptionNotAllowed {
			return nil, nil, err // it is about the sale as a whole
		}
		for m := range refused.Messages {
			refused.Messages[m] = refused.Messages[m].And("This is redemptionID %s, of the gift with voucherID %s.",
				p.Taken.Entry.ID, p.Voucher.ID)
		}
		inTheWay = refusal.Join(inTheWay, refused)
	}
	if inTheWay == nil {
		Join(entries)
		return after, entries, nil
	}
	if last := len(inTheWay.Messages) - 1; len(entries) > 0 {
		inTheWay.Messages[last] = inTheWay.Messages[last].And(
			"Nothing was given back of this sale. Give the others back one by one, by their redemptionID.")
	}
	return nil, nil, inTheWay
}
