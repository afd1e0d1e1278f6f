package gift

// Reverse asks to undo a redemption, whole or in part.
type Reverse struct {
	Context
	Caller *Caller
	Amount Amount // what to give back; 0: all that is left of the redemption
	Reason string
}

// Taken is a redemption and what has been given back of it so far.
type Taken struct {
	Entry    Entry
	Reversed Amount
}

// Left is what can still be given back.
func (t *Taken) Left() Amount { return -t.Entry.Delta - t.Reversed }

// Reverse gives back to the voucher what a redemption took. It works on a cancelled or expired gift too: the money goes
// back, whether it can be spent is another matter; a cancelled gift stays cancelled. It fails with NOT_AUTHORIZED when the
// redemption was made where the caller is not enabled, ALREADY_REVERSED when nothing is left of it, and VALIDATION_FAILURE
// when less is left than asked for.
func (v Voucher) Reverse(t Taken, r Reverse) (Voucher, Entry, error) {
	if !r.Caller.Enabled(t.Entry.Actor.LocationID) {
		return v, Entry{}, Refuse(NotAuthorized, "This key is not enabled for the location where that redemption was made.")
	}
	left := t.Left()
	if left == 0 {
		return v, Entry{}, Refuse(AlreadyReversed, "This redemption has been given back already.")
	}
	give := r.Amount
	if give == 0 {
		give = left
	}
	if give > left {
		return v, Entry{}, RefuseAt(ValidationFailure, "amount", "Only %s of this redemption is left to give back.", v.Unit().Money(left))
	}
	status := v.Status
	if status == Redeemed {
		status = Claimed
	}
	e := v.enter(r.Context, Reversal, give, status)
	e.Reverses, e.Reason = t.Entry.ID, r.Reason
	return v, e, nil
}
