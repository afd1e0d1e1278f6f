package api

import (
	"net/http"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// cancellation is a cancel-gift request.
type cancellation struct {
	voucherID gift.ID // or
	orderID   gift.ID // or
	reference string
	cause     gift.Status
	reason    string
}

// maxCancelled is how many gifts one call may take out of use.
const maxCancelled = 10 * gift.MaxRecipients

func readCancellation(o *object) (r cancellation) {
	members := []string{"voucherID", "orderID", "externalTransactionReferenceNumber"}
	given := 0
	for _, name := range members {
		if o.has(name) {
			given++
		}
	}
	r.voucherID = o.guid(members[0])
	r.orderID = o.guid(members[1])
	r.reference = o.line(members[2], 200)
	oneOf(o, given, members)
	switch cause := o.text("cause"); cause {
	case gift.PurchaseFailed.String():
		r.cause = gift.PurchaseFailed
	case gift.Cancelled.String():
		r.cause = gift.Cancelled
	default:
		o.Add("cause", "The cause must be PURCHASE_FAILED or CANCELLED.")
	}
	r.reason = o.line("reason", maxReason)
	return r
}

func (r *cancellation) canon(c *canon) {
	c.id("voucherID", r.voucherID)
	c.id("orderID", r.orderID)
	c.text("externalTransactionReferenceNumber", r.reference)
	c.text("cause", r.cause.String())
	c.text("reason", r.reason)
}

// cancelGift takes gifts out of use, all that are named or none.
func cancelGift(c *call) (ledger.Answer, error) {
	var problems gift.Problems
	c.needKey(&problems)
	asked, err := decode(c, &problems, readCancellation)
	if err != nil {
		return ledger.Answer{}, err
	}
	request := c.request(ledger.CancelGift, asked.canon)
	ids, err := c.gifts(asked)
	if err != nil {
		return request.refuse(err)
	}
	return request.do(&ledger.Withdraw{
		VoucherIDs: ids,
		Withdraw:   gift.Withdraw{Context: c.actor(gift.ID{}), Caller: c.caller, To: asked.cause, Reason: asked.reason},
	}, http.StatusOK, (*writer).cancellation)
}

// gifts finds what a cancellation names, as far as the key may see it.
func (c *call) gifts(asked cancellation) (ids []gift.ID, _ error) {
	if !asked.voucherID.IsZero() {
		return []gift.ID{asked.voucherID}, nil
	}
	filter := gift.Filter{
		AccountID: c.account.ID, Locations: c.caller.Locations, OrderID: asked.orderID, Reference: asked.reference, Limit: gift.MaxRecipients,
	}
	for {
		page, err := c.Records.Gifts(c.ctx, filter)
		if err != nil {
			return nil, stored(err)
		}
		for n := range page {
			ids = append(ids, page[n].ID)
		}
		switch {
		case len(ids) > maxCancelled:
			return nil, gift.Refuse(gift.ValidationFailure,
				"More than %d gifts bear this reference; cancel them order by order.", maxCancelled)
		case len(page) == filter.Limit:
			filter.Before = page[len(page)-1].ID
		case len(ids) == 0:
			return nil, gift.Refuse(gift.NotFound, "This account has no such gifts.")
		default:
			return ids, nil
		}
	}
}

// cancellation writes the members of a successful cancel-gift.
func (w *writer) cancellation(r ledger.Result) {
	w.list("vouchers")
	for n := range r.Vouchers {
		v := &r.Vouchers[n]
		w.open()
		w.id("voucherID", v.ID)
		w.text("status", v.Status.String())
		w.integer("statusID", int(v.Status))
		w.amount("currentBalance", v.Unit(), v.Balance)
		w.close()
	}
	w.endList()
}
