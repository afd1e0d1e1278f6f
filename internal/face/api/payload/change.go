package payload

import (
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/wire"
)

// WriteMoved writes what a redemption and a reversal have in common.
func WriteMoved(w *wire.Writer, v *gift.Voucher, e *gift.Entry, amount money.Amount) {
	WriteChanged(w, v, e.Actor.LocationID, amount, e.At)
	WriteStands(w, v)
}

// WriteChanged writes what all changes of what is available have in common.
func WriteChanged(w *wire.Writer, v *gift.Voucher, location guid.ID, amount money.Amount, at time.Time) {
	w.ID("voucherID", v.ID)
	w.IDOrNull("organizationID", location)
	w.Amount("amount", v.Unit(), amount)
	WriteBalances(w, v, at)
	WriteUnitCode(w, v)
}

// WriteBalances writes what is left of a gift, how much of it is held, and what is available.
func WriteBalances(w *wire.Writer, v *gift.Voucher, at time.Time) {
	held := v.HeldAt(at)
	w.Amount("currentBalance", v.Unit(), v.Balance)
	w.Amount("heldBalance", v.Unit(), held)
	w.Amount("availableBalance", v.Unit(), v.Balance-held)
}

// WriteStands writes where a gift stands.
func WriteStands(w *wire.Writer, v *gift.Voucher) {
	w.Text("status", v.Status.String())
	w.Integer("statusID", int(v.Status))
}
