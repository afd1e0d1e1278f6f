package gift

import (
	"slices"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

//go:generate go test -run TestClientNamesAreGenerated -update .

// What can happen to a gift stands once, in the two tables of this file. The engine, the store, the interface, the
// clients, the OpenAPI file and the schemas of both databases read the tables, are generated from them, or are tested
// against them. A row has every column, or it does not compile.

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
)

// Operation names a call that changes something, as the scope of an Idempotency-Key.
type Operation string

// The operations.
const (
	SendGift          Operation = "send-gift"
	RedeemGift        Operation = "redeem-gift"
	RedeemGifts       Operation = "redeem-gifts"
	HoldGift          Operation = "hold-gift"
	CaptureHold       Operation = "capture-hold"
	ReleaseHold       Operation = "release-hold"
	ReverseRedemption Operation = "reverse-redemption"
	CashOutGift       Operation = "cash-out-gift"
	ReloadGift        Operation = "reload-gift"
	ReverseReload     Operation = "reverse-reload"
	CancelGift        Operation = "cancel-gift"
	ReinstateGift     Operation = "reinstate-gift"
	ResendGift        Operation = "resend-gift"
	RescheduleGift    Operation = "reschedule-gift"
	TransferBalance   Operation = "transfer-balance"
	CreateStock       Operation = "create-stock"
	ActivateGift      Operation = "activate-gift"
	ReverseActivation Operation = "reverse-activation"
	BlockGift         Operation = "block-gift"
	UnblockGift       Operation = "unblock-gift"
	AdjustGift        Operation = "adjust-gift"
	ExtendGift        Operation = "extend-gift"
	ReplaceGift       Operation = "replace-gift"
)

// operations is the table of the operations. Those whose answers are kept ForAMonth are in the order of the index of
// idempotency records that are deleted.
var operations = []operationRow{
	{SendGift, merchant.MaySend, true, Issued, "", ForAMonth, NewCard, false},
	{RedeemGift, merchant.MayRedeem, false, Redemption, ReverseRedemption, ForEver, NoCard, false},
	{RedeemGifts, merchant.MayRedeem, false, Redemption, ReverseRedemption, ForEver, NoCard, false},
	{HoldGift, merchant.MayRedeem, false, HoldMade, ReleaseHold, ForEver, NoCard, false},
	{CaptureHold, merchant.MayRedeem, false, Redemption, ReverseRedemption, ForEver, NoCard, false},
	{ReleaseHold, merchant.MayRedeem, false, HoldReleased, "", ForEver, NoCard, false},
	{ReverseRedemption, merchant.MayReverse, false, Reversal, "", ForEver, NoCard, false},
	{CashOutGift, merchant.MayCashOut, false, CashOut, ReverseRedemption, ForEver, NoCard, false},
	{ReloadGift, merchant.MayReload, false, Reload, ReverseReload, ForEver, NoCard, false},
	{ReverseReload, merchant.MayReload, false, ReloadReversal, "", ForEver, NoCard, false},
	{CancelGift, merchant.MayCancel, true, Cancellation, "", ForAMonth, NoCard, false},
	{ReinstateGift, merchant.MayCancel, false, Reinstatement, "", ForAMonth, NoCard, true},
	{ResendGift, merchant.MayResend, false, Resent, "", ForAMonth, OldCard, false},
	{RescheduleGift, merchant.MayResend, false, Rescheduled, "", ForAMonth, OldCard, true},
	{TransferBalance, merchant.MayTransfer, false, TransferOut, "", ForEver, NoCard, false},
	{CreateStock, merchant.MayStock, false, Issued, "", ForAMonth, NoCard, false},
	{ActivateGift, merchant.MayActivate, false, Activation, ReverseActivation, ForEver, NoCard, false},
	{ReverseActivation, merchant.MayActivate, false, ActivationReversal, "", ForEver, NoCard, false},
	{BlockGift, merchant.MayBlock, false, Blocked, "", ForAMonth, NoCard, true},
	{UnblockGift, merchant.MayBlock, false, Unblocked, "", ForAMonth, NoCard, true},
	{AdjustGift, merchant.MayAdjust, false, Adjustment, "", ForEverSealed, NoCard, false},
	{ExtendGift, merchant.MayExtend, false, Extended, "", ForAMonth, NoCard, true},
	{ReplaceGift, merchant.MayReplace, false, Replaced, "", ForAMonth, ReplacedCard, true},
}

// operationRow is what there is to know of an operation, but for its path and its urgency, which its route knows.
type operationRow struct {
	operation Operation
	needs     merchant.Permissions // of the key
	system    bool                 // system keys may call it, too, about what they made
	makes     Kind                 // of the entry, or of that which the idempotency record names
	undoneBy  Operation            // what undoes it by the Idempotency-Key that it was made with; "": nothing does
	replay    Replay
	card      CardTold
	idle      bool // it leaves every balance as it is, and an entry for ever: such calls have a limit of their own
}

// Replay is how the answer of a call is kept, to be given again to a repeat.
type Replay int

// The ways.
const (
	ForEver       Replay = iota + 1 // in clear: it names its entry, against which boon verify holds it
	ForEverSealed                   // sealed
	ForAMonth                       // sealed, and deleted later
)

// CardTold is what the answer of an operation tells of the card of a gift: its code, token and links, and what is
// written on it.
type CardTold int

// The answers.
const (
	NoCard       CardTold = iota + 1 // nothing
	NewCard                          // of a gift that the call made: all, whatever else the key may do
	OldCard                          // its code, token and links only to keys that may see codes
	ReplacedCard                     // the new code and token, unless they were sent: then as OldCard
)

var rowOfOperation = func() map[Operation]*operationRow {
	rows := map[Operation]*operationRow{}
	for n := range operations {
		rows[operations[n].operation] = &operations[n]
	}
	return rows
}()

// row is that of the operation; of one that does not exist, it is empty.
func (o Operation) row() *operationRow {
	if r := rowOfOperation[o]; r != nil {
		return r
	}
	return &operationRow{}
}

// Operations lists them all.
func Operations() (all []Operation) {
	for n := range operations {
		all = append(all, operations[n].operation)
	}
	return all
}

// Needs is the permission that a key needs for the operation.
func (o Operation) Needs() merchant.Permissions { return o.row().needs }

// ForSystemKeys reports whether system keys may call the operation, too, about what they made.
func (o Operation) ForSystemKeys() bool { return o.row().system }

// Makes is the kind of the entry that the operation makes, or of the first one if it makes several.
func (o Operation) Makes() Kind { return o.row().makes }

// UndoneBy is the operation that undoes a call by the Idempotency-Key that the call was made with; "": none does.
func (o Operation) UndoneBy() Operation { return o.row().undoneBy }

// Undoes lists the operations that the operation undoes by the Idempotency-Key that they were made with.
func (o Operation) Undoes() (all []Operation) {
	for n := range operations {
		if operations[n].undoneBy == o {
			all = append(all, operations[n].operation)
		}
	}
	return all
}

// Replay is how the answer of a call is kept, to be given again to a repeat.
func (o Operation) Replay() Replay { return o.row().replay }

// CardTold is what the answer of the operation tells of the card of a gift.
func (o Operation) CardTold() CardTold { return o.row().card }

// Idle reports whether the operation leaves every balance as it is, and an entry for ever.
func (o Operation) Idle() bool { return o.row().idle }

// TellsCard reports whether the answer to a call that made an entry of the kind tells of the card of its gift.
func (k Kind) TellsCard() bool {
	return slices.ContainsFunc(operations, func(r operationRow) bool { return r.makes == k && r.card != NoCard })
}
