// Package operation is the table of the operations that change something about gifts: what each needs of a key, which
// entry it makes, what undoes it, and how its answer is kept. Pure.
package operation

import (
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
)

//go:generate go test -run TestClientNamesAreGenerated -update .

// Name names a call that changes something, as the scope of an Idempotency-Key.
type Name string

// The operations.
const (
	SendGift          Name = "send-gift"
	RedeemGift        Name = "redeem-gift"
	RedeemGifts       Name = "redeem-gifts"
	HoldGift          Name = "hold-gift"
	CaptureHold       Name = "capture-hold"
	ReleaseHold       Name = "release-hold"
	ReverseRedemption Name = "reverse-redemption"
	CashOutGift       Name = "cash-out-gift"
	ReloadGift        Name = "reload-gift"
	ReverseReload     Name = "reverse-reload"
	CancelGift        Name = "cancel-gift"
	ReinstateGift     Name = "reinstate-gift"
	ResendGift        Name = "resend-gift"
	RescheduleGift    Name = "reschedule-gift"
	TransferBalance   Name = "transfer-balance"
	CreateStock       Name = "create-stock"
	ActivateGift      Name = "activate-gift"
	ReverseActivation Name = "reverse-activation"
	BlockGift         Name = "block-gift"
	UnblockGift       Name = "unblock-gift"
	AdjustGift        Name = "adjust-gift"
	ExtendGift        Name = "extend-gift"
	ReplaceGift       Name = "replace-gift"
	LinkCustomer      Name = "link-customer"
	UnlinkCustomer    Name = "unlink-customer"
)

// operations is the table of the operations. Those whose answers are kept ForAMonth are in the order of the index of
// idempotency records that are deleted.
var operations = []row{
	{SendGift, merchant.MaySend, true, gift.Issued, "", ForAMonth, NewCard, false},
	{RedeemGift, merchant.MayRedeem, false, gift.Redemption, ReverseRedemption, ForEver, NoCard, false},
	{RedeemGifts, merchant.MayRedeem, false, gift.Redemption, ReverseRedemption, ForEver, NoCard, false},
	{HoldGift, merchant.MayRedeem, false, gift.HoldMade, ReleaseHold, ForEver, NoCard, false},
	{CaptureHold, merchant.MayRedeem, false, gift.Redemption, ReverseRedemption, ForEver, NoCard, false},
	{ReleaseHold, merchant.MayRedeem, false, gift.HoldReleased, "", ForEver, NoCard, false},
	{ReverseRedemption, merchant.MayReverse, false, gift.Reversal, "", ForEver, NoCard, false},
	{CashOutGift, merchant.MayCashOut, false, gift.CashOut, ReverseRedemption, ForEver, NoCard, false},
	{ReloadGift, merchant.MayReload, false, gift.Reload, ReverseReload, ForEver, NoCard, false},
	{ReverseReload, merchant.MayReload, false, gift.ReloadReversal, "", ForEver, NoCard, false},
	{CancelGift, merchant.MayCancel, true, gift.Cancellation, "", ForAMonth, NoCard, false},
	{ReinstateGift, merchant.MayCancel, false, gift.Reinstatement, "", ForAMonth, NoCard, true},
	{ResendGift, merchant.MayResend, false, gift.Resent, "", ForAMonth, OldCard, false},
	{RescheduleGift, merchant.MayResend, false, gift.Rescheduled, "", ForAMonth, OldCard, true},
	{TransferBalance, merchant.MayTransfer, false, gift.TransferOut, "", ForEver, NoCard, false},
	{CreateStock, merchant.MayStock, false, gift.Issued, "", ForAMonth, NoCard, false},
	{ActivateGift, merchant.MayActivate, false, gift.Activation, ReverseActivation, ForEver, NoCard, false},
	{ReverseActivation, merchant.MayActivate, false, gift.ActivationReversal, "", ForEver, NoCard, false},
	{BlockGift, merchant.MayBlock, false, gift.Blocked, "", ForAMonth, NoCard, true},
	{UnblockGift, merchant.MayBlock, false, gift.Unblocked, "", ForAMonth, NoCard, true},
	{AdjustGift, merchant.MayAdjust, false, gift.Adjustment, "", ForEverSealed, NoCard, false},
	{ExtendGift, merchant.MayExtend, false, gift.Extended, "", ForAMonth, NoCard, true},
	{ReplaceGift, merchant.MayReplace, false, gift.Replaced, "", ForAMonth, ReplacedCard, true},
	{LinkCustomer, merchant.MayLink, false, gift.CustomerLinked, "", ForEver, NoCard, true},
	{UnlinkCustomer, merchant.MayLink, false, gift.CustomerUnlinked, "", ForEver, NoCard, true},
}

// row is what there is to know of an operation, but for its path and its urgency, which its route knows.
type row struct {
	operation Name
	needs     merchant.Permissions // of the key
	system    bool                 // system keys may call it, too, about what they made
	makes     gift.Kind            // of the entry, or of that which the idempotency record names
	undoneBy  Name                 // what undoes it by the Idempotency-Key that it was made with; "": nothing does
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

var rowOfOperation = func() map[Name]*row {
	rows := map[Name]*row{}
	for n := range operations {
		rows[operations[n].operation] = &operations[n]
	}
	return rows
}()

// row is that of the operation; of one that does not exist, it is empty.
func (o Name) row() *row {
	if r := rowOfOperation[o]; r != nil {
		return r
	}
	return &row{}
}

// All lists them all.
func All() (all []Name) {
	for n := range operations {
		all = append(all, operations[n].operation)
	}
	return all
}

// Needs is the permission that a key needs for the operation.
func (o Name) Needs() merchant.Permissions { return o.row().needs }

// ForSystemKeys reports whether system keys may call the operation, too, about what they made.
func (o Name) ForSystemKeys() bool { return o.row().system }

// Makes is the kind of the entry that the operation makes, or of the first one if it makes several.
func (o Name) Makes() gift.Kind { return o.row().makes }

// UndoneBy is the operation that undoes a call by the Idempotency-Key that the call was made with; "": none does.
func (o Name) UndoneBy() Name { return o.row().undoneBy }

// Undoes lists the operations that the operation undoes by the Idempotency-Key that they were made with.
func (o Name) Undoes() (all []Name) {
	for n := range operations {
		if operations[n].undoneBy == o {
			all = append(all, operations[n].operation)
		}
	}
	return all
}

// Replay is how the answer of a call is kept, to be given again to a repeat.
func (o Name) Replay() Replay { return o.row().replay }

// CardTold is what the answer of the operation tells of the card of a gift.
func (o Name) CardTold() CardTold { return o.row().card }

// Idle reports whether the operation leaves every balance as it is, and an entry for ever.
func (o Name) Idle() bool { return o.row().idle }

// TellsCard reports whether the answer to a call that made an entry of a kind tells of the card of its gift.
func TellsCard(made gift.Kind) bool {
	return slices.ContainsFunc(operations, func(r row) bool { return r.makes == made && r.card != NoCard })
}
