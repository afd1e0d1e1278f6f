package toast

import (
	"errors"
	"strings"

	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// The operations under which transactions are kept. One GUID and card is one transaction, whatever its type; only a
// reversal may have the GUID of what it takes back.
const (
	transact        operation.Name = "toast-transaction"
	takeBack        operation.Name = "toast-reversal"
	takeBackNothing operation.Name = "toast-reversal-of-nothing"
)

// fingerprinted is what tells a repeat of a transaction from another with its GUID.
type fingerprinted struct {
	Type     string
	Amount   money.Amount
	CashOut  bool
	Previous string // the GUID of what a reversal takes back
}

// key is under which a transaction is kept: its GUID counts for each card apart.
func key(guid string, v *gift.Voucher) string { return strings.ToLower(guid) + ":" + v.ID.String() }

// balance tells what is available on an active card.
func (t *transaction) balance() service.Reply {
	v := &t.card.Voucher
	if status := t.unusable(); status != "" {
		return refuse(status, refusal.RedemptionNotAllowed)
	}
	if t.asked.Verification.Value != "" && !v.AsksVerification() {
		return refuse(noVerification, refusal.ValidationFailure)
	}
	return t.told(t.accepted(ledger.OK, v.Available(t.Now), ""), nil)
}

// unusable says why a card cannot be used; "": it can, though it may be empty.
func (t *transaction) unusable() string {
	v := &t.card.Voucher
	for _, why := range v.NotRedeemable(t.caller.Locations[0], t.Now, nil) {
		if why.Code == refusal.AlreadyRedeemed || t.opened {
			continue
		}
		return t.statusOf(refusal.New(refusal.RedemptionNotAllowed, "%s", why.Text))
	}
	if provider.NeedsTicket(t.caller.Account, v) {
		return invalidCard
	}
	return ""
}

// kept is what is kept of a GUID and a card, at any of the restaurants; nil: nothing.
func (t *transaction) kept(op operation.Name, guid string, v *gift.Voucher) (*ledger.Request, error) {
	all, err := t.Kept(key(guid, v))
	for n := range all {
		if all[n].Operation == op {
			return &all[n], err
		}
	}
	return nil, err
}

// order has the engine do something under the transaction's GUID, and answers with what was done to the card. asked is
// what tells a repeat from another transaction with the same GUID.
func (t *transaction) order(cmd ledger.Command, asked fingerprinted,
	done func(ledger.Result) ledger.Answer) (ledger.Answer, error) {
	op := transact
	if t.reverses() {
		op = takeBack
	}
	asked.Type = t.body
	return t.Do(provider.Order{Operation: op, Key: key(t.guid, &t.card.Voucher), Asked: asked, Command: cmd,
		Verification: t.verification(), Render: func(r ledger.Result, err error) ledger.Answer {
			if refused, ok := errors.AsType[*refusal.Error](err); ok {
				return ledger.Answer{Code: refused.Code, Body: statusBody(t.statusOf(refused))}
			}
			return done(r)
		}})
}

// verification is the verification code that was shown, where the card has one.
func (t *transaction) verification() string {
	if t.reverses() || !t.card.AsksVerification() {
		return ""
	}
	return t.asked.Verification.Value
}

// after is the balance that an entry left available.
func after(r ledger.Result) money.Amount { return r.Vouchers[0].Available(r.Entries[0].At) }

// redeem takes what is there, up to what is asked for.
func (t *transaction) redeem() service.Reply {
	if t.asked.CashOut {
		return t.cashOut()
	}
	amount, err := t.asked.RedeemedValue.In(t.card.Currency)
	if err != nil {
		return refuse(invalidInput, refusal.ValidationFailure)
	}
	if status := t.verifiable(); status != "" {
		return refuse(status, refusal.ValidationFailure)
	}
	var cmd ledger.Command = &ledger.Redeem{VoucherID: t.card.ID, Notice: t.caller.Account.BalanceNotice,
		Redeem: gift.Redeem{Context: t.Actor(t.Location), LocationID: t.caller.Locations[0], Amount: amount, UpTo: true,
			Reference: t.asked.Check, Verification: t.verification(), Account: t.caller.Account}}
	if t.opened {
		cmd = t.nothing()
	}
	answer, err := t.order(cmd, fingerprinted{Amount: amount}, t.taken)
	if err == nil && answer.Fresh() && answer.Code == ledger.OK {
		t.Redeemed(t.card.ID, t.Location)
	}
	return t.told(answer, err)
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
	case !t.card.AsksVerification():
		return noVerification
	case !gift.IsVerificationCode(shown):
		return verificationFailed
	}
	return ""
}

