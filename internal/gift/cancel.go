package gift

// Withdraw asks to take a gift out of use.
type Withdraw struct {
	Context
	Caller *Caller
	To     Status // PurchaseFailed or Cancelled
	Reason string
}

// Withdraw cancels a voucher. PENDING, DELIVERED, FAILED_DELIVERY and CLAIMED may be cancelled by the merchant; a purchase
// may be reported as failed from the first three, while nothing was redeemed. Anything else is
// REDEMPTION_NOT_ALLOWED, and NOT_FOUND where the caller may not see the gift.
func (v Voucher) Withdraw(w Withdraw) (Voucher, Entry, error) {
	if !w.Caller.MayUse(&v) {
		return v, Entry{}, NoSuchGift()
	}
	switch v.Status {
	case Pending, Delivered, FailedDelivery:
	case Claimed:
		if w.To != Cancelled {
			return v, Entry{}, v.cannot("part of it has been redeemed")
		}
	default:
		return v, Entry{}, v.cannot("it is " + v.Status.String())
	}
	switch {
	case w.To != Cancelled && w.To != PurchaseFailed:
		return v, Entry{}, v.cannot("it would become " + w.To.String())
	case w.To == PurchaseFailed && v.Promotional:
		return v, Entry{}, v.cannot("it is promotional, there was no purchase")
	}
	e := v.enter(w.Context, Cancel, 0, w.To)
	e.Reason = w.Reason
	return v, e, nil
}

func (v *Voucher) cannot(why string) *Error { return v.cannotBe("withdrawn", why) }
