package gift

import (
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// CashOutLaw says where a guest may ask for the rest of a gift in cash. These laws are about gifts of money that were
// paid for.
type CashOutLaw []CashOutRule

// CashOutRule is when a jurisdiction lets the holder of a gift ask for the rest of it in cash.
type CashOutRule struct {
	Jurisdiction string // ISO 3166
	Name         string // of it, as people call it
	From         int    // the first day that the rule holds, as Day numbers it, until that of the next one; 0: always
	Currency     money.Currency
	Limit        money.Amount // the balance is less than this
	OrEqual      bool         // or exactly that much
	Used         bool         // only after the gift was used at least once
	WorthMore    money.Amount // only where more than this was put into the gift
	Source       string
}

// rule is that of a jurisdiction on the day of an instant; nil: there is none.
func (l CashOutLaw) rule(jurisdiction string, now time.Time, zone *time.Location) (found *CashOutRule) {
	if zone == nil {
		zone = time.UTC
	}
	today, _ := merchant.Day(now, zone)
	for n := range l {
		if r := &l[n]; r.Jurisdiction == jurisdiction && r.From <= today && (found == nil || r.From > found.From) {
			found = r
		}
	}
	return found
}

// check tells how a gift is refused that the rule does not let a guest cash out; nil: it is not.
func (r *CashOutRule) check(v *Voucher) refusing {
	switch {
	case v.Currency.Code != r.Currency.Code:
		return unsupported("In %s the law is about gifts in %s.", r.Name, r.Currency.Code)
	case v.Balance > r.Limit || v.Balance == r.Limit && !r.OrEqual:
		return func() error {
			return refusal.New(refusal.NotSupported, "In %s a gift can be cashed out when %s is left; of this one, %s is.",
				r.Name, r.below(), v.Unit().Money(v.Balance))
		}
	case r.Used && v.Balance == v.Funded:
		return func() error {
			return refusal.New(refusal.NotSupported, "In %s a gift can be cashed out when %s is left of it after it was used; "+
				"this one was not used yet.", r.Name, r.below())
		}
	case v.Funded <= r.WorthMore:
		return func() error {
			return refusal.New(refusal.NotSupported, "In %s a gift can be cashed out when %s is left of one of more than %s.",
				r.Name, r.below(), r.Currency.Money(r.WorthMore))
		}
	}
	return nil
}

// below tells what may be left of a gift: "below 10.00 USD".
func (r *CashOutRule) below() *phrase.Phrase {
	if r.OrEqual {
		return phrase.New("at most %s", r.Currency.Money(r.Limit))
	}
	return phrase.New("below %s", r.Currency.Money(r.Limit))
}

// refusing words a refusal. Every validation asks whether a gift can be cashed out, and few are told why not.
type refusing func() error

func unsupported(text phrase.Text, values ...any) refusing {
	return func() error { return refusal.New(refusal.NotSupported, text, values...) }
}

// ReasonCashOut is the reason code of a reversal that takes a cash-out back, and no redemption.
const ReasonCashOut ReasonCode = "CASH_OUT"

// TakesCashBack reports whether an entry takes a cash-out back.
func (e *Entry) TakesCashBack() bool { return e.Kind == Reversal && e.ReasonCode == ReasonCashOut }

// CashOuts are the cash-outs of a gift that stand: the numbers of their entries, by id. While one stands, nothing that
// was redeemed before it is given back, or a gift could be paid out bit by bit: redeemed down to what the law lets a
// guest have in cash, cashed out and given back, again and again.
type CashOuts map[guid.ID]int

// Enter notes the next entry of the gift.
func (c CashOuts) Enter(e *Entry) {
	switch {
	case e.Kind == CashOut:
		c[e.ID] = e.Seq
	case e.TakesCashBack():
		delete(c, e.Reverses)
	}
}

// Since reports whether one stands that was made after the entry with this number.
func (c CashOuts) Since(seq int) bool {
	for _, at := range c {
		if at > seq {
			return true
		}
	}
	return false
}

// CashOutRequest asks for the whole balance of a gift in cash, at the location of the Context.
type CashOutRequest struct {
	Context
	Law          CashOutLaw
	Amount       money.Amount      // that the caller expects to be the whole; 0: it does not say
	Verification string            // the verification code of the card; "": none was given
	Account      *merchant.Account // the voucher's
}

// CashOut takes all that is left of a voucher as cash, where the law lets a guest ask for that. It fails with
// NOT_AUTHORIZED (another location), NOT_SUPPORTED (it is not of money that was paid for, or the law does not let a
// guest ask for it), ALREADY_REDEEMED, REDEMPTION_NOT_ALLOWED (it cannot be redeemed, something is held, or the
// verification code is wrong) and VALIDATION_FAILURE (it is missing, or another amount was expected).
func (v Voucher) CashOut(p CashOutRequest) (Voucher, Entry, error) {
	if refuse := v.checkCashOut(p); refuse != nil {
		return v, Entry{}, refuse()
	}
	if err := v.verify(p.Verification); err != nil {
		return v, Entry{}, err
	}
	if p.Amount != 0 && p.Amount != v.Balance {
		return v, Entry{}, refusal.At(refusal.ValidationFailure, refusal.FieldAmount,
			"A gift is cashed out as a whole; of this one, %s is left.", v.Unit().Money(v.Balance))
	}
	v.WrongCodes = 0
	e := v.enter(p.Context, CashOut, -v.Balance, Redeemed)
	return v, e, nil
}

// CashOutAllowed reports whether a voucher can be cashed out at a location now; nil is nowhere in particular.
func (v *Voucher) CashOutAllowed(law CashOutLaw, a *merchant.Account, at *merchant.Location, now time.Time) bool {
	return at != nil && v.checkCashOut(CashOutRequest{Context: Context{Now: now, Actor: merchant.Actor{LocationID: at.ID}},
		Law: law, Account: a}) == nil
}

// checkCashOut tells how a cash-out is refused; nil: it is not.
func (v *Voucher) checkCashOut(p CashOutRequest) refusing {
	switch {
	case !v.AllowedAt(p.Actor.LocationID):
		return func() error { return elsewhere() }
	case v.Promotional:
		return unsupported("This gift is promotional: it cannot be cashed out.")
	case v.Item:
		return unsupported("This is an item gift: it cannot be cashed out.")
	}
	zone := p.Account.TimeZone()
	if reasons := v.NotRedeemable(p.Actor.LocationID, p.Now, zone); len(reasons) > 0 {
		return func() error { return refuseFor(reasons) }
	}
	at := p.Account.Location(p.Actor.LocationID)
	rule := (*CashOutRule)(nil)
	if at != nil {
		rule = p.Law.rule(at.Jurisdiction, p.Now, zone)
	}
	switch {
	case rule == nil:
		return unsupported("This gift cannot be cashed out here: no law of the location's jurisdiction is known that lets " +
			"a guest ask for it.")
	case v.HeldAt(p.Now) > 0:
		return func() error {
			return refusal.New(refusal.RedemptionNotAllowed, "This gift cannot be cashed out while something is held: %s.",
				v.held(p.Now, zone))
		}
	}
	return rule.check(v)
}
