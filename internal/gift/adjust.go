package gift

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"boon.example/internal/base/phrase"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// The reasons for which a balance is adjusted; ReasonFraud is another.
const (
	ReasonComplimentary    ReasonCode = "COMPLIMENTARY"
	ReasonSupport          ReasonCode = "SUPPORT"
	ReasonMistake          ReasonCode = "MISTAKE"
	ReasonPurchaseRefunded ReasonCode = "PURCHASE_REFUNDED"
	ReasonMigration        ReasonCode = "MIGRATION"
)

// AdjustReasons lists them.
func AdjustReasons() []ReasonCode {
	return []ReasonCode{ReasonComplimentary, ReasonSupport, ReasonMistake, ReasonFraud, ReasonPurchaseRefunded,
		ReasonMigration}
}

// minReason is the fewest characters that say why, blanks around them not counted.
const minReason = 3

// Adjust asks to correct a balance, up or down.
type Adjust struct {
	Context
	Caller     *merchant.Caller
	Amount     money.Amount // what it adds to the balance; in the voucher's unit
	Number     money.Number // in place of Amount: as the caller wrote it; "": Amount stands
	ReasonCode ReasonCode
	Reason     string
}

// Adjust adds to the balance of a voucher, or takes of it what is not held. An empty one becomes REDEEMED, and one that
// was REDEEMED becomes CLAIMED; else the status stays. It fails with NOT_FOUND where the caller may not see the gift,
// REDEMPTION_NOT_ALLOWED when it is out of use or not activated, or PENDING and would be empty, INSUFFICIENT_BALANCE
// below what is held, and VALIDATION_FAILURE above the most that a gift may be worth.
func (v Voucher) Adjust(a Adjust) (Voucher, Entry, error) {
	if !v.UsableBy(a.Caller) {
		return v, Entry{}, NoSuchGift()
	}
	if !slices.Contains(AdjustReasons(), a.ReasonCode) {
		return v, Entry{}, refusal.At(refusal.ValidationFailure, refusal.FieldReasonCode, "There is no such %s.",
			refusal.FieldReasonCode)
	}
	if err := a.CheckReason(); err != nil {
		return v, Entry{}, err
	}
	if !v.Status.adjustable() {
		return v, Entry{}, v.cannotBe("adjusted", v.itIs())
	}
	amount, err := v.read(a.Number, a.Amount, money.Currency.ParseSigned)
	if err == nil {
		err = v.canChange(amount, a)
	}
	switch {
	case err != nil:
		return v, Entry{}, err
	case v.Status == Pending && v.Balance+amount == 0: // its message would be lost, should anything be put in again
		return v, Entry{}, v.cannotBe("adjusted to nothing", phrase.New("it is %s; cancel it instead", v.Status))
	}
	e := v.enter(a.Context, Adjustment, amount, v.Status.adjusted(v.Balance+amount))
	e.ReasonCode, e.Reason = a.ReasonCode, a.Reason
	return v, e, nil
}

// CheckReason refuses an adjustment of whatever gift that does not say why.
func (a *Adjust) CheckReason() error {
	if utf8.RuneCountInString(strings.Trim(a.Reason, " ")) < minReason {
		return refusal.At(refusal.ValidationFailure, refusal.FieldReason, "Say why, in %d characters at least.", minReason)
	}
	return nil
}

// canChange refuses an amount by which the balance cannot change.
func (v *Voucher) canChange(amount money.Amount, a Adjust) error {
	unit, most := v.Unit(), money.Amount(MaxQuantity)
	if !v.Item {
		most = a.Caller.Account.MaxGiftValue
	}
	switch {
	case amount == 0:
		return refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "%s", money.ErrZero)
	case -amount > v.Balance:
		return refusal.At(refusal.InsufficientBalance, refusal.FieldAmount, "The balance of this gift is %s.",
			unit.Money(v.Balance))
	case amount < 0 && -amount > v.Available(a.Now):
		return refusal.At(refusal.InsufficientBalance, refusal.FieldAmount, "Of this gift, %s is available: %s.",
			unit.Money(v.Available(a.Now)), v.held(a.Now, a.Caller.Account.TimeZone()))
	case amount > 0 && (amount > most-v.Balance || amount > money.NoLimit-v.Funded):
		return refusal.At(refusal.ValidationFailure, refusal.FieldAmount,
			"A gift may be worth at most %s; the balance of this one is %s.",
			unit.Money(most), unit.Money(v.Balance))
	}
	return nil
}

// ItemWorth is what so many pieces of an item gift are together worth in money, as was said when it was made; zero: it
// was not said.
type ItemWorth struct{ Money, Pieces money.Amount }

// Known reports whether it was said what the pieces are worth.
func (w ItemWorth) Known() bool { return w.Money > 0 && w.Pieces > 0 }

// Equal reports whether a piece is worth as much by both.
func (w ItemWorth) Equal(o ItemWorth) bool {
	if !w.Known() || !o.Known() {
		return w.Known() == o.Known()
	}
	high, low := bits.Mul64(uint64(w.Money), uint64(o.Pieces))
	otherHigh, otherLow := bits.Mul64(uint64(o.Money), uint64(w.Pieces))
	return high == otherHigh && low == otherLow
}

// Of counts an amount of v in money: a part of the smallest unit as a whole one, and nothing of what is below zero or
// of pieces whose worth is not known.
func (w ItemWorth) Of(v *Voucher, amount money.Amount) (c merchant.Count) {
	switch {
	case amount <= 0 || v.Item && !w.Known():
	case !v.Item:
		c.Amount = amount
	case w.Money > (money.NoLimit-w.Pieces)/amount:
		c.Amount = money.NoLimit
	default:
		c.Amount = (w.Money*amount + w.Pieces - 1) / w.Pieces
	}
	return c
}

// adjustable reports whether the balance of a gift in this status may be adjusted.
func (s Status) adjustable() bool { return s.Receivable() || s == Redeemed }

// adjusted is the status of a gift whose balance was made another.
func (s Status) adjusted(balance money.Amount) Status {
	switch {
	case balance == 0:
		return Redeemed
	case s == Redeemed:
		return Claimed
	}
	return s
}