// cashOut takes all that is left as cash, where the law lets a guest ask for it.
func (t *transaction) cashOut() service.Reply {
	amount, err := t.asked.RedeemedValue.OrZeroIn(t.card.Currency)
	switch {
	case !t.caller.May(merchant.MayCashOut):
		return refuse(notSupported, refusal.NotAuthorized)
	case err != nil && t.asked.RedeemedValue != "":
		return refuse(invalidInput, refusal.ValidationFailure)
	}
	if status := t.verifiable(); status != "" {
		return refuse(status, refusal.ValidationFailure)
	}
	cmd := t.nothing()
	if !t.opened {
		cmd = t.cashOutCommand(amount)
	}
	return t.told(t.order(cmd, fingerprinted{Amount: amount, CashOut: true}, t.taken))
}

// cashOutCommand pays a card out. An empty one is no error.
func (t *transaction) cashOutCommand(amount money.Amount) ledger.Command {
	ask := gift.CashOutRequest{Law: t.CashOutLaw(), Amount: amount, Verification: t.verification(),
		Account: t.caller.Account}
	return &ledger.Change{Context: t.Actor(t.Location), VoucherID: t.card.ID, Counts: merchant.RedeemedCount,
		Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			ask.Context = at
			after, e, err := v.CashOut(ask)
			if refused, ok := errors.AsType[*refusal.Error](err); ok && refused.Code == refusal.AlreadyRedeemed &&
				len(refused.Messages) == 1 {
				return v, gift.Entry{}, nil
			}
			return after, e, err
		}}
}

// purchase is what paid for value.
func (t *transaction) purchase() gift.Purchase {
	return gift.Purchase{Reference: t.guid, StorefrontID: t.provider.StorefrontID}
}

// activate gives a card of a stock its value, which may follow.
func (t *transaction) activate() service.Reply {
	amount, err := t.asked.InitialBalance.OrZeroIn(t.card.Currency)
	switch {
	case err != nil, amount == 0 && t.card.Fixed > 0:
		return refuse(invalidInput, refusal.ValidationFailure)
	case amount == 0:
		return t.open()
	}
	if t.opened {
		known, err := t.kept(transact, t.guid, &t.card.Voucher)
		switch {
		case err != nil:
			return t.failed(err)
		case known == nil: // else it is told what became of it
			return refuse(alreadyActivated, refusal.AlreadyActivated)
		}
	}
	ask := t.first(amount)
	if t.card.Fixed == amount { // the card says so itself
		ask.Amount = 0
	}
	return t.sold(amount, func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
		ask.Context = at
		return v.Activate(ask)
	})
}

// first is the first value of a card.
func (t *transaction) first(amount money.Amount) gift.Activate {
	return gift.Activate{LocationID: t.caller.Locations[0], Amount: amount, Purchase: t.purchase(),
		Reference: t.asked.Check, Most: t.caller.Account.MaxGiftValue}
}

// addValue puts more value into a card, or the first into one that was activated with nothing.
func (t *transaction) addValue() service.Reply {
	amount, err := t.asked.AdditionalValue.In(t.card.Currency)
	if err != nil {
		return refuse(invalidInput, refusal.ValidationFailure)
	}
	first := t.first(amount)
	ask := gift.ReloadRequest{Amount: amount, Purchase: t.purchase(), Reference: t.asked.Check, Account: t.caller.Account}
	return t.sold(amount, func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
		if t.opened && v.Status == gift.NotActivated { // else another ADD_VALUE came first
			first.Context = at
			return v.Activate(first)
		}
		ask.Context = at
		return v.Reload(ask)
	})
}

// sold puts value into a card by a rule.
func (t *transaction) sold(amount money.Amount,
	rule func(gift.Voucher, gift.Context) (gift.Voucher, gift.Entry, error)) service.Reply {
	return t.told(t.order(&ledger.Change{Context: t.Actor(t.Location), VoucherID: t.card.ID, Counts: merchant.SentCount,
		Rule: rule},
		fingerprinted{Amount: amount}, func(r ledger.Result) ledger.Answer { return t.accepted(ledger.OK, after(r), "") }))
}
