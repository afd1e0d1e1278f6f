package gift

import (
	"cmp"
	"slices"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// Redeem asks for a decrement.
type Redeem struct {
	Context
	LocationID   guid.ID
	Amount       money.Amount // in the voucher's unit; 0: all that is left
	Number       money.Number // in place of Amount: as the caller wrote it; "": Amount stands
	AllowPartial bool         // take what is there when Amount is more
	UpTo         bool         // partial approval: what is there is taken up to Amount, and nothing of an empty gift
	AtMost       money.Amount // that is taken, UpTo an amount, however much that is; 0: as much as is there
	Target       Target
	Eligibility  *Eligibility // what the ticket allows; nil: no ticket was given
	Reference    string
	Reason       string            // what the caller says of it; "": nothing
	Verification string            // the verification code of the card; "": none was given
	Account      *merchant.Account // the voucher's
}

// Eligibility is what a ticket says about a gift.
type Eligibility struct {
	NoneEligible bool        // the gift is good for certain items only, and can pay none of them on the ticket
	Why          phrase.Text // of NoneEligible: why it cannot pay the first of them; "": none of them is on the ticket
	// the most that can be applied to this ticket, in the voucher's unit; 0: there is nothing to pay
	Most money.Amount
}

// Redeem decrements a voucher (interface, sections 3 and 4.3). It fails with NOT_AUTHORIZED (another location),
// MISSING_OR_INVALID_GIFT_PROGRAM, INVALID_VOUCHER_TYPE, ALREADY_REDEEMED, REDEMPTION_NOT_ALLOWED,
// ITEM_ELIGIBILITY_FAILURE, VALIDATION_FAILURE (more than the ticket allows) or INSUFFICIENT_BALANCE; then nothing is
// taken. Nor is it of a gift that has nothing, UpTo an amount: then there is no error, and the Entry is the zero one.
func (v Voucher) Redeem(r Redeem) (Voucher, Entry, error) {
	take, err := v.amountOf(r)
	if err != nil || take == 0 {
		return v, Entry{}, err
	}
	v.WrongCodes = 0
	e := v.enter(r.Context, Redemption, -take, v.afterTaking(take))
	e.Reference, e.Reason = r.Reference, r.Reason
	return v, e, nil
}

// afterTaking is the status that taking an amount leads to.
func (v *Voucher) afterTaking(amount money.Amount) Status {
	if amount == v.Balance {
		return Redeemed
	}
	return Claimed
}

// Validate refuses a voucher that a till cannot use as it means to, whatever else may speak against redeeming it,
// which the answer tells: one that nobody paid for, one that is not what the till expects (target), and one that is
// good for nothing on the ticket. nil: no ticket was given.
func (v *Voucher) Validate(target Target, ticket *Eligibility, account *merchant.Account) error {
	if v.Status == PurchaseFailed {
		return refusal.New(refusal.RedemptionNotAllowed, "The purchase of this gift failed.")
	}
	if err := target.Check(v); err != nil {
		return err
	}
	if ticket != nil && ticket.NoneEligible {
		return NoEligibleItems(v.GoodFor(account), ticket.Why)
	}
	return nil
}

// amount reads a number above zero in the unit of the voucher; where there is none, the amount beside it stands.
func (v *Voucher) amount(number money.Number, otherwise money.Amount) (money.Amount, error) {
	return v.read(number, otherwise, money.Currency.Parse)
}

func (v *Voucher) read(number money.Number, otherwise money.Amount, parse func(money.Currency,
	money.Number) (money.Amount, error)) (money.Amount, error) {
	if number == "" {
		return otherwise, nil
	}
	amount, err := parse(v.Unit(), number)
	switch {
	case err == nil:
		return amount, nil
	case v.Item:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount,
			"This is an item gift: the amount is a whole number of pieces.")
	}
	return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "This is not an amount in %s.", v.Currency.Code)
}

// Names refuses a voucher that is not what r names, or may not be used where r is made: then r is told nothing of it.
func (r *Redeem) Names(v *Voucher) error {
	if !v.AllowedAt(r.LocationID) {
		return elsewhere()
	}
	return r.Target.Check(v)
}

// amountOf is how much a redemption takes, or a hold keeps.
func (v *Voucher) amountOf(r Redeem) (money.Amount, error) {
	if !v.AllowedAt(r.LocationID) {
		return 0, elsewhere()
	}
	asked, err := v.amount(r.Number, r.Amount)
	if err != nil {
		return 0, err
	}
	if err := r.Target.Check(v); err != nil {
		return 0, err
	}
	reasons := v.NotRedeemable(r.LocationID, r.Now, r.Account.TimeZone())
	if r.UpTo {
		reasons = slices.DeleteFunc(reasons, func(r Reason) bool { return r.Code == refusal.AlreadyRedeemed })
	}
	if len(reasons) > 0 {
		return 0, refuseFor(reasons)
	}
	if err := v.verify(r.Verification); err != nil {
		return 0, err
	}
	return v.takeOf(asked, r)
}

// takeOf is how much of a voucher that can be redeemed is taken when an amount is asked for; 0 asks for all that there
// is.
func (v *Voucher) takeOf(asked money.Amount, r Redeem) (money.Amount, error) {
	available := v.Available(r.Now)
	most := available
	items := v.GoodFor(r.Account)
	switch e := r.Eligibility; {
	case e == nil && len(items) > 0 && !v.TicketOptional(r.Account):
		return 0, needsTicket(items)
	case e != nil && e.NoneEligible:
		return 0, NoEligibleItems(items, e.Why)
	case e != nil:
		most = min(most, e.Most)
	}
	switch {
	case asked < 0:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "The amount must be above zero.")
	case r.UpTo:
		if r.AtMost > 0 {
			most = min(most, r.AtMost)
		}
		return max(0, min(cmp.Or(asked, most), most)), nil
	case available == 0, asked > available && asked <= v.Balance && !r.AllowPartial:
		return 0, refusal.At(refusal.InsufficientBalance, refusal.FieldAmount, "Of this gift, %s is available: %s.",
			v.Unit().Money(available), v.held(r.Now, r.Account.TimeZone()))
	case most <= 0 && v.Unit() == money.Pieces:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldTicket,
			"No whole piece that this gift pays for is left to pay on this ticket, so nothing was taken.")
	case most <= 0:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldTicket,
			"There is nothing to pay on this ticket, so nothing was taken.")
	case asked == 0, asked > most && r.AllowPartial:
		return most, nil
	case asked > v.Balance:
		return 0, refusal.At(refusal.InsufficientBalance, refusal.FieldAmount, "The balance of this gift is %s.",
			v.Unit().Money(v.Balance))
	case asked > most:
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldAmount,
			"At most %s of this gift can be applied to this ticket.",
			v.Unit().Money(most))
	}
	return asked, nil
}

// refuseFor makes one error of all reasons; the first gives the code.
func refuseFor(reasons []Reason) *refusal.Error {
	e := &refusal.Error{Code: reasons[0].Code}
	if e.Code == ReasonBlocked || e.Code == ReasonNotActivated {
		e.Code = refusal.RedemptionNotAllowed
	}
	for _, r := range reasons {
		e.Messages = append(e.Messages, refusal.MessageAt("", "%s", r.Text))
	}
	return e
}
