package toast

import (
	"errors"
	"slices"
	"strings"

	"boon.example/internal/api"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/provider"
)

// key is under which a transaction is kept: its GUID counts for each card apart.
func key(guid string, v *gift.Voucher) string { return strings.ToLower(guid) + ":" + v.ID.String() }

// balance tells what is available on an active card.
func (t *transaction) balance() api.Reply {
	v := &t.card.Voucher
	if status := t.unusable(); status != "" {
		return refuse(status, gift.RedemptionNotAllowed)
	}
	if t.asked.Verification.Value != "" && v.Verification == "" {
		return refuse(noVerification, gift.ValidationFailure)
	}
	return t.told(t.accepted(ledger.OK, v.Available(t.Now), ""), nil)
}

// unusable says why a card cannot be used; "": it can, though it may be empty.
func (t *transaction) unusable() string {
	v := &t.card.Voucher
	for _, why := range v.NotRedeemable(t.caller.Locations[0], t.Now, nil) {
		if why.Code == gift.AlreadyRedeemed || t.opened {
			continue
		}
		return t.statusOf(gift.Refuse(gift.RedemptionNotAllowed, "%s", why.Text))
	}
	return ""
}

// order has the engine do something under the transaction's GUID, and answers with what was done to the card. asked is
// what tells a repeat from another transaction with the same GUID.
func (t *transaction) order(op ledger.Operation, cmd ledger.Command, asked any,
	done func(ledger.Result) ledger.Answer) (ledger.Answer, error) {
	return t.Do(api.Order{Operation: op, Key: key(t.guid, &t.card.Voucher), Asked: asked, Command: cmd,
		Verification: t.verification(), Render: func(r ledger.Result, err error) ledger.Answer {
			refused, ok := errors.AsType[*gift.Error](err)
			switch {
			case !ok:
				return done(r)
			case op == ledger.CashOutGift && refused.Code == gift.AlreadyRedeemed && len(refused.Messages) == 1:
				return t.taken(r) // an empty card is no error
			}
			return ledger.Answer{Code: refused.Code, Body: statusBody(t.statusOf(refused))}
		}})
}

// verification is the verification code that was shown, where the card has one.
func (t *transaction) verification() string {
	if t.reverses() || t.card.Verification == "" {
		return ""
	}
	return t.asked.Verification.Value
}

// after is the balance that an entry left available.
func after(r ledger.Result) gift.Amount { return r.Vouchers[0].Available(r.Entries[0].At) }

// redemption is what a redemption's fingerprint is of.
type redemption struct {
	Amount  gift.Amount
	CashOut bool
}

// redeem takes what is there, up to what is asked for.
func (t *transaction) redeem() api.Reply {
	if t.asked.CashOut {
		return t.cashOut()
	}
	amount, err := t.asked.RedeemedValue.In(t.card.Currency)
	if err != nil {
		return refuse(invalidInput, gift.ValidationFailure)
	}
	if status := t.verifiable(); status != "" {
		return refuse(status, gift.ValidationFailure)
	}
	var cmd ledger.Command = &ledger.Redeem{VoucherID: t.card.ID, Notice: t.caller.Account.BalanceNotice,
		Redeem: gift.Redeem{Context: t.Context(), LocationID: t.caller.Locations[0], Amount: amount, UpTo: true,
			Reference: t.asked.Check, Verification: t.verification(), Account: t.caller.Account}}
	if t.opened {
		cmd = t.nothing()
	}
	answer, err := t.order(ledger.RedeemGift, cmd, redemption{Amount: amount}, t.taken)
	if err == nil && answer.Fresh() && answer.Code == ledger.OK {
		t.Redeemed(t.card.ID)
	}
	return t.told(answer, lateOriginal(err))
}

// taken answers a redemption.
func (t *transaction) taken(r ledger.Result) ledger.Answer {
	if len(r.Entries) == 0 { // nothing was available
		return t.accepted(ledger.Nothing, 0, `,"redeemedValue":`+t.card.Currency.Format(0))
	}
	return t.accepted(ledger.OK, after(r), `,"redeemedValue":`+t.card.Currency.Format(-r.Entries[0].Delta))
}

