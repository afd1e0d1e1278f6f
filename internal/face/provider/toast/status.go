package toast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// The values of transactionStatus.
const (
	accept               = "ACCEPT"
	notSupported         = "ERROR_TOAST_TRANSACTION_TYPE_NOT_SUPPORTED"
	invalidType          = "ERROR_INVALID_TOAST_TRANSACTION_TYPE"
	alreadyActivated     = "ERROR_CARD_ALREADY_ACTIVATED"
	notActivated         = "ERROR_CARD_NOT_ACTIVATED"
	invalidCard          = "ERROR_CARD_INVALID"
	invalidInput         = "ERROR_INVALID_INPUT_PROPERTIES"
	doesNotExist         = "ERROR_TRANSACTION_DOES_NOT_EXIST"
	invalidToken         = "ERROR_INVALID_TOKEN"
	cannotBeReversed     = "ERROR_TRANSACTION_CANNOT_BE_REVERSED"
	invalidRestaurant    = "ERROR_INVALID_RESTAURANT"
	verificationFailed   = "ERROR_VERIFICATION_FAILED"
	verificationRequired = "ERROR_VERIFICATION_REQUIRED"
	noVerification       = "ERROR_VERIFICATION_NOT_SUPPORTED"
)

// byCode says what our refusals are in Toast's words, but for what depends on the card or on what was asked for. Every
// other one is invalidCard: Toast has no word for a limit that is reached, nor for a wrong location.
var byCode = map[refusal.Code]string{
	refusal.ValidationFailure:    invalidInput,
	refusal.NotSupported:         notSupported,
	refusal.AccountMisconfigured: invalidRestaurant,
	refusal.Unauthenticated:      invalidToken,
	refusal.InsufficientBalance:  cannotBeReversed,
	refusal.AlreadyReversed:      cannotBeReversed,
	refusal.AlreadyActivated:     alreadyActivated,
	refusal.IdempotencyMismatch:  invalidInput,
}

// statusOf says a refusal in Toast's words.
func (t *transaction) statusOf(refused *refusal.Error) string {
	field := refusal.Field("")
	if len(refused.Messages) > 0 {
		field = refused.Messages[0].Field
	}
	switch v := &t.card.Voucher; {
	case gift.IsWrongCode(refused):
		return verificationFailed
	case field == refusal.FieldVerification:
		return verificationRequired
	case refused.Code == refusal.RedemptionNotAllowed && t.reverses():
		return cannotBeReversed
	case refused.Code == refusal.RedemptionNotAllowed && v.TakenAt(t.Now) && v.Blocked == "",
		refused.Code == refusal.NotSupported:
		switch {
		case v.Item, v.Promotional:
			return invalidCard
		case v.Status == gift.NotActivated, v.Status == gift.Pending:
			return notActivated
		}
	case refused.Code == refusal.RedemptionNotAllowed && t.Now.Before(v.ValidFrom):
		return notActivated
	case (refused.Code == refusal.NotFound || refused.Code == refusal.NotAuthorized) && t.reverses() && !v.ID.IsZero():
		return doesNotExist
	}
	return cmp.Or(byCode[refused.Code], invalidCard)
}

func (t *transaction) reverses() bool { return t.answer == reverseResponse }

// refuse answers with nothing but a status.
func refuse(status string, why refusal.Code) service.Reply {
	return service.Reply{Status: http.StatusBadRequest, Body: statusBody(status), Code: why}
}

func statusBody(status string) []byte { return fmt.Appendf(nil, `{"transactionStatus":"%s"}`, status) }

// unavailable answers what we failed at, or did not know in time, and nothing else.
func unavailable(err error) (_ service.Reply, ours bool) {
	if err == nil {
		return service.Reply{}, false
	}
	refused, ok := errors.AsType[*refusal.Error](err)
	if ok && !refused.Code.Undecided() {
		return service.Reply{}, false
	}
	reply := service.Reply{Status: http.StatusInternalServerError, Err: err}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		reply.Code = refusal.Unavailable
	}
	return reply, true
}

// failed answers an error.
func (t *transaction) failed(err error) service.Reply {
	if reply, ours := unavailable(err); ours {
		return reply
	}
	refused, _ := errors.AsType[*refusal.Error](err)
	return refuse(t.statusOf(refused), refused.Code)
}

// accepted is the answer of a transaction that was carried out: the balance that is available, and more members.
func (t *transaction) accepted(code refusal.Code, available money.Amount, more string) ledger.Answer {
	return ledger.Answer{Code: code, Body: fmt.Appendf(nil, `{"transactionStatus":"%s","%s":{"currentBalance":%s%s}}`,
		accept, t.answer, t.card.Currency.Format(available), more)}
}

// told gives an answer of the engine.
func (t *transaction) told(a ledger.Answer, err error) service.Reply {
	if err != nil {
		return t.failed(err)
	}
	reply := service.Reply{Status: http.StatusOK, Body: a.Body}
	if !a.Succeeded() {
		reply.Status, reply.Code = http.StatusBadRequest, a.Code
	}
	return reply
}
