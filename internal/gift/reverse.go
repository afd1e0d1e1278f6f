package gift

import (
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// Reverse asks to undo a redemption, whole or in part.
type Reverse struct {
	Context
	Caller *merchant.Caller
	Amount money.Amount // what to give back; 0: all that is left of the redemption
	Number money.Number // in place of Amount: as the caller wrote it; "": Amount stands
	Reason string
}

// Undoable is a redemption, a cash-out, a reload or an activation, and what of it has been undone so far.
type Undoable struct {
	Entry    Entry
	Reversed money.Amount
	Parts    int // in which it was undone
	// Missed is, of an activation, how many verification codes were mistyped since then.
	Missed int
	// CashedOut tells of a redemption that the gift was cashed out since then, and that this stands: see CashOuts.
	CashedOut bool
}

// MaxReversals is in how many parts a redemption can be given back: the last of them is all that is left.
const MaxReversals = 100

// Left is what of a redemption can still be given back.
func (t *Undoable) Left() money.Amount { return -t.Entry.Delta - t.Reversed }

// Undo asks to take back a reload or an activation as a whole.
type Undo struct {
	Context
	Caller *merchant.Caller
}

// Reverse gives back to the voucher what a redemption or a cash-out took; that of a cash-out needs the permission for
// cash-outs. It works on a cancelled or expired gift too: the money goes back, whether it can be spent is another
// matter; a cancelled gift stays cancelled. It fails with NOT_FOUND when t is neither of this voucher or was made where
// the caller is not enabled, NOT_AUTHORIZED, ALREADY_REVERSED when nothing is left of it, VALIDATION_FAILURE when less
// is left than asked for, it would take too many parts, or a cash-out is to be taken back in part, and
// REDEMPTION_NOT_ALLOWED when nothing can have been redeemed, or the gift was cashed out after the redemption and that
// was not taken back.
func (v Voucher) Reverse(t Undoable, r Reverse) (Voucher, Entry, error) {
	cash := t.Entry.Kind == CashOut
	if t.Entry.Kind != Redemption && !cash || t.Entry.VoucherID != v.ID ||
		!r.Caller.Enabled(t.Entry.Actor.LocationID) {
		return v, Entry{}, NoSuchRedemption()
	}
	if cash {
		if err := r.Caller.Permit(merchant.MayCashOut, true); err != nil {
			return v, Entry{}, err
		}
	}
	if t.CashedOut && !cash {
		return v, Entry{}, refusal.New(refusal.RedemptionNotAllowed,
			"The rest of this gift was paid out in cash after this redemption, "+
				"so nothing is given back to the gift. Take the cash-out back first, or pay the guest in another way.")
	}
	status := v.Status
	switch status {
	case Claimed, Cancelled:
	case Redeemed:
		status = Claimed
	default:
		return v, Entry{}, refusal.New(refusal.RedemptionNotAllowed,
			"Nothing has been redeemed of this gift, so nothing can be "+
				"given back.")
	}
	asked, err := v.amount(r.Number, r.Amount)
	if err != nil {
		return v, Entry{}, err
	}
	give, err := v.give(t, asked)
	if err != nil {
		return v, Entry{}, err
	}
	e := v.enter(r.Context, Reversal, give, status)
	e.Reverses, e.Reason = t.Entry.ID, r.Reason
	if cash {
		e.ReasonCode = ReasonCashOut
	}
	return v, e, nil
}

// give is how much a reversal gives back of what was taken; asked for 0, all that is left of it.
func (v *Voucher) give(t Undoable, asked money.Amount) (money.Amount, error) {
	left := t.Left()
	switch {
	case left <= 0 && t.Entry.Kind == CashOut:
		return 0, refusal.New(refusal.AlreadyReversed, "This cash-out has been taken back already.")
	case left <= 0:
		return 0, refusal.New(refusal.AlreadyReversed, "This redemption has been given back already.")
	case left > v.Funded-v.Balance:
		return 0, refusal.New(refusal.UnexpectedError, "The records of this gift do not add up, so nothing was changed.")
	case asked < 0:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "The amount must be above zero.")
	case asked > left:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount,
			"Only %s of this redemption is left to give back.",
			v.Unit().Money(left))
	case asked == 0:
		return left, nil
	case asked < left && t.Entry.Kind == CashOut:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "A cash-out is taken back as a whole: %s.",
			v.Unit().Money(left))
	case asked < left && t.Parts >= MaxReversals-1:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount,
			"A redemption can be given back in at most %d parts; of this "+
				"one, the last must be all that is left, %s.",
			MaxReversals, v.Unit().Money(left))
	}
	return asked, nil
}
