package api

import (
	"net/http"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// several names gifts in a request: one, those of an order, or those of an external purchase.
type several struct {
	voucherID  gift.ID // or
	orderID    gift.ID // or
	reference  string
	storefront gift.ID // beside a reference: where the purchase was made; zero: there is only one
}

// The members that name several gifts.
const (
	byOrder      = "orderID"
	byReference  = "externalTransactionReferenceNumber"
	byStorefront = "externalStorefrontID"
)

// maxCancelled is how many gifts one call may take out of use.
const maxCancelled = 10 * gift.MaxRecipients

// readSeveral reads which gifts are meant: exactly one of the members named must be given.
func readSeveral(o *object, members ...string) (s several) {
	given := 0
	for _, name := range members {
		if o.has(name) {
			given++
		}
		switch name {
		case byID:
			s.voucherID = o.guid(name)
		case byOrder:
			s.orderID = o.guid(name)
		case byReference:
			s.reference = o.line(name, 200)
			s.storefront = o.guid(byStorefront)
			if o.has(byStorefront) && !o.has(byReference) {
				o.Add(byStorefront, "Send externalStorefrontID beside externalTransactionReferenceNumber only.")
			}
		}
	}
	oneOf(o, given, members)
	return s
}

func (s *several) canon(c *canon) {
	c.id(byID, s.voucherID)
	c.id(byOrder, s.orderID)
	c.text(byReference, s.reference)
	c.id(byStorefront, s.storefront)
}

// cancellation is a cancel-gift request.
type cancellation struct {
	several
	accountID gift.ID // for a system key; zero: there is only one
	cause     gift.Status
	reason    string
	skip      *bool
}

func readCancellation(o *object) (r cancellation) {
	r.several = readSeveral(o, byID, byOrder, byReference)
	r.accountID = o.guid("accountID")
	switch cause := o.text("cause"); cause {
	case gift.PurchaseFailed.String():
		r.cause = gift.PurchaseFailed
	case gift.Cancelled.String():
		r.cause = gift.Cancelled
	default:
		o.Add("cause", "The cause must be PURCHASE_FAILED or CANCELLED.")
	}
	r.reason = o.line("reason", maxReason)
	r.skip = o.boolean("skipNotAllowed")
	return r
}

func (r *cancellation) skips() bool { return r.skip != nil && *r.skip }

func (r *cancellation) canon(c *canon) {
	r.several.canon(c)
	c.text("cause", r.cause.String())
	c.text("reason", r.reason)
	if r.skips() {
		c.boolean("skipNotAllowed", r.skip)
	}
}

// cancelGift takes gifts out of use, all that are named or none, unless those that may not be are to be skipped.
func cancelGift(c *call) (ledger.Answer, error) {
	asked, problems := decode(c, readCancellation)
	account, err := c.Directory().AccountOf(c.caller, asked.accountID, "accountID")
	if err == nil {
		c.account = account
	}
	if !c.unread && !problems.Has("accountID") {
		problems.Refuse(err)
	}
	c.needKey(problems)
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	request := c.request(ledger.CancelGift, asked.canon)
	ids, err := c.gifts(asked.several)
	if err != nil {
		return request.refuse(err)
	}
	return request.do(&ledger.Cancel{
		VoucherIDs: ids, SkipNotAllowed: asked.skips(),
		Cancel: gift.Cancel{Context: c.actor(gift.ID{}), Caller: c.caller, To: asked.cause, Reason: asked.reason},
	}, http.StatusOK, (*writer).outcomes)
}

// reinstatement is a reinstate-gift request.
type reinstatement struct {
	several
	reason string
}

func readReinstatement(o *object) reinstatement {
	return reinstatement{several: readSeveral(o, byID, byOrder), reason: o.line("reason", maxReason)}
}

func (r *reinstatement) canon(c *canon) {
	r.several.canon(c)
	c.text("reason", r.reason)
}

// reinstateGift takes a cancellation or a failed purchase back, of all gifts that are named or of none.
func reinstateGift(c *call) (ledger.Answer, error) {
	asked, problems := decode(c, readReinstatement)
	c.needKey(problems)
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	request := c.request(ledger.ReinstateGift, asked.canon)
	ids, err := c.gifts(asked.several)
	if err != nil {
		return request.refuse(err)
	}
	answer, err := request.do(&ledger.Reinstate{
		VoucherIDs: ids, Reinstate: gift.Reinstate{Context: c.actor(gift.ID{}), Caller: c.caller, Reason: asked.reason},
	}, http.StatusOK, (*writer).outcomes)
	if err == nil && answer.Status == http.StatusOK && !answer.Replayed {
		c.Wake()
	}
	return answer, err
}

// gifts finds what a request names, as far as the key may see it.
func (c *call) gifts(asked several) (ids []gift.ID, _ error) {
	if !asked.voucherID.IsZero() {
		return []gift.ID{asked.voucherID}, nil
	}
	filter := gift.Filter{
		AccountID: c.account.ID, MadeBy: c.integrator(), Locations: c.caller.Locations, OrderID: asked.orderID,
		Reference: asked.reference, StorefrontID: asked.storefront, Limit: gift.MaxRecipients,
	}
	var found []gift.Gift
	for {
		page, err := c.Records.Gifts(c.ctx, filter)
		if err != nil {
			return nil, stored(err)
		}
		found = append(found, page...)
		if len(found) > maxCancelled {
			return nil, gift.Refuse(gift.ValidationFailure,
				"More than %d gifts bear this reference; cancel them order by order.", maxCancelled)
		}
		if len(page) < filter.Limit {
			break
		}
		filter.Before = page[len(page)-1].ID
	}
	if len(found) == 0 {
		return nil, gift.Refuse(gift.NotFound, "This account has no such gifts.")
	}
	if asked.reference != "" {
		if err := gift.OnePurchase(found, c.account.StorefrontName); err != nil {
			return nil, err
		}
	}
	for n := range found {
		ids = append(ids, found[n].ID)
	}
	return ids, nil
}

// outcomes writes what became of each gift of a cancellation or a reinstatement.
func (w *writer) outcomes(r ledger.Result) {
	w.list("vouchers")
	for n := range r.Vouchers {
		v := &r.Vouchers[n]
		outcome, why := "DONE", ""
		switch refused := r.NotAllowed[n]; {
		case refused != nil:
			outcome, why = "NOT_ALLOWED", refused.Messages[0].Text
		case !r.Changed[n]:
			outcome = "ALREADY_DONE"
		}
		w.open()
		w.id("voucherID", v.ID)
		w.text("status", v.Status.String())
		w.integer("statusID", int(v.Status))
		w.amount("currentBalance", v.Unit(), v.Balance)
		w.text("outcome", outcome)
		w.textOrNull("reason", why)
		w.close()
	}
	w.endList()
}
