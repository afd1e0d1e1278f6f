// Package outcome writes what an operation on gifts did as the members of its answer. How gifts and balances stand in
// them is package payload's to say.
package outcome

import (
	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/wire"
)

// Redemption writes the members of a successful redeem-gift.
func Redemption(w *wire.Writer, r ledger.Result) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.ID("redemptionID", e.ID)
	payload.WriteMoved(w, v, e, -e.Delta)
	w.Boolean("isRedeemable", len(v.NotRedeemable(e.Actor.LocationID, e.At, nil)) == 0)
	w.Instant("redeemedAt", e.At)
	w.TextOrNull("reference", e.Reference)
	payload.WriteGrace(w, v)
	newCard(w, r, v.ID)
}

// newCard writes the card that a gift got as it was used first at a till; nothing where it got none. The code is not in
// it: the answer is kept in clear.
func newCard(w *wire.Writer, r ledger.Result, voucher guid.ID) {
	for n := range r.NewCards {
		if card := &r.NewCards[n]; card.VoucherID == voucher {
			w.Object("newCard")
			w.Text("lastFour", card.Secrets.Code.LastFour())
			w.Boolean("sent", card.Sent)
			w.Close()
		}
	}
}

// Reversal writes the members of a successful reverse-redemption. Where several gifts had paid for one sale, they
// tell of the first that got something back, and a list tells of all.
func Reversal(w *wire.Writer, r ledger.Result) {
	reversal(w, &r.Vouchers[0], &r.Entries[0])
	if !r.Entries[0].Sale.IsZero() {
		w.List("reversals")
		for n := range r.Entries {
			w.Open()
			reversal(w, &r.Vouchers[n], &r.Entries[n])
			w.Close()
		}
		w.EndList()
	}
}

func reversal(w *wire.Writer, v *gift.Voucher, e *gift.Entry) {
	w.ID("reversalID", e.ID)
	w.ID("redemptionID", e.Reverses)
	payload.WriteMoved(w, v, e, e.Delta)
	w.Boolean("isRedeemable", len(v.NotRedeemable(e.Actor.LocationID, e.At, nil)) == 0)
	w.Instant("reversedAt", e.At)
	w.TextOrNull("reason", e.Reason)
}

// Hold writes the members of a successful hold-gift.
func Hold(w *wire.Writer, r ledger.Result) {
	e := &r.Entries[0]
	w.ID("holdID", e.ID)
	payload.WriteChanged(w, &r.Vouchers[0], e.Actor.LocationID, e.Held, e.At)
	w.Instant("expiresAt", e.Until)
	w.TextOrNull("reference", e.Reference)
	newCard(w, r, e.VoucherID)
}

// Release writes the members of a successful release-hold: of the hold that was released, now or before.
func Release(w *wire.Writer, r ledger.Result) {
	made, ended := &r.Hold.Entry, &r.Hold.Last
	w.ID("holdID", made.ID)
	payload.WriteChanged(w, &r.Vouchers[0], made.Actor.LocationID, -ended.Held, r.At)
	w.Instant("releasedAt", ended.At)
	w.TextOrNull("reference", made.Reference)
}

// CashOut writes the members of a successful cash-out-gift.
func CashOut(w *wire.Writer, r ledger.Result) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.ID("cashOutID", e.ID)
	payload.WriteMoved(w, v, e, -e.Delta)
	w.Instant("cashedOutAt", e.At)
}

// Reload writes the members of a successful reload-gift.
func Reload(w *wire.Writer, r ledger.Result) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.ID("reloadID", e.ID)
	payload.WriteMoved(w, v, e, e.Delta)
	w.Boolean("isRedeemable", len(v.NotRedeemable(e.Actor.LocationID, e.At, nil)) == 0)
	w.Instant("reloadedAt", e.At)
	w.TextOrNull("reference", e.Reference)
}

// ReloadReversal writes the members of a successful reverse-reload.
func ReloadReversal(w *wire.Writer, r ledger.Result) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.ID("reversalID", e.ID)
	w.ID("reloadID", e.Reverses)
	payload.WriteMoved(w, v, e, -e.Delta)
	w.Boolean("isRedeemable", len(v.NotRedeemable(e.Actor.LocationID, e.At, nil)) == 0)
	w.Instant("reversedAt", e.At)
}

// Activation writes the members of a successful activate-gift.
func Activation(w *wire.Writer, r ledger.Result) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.ID("activationID", e.ID)
	payload.WriteMoved(w, v, e, e.Delta)
	w.Boolean("isRedeemable", len(v.NotRedeemable(e.Actor.LocationID, e.At, nil)) == 0)
	w.Instant("activatedAt", e.At)
	w.TextOrNull("reference", e.Reference)
}

// ActivationReversal writes the members of a successful reverse-activation.
func ActivationReversal(w *wire.Writer, r ledger.Result) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.ID("reversalID", e.ID)
	w.ID("activationID", e.Reverses)
	payload.WriteMoved(w, v, e, -e.Delta)
	w.Boolean("isRedeemable", false)
	w.Instant("reversedAt", e.At)
}

// Transfer writes the members of a successful transfer-balance.
func Transfer(w *wire.Writer, r ledger.Result) {
	in := &r.Entries[1]
	w.Amount("amount", r.Vouchers[1].Unit(), in.Delta)
	payload.WriteUnitCode(w, &r.Vouchers[1])
	for n, name := range []string{"from", "to"} {
		v := &r.Vouchers[n]
		w.Object(name)
		w.ID("voucherID", v.ID)
		w.ID("entryID", r.Entries[n].ID)
		payload.WriteBalances(w, v, in.At)
		w.Text("status", v.Status.String())
		w.Integer("statusID", int(v.Status))
		w.Close()
	}
	w.Instant("transferredAt", in.At)
}

