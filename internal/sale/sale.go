// Package sale has several gifts pay for one sale, all or none. The rules for each of them are those of package gift.
// Pure.
package sale

import (
	"errors"

	"boon.example/internal/gift"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// MaxGifts is how many gifts pay in one sale at most.
const MaxGifts = 10

// Sale asks to decrement several monetary vouchers, each at most once, in their order: all of them, or none.
type Sale struct {
	Gifts []gift.Redeem // one for each voucher; the Eligibility of each is that of the Sale
	// UpTo is what is to be paid: each takes what is there, as far as those before it have left something to pay; 0:
	// each takes what it is asked for.
	UpTo money.Amount
	// Eligible judges the till's ticket for a voucher once those before it have paid, purely. Each takes what is there,
	// as far as the ticket allows. nil: no ticket was given.
	Eligible func(v *gift.Voucher, before []Paid) *gift.Eligibility
}

// Paid is what a voucher paid in a Sale.
type Paid struct {
	Voucher *gift.Voucher // afterwards
	Amount  money.Amount
}

// Redeem decrements the vouchers. It gives all of them as they are afterwards, and the entries of those of which
// something was taken, which name each other. It fails as gift.Voucher.Redeem does, with the path of the gift in the
// list (In), of which failed is the place; with INVALID_VOUCHER_TYPE for an item gift; and with INSUFFICIENT_BALANCE
// where there is something to pay and nothing is taken. Then nothing is taken of any.
func (s *Sale) Redeem(vouchers []gift.Voucher) (after []gift.Voucher, entries []gift.Entry, failed int, _ error) {
	var paid []Paid
	left := s.UpTo
	after = make([]gift.Voucher, len(vouchers))
	for n, v := range vouchers {
		if v.Item {
			return nil, nil, n, In(refusal.At(refusal.InvalidVoucherType, refusal.FieldGift,
				"This is an item gift. Redeem it by itself, with redeem-gift."), n)
		}
		after[n] = v
		ask := s.Gifts[n]
		if s.UpTo > 0 && left == 0 { // it pays nothing, and the answer tells of it all the same
			if err := ask.Names(&v); err != nil {
				return nil, nil, n, In(err, n)
			}
			continue
		}
		ask.UpTo, ask.AtMost = s.UpTo > 0 || s.Eligible != nil, left
		if s.Eligible != nil {
			ask.Eligibility = s.Eligible(&v, paid)
		}
		is, e, err := v.Redeem(ask)
		if err != nil {
			return nil, nil, n, In(err, n)
		}
		if e.Kind == "" {
			continue
		}
		after[n], entries = is, append(entries, e)
		paid = append(paid, Paid{&after[n], -e.Delta})
		left += e.Delta
	}
	if len(entries) == 0 {
		return nil, nil, 0, refusal.At(refusal.InsufficientBalance, refusal.FieldGifts,
			"Nothing of these gifts can be taken for this sale, so nothing was taken.")
	}
	Join(entries)
	return after, entries, 0, nil
}

// Join has the entries that one call made of several gifts name each other.
func Join(entries []gift.Entry) {
	for n := range entries {
		entries[n].Sale = entries[0].ID
		if n > 0 {
			entries[n-1].Next = entries[n].ID
		}
	}
}

// In puts a refusal of the gift at a place in the list of a sale there. A problem of the ticket stays one of the
// whole sale.
func In(err error, n int) error {
	refused, ok := errors.AsType[*refusal.Error](err)
	if !ok {
		return err
	}
	in := refusal.FieldGifts.At(n)
	inside := refused.In(in)
	for m := range inside.Messages {
		switch said := &inside.Messages[m]; {
		case refused.Messages[m].Field == refusal.FieldTicket:
			said.Field = refusal.FieldTicket
		case said.Field == "" && said.Path == "":
			said.Field = in
		}
	}
	return inside
}
