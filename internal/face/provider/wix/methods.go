package wix

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// order is under which an attempt to redeem a gift for an order is kept, and the transactionId of the one that did.
func order(id string, v *gift.Voucher, attempt int) string {
	key := reference(id) + ":" + v.ID.String()
	if attempt > 1 {
		return fmt.Sprintf("%s:%d", key, attempt)
	}
	return key
}

// reference is an order's id, of whichever letters it was written with.
func reference(id string) string {
	if parsed, err := guid.Parse(id); err == nil {
		return parsed.String()
	}
	return id
}

// maxAttempts is how often a gift may be refused for one order.
const maxAttempts = 20

// balance tells what is available of a gift, 0 of an empty one.
func (c *call) balance() service.Reply {
	if err := c.find(""); err != nil {
		return c.failed(err)
	}
	for _, why := range c.card.NotRedeemable(c.caller.Locations[0], c.Now, nil) {
		if why.Code != refusal.AlreadyRedeemed {
			return c.failed(refusal.New(refusal.RedemptionNotAllowed, "%s", why.Text))
		}
	}
	if provider.NeedsTicket(c.caller.Account, &c.card.Voucher) {
		return cardDisabled.because(refusal.ItemEligibilityFailure)
	}
	return c.told(c.done("balance", c.card.Available(c.Now), ""), nil)
}

// redemption is what a redemption's fingerprint is of.
type redemption struct{ Amount money.Amount }

// redeem takes an amount for an order: all of it, or nothing. A gift is redeemed once for an order; what was refused
// may be tried again.
func (c *call) redeem() service.Reply {
	amount, err := c.asked.Amount.In(c.currency)
	_, noOrder := guid.Parse(c.asked.OrderID)
	switch {
	case c.asked.Currency == "":
		return missingCurrency.because(refusal.ValidationFailure)
	case c.asked.Currency != c.currency.Code:
		return otherCurrency.because(refusal.ValidationFailure)
	case err != nil, noOrder != nil:
		return malformed()
	}
	if err := c.find(c.asked.OrderID); err != nil {
		return c.failed(err)
	}
	pin := ""
	if c.card.AsksVerification() {
		if pin = c.asked.PIN; pin != "" && !gift.IsVerificationCode(pin) {
			return cardNotFound.because(refusal.RedemptionNotAllowed)
		}
	}
	key, last, err := c.attempt()
	if err != nil {
		return c.failed(err)
	}
	ask := gift.Redeem{Context: c.Actor(c.Location), LocationID: c.caller.Locations[0], Amount: amount,
		Reference:    c.asked.OrderID,
		Verification: pin, Account: c.caller.Account}
	if reply, is := c.wouldRefuse(ask, last); is {
		return reply
	}
	answer, err := c.Do(provider.Order{Operation: operation.RedeemGift, Key: key, Asked: redemption{amount},
		Verification: pin,
		Command:      &ledger.Redeem{VoucherID: c.card.ID, Notice: c.caller.Account.BalanceNotice, Redeem: ask},
		Render: func(r ledger.Result, err error) ledger.Answer {
			if refused, ok := errors.AsType[*refusal.Error](err); ok {
				return ledger.Answer{Code: refused.Code, Body: c.refusalOf(refused).body()}
			}
			return c.done("remainingBalance", r.Vouchers[0].Available(r.Entries[0].At), `,"transactionId":"`+key+`"`)
		}})
	switch {
	case err == nil && answer.Fresh():
		c.Redeemed(c.card.ID, c.Location)
	case err == nil && answer.Succeeded():
		if voided, err := c.voided(key); err != nil || voided {
			return c.told(answer, errors.Join(err, refusal.New(refusal.IdempotencyMismatch, "This was voided.")))
		}
	}
	return c.told(answer, err)
}

// wouldRefuse answers what is refused as the gift stands, of which nothing is kept: it may be tried again any number of
// times. A wrong verification code counts, and is for the engine. last is what is kept of the order.
func (c *call) wouldRefuse(ask gift.Redeem, last *ledger.Request) (reply service.Reply, is bool) {
	switch {
	case last != nil && refused(*last): // the last attempt of all
		return c.told(last.Answer, nil), true
	case last != nil: // it is told what became of it
		return reply, false
	}
	ask.Now = c.Now
	if _, _, err := c.card.Redeem(ask); err != nil && !gift.IsWrongCode(err) {
		return c.failed(err), true
	}
	return reply, false
}

// attempt is the key of the newest attempt to redeem the gift for the order, or of the next one if that was refused,
// and what is kept under it.
func (c *call) attempt() (key string, last *ledger.Request, _ error) {
	for n := 1; n <= maxAttempts; n++ {
		key, last = order(c.asked.OrderID, &c.card.Voucher, n), nil
		known, err := c.Requests(key)
		if len(known) > 0 {
			last = &known[0]
		}
		if err != nil || !slices.ContainsFunc(known, refused) {
			return key, last, err
		}
	}
	return key, last, nil
}

// refused reports whether a record is of something that was not done.
func refused(r ledger.Request) bool { return !r.Spent && !r.Answer.Succeeded() }

// voided reports whether what was redeemed under a key has been given back.
func (c *call) voided(key string) (bool, error) {
	known, err := c.Requests(key)
	if err != nil {
		return false, err
	}
	for _, r := range known {
		if r.EntryID.IsZero() {
			continue
		}
		parts, err := c.Parts(c.card.ID, r.EntryID)
		if err != nil || len(parts) > 1 {
			return len(parts) > 1, err
		}
	}
	return false, nil
}

var transaction = regexp.MustCompile(`^[0-9a-f-]{36}:[0-9a-f-]{36}(:[0-9]{1,2})?$`)

// void gives back what a redemption took.
func (c *call) void() service.Reply {
	if !transaction.MatchString(c.asked.TransactionID) {
		return transactionNotFound.because(refusal.NotFound)
	}
	known, err := c.Requests(c.asked.TransactionID)
	if err != nil {
		return c.failed(err)
	}
	if !slices.ContainsFunc(known, func(r ledger.Request) bool {
		return r.Operation == operation.RedeemGift && !r.EntryID.IsZero()
	}) {
		return transactionNotFound.because(refusal.NotFound)
	}
	answer, err := c.Do(provider.Order{Operation: operation.ReverseRedemption,
		Command: &ledger.Reverse{OriginalKey: c.Scope(c.asked.TransactionID), Operation: operation.RedeemGift,
			Reverse: gift.Reverse{Context: c.Actor(c.Location), Caller: c.caller}},
		Render: func(r ledger.Result, _ error) ledger.Answer {
			return c.done("remainingBalance", r.Vouchers[0].Available(r.Entries[0].At), "")
		}})
	if errors.Is(err, refusal.NotFound) || errors.Is(err, refusal.NotAuthorized) {
		return transactionNotFound.because(refusal.NotFound)
	}
	return c.told(answer, err)
}