// Stock writes the members of a successful create-stock.
func Stock(w *wire.Writer, r ledger.Result) {
	g := &r.Gifts[0]
	w.ID("orderID", g.OrderID)
	w.Integer("count", len(r.Gifts))
	w.ID("accountID", g.AccountID)
	w.IDOrNull("organizationID", g.LocationID)
	w.ID("programID", g.ProgramID)
	payload.WriteUnitCode(w, &g.Voucher)
	w.Text("unit", payload.UnitName(&g.Voucher))
	if g.Item {
		w.Null("value")
		w.Text("label", g.Card.Label)
		w.TextOrNull("terms", g.Card.Terms)
		w.Amount("quantity", g.Unit(), g.Fixed)
		w.AmountOrNull("equivalentValue", g.Currency, g.Card.EquivalentValue)
	} else {
		w.AmountOrNull("value", g.Unit(), g.Fixed)
		for _, name := range []string{"label", "terms", "quantity", "equivalentValue"} {
			w.Null(name)
		}
	}
	w.IDOrNull("voucherDesignID", g.Card.DesignID)
	w.Boolean("verificationCodes", g.Verification != "")
	w.Boolean("activationCodes", g.Card.Activation != codes.ActivationCode{})
	w.Text("status", g.Status.String())
	w.Integer("statusID", int(g.Status))
	w.Instant("createdAt", g.CreatedAt)
}

// Sale writes the members of a successful redeem-gifts. toPay is what was to be paid; nil: nobody said.
func Sale(w *wire.Writer, r ledger.Result, currency money.Currency, toPay *money.Amount) {
	entries, first := r.Entries, &r.Entries[0]
	var sum money.Amount
	w.List("redemptions")
	for n := range r.Vouchers {
		v := &r.Vouchers[n]
		w.Open()
		if len(entries) > 0 && entries[0].VoucherID == v.ID {
			w.ID("redemptionID", entries[0].ID)
			payload.WriteMoved(w, v, first, -entries[0].Delta)
			sum -= entries[0].Delta
			entries = entries[1:]
		} else {
			w.Null("redemptionID")
			payload.WriteMoved(w, v, first, 0)
		}
		w.Boolean("isRedeemable", len(v.NotRedeemable(first.Actor.LocationID, first.At, nil)) == 0)
		newCard(w, r, v.ID)
		w.Close()
	}
	w.EndList()
	w.ID("saleID", first.Sale)
	w.Amount("amount", currency, sum)
	if toPay == nil {
		w.Null("leftToPay")
	} else {
		w.Amount("leftToPay", currency, max(0, *toPay-sum))
	}
	w.Text("currency", currency.Code)
	w.Instant("redeemedAt", first.At)
	w.TextOrNull("reference", first.Reference)
}

// Blocked writes the members of a successful block-gift or unblock-gift.
func Blocked(w *wire.Writer, r ledger.Result) {
	v, outcome := &r.Vouchers[0], "DONE"
	if len(r.Entries) == 0 {
		outcome = "ALREADY_DONE"
	}
	w.ID("voucherID", v.ID)
	w.TextOrNull("blockedReason", string(v.Blocked))
	payload.WriteStands(w, v)
	w.Text("outcome", outcome)
}

// CustomerLink writes the members of a successful link-customer or unlink-customer. It does not repeat whose link it
// is: the answer is kept as long as the entry.
func CustomerLink(w *wire.Writer, r ledger.Result) {
	v := &r.Vouchers[0]
	w.ID("voucherID", v.ID)
	w.Boolean("linked", v.CustomerID != "")
	payload.WriteStands(w, v)
	if len(r.Entries) == 0 {
		w.Null("entryID")
		w.Text("outcome", "ALREADY_DONE")
		return
	}
	w.ID("entryID", r.Entries[0].ID)
	w.Text("outcome", "DONE")
}

// Adjustment writes the members of a successful adjust-gift.
func Adjustment(w *wire.Writer, r ledger.Result) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.ID("adjustmentID", e.ID)
	w.ID("voucherID", v.ID)
	w.Amount("amount", v.Unit(), e.Delta)
	payload.WriteBalances(w, v, e.At)
	payload.WriteUnitCode(w, v)
	payload.WriteStands(w, v)
	w.Instant("adjustedAt", e.At)
	w.Text("reasonCode", string(e.ReasonCode))
	w.Text("reason", e.Reason)
}

// Extension writes the members of a successful extend-gift.
func Extension(w *wire.Writer, r ledger.Result) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.ID("voucherID", v.ID)
	w.Instant("validUntil", v.End())
	payload.WriteStands(w, v)
	w.Boolean("isRedeemable", len(v.NotRedeemable(guid.ID{}, e.At, nil)) == 0)
}

// Cancellation writes what became of each gift of a cancellation or a reinstatement.
func Cancellation(w *wire.Writer, r ledger.Result) {
	w.List("vouchers")
	for n := range r.Vouchers {
		v := &r.Vouchers[n]
		outcome, why := "DONE", ""
		switch refused := r.NotAllowed[n]; {
		case refused != nil:
			outcome, why = "NOT_ALLOWED", wire.Told(refused)[0].Text
		case !r.Changed[n]:
			outcome = "ALREADY_DONE"
		}
		w.Open()
		w.ID("voucherID", v.ID)
		w.Text("status", v.Status.String())
		w.Integer("statusID", int(v.Status))
		payload.WriteBalances(w, v, r.At)
		w.Text("outcome", outcome)
		w.TextOrNull("reason", why)
		w.Close()
	}
	w.EndList()
}