// verifiable says why the verification code that was shown cannot be the card's; "": it may be. One that Toast says to
// have checked is checked like any other.
func (t *transaction) verifiable() string {
	switch shown := t.asked.Verification.Value; {
	case shown == "":
	case t.card.Verification == "":
		return noVerification
	case !gift.IsVerificationCode(shown):
		return verificationFailed
	}
	return ""
}

// cashOut takes all that is left as cash, where the law lets a guest ask for it.
func (t *transaction) cashOut() api.Reply {
	amount, err := t.asked.RedeemedValue.OrZeroIn(t.card.Currency)
	switch {
	case !t.caller.May(gift.MayCashOut):
		return refuse(notSupported, gift.NotAuthorized)
	case err != nil && t.asked.RedeemedValue != "":
		return refuse(invalidInput, gift.ValidationFailure)
	}
	if status := t.verifiable(); status != "" {
		return refuse(status, gift.ValidationFailure)
	}
	if t.opened {
		answer, err := t.order(ledger.CashOutGift, t.nothing(), redemption{Amount: amount, CashOut: true}, t.taken)
		return t.told(answer, lateOriginal(err))
	}
	ask := gift.PayOut{Law: t.CashOutLaw(), Amount: amount, Verification: t.verification(), Account: t.caller.Account}
	answer, err := t.order(ledger.CashOutGift, &ledger.Change{Context: t.Context(), VoucherID: t.card.ID,
		Counts: ledger.RedeemedCount, Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			ask.Context = at
			return v.PayOut(ask)
		}}, redemption{Amount: amount, CashOut: true}, t.taken)
	return t.told(answer, lateOriginal(err))
}

// purchase is what paid for value.
func (t *transaction) purchase() gift.Purchase {
	return gift.Purchase{Reference: t.guid, StorefrontID: t.provider.StorefrontID}
}

// activate gives a card of a stock its value, which may follow.
func (t *transaction) activate() api.Reply {
	amount, err := t.asked.InitialBalance.OrZeroIn(t.card.Currency)
	switch {
	case err != nil, amount == 0 && t.card.Fixed > 0:
		return refuse(invalidInput, gift.ValidationFailure)
	case amount == 0:
		return t.open()
	}
	if t.opened {
		known, err := t.Requests(key(t.guid, &t.card.Voucher))
		switch {
		case err != nil:
			return t.failed(err)
		case len(known) == 0: // else it is told what became of it
			return refuse(alreadyActivated, gift.AlreadyActivated)
		}
	}
	return t.first(amount)
}

// first puts the first value into a card.
func (t *transaction) first(amount gift.Amount) api.Reply {
	ask := gift.Activate{LocationID: t.caller.Locations[0], Amount: amount, Purchase: t.purchase(),
		Reference: t.asked.Check, Account: t.caller.Account}
	if t.card.Fixed == amount { // the card says so itself
		ask.Amount = 0
	}
	return t.sold(ledger.ActivateGift, amount, func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
		ask.Context = at
		return v.Activate(ask)
	})
}

// addValue puts more value into a card.
func (t *transaction) addValue() api.Reply {
	amount, err := t.asked.AdditionalValue.In(t.card.Currency)
	if err != nil {
		return refuse(invalidInput, gift.ValidationFailure)
	}
	first, err := t.firstLoad()
	switch {
	case err != nil:
		return t.failed(err)
	case first:
		return t.first(amount)
	}
	ask := gift.Load{Amount: amount, Purchase: t.purchase(), Reference: t.asked.Check, Account: t.caller.Account}
	return t.sold(ledger.ReloadGift, amount, func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
		ask.Context = at
		return v.Load(ask)
	})
}

// sold puts value into a card by a rule.
func (t *transaction) sold(op ledger.Operation, amount gift.Amount,
	rule func(gift.Voucher, gift.Context) (gift.Voucher, gift.Entry, error)) api.Reply {
	answer, err := t.order(op, &ledger.Change{Context: t.Context(), VoucherID: t.card.ID, Counts: ledger.SentCount,
		Rule: rule}, redemption{Amount: amount},
		func(r ledger.Result) ledger.Answer { return t.accepted(ledger.OK, after(r), "") })
	return t.told(answer, lateOriginal(err))
}

