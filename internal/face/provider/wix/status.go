package wix

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// failure is one of Wix's errors.
type failure struct {
	code   string
	status int
}

var (
	cardNotFound        = failure{"GIFT_CARD_NOT_FOUND", http.StatusNotFound}
	cardDisabled        = failure{"GIFT_CARD_DISABLED", http.StatusPreconditionRequired}
	cardExpired         = failure{"GIFT_CARD_EXPIRED", http.StatusPreconditionRequired}
	missingCurrency     = failure{"MISSING_CURRENCY", http.StatusPreconditionRequired}
	insufficientFunds   = failure{"INSUFFICIENT_FUNDS", http.StatusPreconditionRequired}
	alreadyRedeemed     = failure{"ALREADY_REDEEMED", http.StatusConflict}
	otherCurrency       = failure{"CURRENCY_NOT_SUPPORTED", http.StatusBadRequest}
	transactionNotFound = failure{"TRANSACTION_NOT_FOUND", http.StatusNotFound}
	alreadyVoided       = failure{"ALREADY_VOIDED", http.StatusConflict}
)

// byCode says what our refusals are in Wix's words, but for what depends on the gift. Every other one is cardDisabled.
var byCode = map[refusal.Code]failure{
	refusal.NotFound:            cardNotFound,
	refusal.InvalidCodeFormat:   cardNotFound,
	refusal.InvalidTokenFormat:  cardNotFound,
	refusal.NotAuthorized:       cardNotFound,
	refusal.RateLimited:         cardNotFound,
	refusal.ValidationFailure:   cardNotFound, // a verification code that is missing
	refusal.AlreadyRedeemed:     insufficientFunds,
	refusal.InsufficientBalance: insufficientFunds,
	refusal.IdempotencyMismatch: alreadyRedeemed,
	refusal.AlreadyReversed:     alreadyVoided,
}

func (c *call) refusalOf(refused *refusal.Error) failure {
	switch {
	case gift.IsWrongCode(refused):
		return cardNotFound
	case refused.Code == refusal.RedemptionNotAllowed && c.card.OverForTill(c.Now):
		return cardExpired
	}
	return cmp.Or(byCode[refused.Code], cardDisabled)
}

func (r failure) body() []byte { return fmt.Appendf(nil, `{"applicationError":{"code":"%s"}}`, r.code) }

func (r failure) because(why refusal.Code) service.Reply {
	return service.Reply{Status: r.status, Body: r.body(), Code: why}
}

// failed answers an error. What we failed at, or do not know, has no body.
func (c *call) failed(err error) service.Reply {
	refused, ok := errors.AsType[*refusal.Error](err)
	switch {
	case !ok || refused.Code == refusal.UnexpectedError:
		return service.Reply{Status: http.StatusInternalServerError, Err: err}
	case refused.Code.Undecided():
		return service.Reply{Status: http.StatusServiceUnavailable, Err: err}
	}
	return c.refusalOf(refused).because(refused.Code)
}

// done answers what was carried out: what is left, and more members.
func (c *call) done(balance string, left money.Amount, more string) ledger.Answer {
	return ledger.Answer{Code: ledger.OK, Body: fmt.Appendf(nil, `{"%s":%s,"currencyCode":"%s"%s}`, balance,
		c.currency.Format(left), c.currency.Code, more)}
}

func (c *call) told(a ledger.Answer, err error) service.Reply {
	switch {
	case err != nil:
		return c.failed(err)
	case a.Succeeded():
		return service.Reply{Status: http.StatusOK, Body: a.Body}
	}
	reply := service.Reply{Body: a.Body, Code: a.Code}
	for _, r := range []failure{cardNotFound, cardDisabled, cardExpired, insufficientFunds} { // as it was told first
		if string(r.body()) == string(a.Body) {
			reply.Status = r.status
		}
	}
	return reply
}
