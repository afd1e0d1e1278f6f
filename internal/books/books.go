// Package books works out what is owed for gifts, and to whom, from their entries alone: the same entries always give
// the same books. It is pure.
//
// # How it works
//
// A gift is read entry by entry. What was put into it lies in lots, one for each time, which know where and in which
// month their value was sold. What is taken comes from the oldest lot first; what is given back returns to the lots
// that it came from. Each entry makes movements: on the line of its kind (gift.Kind.Books), and of the stock, which is
// what is owed for gifts that are open, blocked or expired.
//
// # Invariants
//
//  1. On the line of its kind an entry counts all that it moved, whatever the gift is otherwise. Where the gift is out
//     of use or expired, and nothing is owed for it, the same is counted back on LineCancelled or LineExpired.
//  2. So the sum of all lines is what the stock of open and blocked gifts changed by, over any time.
//  3. Value expires at the end of its gift, by the clock of its account, without an entry.
//  4. A sale that was paid for in part has a bonus, as its entry says; what takes the sale back has the same one. What
//     is cancelled or reinstated has the share of the bonus that is in what is left of the lots.
//  5. What an entry moves is worked out from the entries of its gift up to it, and of gifts that value was transferred
//     from. So no later entry changes what was moved before it.
package books

import (
	"math/bits"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Line is a line of the books: one reason why what is owed grew or shrank.
type Line string

// The lines. Those of gift.Line are told as there, but that adjustments are apart, that cash is apart which a guest
// gives back, as a ledger books it on another account than a redemption, and that gifts expire.
const (
	LineIssued        Line = "ISSUED"
	LineActivated     Line = "ACTIVATED"
	LineReloaded      Line = "RELOADED"
	LineImported      Line = "IMPORTED" // from another system
	LineTransferred   Line = "TRANSFERRED"
	LineAdjustedUp    Line = "ADJUSTED_UP"
	LineAdjustedDown  Line = "ADJUSTED_DOWN"
	LineRedeemed      Line = "REDEEMED"
	LineCashedOut     Line = "CASHED_OUT"
	LineGivenBack     Line = "GIVEN_BACK"      // of redemptions
	LineCashGivenBack Line = "CASH_GIVEN_BACK" // of cash-outs
	LineCancelled     Line = "CANCELLED"
	LineExpired       Line = "EXPIRED"
)

// Lines lists them, in the order in which they are told.
func Lines() []Line {
	return []Line{LineIssued, LineActivated, LineReloaded, LineImported, LineTransferred, LineAdjustedUp, LineGivenBack,
		LineCashGivenBack, LineRedeemed, LineCashedOut, LineAdjustedDown, LineCancelled, LineExpired}
}

// Active reports whether an entry on the line shows that somebody has the gift. What the merchant alone does to a gift,
// such as a correction or an extension, does not. An import does not either: it says when another system issued the
// gift.
func (l Line) Active() bool {
	switch l {
	case LineIssued, LineActivated, LineReloaded, LineTransferred, LineGivenBack, LineCashGivenBack, LineRedeemed,
		LineCashedOut:
		return true
	}
	return false
}

// State is what can be said of value that is in a gift; these are the lines of the stock.
type State string

// The states. Nothing is owed for value that is Out.
const (
	Open    State = "OPEN"
	Blocked State = "BLOCKED"
	Expired State = "EXPIRED" // it is in the gift, and cannot be used
	Out     State = ""        // of a gift that was cancelled, or whose purchase failed
)

// Owed reports whether value in the state is owed.
func (s State) Owed() bool { return s == Open || s == Blocked }

// Terms are what the books know of a gift beside its entries.
type Terms struct {
	ID          guid.ID
	ProgramID   guid.ID
	Promotional bool
	Item        bool
	Currency    money.Currency
	ValidUntil  time.Time      // as it was made; zero: it does not expire
	GraceDays   int            // for which tills take it after that, and so it is owed
	Worth       gift.ItemWorth // of an item gift
	VAT         VAT
}

// VAT is how a gift is taxed, as the set-up said when the gift was made. The zero value: it did not say.
type VAT struct {
	Treatment merchant.VATTreatment
	Rate      money.Number // in percent, of merchant.SinglePurpose
}

// Lot is value that was put into a gift at once, as far as it is still there.
type Lot struct {
	Sold   guid.ID      // the location that sold it; zero: online
	Month  int          // in which it was sold, as 202611
	Amount money.Amount // in the gift's unit
	Whole  money.Amount // that it was when it was put in
	Bonus  money.Amount // of the money that the whole is worth: what nobody paid for
}

// bonus is how much of the bonus is in what is left of the lot: the same share, rounded down.
func (l *Lot) bonus() money.Amount {
	if l.Bonus == 0 || l.Whole == 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(l.Bonus), uint64(l.Amount))
	share, _ := bits.Div64(high, low, uint64(l.Whole))
	return money.Amount(share)
}

// Movement is one movement of value.
type Movement struct {
	At    time.Time
	Line  Line    // "": it is of the stock
	State State   // of the stock
	Idle  bool    // of the stock by the last activity: Month is the month of that, Count how many gifts came or went
	Sold  guid.ID // where the value was sold; zero: online
	Month int     // in which, as 202611
	Place guid.ID // of the entry, or of what it gives back; zero: none, as where value expires
	Key   guid.ID // that made the entry; zero: none
	Count int     // 1 for the first movement of an entry on its line
	Value
	// Bonus is, of the money on the lines of sales and on LineCancelled, what nobody paid for.
	Bonus money.Amount
}

// Value is an amount of money and, of item gifts, of pieces. Pieces whose worth is not known have no money.
type Value struct{ Pieces, Money money.Amount }

// IsZero reports whether there is neither.
func (v Value) IsZero() bool { return v == Value{} }

// Plus is the sum.
func (v Value) Plus(w Value) Value { return Value{v.Pieces + w.Pieces, v.Money + w.Money} }

// Minus is the difference.
func (v Value) Minus(w Value) Value { return Value{v.Pieces - w.Pieces, v.Money - w.Money} }

// value is what an amount in a lot of the gift is worth. A piece of an item gift is worth an equal part of the whole;
// what that leaves is in the last piece of the first lot.
func (t *Terms) value(lot int, amount money.Amount) Value {
	switch {
	case !t.Item:
		return Value{Money: amount}
	case !t.Worth.Known():
		return Value{Pieces: amount}
	}
	each, rest := t.Worth.Money/t.Worth.Pieces, t.Worth.Money%t.Worth.Pieces
	v := Value{Pieces: amount, Money: each * amount}
	if lot == 0 && amount > 0 {
		v.Money += rest
	}
	return v
}
