package toast

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// undoings are the kinds of entries that a REVERSE takes back: who may, and of those that put value into a card, by
// which operation of the interface that is done.
var undoings = map[gift.Kind]struct {
	needs merchant.Permissions
	of    operation.Name
}{
	gift.Redemption: {merchant.MayRedeem, ""},
	gift.CashOut:    {merchant.MayCashOut, ""},
	gift.Reload:     {merchant.MayReload, operation.ReloadGift},
	gift.Activation: {merchant.MayActivate, operation.ActivateGift},
}

// reverse takes a transaction back. One that never came is not there, and will be refused should it still come.
func (t *transaction) reverse() service.Reply {
	if !provider.IsReference(t.asked.Previous) {
		return refuse(invalidInput, refusal.ValidationFailure)
	}
	switch known, err := t.kept(takeBack, t.guid, &t.card.Voucher); {
	case err != nil:
		return t.failed(err)
	case known != nil: // it is told what became of it
		return t.reversed(t.nothing(), nil)
	}
	for {
		if reply, done := t.tryReverse(strings.ToLower(t.asked.Previous)); done {
			return reply
		}
	}
}

// tryReverse is reverse, unless something else was done meanwhile to what it is about.
func (t *transaction) tryReverse(previous string) (_ service.Reply, done bool) {
	known, err := t.kept(transact, previous, &t.card.Voucher)
	switch {
	case err != nil:
		return t.failed(err), true
	case known != nil && !known.MayBeToldTo(t.caller):
		return refuse(doesNotExist, refusal.NotFound), true
	case known != nil && !known.EntryID.IsZero():
		return t.undo(known.EntryID), true
	case known != nil && known.Answer.Code == ledger.Nothing:
		return t.undoNothing(previous), true
	}
	list, err := t.openings()
	switch {
	case err != nil:
		return t.failed(err), true
	case known != nil && !known.Answer.Succeeded() && !opened(list, previous): // refused, or reversed before it came
		return refuse(doesNotExist, refusal.NotFound), true
	case known != nil, slices.ContainsFunc(list, func(o opening) bool { return o.GUID == previous && o.here }):
		return t.closeOpening(list, previous)
	}
	if reversal, err := t.kept(takeBack, previous, &t.card.Voucher); err != nil || reversal != nil {
		return t.told(ledger.Answer{Code: refusal.AlreadyReversed, Body: statusBody(cannotBeReversed)}, err), true
	}
	err = t.spend(previous)
	if err != nil {
		return t.failed(err), !errors.Is(err, refusal.IdempotencyMismatch) // else it came just now
	}
	return refuse(doesNotExist, refusal.NotFound), true
}

// spend keeps a GUID that has not come yet from being carried out: it is another transaction from now on.
func (t *transaction) spend(guid string) error {
	_, err := t.Do(provider.Order{Operation: transact, Key: key(guid, &t.card.Voucher), Command: t.nothing(),
		Asked: fingerprinted{Type: t.body}, Render: func(ledger.Result, error) ledger.Answer {
			return ledger.Answer{Code: refusal.NotFound, Body: statusBody(doesNotExist)}
		}})
	return err
}

// undo takes an entry back.
func (t *transaction) undo(id guid.ID) service.Reply {
	parts, err := t.Parts(t.card.ID, id)
	switch {
	case err != nil:
		return t.failed(err)
	case len(parts) == 0:
		return t.failed(fmt.Errorf("entry %s of a transaction is not there", id))
	}
	how, known := undoings[parts[0].Kind]
	switch {
	case !known || !t.caller.May(how.needs):
		return refuse(cannotBeReversed, refusal.NotSupported)
	case how.of == "":
		return t.reversed(&ledger.Reverse{RedemptionID: id, Reverse: gift.Reverse{Context: t.Actor(t.Location),
			Caller: t.caller}}, after)
	}
	return t.reversed(&ledger.Undo{Operation: how.of, EntryID: id, Undo: gift.Undo{Context: t.Actor(t.Location),
		Caller: t.caller}}, after)
}

// undoNothing takes back what was accepted and took nothing, once: first it is kept which reversal did, and then what
// that was answered.
func (t *transaction) undoNothing(previous string) service.Reply {
	answer := t.accepted(ledger.Nothing, t.card.Available(t.Now), "")
	o := provider.Order{Operation: takeBackNothing, Key: key(previous, &t.card.Voucher), Command: t.nothing(),
		Asked:  fingerprinted{Previous: strings.ToLower(t.guid)},
		Render: func(ledger.Result, error) ledger.Answer { return answer }} // also of a card that was replaced
	first, err := t.Do(o)
	switch {
	case errors.Is(err, refusal.IdempotencyMismatch):
		return refuse(cannotBeReversed, refusal.AlreadyReversed)
	case err != nil:
		return t.failed(err)
	}
	answer.Body = first.Body
	o.Operation, o.Key = takeBack, key(t.guid, &t.card.Voucher)
	o.Asked = fingerprinted{Type: t.body, Previous: previous}
	return t.told(t.Do(o))
}

// reversed has the engine take something back, and answers with what is available then.
func (t *transaction) reversed(cmd ledger.Command, available func(ledger.Result) money.Amount) service.Reply {
	return t.told(t.order(cmd, fingerprinted{Previous: strings.ToLower(t.asked.Previous)},
		func(r ledger.Result) ledger.Answer { return t.accepted(ledger.OK, available(r), "") }))
}
