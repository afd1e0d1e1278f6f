package gift

// Outcome tells what became of a delivery.
type Outcome struct {
	Context
	Delivered bool   // the gateway accepted the message; else it refused for good, or retries ran out
	Reason    string // the gateway's last words
}

// Deliver records the outcome of a delivery. PENDING becomes DELIVERED or FAILED_DELIVERY; FAILED_DELIVERY becomes DELIVERED by
// a resend that works; DELIVERED becomes FAILED_DELIVERY by a late bounce. Any other gift is left as it is: a late
// result never moves one out of CLAIMED or REDEEMED, nor back from CANCELLED. changed tells whether there is an entry.
func (v Voucher) Deliver(o Outcome) (_ Voucher, _ Entry, changed bool) {
	kind, to := Sent, Delivered
	if !o.Delivered {
		kind, to = SendFailed, FailedDelivery
	}
	switch v.Status {
	case Pending, Delivered, FailedDelivery:
	default:
		return v, Entry{}, false
	}
	if v.Status == to {
		return v, Entry{}, false
	}
	e := v.enter(o.Context, kind, 0, to)
	e.Reason = o.Reason
	return v, e, true
}
