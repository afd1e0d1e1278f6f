package gift

import (
	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// Activate asks to give a card of a stock its value, as it is sold.
type Activate struct {
	Context
	LocationID guid.ID
	Amount     money.Amount // in the voucher's unit; 0: that of its fixed worth
	Number     money.Number // in place of Amount: as the caller wrote it; "": Amount stands
	Purchase   Purchase
	Price      money.Number // that was paid, as the caller wrote it; "": as much as it is worth
	Worth      money.Amount // of the pieces of an item card together; 0: nobody said
	Reference  string
	Customer   string       // whom the card is linked to; "": nobody
	Most       money.Amount // that a gift of the account may be worth
}

// Activate gives a card of a stock its value: its fixed worth, or what was paid. It fails with NOT_AUTHORIZED (another
// location), ALREADY_ACTIVATED, REDEMPTION_NOT_ALLOWED (cancelled or blocked), or VALIDATION_FAILURE for the amount.
func (v Voucher) Activate(a Activate) (Voucher, Entry, error) {
	switch {
	case !v.AllowedAt(a.LocationID):
		return v, Entry{}, elsewhere()
	case v.Status == Cancelled, v.Status == PurchaseFailed:
		return v, Entry{}, v.cannotBe("activated", v.itIs())
	case v.Status != NotActivated:
		return v, Entry{}, refusal.New(refusal.AlreadyActivated, "This card is active already: it is %s.", v.Status)
	case v.Blocked != "":
		return v, Entry{}, v.cannotBe("activated", itIsBlocked)
	}
	worth, err := v.activationOf(a)
	if err != nil {
		return v, Entry{}, err
	}
	if !v.Item {
		a.Worth = worth
	}
	if a.Purchase.Price, err = ReadPrice(refusal.FieldPricePaid, a.Price, v.Currency, a.Worth); err != nil {
		return v, Entry{}, err
	}
	e := v.enter(a.Context, Activation, worth, Delivered)
	e.Reference, e.Purchase = a.Reference, a.Purchase
	v.link(a.Customer, &e)
	return v, e, nil
}

// activationOf is what an activation puts into a card.
func (v *Voucher) activationOf(a Activate) (money.Amount, error) {
	asked, err := v.amount(a.Number, a.Amount)
	switch {
	case v.Fixed > 0 && (a.Number != "" || a.Amount != 0):
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "This card is of fixed worth, %s: leave %s out.",
			v.Unit().Money(v.Fixed), refusal.FieldAmount)
	case v.Fixed > 0:
		return v.Fixed, nil
	case err != nil:
		return 0, err
	case asked == 0:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount,
			"Say how much was paid for this card: it has no fixed worth.")
	case asked < 0:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "The amount must be above zero.")
	case asked > a.Most:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "A gift of this account is worth %s at most.",
			v.Currency.Money(a.Most))
	}
	return asked, nil
}

// ReverseActivation makes a card what it was before it was activated, as long as nothing else happened to it but that
// verification codes were mistyped. These stay counted: else whoever may sell a card and take the sale back could try
// them all. The link to a customer that the sale made ends; one that was made since tells that somebody has the card.
// It fails with NOT_FOUND when t is no activation of this voucher or was made where the caller is not enabled,
// ALREADY_REVERSED, and REDEMPTION_NOT_ALLOWED.
func (v Voucher) ReverseActivation(t Undoable, u Undo) (Voucher, Entry, error) {
	switch {
	case t.Entry.Kind != Activation || t.Entry.VoucherID != v.ID || !u.Caller.Enabled(t.Entry.Actor.LocationID):
		return v, Entry{}, NoSuchActivation()
	case t.Parts > 0:
		return v, Entry{}, refusal.New(refusal.AlreadyReversed, "This activation has been taken back already.")
	case v.Seq-t.Missed != t.Entry.Seq || v.Status != Delivered: // each wrong code is an entry
		return v, Entry{}, refusal.New(refusal.RedemptionNotAllowed,
			"This activation cannot be taken back: something else happened to "+
				"the card since then. It is %s, and %s of %s is left.", v.Status, v.Unit().Money(v.Balance),
			v.Unit().Money(v.Funded))
	}
	e := v.enter(u.Context, ActivationReversal, -t.Entry.Delta, NotActivated)
	e.Reverses = t.Entry.ID
	v.unlink(&e)
	return v, e, nil
}
