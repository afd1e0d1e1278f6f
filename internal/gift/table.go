package gift

import (
	"slices"

	"boon.example/internal/money"
)

// What can happen to a gift stands once, in two tables: that of the kinds of entry, which is in this file, and that of
// the operations, which is in package operation. The engine, the store, the interface, the clients, the OpenAPI file
// and the schemas of both databases read the tables, are generated from them, or are tested against them. A row has
// every column, or it does not compile.

// Kind is what an entry records.
type Kind string

// The kinds of entry.
const (
	Issued                Kind = "ISSUED"
	Sent                  Kind = "DELIVERED"
	SendFailed            Kind = "FAILED_DELIVERY"
	Redemption            Kind = "REDEMPTION"
	Reversal              Kind = "REVERSAL"
	Cancellation          Kind = "CANCELLATION"
	Reinstatement         Kind = "REINSTATEMENT"
	Resent                Kind = "RESENT"
	Rescheduled           Kind = "RESCHEDULED"
	HoldMade              Kind = "HOLD"
	HoldReleased          Kind = "HOLD_RELEASED"
	HoldExpired           Kind = "HOLD_EXPIRED"
	Activation            Kind = "ACTIVATION"
	ActivationReversal    Kind = "ACTIVATION_REVERSAL"
	Reload                Kind = "RELOAD"
	ReloadReversal        Kind = "RELOAD_REVERSAL"
	Adjustment            Kind = "ADJUSTMENT"
	TransferOut           Kind = "TRANSFER_OUT"
	TransferIn            Kind = "TRANSFER_IN"
	CashOut               Kind = "CASH_OUT"
	Blocked               Kind = "BLOCKED"
	Unblocked             Kind = "UNBLOCKED"
	WrongVerificationCode Kind = "WRONG_VERIFICATION_CODE"
	Replaced              Kind = "REPLACED"
	Extended              Kind = "EXTENDED"
	Imported              Kind = "IMPORTED"
	CustomerLinked        Kind = "CUSTOMER_LINKED"
	CustomerUnlinked      Kind = "CUSTOMER_UNLINKED"
)

// kinds is the table of the kinds of entry, in the order in which they are listed for people.
var kinds = []kindRow{
	{Issued, EventCreated, Stays, Stays, Always, LineIssued, MayGrow, ""},
	{Sent, EventDelivered, Stays, Stays, Always, NoLine, Stays, ""},
	{SendFailed, EventDeliveryFailed, Stays, Stays, Always, NoLine, Stays, ""},
	{Redemption, EventRedeemed, Shrinks, MayShrink, IfHeldBefore, LineRedeemed, Shrinks, Reversal},
	{Reversal, EventRedemptionReversed, Grows, Stays, Always, LineGivenBack, Grows, ""},
	{Cancellation, EventCancelled, Stays, Stays, Always, LineCancelled, MayShrink, Reinstatement},
	{Reinstatement, EventReinstated, Stays, Stays, Always, LineCancelled, MayGrow, ""},
	{Resent, EventResent, Stays, Stays, Never, NoLine, Stays, ""},
	{Rescheduled, EventRescheduled, Stays, Stays, Always, NoLine, Stays, ""},
	{HoldMade, EventHeld, Stays, Grows, Never, NoLine, Stays, HoldReleased},
	{HoldReleased, EventHoldReleased, Stays, Shrinks, Always, NoLine, Stays, ""},
	{HoldExpired, EventHoldExpired, Stays, Shrinks, Always, NoLine, Stays, ""},
	{Activation, EventActivated, Grows, Stays, Never, LineActivated, Grows, ActivationReversal},
	{ActivationReversal, EventActivationReversed, Shrinks, Stays, Always, LineActivated, Shrinks, ""},
	{Reload, EventReloaded, Grows, Stays, Never, LineReloaded, Grows, ReloadReversal},
	{ReloadReversal, EventReloadReversed, Shrinks, Stays, Always, LineReloaded, Shrinks, ""},
	{Adjustment, EventAdjusted, Moves, Stays, Always, LineAdjusted, Moves, ""},
	{TransferOut, EventTransferred, Shrinks, Stays, Never, LineTransferred, Shrinks, ""},
	{TransferIn, EventTransferred, Grows, Stays, Never, LineTransferred, Grows, ""},
	{CashOut, EventCashedOut, Shrinks, Stays, Never, LineCashedOut, Shrinks, Reversal},
	{Blocked, EventBlocked, Stays, Stays, Always, NoLine, Stays, Unblocked},
	{Unblocked, EventUnblocked, Stays, Stays, Always, NoLine, Stays, ""},
	{WrongVerificationCode, EventVerificationFailed, Stays, Stays, Never, NoLine, Stays, ""},
	{Replaced, EventReplaced, Stays, Stays, Always, NoLine, Stays, ""},
	{Extended, EventExtended, Stays, Stays, Always, NoLine, Stays, ""},
	{Imported, EventCreated, Stays, Stays, Never, LineImported, Grows, ""}, // the events of its import tell of it
	{CustomerLinked, EventCustomerLinked, Stays, Stays, Always, NoLine, Stays, CustomerUnlinked},
	{CustomerUnlinked, EventCustomerUnlinked, Stays, Stays, Always, NoLine, Stays, ""},
}

