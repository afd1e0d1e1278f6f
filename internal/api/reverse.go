package api

import (
	"errors"
	"net/http"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// reversal is a reverse-redemption request.
type reversal struct {
	redemptionID gift.ID // or
	originalKey  string
	place        gift.Place
	amount       string // JSON number text; "": all that is left
	reason       string
}

func readReversal(o *object, currency gift.Currency) (r reversal) {
	const byID, byKey = "redemptionID", "idempotencyKey"
	given := 0
	for _, name := range []string{byID, byKey} {
		if o.has(name) {
			given++
		}
	}
	r.redemptionID = o.guid(byID)
	if v := o.of(byKey, '"', "a text"); v != nil {
		r.originalKey = string(unquote(v)) // not normalized: what is not ASCII must not become it
	}
	if o.has(byKey) && !isKey(r.originalKey) && !o.Has(byKey) {
		o.Add(byKey, "An Idempotency-Key has 1 to %d printable ASCII characters and no space at either end.", maxKey)
	}
	oneOf(o, given, []string{byID, byKey})
	r.place = readPlace(o)
	r.amount = readAmount(o, currency)
	r.reason = o.line("reason", maxReason)
	return r
}

func (r *reversal) canon(c *canon, caller *gift.Caller) {
	c.id("redemptionID", r.redemptionID)
	c.text("idempotencyKey", r.originalKey)
	c.place(r.place, caller)
	c.number("amount", r.amount)
	c.text("reason", r.reason)
}

// reverseRedemption gives back what a redemption took.
func reverseRedemption(c *call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *object) reversal { return readReversal(o, c.account.Currency) })
	c.needKey(problems)
	if err := problems.Err(); err != nil {
		if asked.place != (gift.Place{}) {
			err = c.besides(problems, asked.place)
		}
		return ledger.Answer{}, err
	}
	request := c.request(ledger.ReverseRedemption, func(form *canon) { asked.canon(form, c.caller) })
	at, err := c.locate(asked.place)
	var location gift.ID
	var misplaced *gift.Error
	switch {
	case err == nil:
		location = at.ID
	case asked.place == gift.Place{}: // a reversal need not be made anywhere in particular
	case errors.Is(err, gift.NotAuthorized):
		return ledger.Answer{}, err
	case asked.originalKey != "" && errors.Is(err, gift.NotFound):
		return ledger.Answer{}, mistyped(err) // NOT_FOUND would say that nothing was taken
	case asked.originalKey != "" || !errors.As(err, &misplaced):
		return request.refuse(err)
	}
	return request.do(&ledger.Reverse{
		RedemptionID: asked.redemptionID,
		OriginalKey:  asked.originalKey,
		Reverse:      gift.Reverse{Context: c.actor(location), Caller: c.caller, Reason: asked.reason},
		AmountOf:     amountOf(asked.amount),
		Misplaced:    misplaced,
	}, http.StatusOK, (*writer).reversal)
}

// mistyped is what is told of a place that is not there, in place of NOT_FOUND.
func mistyped(err error) error {
	if e, ok := errors.AsType[*gift.Error](err); ok {
		return &gift.Error{Code: gift.ValidationFailure, Messages: e.Messages}
	}
	return err
}

// reversal writes the members of a successful reverse-redemption.
func (w *writer) reversal(r ledger.Result) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.id("reversalID", e.ID)
	w.id("redemptionID", e.Reverses)
	w.moved(v, e, e.Delta)
	w.boolean("isRedeemable", len(v.NotRedeemable(e.Actor.LocationID, e.At, nil)) == 0)
	w.instant("reversedAt", e.At)
	w.textOrNull("reason", e.Reason)
}
