package gifts

import (
	"errors"
	"slices"

	"boon.example/internal/base/phrase"
	"boon.example/internal/face/api/outcome"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// reversal is a reverse-redemption request.
type reversal struct {
	RedemptionID guid.ID // or
	OriginalKey  string
	Operation    operation.Name // of the key; "": not said
	Of           giftRef        // which gift the key's redemption must be of; zero: not said
	Where        place
	gift.Reverse
}

func readReversal(o *wire.Object, c *Call) (r reversal) {
	const byRedemption, byOperation = "redemptionID", "operation"
	r.RedemptionID, r.OriginalKey = o.GUID(byRedemption), readOriginalKey(o)
	oneOf(o, []string{byRedemption, byKey})
	r.Of = readOf(o, c.Account)
	besideKey(o, byOperation)
	if op := operation.Name(o.Text(byOperation)); op == "" || op.UndoneBy() == operation.ReverseRedemption {
		r.Operation = op
	} else {
		o.Add(byOperation, "The operation must be %s.", phrase.OneOf(operation.ReverseRedemption.Undoes()))
	}
	r.Where = readPlace(o, c.Caller)
	r.Number = readAmount(o, c.Account.Currency)
	r.Reason = o.Line("reason", maxReason)
	return r
}

// byKey is the member that names what is undone by the Idempotency-Key that it was made with.
const byKey = "idempotencyKey"

func readOriginalKey(o *wire.Object) (key string) {
	if v := o.Of(byKey, '"', "a text"); v != nil {
		key = string(wire.Unquote(v)) // not normalized: what is not ASCII must not become it
	}
	if o.Given(byKey) && !service.IsKey(key) && !o.Has(byKey) {
		o.Add(byKey, "An Idempotency-Key has 1 to %d printable ASCII characters and no space at either end.", service.MaxKey)
	}
	return key
}

// readOf reads which gift it is that was used with the key of byKey; zero: not said.
func readOf(o *wire.Object, a *merchant.Account) (of giftRef) {
	gifts := []string{byID, byCode, byToken}
	if of = readGift(o, a, gifts); slices.ContainsFunc(gifts, o.Given) {
		oneOf(o, gifts)
	}
	besideKey(o, gifts...)
	return of
}

func besideKey(o *wire.Object, names ...string) {
	for _, name := range names {
		if o.Given(name) && !o.Given(byKey) {
			o.Add(name, "Send %s beside %s only.", name, byKey)
		}
	}
}

// ReverseRedemption gives back what a redemption or a cash-out took.
func ReverseRedemption(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) reversal { return readReversal(o, c) })
	problems.Refuse(c.NeedKey())
	if err := problems.Err(); err != nil {
		if asked.Where.Place != (merchant.Place{}) {
			err = c.besides(problems, asked.Where.Place)
		}
		return ledger.Answer{}, err
	}
	if asked.Operation == operation.CashOutGift {
		if err := c.Caller.Permit(merchant.MayCashOut, true); err != nil {
			return ledger.Answer{}, err
		}
	}
	request := c.Request(operation.ReverseRedemption, asked)
	at, err := c.locate(asked.Where.Place)
	var location guid.ID
	var misplaced *refusal.Error
	switch {
	case err == nil:
		location = at.ID
	case asked.Where.Place == merchant.Place{}: // a reversal need not be made anywhere in particular
	case errors.Is(err, refusal.NotAuthorized):
		return ledger.Answer{}, err
	case asked.OriginalKey != "" && errors.Is(err, refusal.NotFound):
		return ledger.Answer{}, mistyped(err) // NOT_FOUND would say that nothing was taken
	case asked.OriginalKey != "" || !errors.As(err, &misplaced):
		return request.Refuse(err)
	}
	of, err := c.usedWith(asked.Of, location, asked.OriginalKey, takings(asked.Operation)...)
	if err != nil {
		return request.Refuse(err)
	}
	asked.Context, asked.Caller = c.Actor(location), c.Caller
	return request.Do(&ledger.Reverse{
		RedemptionID: asked.RedemptionID, OriginalKey: asked.OriginalKey, Operation: asked.Operation, Of: of,
		Reverse: asked.Reverse, Misplaced: misplaced,
	}, ledger.OK, outcome.Reversal)
}