// kindRow is what there is to know of a kind of entry, but for the steps of a status, which Audit knows.
type kindRow struct {
	kind     Kind
	event    EventType // that tells of it; a redemption of a hold is told of by EventHoldCaptured
	balance  Effect    // what it does to the balance
	held     Effect    // what it does to what is held
	blocked  WhileBlocked
	line     Line   // on which the books count it
	owed     Effect // what it does to what is owed for a gift in use; promotional gifts are counted apart
	undoneBy Kind   // what takes it back; "": nothing does
}

// Effect is what an entry may do to an amount.
type Effect int

// The effects.
const (
	Stays     Effect = iota + 1
	Grows            // by more than nothing
	Shrinks          // by more than nothing
	Moves            // up or down, by more than nothing
	MayGrow          // or stay
	MayShrink        // or stay
)

// Allows reports whether an amount may change by so much.
func (c Effect) Allows(by money.Amount) bool {
	switch c {
	case Stays:
		return by == 0
	case Grows:
		return by > 0
	case Shrinks:
		return by < 0
	case Moves:
		return by != 0
	case MayGrow:
		return by >= 0
	case MayShrink:
		return by <= 0
	}
	return false
}

// WhileBlocked is whether an entry may be of a gift that is blocked.
type WhileBlocked int

// The answers: what uses or brings value for a new sale may not be.
const (
	Always       WhileBlocked = iota + 1
	IfHeldBefore              // only if it takes of a hold that was made before
	Never
)

// Line is a line of the books: one reason why what is owed for gifts grew or shrank. What undoes an entry is counted
// on the line of that entry, except on LineGivenBack. A gift that expires has no entry for it; its books have.
type Line string

// The lines.
const (
	NoLine          Line = "NONE" // nothing is owed more or less
	LineIssued      Line = "ISSUED"
	LineImported    Line = "IMPORTED"
	LineActivated   Line = "ACTIVATED"
	LineReloaded    Line = "RELOADED"
	LineTransferred Line = "TRANSFERRED"
	LineAdjusted    Line = "ADJUSTED"
	LineRedeemed    Line = "REDEEMED"
	LineCashedOut   Line = "CASHED_OUT"
	LineGivenBack   Line = "GIVEN_BACK" // of redemptions and of cash-outs
	LineCancelled   Line = "CANCELLED"
)

var rowOfKind = func() map[Kind]*kindRow {
	rows := map[Kind]*kindRow{}
	for n := range kinds {
		rows[kinds[n].kind] = &kinds[n]
	}
	return rows
}()

