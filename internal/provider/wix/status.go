package wix

import (
	"errors"
	"fmt"
	"net/http"

	"boon.example/internal/api"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// refusal is one of Wix's errors.
type refusal struct {
	code   string
	status int
}

var (
	cardNotFound        = refusal{"GIFT_CARD_NOT_FOUND", http.StatusNotFound}
	cardDisabled        = refusal{"GIFT_CARD_DISABLED", http.StatusPreconditionRequired}
	cardExpired         = refusal{"GIFT_CARD_EXPIRED", http.StatusPreconditionRequired}
	missingCurrency     = refusal{"MISSING_CURRENCY", http.StatusPreconditionRequired}
	insufficientFunds   = refusal{"INSUFFICIENT_FUNDS", http.StatusPreconditionRequired}
	alreadyRedeemed     = refusal{"ALREADY_REDEEMED", http.StatusConflict}
	otherCurrency       = refusal{"CURRENCY_NOT_SUPPORTED", http.StatusBadRequest}
	transactionNotFound = refusal{"TRANSACTION_NOT_FOUND", http.StatusNotFound}
	alreadyVoided       = refusal{"ALREADY_VOIDED", http.StatusConflict}
)

// byCode says what our refusals are in Wix's words, but for what depends on the gift.
var byCode = map[gift.Code]refusal{
	gift.NotFound:                    cardNotFound,
	gift.InvalidCodeFormat:           cardNotFound,
	gift.InvalidTokenFormat:          cardNotFound,
	gift.NotAuthorized:               cardNotFound,
	gift.RateLimited:                 cardNotFound,
	gift.ValidationFailure:           cardNotFound, // a verification code that is missing
	gift.NotSupported:                cardDisabled,
	gift.AccountMisconfigured:        cardDisabled,
	gift.MissingOrInvalidGiftProgram: cardDisabled,
	gift.InvalidVoucherType:          cardDisabled,
	gift.ItemEligibilityFailure:      cardDisabled,
	gift.RedemptionNotAllowed:        cardDisabled,
	gift.HoldNotOpen:                 cardDisabled,
	gift.AlreadyActivated:            cardDisabled,
	gift.Unauthenticated:             cardDisabled,
	gift.AlreadyRedeemed:             insufficientFunds,
	gift.InsufficientBalance:         insufficientFunds,
	gift.IdempotencyMismatch:         alreadyRedeemed,
	gift.AlreadyReversed:             alreadyVoided,
}

func (c *call) refusalOf(refused *gift.Error) refusal {
	switch {
	case gift.IsWrongCode(refused):
		return cardNotFound
	case refused.Code == gift.RedemptionNotAllowed && c.card.ExpiredBy(c.Now):
		return cardExpired
	}
	return byCode[refused.Code]
}

func (r refusal) body() []byte { return fmt.Appendf(nil, `{"applicationError":{"code":"%s"}}`, r.code) }

func (r refusal) because(why gift.Code) api.Reply {
	return api.Reply{Status: r.status, Body: r.body(), Code: why}
}

// failed answers an error. What we failed at, or do not know, has no body.
func (c *call) failed(err error) api.Reply {
	refused, ok := errors.AsType[*gift.Error](err)
	switch {
	case !ok || refused.Code == gift.UnexpectedError:
		return api.Reply{Status: http.StatusInternalServerError, Err: err}
	case refused.Code == gift.Unavailable || refused.Code == gift.RequestInProgress:
		return api.Reply{Status: http.StatusServiceUnavailable, Err: err}
	}
	return c.refusalOf(refused).because(refused.Code)
}

// done answers what was carried out: what is left, and more members.
func (c *call) done(balance string, left gift.Amount, more string) ledger.Answer {
	return ledger.Answer{Code: ledger.OK, Body: fmt.Appendf(nil, `{"%s":%s,"currencyCode":"%s"%s}`, balance,
		c.currency.Format(left), c.currency.Code, more)}
}

func (c *call) told(a ledger.Answer, err error) api.Reply {
	switch {
	case err != nil:
		return c.failed(err)
	case a.Succeeded():
		return api.Reply{Status: http.StatusOK, Body: a.Body}
	}
	reply := api.Reply{Body: a.Body, Code: a.Code}
	for _, r := range []refusal{cardNotFound, cardDisabled, cardExpired, insufficientFunds} { // as it was told first
		if string(r.body()) == string(a.Body) {
			reply.Status = r.status
		}
	}
	return reply
}