// takings are the operations of which an Idempotency-Key may be meant, where one is named or none ("").
func takings(named operation.Name) []operation.Name {
	if named != "" {
		return []operation.Name{named}
	}
	return operation.ReverseRedemption.Undoes()
}

// usedWith finds the gift that is named beside a key, which was used for one of some operations. It need not be one
// that may be used there, or be there: whether the key has arrived is to be told all the same. A code counts as a
// guess, at the key's only location where none is named. Where too many were wrong already, no code is looked up, but
// compared with that of the gift that was used with the key: what was done with it is undone, and nothing else is told.
func (c *Call) usedWith(w giftRef, location guid.ID, key string, operations ...operation.Name) (*ledger.UsedWith,
	error) {
	if w == (giftRef{}) {
		return nil, nil
	}
	another := refusal.At(refusal.IdempotencyMismatch, refusal.FieldOriginalKey, "This Idempotency-Key was used before, "+
		"with another gift; nothing was changed. Use a new, random key for each sale.")
	if !w.ID.IsZero() {
		return &ledger.UsedWith{VoucherID: w.ID, Else: another}, nil
	}
	if only := c.locationOrNil(place{}); location.IsZero() && only != nil {
		location = only.ID
	}
	g, err := c.find(w, location)
	limited, isLimited := errors.AsType[*refusal.Error](err)
	switch {
	case err == nil, errors.Is(err, refusal.NotAuthorized), errors.Is(err, refusal.RedemptionNotAllowed):
		return &ledger.UsedWith{VoucherID: g.ID, Else: another}, nil
	case errors.Is(err, refusal.NotFound): // it may have been sent to somebody else since, under another code
		return &ledger.UsedWith{Else: refusal.New(refusal.ValidationFailure,
			"There is no gift with this code or token, so it "+
				"cannot be told whether the Idempotency-Key was used with it; nothing was changed.")}, nil
	case !isLimited || limited.Code != refusal.RateLimited:
		return nil, err
	}
	used, err := c.giftsOf(key, operations)
	if err != nil {
		return nil, err
	}
	g, err = c.Compare(w.Code, location, used)
	if _, told := errors.AsType[*refusal.Error](err); err != nil && !told || errors.Is(err, refusal.Unavailable) {
		return nil, err
	}
	return &ledger.UsedWith{VoucherID: g.ID, Else: limited}, nil
}

// giftsOf finds the gifts that the caller used with an Idempotency-Key.
func (c *Call) giftsOf(key string, operations []operation.Name) (used []guid.ID, _ error) {
	all, err := c.Records.Requests(c.Context(), c.Account.ID, "", key)
	if err != nil && !errors.Is(err, refusal.NotFound) {
		return nil, service.Stored(err)
	}
	for n := range all {
		r := &all[n]
		if r.EntryID.IsZero() || !slices.Contains(operations, r.Operation) || !r.MayBeToldTo(c.Caller) {
			continue
		}
		parts, err := c.Records.Parts(c.Context(), c.Account.ID, r.EntryID)
		if err != nil {
			return nil, service.Stored(err)
		}
		for len(parts) > 0 {
			used = append(used, parts[0].VoucherID)
			next := parts[0].Next // of a sale
			if next.IsZero() {
				break
			}
			if parts, err = c.Records.Parts(c.Context(), c.Account.ID, next); err != nil {
				return nil, service.Stored(err)
			}
		}
	}
	return used, nil
}

// mistyped is what is told of a place that is not there, in place of NOT_FOUND.
func mistyped(err error) error {
	if e, ok := errors.AsType[*refusal.Error](err); ok {
		return &refusal.Error{Code: refusal.ValidationFailure, Messages: e.Messages}
	}
	return err
}