// row is that of the kind; of a kind that does not exist, it allows nothing.
func (k Kind) row() *kindRow {
	if r := rowOfKind[k]; r != nil {
		return r
	}
	return &kindRow{}
}

// Kinds lists them all.
func Kinds() (all []Kind) {
	for n := range kinds {
		all = append(all, kinds[n].kind)
	}
	return all
}

// Balance is what an entry of the kind may do to the balance.
func (k Kind) Balance() Effect { return k.row().balance }

// Held is what an entry of the kind may do to what is held.
func (k Kind) Held() Effect { return k.row().held }

// WhileBlocked is whether an entry of the kind may be of a blocked gift.
func (k Kind) WhileBlocked() WhileBlocked { return k.row().blocked }

// Books is on which line the books count an entry of the kind, and what it does to what is owed for a gift in use.
func (k Kind) Books() (Line, Effect) { return k.row().line, k.row().owed }

// UndoneBy is the kind of the entry that takes back one of this kind; "": nothing does.
func (k Kind) UndoneBy() Kind { return k.row().undoneBy }

// Begins reports whether an entry of the kind is the first of a history, and no other one is.
func (k Kind) Begins() bool { return k == Issued || k == Imported }

// EventType is what an event tells: of a gift, an API key, or a webhook. Those without an entry are in package event.
type EventType string

// EventType is what an entry of the kind is as an event; a redemption may also be EventHoldCaptured.
func (k Kind) EventType() EventType { return k.row().event }

// Loads reports whether an entry of the kind changes what was put into a gift, and its balance with that; other kinds
// only take of it, or give back what they took.
func (k Kind) Loads() bool {
	switch k.row().line {
	case LineActivated, LineReloaded, LineAdjusted, LineTransferred:
		return true
	}
	return false
}

// Undoable reports whether an entry of the kind moved value that another one can give back or take back. That one
// names it: see Entry.Reverses.
func (k Kind) Undoable() bool { return k.UndoneBy() != "" && k.Balance() != Stays }

// Undoes reports whether an entry of the kind names the one that it undoes: see Entry.Reverses.
func (k Kind) Undoes() bool {
	return slices.ContainsFunc(kinds, func(r kindRow) bool { return r.undoneBy == k && r.kind.Undoable() })
}

// The types of events of gifts that have an entry: one for each kind, and HoldCaptured for a redemption of a hold.
const (
	EventCreated            EventType = "gift.created"
	EventDelivered          EventType = "gift.delivered"
	EventDeliveryFailed     EventType = "gift.delivery_failed"
	EventResent             EventType = "gift.resent"
	EventRescheduled        EventType = "gift.rescheduled"
	EventRedeemed           EventType = "gift.redeemed"
	EventRedemptionReversed EventType = "gift.redemption_reversed"
	EventHeld               EventType = "gift.held"
	EventHoldCaptured       EventType = "gift.hold_captured"
	EventHoldReleased       EventType = "gift.hold_released"
	EventHoldExpired        EventType = "gift.hold_expired"
	EventActivated          EventType = "gift.activated"
	EventActivationReversed EventType = "gift.activation_reversed"
	EventReloaded           EventType = "gift.reloaded"
	EventReloadReversed     EventType = "gift.reload_reversed"
	EventAdjusted           EventType = "gift.adjusted"
	EventCashedOut          EventType = "gift.cashed_out"
	EventBlocked            EventType = "gift.blocked"
	EventUnblocked          EventType = "gift.unblocked"
	EventReplaced           EventType = "gift.replaced"
	EventTransferred        EventType = "gift.transferred"
	EventExtended           EventType = "gift.extended"
	EventCancelled          EventType = "gift.cancelled"
	EventReinstated         EventType = "gift.reinstated"
	EventVerificationFailed EventType = "gift.verification_failed"
	EventCustomerLinked     EventType = "gift.customer_linked"
	EventCustomerUnlinked   EventType = "gift.customer_unlinked"
)
