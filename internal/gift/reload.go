package gift

import (
	"slices"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// ReloadRequest asks to put more value into a gift that was paid for.
type ReloadRequest struct {
	Context
	Amount    money.Amount // in the voucher's unit
	Number    money.Number // in place of Amount: as the caller wrote it; "": Amount stands
	Purchase  Purchase
	Customer  string       // whom the gift is linked to; "": that stays
	Price     money.Number // that was paid, as the caller wrote it; "": as much as is loaded
	Reference string
	Reason    string            // what the caller says of it; "": nothing
	Account   *merchant.Account // the voucher's
}

// Reload puts more value into a voucher, at the location of the Context. An empty gift can be used again. It fails
// with NOT_AUTHORIZED (another location), NOT_SUPPORTED (it is not of money that was paid for, or its program is not
// reloadable), REDEMPTION_NOT_ALLOWED (it is not in use, or its recipient does not have it yet), VALIDATION_FAILURE
// (it would be worth more than one gift may be) and ALREADY_LINKED.
func (v Voucher) Reload(r ReloadRequest) (Voucher, Entry, error) {
	at := r.Actor.LocationID
	if !v.AllowedAt(at) {
		return v, Entry{}, elsewhere()
	}
	if err := v.reloadable(r.Account); err != nil {
		return v, Entry{}, err
	}
	amount, err := v.amount(r.Number, r.Amount)
	if err != nil {
		return v, Entry{}, err
	}
	reasons := slices.DeleteFunc(v.NotRedeemable(at, r.Now, r.Account.Zone), func(why Reason) bool {
		return why.Code == refusal.AlreadyRedeemed
	})
	most := min(r.Account.MaxGiftValue-v.Balance, money.NoLimit-v.Funded)
	switch {
	case len(reasons) > 0:
		return v, Entry{}, refuseFor(reasons)
	case amount <= 0:
		return v, Entry{}, refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "The amount must be above zero.")
	case amount > most:
		return v, Entry{}, refusal.At(refusal.ValidationFailure, refusal.FieldAmount,
			"A gift may be worth %s at most; at most %s can be loaded.",
			v.Unit().Money(r.Account.MaxGiftValue), v.Unit().Money(max(most, 0)))
	}
	if r.Purchase.Price, err = ReadPrice(refusal.FieldPricePaid, r.Price, v.Currency, amount); err != nil {
		return v, Entry{}, err
	}
	if err := v.mayLink(r.Customer); err != nil {
		return v, Entry{}, err
	}
	status := v.Status
	if status == Redeemed {
		status = Claimed
	}
	e := v.enter(r.Context, Reload, amount, status)
	e.Purchase, e.Reference, e.Reason = r.Purchase, r.Reference, r.Reason
	v.link(r.Customer, &e)
	return v, e, nil
}

// reloadable refuses gifts into which no value can be put later.
func (v *Voucher) reloadable(a *merchant.Account) error {
	sub := a.Subscription(v.ProgramID)
	switch {
	case v.Promotional:
		return refusal.New(refusal.NotSupported, "This gift is promotional: it cannot be reloaded.")
	case v.Item:
		return refusal.New(refusal.NotSupported, "This is an item gift: it cannot be reloaded.")
	case sub == nil || !sub.Reloadable:
		program, _ := merchant.ProgramByID(v.ProgramID)
		return refusal.New(refusal.NotSupported, "Gifts of the program %q cannot be reloaded.", program.Name)
	}
	return nil
}

// ReverseReload takes a reload back as a whole, as long as that much is available. A gift that is out of use stays so;
// an empty one is REDEEMED. It fails with NOT_FOUND when t is no reload of this voucher or was made where the caller
// is not enabled, ALREADY_REVERSED, INSUFFICIENT_BALANCE, and REDEMPTION_NOT_ALLOWED for all that is in a gift whose
// purchase failed.
func (v Voucher) ReverseReload(t Undoable, u Undo) (Voucher, Entry, error) {
	if t.Entry.Kind != Reload || t.Entry.VoucherID != v.ID || !u.Caller.Enabled(t.Entry.Actor.LocationID) {
		return v, Entry{}, NoSuchReload()
	}
	amount, available, status := t.Entry.Delta, v.Available(u.Now), v.Status
	switch {
	case t.Parts > 0:
		return v, Entry{}, refusal.New(refusal.AlreadyReversed, "This reload has been taken back already.")
	case status == Pending, status == NotActivated:
		return v, Entry{}, refusal.New(refusal.RedemptionNotAllowed, "Nothing was loaded into this gift.")
	case amount > available && v.HeldAt(u.Now) > 0:
		return v, Entry{}, refusal.New(refusal.InsufficientBalance,
			"This reload was of %s; of this gift, %s is available: %s.",
			v.Unit().Money(amount), v.Unit().Money(available), v.held(u.Now, u.Caller.Account.TimeZone()))
	case amount > available:
		return v, Entry{}, refusal.New(refusal.InsufficientBalance, "This reload was of %s; of this gift, %s is available.",
			v.Unit().Money(amount), v.Unit().Money(available))
	case amount == v.Balance && status == PurchaseFailed:
		return v, Entry{}, refusal.New(refusal.RedemptionNotAllowed, "The purchase of this gift failed.")
	case amount == v.Balance && status != Cancelled:
		status = Redeemed
	}
	e := v.enter(u.Context, ReloadReversal, -amount, status)
	e.Reverses = t.Entry.ID
	return v, e, nil
}