// lateOriginal says of what was reversed before it came that it cannot be carried out. The engine refuses under a key
// without an answer for no other reason.
func lateOriginal(err error) error {
	if refused, ok := errors.AsType[*gift.Error](err); ok && refused.Code == gift.RedemptionNotAllowed {
		return gift.Refuse(gift.ValidationFailure, "This transaction was reversed before it came.")
	}
	return err
}

type undoing struct {
	done, by ledger.Operation
	needs    gift.Permissions
}

// undoable are the operations that a REVERSE takes back, each by another.
var undoable = []undoing{
	{ledger.RedeemGift, ledger.ReverseRedemption, gift.MayRedeem},
	{ledger.CashOutGift, ledger.ReverseRedemption, gift.MayCashOut},
	{ledger.ReloadGift, ledger.ReverseReload, gift.MayReload},
	{ledger.ActivateGift, ledger.ReverseActivation, gift.MayActivate},
}

// reversal is what a reversal's fingerprint is of.
type reversal struct{ Previous string }

// reverse takes a transaction back. One that never came is not there, and will be refused should it still come.
func (t *transaction) reverse() api.Reply {
	if !provider.IsReference(t.asked.Previous) {
		return refuse(invalidInput, gift.ValidationFailure)
	}
	known, err := t.Requests(key(t.asked.Previous, &t.card.Voucher))
	if err != nil {
		return t.failed(err)
	}
	if len(known) == 0 {
		list, err := t.openings()
		if err != nil {
			return t.failed(err)
		}
		previous := strings.ToLower(t.asked.Previous)
		if slices.ContainsFunc(list, func(o opening) bool { return o.GUID == previous && o.here }) {
			return t.closeOpening(list, previous)
		}
	}
	reply := refuse(doesNotExist, gift.NotFound)
	for _, r := range known {
		switch {
		case r.Spent:
		case r.Answer.Code == ledger.Nothing: // it was accepted, and took nothing
			return t.told(t.accepted(ledger.OK, t.card.Available(t.Now), ""), nil)
		case !r.EntryID.IsZero() && reverses(r.Operation):
			return refuse(cannotBeReversed, gift.AlreadyReversed)
		case !r.EntryID.IsZero():
			return t.undo(r.Operation)
		}
	}
	for _, u := range undoable { // whichever of them it would have been
		is := func(r ledger.Request) bool { return r.Operation == u.done }
		if !t.caller.May(u.needs) || slices.ContainsFunc(known, is) {
			continue // it cannot come, did nothing, or is spent already
		}
		if reply = t.undo(u.done); reply.Code != gift.NotFound {
			return reply
		}
	}
	return reply
}

// reverses reports whether an operation takes another back.
func reverses(op ledger.Operation) bool {
	return slices.ContainsFunc(undoable, func(u undoing) bool { return u.by == op })
}

// undo takes back what an operation did under the previous transaction's GUID.
func (t *transaction) undo(op ledger.Operation) api.Reply {
	original := t.Scope(key(t.asked.Previous, &t.card.Voucher))
	n := slices.IndexFunc(undoable, func(u undoing) bool { return u.done == op })
	if n < 0 || !t.caller.May(undoable[n].needs) {
		return refuse(cannotBeReversed, gift.NotSupported)
	}
	by := undoable[n].by
	var cmd ledger.Command
	if by == ledger.ReverseRedemption {
		cmd = &ledger.Reverse{OriginalKey: original, Operation: op,
			Reverse: gift.Reverse{Context: t.Context(), Caller: t.caller}}
	} else {
		cmd = &ledger.Undo{OriginalKey: original, Operation: op, Undo: gift.Undo{Context: t.Context(), Caller: t.caller}}
	}
	return t.told(t.order(by, cmd, reversal{strings.ToLower(t.asked.Previous)},
		func(r ledger.Result) ledger.Answer { return t.accepted(ledger.OK, after(r), "") }))
}
