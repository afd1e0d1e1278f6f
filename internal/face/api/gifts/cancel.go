package gifts

import (
	"boon.example/internal/face/api/outcome"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// several names gifts in a request: one, those of an order, or those of an external purchase.
type several struct {
	VoucherID  guid.ID // or
	OrderID    guid.ID // or
	Purchase   string  // its reference
	Storefront guid.ID // beside a reference: where the purchase was made; zero: there is only one
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
func readSeveral(o *wire.Object, members ...string) (s several) {
	for _, name := range members {
		switch name {
		case byID:
			s.VoucherID = o.GUID(name)
		case byOrder:
			s.OrderID = o.GUID(name)
		case byReference:
			s.Purchase = o.Line(name, 200)
			s.Storefront = o.GUID(byStorefront)
			if o.Given(byStorefront) && !o.Given(byReference) {
				o.Add(byStorefront, "Send externalStorefrontID beside externalTransactionReferenceNumber only.")
			}
		}
	}
	oneOf(o, members)
	return s
}

// cancellation is a cancel-gift request.
type cancellation struct {
	several
	AccountID      guid.ID // for a system key; zero: there is only one
	SkipNotAllowed bool
	ReleaseHolds   bool
	gift.Cancel
}

func readCancellation(o *wire.Object) (r cancellation) {
	r.several = readSeveral(o, byID, byOrder, byReference)
	r.AccountID = o.GUID("accountID")
	switch cause := o.Text("cause"); cause {
	case gift.PurchaseFailed.String():
		r.To = gift.PurchaseFailed
	case gift.Cancelled.String():
		r.To = gift.Cancelled
	default:
		o.Add("cause", "The cause must be PURCHASE_FAILED or CANCELLED.")
	}
	r.Reason = o.Line("reason", maxReason)
	r.SkipNotAllowed = o.True("skipNotAllowed")
	r.ReleaseHolds = o.True("releaseHolds")
	return r
}

// CancelGift takes gifts out of use, all that are named or none, unless those that may not be are to be skipped.
func CancelGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, readCancellation)
	account, err := c.Directory().AccountOf(c.Caller, asked.AccountID, refusal.FieldAccount)
	if err == nil {
		c.ActFor(account)
	}
	if !c.unread && !problems.Has("accountID") {
		problems.Refuse(err)
	}
	problems.Refuse(c.NeedKey())
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	request := c.Request(operation.CancelGift, asked)
	ids, err := c.gifts(asked.several)
	if err != nil {
		return request.Refuse(err)
	}
	asked.Context, asked.Caller = c.Actor(guid.ID{}), c.Caller
	return request.Do(&ledger.Cancel{
		VoucherIDs: ids, SkipNotAllowed: asked.SkipNotAllowed, ReleaseHolds: asked.ReleaseHolds, Cancel: asked.Cancel,
	}, ledger.OK, outcome.Cancellation)
}

// reinstatement is a reinstate-gift request.
type reinstatement struct {
	several
	gift.Reinstate
}

func readReinstatement(o *wire.Object) (r reinstatement) {
	r.several = readSeveral(o, byID, byOrder)
	r.Reason = o.Line("reason", maxReason)
	return r
}

// ReinstateGift takes a cancellation or a failed purchase back, of all gifts that are named or of none.
func ReinstateGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, readReinstatement)
	problems.Refuse(c.NeedKey())
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	request := c.Request(operation.ReinstateGift, asked)
	ids, err := c.gifts(asked.several)
	if err != nil {
		return request.Refuse(err)
	}
	asked.Context, asked.Caller = c.Actor(guid.ID{}), c.Caller
	answer, err := request.Do(&ledger.Reinstate{VoucherIDs: ids, Reinstate: asked.Reinstate}, ledger.OK,
		outcome.Cancellation)
	if answer.Fresh() {
		c.Wake(c.Account.Test)
	}
	return answer, err
}

// gifts finds what a request names, as far as the key may see it.
func (c *Call) gifts(asked several) (ids []guid.ID, _ error) {
	if !asked.VoucherID.IsZero() {
		return []guid.ID{asked.VoucherID}, nil
	}
	filter := gift.Filter{
		AccountID: c.Account.ID, MadeBy: c.Caller.Integrator(), Locations: c.Caller.Locations, OrderID: asked.OrderID,
		Reference: asked.Purchase, StorefrontID: asked.Storefront, Limit: gift.MaxRecipients,
	}
	var found []gift.Gift
	for {
		page, err := c.Records.Gifts(c.Context(), filter)
		if err != nil {
			return nil, service.Stored(err)
		}
		found = append(found, page...)
		if len(found) > maxCancelled {
			return nil, refusal.New(refusal.ValidationFailure,
				"More than %d gifts bear this reference; cancel them order by order.", maxCancelled)
		}
		if len(page) < filter.Limit {
			break
		}
		filter.Before = page[len(page)-1].ID
	}
	if len(found) == 0 {
		return nil, refusal.New(refusal.NotFound, "This account has no such gifts.")
	}
	if asked.Purchase != "" {
		if err := gift.OnePurchase(found, c.Account.StorefrontName); err != nil {
			return nil, err
		}
	}
	for n := range found {
		ids = append(ids, found[n].ID)
	}
	return ids, nil
}
