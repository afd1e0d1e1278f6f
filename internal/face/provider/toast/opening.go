package toast

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// Toast may activate a card with nothing, and add its value in a second transaction. The gift stays NOT_ACTIVATED until
// then, as nothing is owed for it; that Toast was told of an active card is kept beside it, and how that was taken
// back.

// openCard is under which openings are kept.
const openCard operation.Name = "toast-opening"

// opening is an activation with nothing, or its reversal, as it is kept. Under its GUID it is kept afterwards.
type opening struct {
	GUID     string `json:"guid"`
	Reverses string `json:"reverses"` // the GUID of the one before; "": it is none
	here     bool   // at this location
}

// maxOpenings is how often a card is activated with nothing, or that is taken back.
const maxOpenings = 20

// openings reads what is kept of the card, at any of the restaurants: each stands under the next number.
func (t *transaction) openings() (list []opening, err error) {
	for {
		known, err := t.Kept(t.numbered(len(list) + 1))
		if err != nil || len(known) == 0 {
			return list, err
		}
		var o opening
		if err := json.Unmarshal(known[0].Answer.Body, &o); err != nil {
			return nil, fmt.Errorf("an opening is damaged: %w", err)
		}
		o.here = known[0].MayBeToldTo(t.caller)
		list = append(list, o)
	}
}

func (t *transaction) numbered(n int) string { return fmt.Sprintf("%s:opening:%d", t.card.ID, n) }

// isOpen reports whether the card counts as active though nothing is in it.
func isOpen(list []opening) bool { return len(list) > 0 && list[len(list)-1].Reverses == "" }

// opened reports whether a transaction is why the card counts as active.
func opened(list []opening, guid string) bool { return isOpen(list) && list[len(list)-1].GUID == guid }

// open activates a card with nothing.
func (t *transaction) open() service.Reply {
	for {
		list, err := t.openings()
		if err != nil {
			return t.failed(err)
		}
		mine, failed := t.mine(list, "")
		if failed != nil {
			return *failed
		}
		known, err := t.kept(transact, t.guid, &t.card.Voucher)
		switch {
		case err != nil:
			return t.failed(err)
		case mine || known != nil:
			return t.opensNow()
		case isOpen(list) && t.card.Status == gift.NotActivated:
			return refuse(alreadyActivated, refusal.AlreadyActivated)
		}
		if _, _, err := t.card.Activate(t.worth()); err != nil {
			return t.failed(err)
		}
		switch err := t.keepOpening(len(list)+1, ""); {
		case err == nil:
			return t.opensNow()
		case !errors.Is(err, refusal.IdempotencyMismatch): // else another one came first, and counts
			return t.failed(err)
		}
	}
}

// opensNow keeps under the transaction's GUID that it opened the card. Where that is another transaction's by now, or
// was reversed before it came, the card is not open.
func (t *transaction) opensNow() service.Reply {
	answer, err := t.order(t.note(), fingerprinted{}, t.zero)
	if errors.Is(err, refusal.IdempotencyMismatch) {
		list, failed := t.openings()
		if failed == nil && opened(list, strings.ToLower(t.guid)) {
			failed = t.keepOpening(len(list)+1, strings.ToLower(t.guid))
		}
		if failed != nil && !errors.Is(failed, refusal.IdempotencyMismatch) {
			return t.failed(failed)
		}
	}
	return t.told(answer, err)
}

func (t *transaction) zero(ledger.Result) ledger.Answer { return t.accepted(ledger.OK, 0, "") }

// worth is with what a card could be activated that can be so with nothing.
func (t *transaction) worth() gift.Activate {
	return gift.Activate{LocationID: t.caller.Locations[0], Amount: 1, Most: t.caller.Account.MaxGiftValue}
}

// closeOpening takes an activation with nothing back, as long as nothing else happened to the card.
func (t *transaction) closeOpening(list []opening, previous string) (_ service.Reply, done bool) {
	mine, failed := t.mine(list, previous)
	switch {
	case failed != nil:
		return *failed, true
	case !mine && (t.card.Status != gift.NotActivated || !opened(list, previous) || !t.caller.May(merchant.MayActivate)):
		return refuse(cannotBeReversed, refusal.AlreadyReversed), true
	case !mine:
		if err := t.keepOpening(len(list)+1, previous); err != nil {
			return t.failed(err), !errors.Is(err, refusal.IdempotencyMismatch)
		}
	}
	return t.told(t.order(t.note(), fingerprinted{Previous: previous}, t.zero)), true
}

// mine reports whether the transaction is among the openings, or their reversals.
func (t *transaction) mine(list []opening, previous string) (is bool, refused *service.Reply) {
	for _, o := range list {
		switch {
		case o.GUID != strings.ToLower(t.guid) || (o.Reverses == "") != (previous == ""):
		case o.Reverses == previous && o.here:
			return true, nil
		default:
			reply := refuse(invalidInput, refusal.IdempotencyMismatch)
			return false, &reply
		}
	}
	return false, nil
}

// keepOpening keeps an opening, or its reversal, under its number, unless another one came first.
func (t *transaction) keepOpening(n int, previous string) error {
	if n > maxOpenings {
		return refusal.New(refusal.ValidationFailure, "This card was activated with nothing too often.")
	}
	kept := opening{GUID: strings.ToLower(t.guid), Reverses: previous}
	done, err := t.Do(provider.Order{Operation: openCard, Key: t.numbered(n), Asked: struct {
		GUID,
		Reverses string
	}{kept.GUID,
		previous}, Command: &ledger.Change{Context: t.Actor(t.Location), VoucherID: t.card.ID, Notes: true,
		Rule: func(v gift.Voucher, _ gift.Context) (gift.Voucher, gift.Entry, error) {
			if v.Status != gift.NotActivated { // of which nothing is kept: it is no opening
				return v, gift.Entry{}, refusal.New(refusal.ValidationFailure, "Something else happened to this card.")
			}
			return v, gift.Entry{}, nil
		}},
		Render: func(ledger.Result, error) ledger.Answer {
			body, _ := json.Marshal(kept) // of two texts
			return ledger.Answer{Code: ledger.Nothing, Body: body}
		}})
	if err == nil && !done.Succeeded() {
		err = refusal.New(done.Code, "This card cannot be activated with nothing.")
	}
	return err
}

// note keeps something, as often as a card may be activated with nothing.
func (t *transaction) note() ledger.Command {
	c := t.nothing().(*ledger.Change)
	c.Notes = true
	return c
}

// nothing takes nothing.
func (t *transaction) nothing() ledger.Command {
	return &ledger.Change{Context: t.Actor(t.Location), VoucherID: t.card.ID,
		Rule: func(v gift.Voucher, _ gift.Context) (gift.Voucher, gift.Entry, error) { return v, gift.Entry{}, nil }}
}
