package gift

import (
	"fmt"
	"slices"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// Audit recomputes a voucher from its history and gives a sentence for everything that does not fit: the history is
// numbered without gaps, each entry names the one before it and is younger, the first is the issue, every step is one
// that the rules allow, no redemption is given back beyond what it took, no hold captured beyond what it held, and the
// voucher is what the last entry says.
func Audit(v Voucher, history []Entry) []string {
	a := audit{fixed: v.Fixed, left: map[guid.ID]undone{}, promotional: v.Promotional, end: v.ValidUntil,
		wrongCodes: []int{0}}
	for n, e := range history {
		a.step(n, e)
	}
	if len(history) == 0 {
		a.note("it has no history")
	}
	if v.Last != a.last {
		a.note("it names %s as its last entry; its history ends with %s", v.Last, a.last)
	}
	if v.Balance != a.balance || v.Status != a.status || v.Seq != len(history) {
		a.note("it says %d, %s after %d entries; its history says %d, %s after %d",
			v.Balance, v.Status, v.Seq, a.balance, a.status, len(history))
	}
	if !slices.EqualFunc(v.Holds, a.holds, func(a, b OpenHold) bool {
		return a.ID == b.ID && a.Left == b.Left && a.Until.Equal(b.Until) && a.LocationID == b.LocationID
	}) {
		a.note("it says that %d is held by %d holds; its history says %d by %d",
			sumOf(v.Holds), len(v.Holds), sumOf(a.holds), len(a.holds))
	}
	if v.Funded != a.loaded || v.Blocked != a.blocked || !slices.Contains(a.wrongCodes, v.WrongCodes) ||
		!v.Extended.Equal(a.extended) {
		a.note("it says %d was put into it, blocked %q, %d wrong codes, extended until %v; its history says %d, %q, %v, %v",
			v.Funded, v.Blocked, v.WrongCodes, v.Extended, a.loaded, a.blocked, a.wrongCodes, a.extended)
	}
	if v.CustomerID != "" && !a.linked { // the other way round it was erased
		a.note("it is linked to a customer; its history says that it is to none")
	}
	if v.Replaced != a.replaced {
		a.note("it says that entry %d gave it its code; its history says %d", v.Replaced, a.replaced)
	}
	return a.found
}

type audit struct {
	last    guid.ID
	fixed   money.Amount
	balance money.Amount
	loaded  money.Amount
	status  Status
	before  Status             // before it was last taken out of use
	left    map[guid.ID]undone // of each redemption and the like
	holds   []OpenHold
	found   []string

	blocked ReasonCode
	// wrongCodes is how many wrong codes there were in a row. It is more than one number where an activation was taken
	// back since: releases up to 0.1.0 began to count anew then.
	wrongCodes []int
	extended   time.Time
	linked     bool // to a customer

	promotional bool
	end         time.Time // of its validity
	replaced    int
	activated   int // the number of the newest activation
	missed      int // wrong codes since then
}

// undone is an entry that can be undone, and how much of it was not.
type undone struct {
	kind Kind
	left money.Amount
}

// undo notes that an entry undoes one of a kind, and gives how much is left of that; below zero: it cannot be.
func (a *audit) undo(e Entry, kind Kind) money.Amount {
	of := a.left[e.Reverses]
	of.left -= max(e.Delta, -e.Delta)
	a.left[e.Reverses] = of
	if of.kind != kind {
		return -1
	}
	return of.left
}

func (a *audit) note(format string, args ...any) {
	a.found = append(a.found, fmt.Sprintf(format, args...))
}

func (a *audit) step(n int, e Entry) {
	if e.Seq != n+1 {
		a.note("entry %d is numbered %d", n+1, e.Seq)
	}
	if e.Kind.Begins() != (n == 0) {
		a.note("entry %d is of kind %s", e.Seq, e.Kind)
	}
	if e.Previous != a.last || slices.Compare(e.ID[:], a.last[:]) <= 0 {
		a.note("entry %d (%s) does not follow %s", e.Seq, e.ID, a.last)
	}
	a.last = e.ID
	if n == 0 {
		a.balance, a.loaded = e.Balance, e.Balance
	}
	a.balance += e.Delta
	if e.Kind.Loads() {
		a.loaded += e.Delta
	}
	if e.Balance != a.balance || a.balance < 0 || a.balance > a.loaded {
		a.note("entry %d says the balance is %d; it adds up to %d", e.Seq, e.Balance, a.balance)
	}
	if !a.fits(e) || a.blocked != "" && !e.allowedWhenBlocked() {
		a.note("entry %d (%s, %+d) cannot lead from %s to %s", e.Seq, e.Kind, e.Delta, a.status, e.Status)
	}
	if !a.fitsLink(e) {
		a.note("entry %d (%s) cannot have the link to a customer be %s", e.Seq, e.Kind, e.Link)
	}
	if !e.Kind.Held().Allows(e.Held) || !a.fitsHolds(e) {
		a.note("entry %d (%s) cannot change by %+d what is held, %d", e.Seq, e.Kind, e.Held, sumOf(a.holds))
	}
	a.hold(e)
	if held := sumOf(a.holds); e.HeldAfter != held && e.HeldAfter != HeldUnknown {
		a.note("entry %d says that %d is held; it adds up to %d", e.Seq, e.HeldAfter, held)
	}
	// with the right verification code
	if e.Kind == HoldMade || e.Kind == CashOut || e.Kind == Redemption && e.HoldID.IsZero() {
		a.wrongCodes = []int{0}
	}
	a.status = e.Status
}

// fits reports whether an entry is a transition that the rules know. What an entry of its kind may do to the balance
// stands in the table of kinds.
func (a *audit) fits(e Entry) bool {
	if e.Kind.Undoable() {
		a.left[e.ID] = undone{e.Kind, max(e.Delta, -e.Delta)}
	}
	return a.fitsStatus(e) && e.Kind.Balance().Allows(e.Delta)
}

// fitsStatus reports whether an entry of its kind may lead from one status to the next. A kind that is not here leaves
// the status as it is.
func (a *audit) fitsStatus(e Entry) bool {
	from, to := a.status, e.Status
	switch e.Kind {
	case Imported:
		return from == 0 && to == Delivered && e.Balance > 0
	case Issued:
		return from == 0 && (to == Pending || to == Delivered || to == NotActivated && e.Balance == 0)
	case Sent:
		return (from == Pending || from == FailedDelivery) && to == Delivered
	case SendFailed:
		return (from == Pending || from == Delivered) && to == FailedDelivery
	case Redemption:
		return from.Redeemable() && (to == Redeemed) == (e.Balance == 0) && (to == Redeemed || to == Claimed)
	case Reversal:
		if e.TakesCashBack() {
			return a.undo(e, CashOut) == 0 && to.afterReversal(from)
		}
		return a.undo(e, Redemption) >= 0 && to.afterReversal(from)
	case CashOut:
		return from.Redeemable() && to == Redeemed && e.Balance == 0
	case Cancellation:
		a.before = from
		return to.mayFollow(from)
	case Reinstatement:
		return (from == Cancelled || from == PurchaseFailed) && from.mayFollow(a.before) &&
			(to == a.before || a.before == Pending && to == Delivered || e.Balance == 0 && to == Redeemed)
	case Reload, TransferIn:
		return from.Redeemable() && to == from || from == Redeemed && to == Claimed
	case ReloadReversal:
		return a.undo(e, Reload) == 0 && (to == from || to == Redeemed) &&
			(to == Redeemed) == (e.Balance == 0 && from != Cancelled)
	case Resent:
		return from.Unused() && (to == from || to == Delivered) || from == Claimed && to == Claimed
	case Rescheduled:
		return from == Pending && to == Pending
	case Activation:
		a.activated, a.missed = e.Seq, 0
		return from == NotActivated && to == Delivered && (a.fixed == 0 || e.Delta == a.fixed)
	case ActivationReversal:
		between := e.Seq - 1 - a.activated // only wrong verification codes
		a.wrongCodes = append(a.wrongCodes, 0)
		return between == a.missed && a.undo(e, Activation) == 0 && from == Delivered && to == NotActivated
	case HoldMade, HoldReleased, HoldExpired:
		return from.Redeemable() && to == from
	case Replaced:
		a.replaced = e.Seq
		return from.Receivable() && to == from
	case TransferOut:
		return from.Redeemable() && (to == Redeemed && e.Balance == 0 || to == from && e.Balance > 0)
	case Adjustment:
		return e.ReasonCode != "" && from.adjustable() && to == from.adjusted(e.Balance)
	}
	return to == from && a.fitsFlags(e)
}

// afterReversal reports whether a gift in a status can be one that something was given back to.
func (s Status) afterReversal(from Status) bool {
	return s == Claimed && (from == Claimed || from == Redeemed) || s == Cancelled && from == Cancelled
}

// allowedWhenBlocked reports whether an entry may be of a blocked gift: it uses or brings no value for a new sale.
func (e *Entry) allowedWhenBlocked() bool {
	switch e.Kind.WhileBlocked() {
	case Always:
		return true
	case IfHeldBefore:
		return !e.HoldID.IsZero()
	}
	return false
}

// fitsFlags does the same for what changes neither balance nor status.
func (a *audit) fitsFlags(e Entry) bool {
	fits := true
	switch e.Kind {
	case Blocked:
		fits = e.ReasonCode != "" && e.ReasonCode != a.blocked &&
			(e.ReasonCode != ReasonVerificationCode || slices.Max(a.wrongCodes) >= MaxWrongCodes)
		a.blocked = e.ReasonCode
	case Unblocked:
		fits = a.blocked != ""
		a.blocked, a.wrongCodes = "", []int{0}
	case WrongVerificationCode:
		a.missed++
		for n := range a.wrongCodes {
			a.wrongCodes[n]++
		}
		fits = (e.Status.Redeemable() || e.Status == Redeemed) && a.blocked == ""
	case Extended:
		fits = a.promotional && !a.end.IsZero() && e.Status.adjustable() && e.Until.After(a.end) && e.Until.After(e.At)
		a.extended, a.end = e.Until, e.Until
	}
	return fits
}

// fitsLink reports whether an entry of its kind may do what it did to the link to a customer. A link that was made may
// be made again, as erasing ends one without an entry.
func (a *audit) fitsLink(e Entry) bool {
	fits := e.Link == ""
	switch e.Kind {
	case Issued, Imported, Reload, Activation:
		fits = e.Link != LinkEnded
	case CustomerLinked:
		fits = e.Link == LinkMade
	case CustomerUnlinked:
		fits = e.Link == LinkEnded && a.linked
	case Resent, ActivationReversal:
		fits = e.Link == "" || e.Link == LinkEnded && a.linked
	}
	if e.Link != "" {
		a.linked = e.Link == LinkMade
	}
	return fits
}

// fitsHolds reports whether an entry does to holds what the rules know.
func (a *audit) fitsHolds(e Entry) bool {
	of := holdIn(a.holds, e.HoldID)
	switch {
	case of != nil && of.LocationID != e.Actor.LocationID:
		return false
	case e.Kind == HoldMade:
		return of == nil && e.HoldID.IsZero() && e.Held > 0 && e.Held <= a.balance-sumOf(a.holds) &&
			e.Until.After(e.At) && len(a.holds) < MaxHolds
	case !e.Until.IsZero() && e.Kind != Extended:
		return false
	case e.Kind == Cancellation:
		return len(a.holds) == 0 && e.Held == 0 && e.HoldID.IsZero()
	case e.Kind == Redemption && of != nil: // -e.Held is what was captured, or all that was held
		return e.At.Before(of.Until) && (e.Held == e.Delta || e.Held == -of.Left) && -e.Delta <= of.Left
	case e.Kind == HoldReleased:
		return of != nil && e.Held < 0 && -e.Held <= of.Left
	case e.Kind == HoldExpired:
		return of != nil && e.Held == -of.Left && !e.At.Before(of.Until)
	}
	return e.HoldID.IsZero() && e.Held == 0 && a.balance >= sumOf(a.holds)
}

// hold does to what is held what an entry says.
func (a *audit) hold(e Entry) {
	if e.Kind == HoldMade {
		a.holds = append(a.holds, OpenHold{e.ID, e.Held, e.Until, e.Actor.LocationID})
		return
	}
	if of := holdIn(a.holds, e.HoldID); of != nil {
		of.Left += e.Held
		a.holds = slices.DeleteFunc(a.holds, func(h OpenHold) bool { return h.Left <= 0 })
	}
}

func sumOf(holds []OpenHold) (sum money.Amount) {
	for _, h := range holds {
		sum += h.Left
	}
	return sum
}
