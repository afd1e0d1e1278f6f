package gift

import (
	"cmp"
	"slices"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Cancel asks to take a gift out of use.
type Cancel struct {
	Context
	Caller *merchant.Caller
	To     Status // PurchaseFailed or Cancelled
	Reason string
	// Transferred tells that value was moved between the gift and another one, at whatever time. It is told of failed
	// purchases only.
	Transferred bool
}

// Cancel cancels a voucher. PENDING, DELIVERED, FAILED_DELIVERY, CLAIMED and NOT_ACTIVATED may be cancelled by the
// merchant; a purchase may be reported as failed from the first three, while nothing was redeemed or transferred: its
// value would live on in another gift, or that of another purchase be lost. A voucher that is there already stays as it
// is and gets no entry: changed is false. Anything else is REDEMPTION_NOT_ALLOWED, also where something is held, and
// NOT_FOUND where the caller may not see the gift.
func (v Voucher) Cancel(c Cancel) (_ Voucher, _ Entry, changed bool, _ error) {
	if !v.UsableBy(c.Caller) {
		return v, Entry{}, false, NoSuchGift()
	}
	if c.Caller.Kind == merchant.SystemKey && c.To != PurchaseFailed {
		return v, Entry{}, false, refusal.At(refusal.NotAuthorized, refusal.FieldCause,
			"A system key may only report that a purchase failed: send the cause PURCHASE_FAILED.")
	}
	why, what := (*phrase.Phrase)(nil), phrase.Text("cancelled")
	if c.To == PurchaseFailed {
		what = "reported as a failed purchase"
	}
	switch {
	case c.To != Cancelled && c.To != PurchaseFailed:
		why = phrase.New("it would become %s", c.To)
	case c.To == v.Status:
		return v, Entry{}, false, nil
	case v.Status == Claimed && c.To == PurchaseFailed:
		why = phrase.New("part of it has been redeemed")
	case v.Status == Redeemed, v.Status == Cancelled, v.Status == PurchaseFailed,
		v.Status == NotActivated && c.To == PurchaseFailed:
		why = v.itIs()
	case c.To == PurchaseFailed && c.Transferred:
		why = phrase.New("value was transferred between it and another gift")
	case c.To == PurchaseFailed && v.Promotional:
		why = phrase.New("it is promotional, there was no purchase")
	case len(v.Holds) > 0:
		why = phrase.New("it has open holds, which releaseHolds releases: %s", v.openHolds())
	}
	if why != nil {
		return v, Entry{}, false, v.cannotBe(what, why)
	}
	e := v.enter(c.Context, Cancellation, 0, c.To)
	e.Reason = c.Reason
	return v, e, true, nil
}

// Reinstate asks to take a cancellation, or the report of a failed purchase, back.
type Reinstate struct {
	Context
	Caller *merchant.Caller
	Before Status // what the gift was before it was taken out of use
	Sent   bool   // a message that brings the gift was accepted, at whatever time
	Reason string
}

// Reinstate makes a voucher what it was before it was taken out of use; its balance never changed by that. A PENDING
// gift whose message was on its way then, and was accepted after all, is DELIVERED; one that is empty by now is
// REDEEMED. A voucher that is in use stays as
// it is and gets no entry: changed is false. It fails with NOT_FOUND where the caller may not see the gift.
func (v Voucher) Reinstate(r Reinstate) (_ Voucher, _ Entry, changed bool, _ error) {
	if !v.UsableBy(r.Caller) {
		return v, Entry{}, false, NoSuchGift()
	}
	if v.Status != Cancelled && v.Status != PurchaseFailed {
		return v, Entry{}, false, nil
	}
	if !v.Status.mayFollow(r.Before) {
		return v, Entry{}, false, refusal.New(refusal.UnexpectedError,
			"The records of this gift do not add up, so nothing was changed.")
	}
	status := r.Before
	switch {
	case v.Balance == 0 && status != NotActivated: // what was left was taken back while it was cancelled
		status = Redeemed
	case status == Pending && r.Sent:
		status = Delivered
	}
	e := v.enter(r.Context, Reinstatement, 0, status)
	e.Reason = r.Reason
	return v, e, true, nil
}

// mayFollow reports whether a cancellation or a failed purchase leads from a status to this one.
func (s Status) mayFollow(from Status) bool {
	switch from {
	case Pending, Delivered, FailedDelivery:
		return s == Cancelled || s == PurchaseFailed
	case Claimed, NotActivated:
		return s == Cancelled
	}
	return false
}

// Buyer tells purchases with the same reference apart: who made the gift, and where it was bought.
type Buyer struct {
	MadeBy       string // see Voucher.MadeBy
	StorefrontID guid.ID
}

// OnePurchase refuses to take several purchases for one: gifts that have the same reference and were bought at
// different storefronts, or made by different systems. name gives a storefront's name.
func OnePurchase(gifts []Gift, name func(guid.ID) string) error {
	var buyers []Buyer
	for n := range gifts {
		b := Buyer{gifts[n].MadeBy, gifts[n].Card.Purchase.StorefrontID}
		if !slices.Contains(buyers, b) {
			buyers = append(buyers, b)
		}
	}
	if len(buyers) <= 1 {
		return nil
	}
	slices.SortFunc(buyers, func(a, b Buyer) int {
		return cmp.Compare(a.said(name).String(), b.said(name).String())
	})
	at := buyers[0].said(name)
	for _, b := range buyers[1:] {
		at = phrase.New("%s; at %s", at, b.said(name))
	}
	return refusal.At(refusal.ValidationFailure, refusal.FieldStorefront,
		"Several purchases have this reference: at %s. Send %s too, or %s.", at, refusal.FieldStorefront,
		refusal.FieldOrder)
}

// said names a purchase by its storefront, and the system that sold there.
func (b Buyer) said(name func(guid.ID) string) *phrase.Phrase {
	if b.MadeBy != "" {
		return phrase.New("%s (%s) through %s", name(b.StorefrontID), b.StorefrontID, b.MadeBy)
	}
	return phrase.New("%s (%s)", name(b.StorefrontID), b.StorefrontID)
}
