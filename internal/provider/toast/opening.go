package toast

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/api"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// Toast may activate a card with nothing, and add its value in a second transaction. The gift stays NOT_ACTIVATED until
// then, as nothing is owed for it; that Toast was told of an active card is kept beside it, and how that was taken
// back.

// openCard is under which openings are kept.
const openCard ledger.Operation = "toast-opening"

// opening is an activation with nothing, or its reversal, as it is kept.
type opening struct {
	GUID     string         `json:"guid"`
	Reverses string         `json:"reverses"` // the GUID of the one before; "": it is none
	Answer   jsontext.Value `json:"answer"`
	here     bool           // at this location
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

// open activates a card with nothing.
func (t *transaction) open() api.Reply {
	for {
		list, err := t.openings()
		if err != nil {
			return t.failed(err)
		}
		if reply, done := t.answered(list, ""); done {
			return reply
		}
		known, err := t.Requests(key(t.guid, &t.card.Voucher))
		switch {
		case err != nil:
			return t.failed(err)
		case len(known) > 0: // another transaction has this GUID, or it was reversed before it came
			return refuse(invalidInput, gift.IdempotencyMismatch)
		case isOpen(list) && t.card.Status == gift.NotActivated:
			return refuse(alreadyActivated, gift.AlreadyActivated)
		}
		if _, _, err := t.card.Activate(t.worth()); err != nil {
			return t.failed(err)
		}
		kept, err := t.keepOpening(len(list)+1, "")
		if !errors.Is(err, gift.IdempotencyMismatch) { // else another one came first, and counts
			return kept
		}
	}
}

// worth is with what a card could be activated that can be so with nothing.
func (t *transaction) worth() gift.Activate {
	return gift.Activate{LocationID: t.caller.Locations[0], Amount: 1, Account: t.caller.Account}
}

// closeOpening takes an activation with nothing back, as long as nothing else happened to the card.
func (t *transaction) closeOpening(list []opening, previous string) api.Reply {
	if reply, done := t.answered(list, previous); done {
		return reply
	}
	if !t.opened || list[len(list)-1].GUID != previous || !t.caller.May(gift.MayActivate) {
		return refuse(cannotBeReversed, gift.AlreadyReversed)
	}
	reply, _ := t.keepOpening(len(list)+1, previous)
	return reply
}

// answered gives the answer of what was kept under this GUID.
func (t *transaction) answered(list []opening, previous string) (reply api.Reply, done bool) {
	for _, o := range list {
		switch {
		case o.GUID == strings.ToLower(t.guid) && o.Reverses == previous && o.here:
			return api.Reply{Status: 200, Body: o.Answer}, true
		case o.GUID == strings.ToLower(t.guid):
			return refuse(invalidInput, gift.IdempotencyMismatch), true
		}
	}
	return api.Reply{}, false
}

// keepOpening keeps an opening, or its reversal, under its number, unless another one came first.
func (t *transaction) keepOpening(n int, previous string) (api.Reply, error) {
	if n > maxOpenings {
		return refuse(invalidInput, gift.ValidationFailure), nil
	}
	kept := opening{GUID: strings.ToLower(t.guid), Reverses: previous, Answer: t.accepted(ledger.OK, 0, "").Body}
	done, err := t.Do(api.Order{Operation: openCard, Key: t.numbered(n), Asked: struct{ GUID, Reverses string }{kept.GUID,
		previous}, Command: &ledger.Change{Context: t.Context(), VoucherID: t.card.ID, Notes: true,
		Rule: func(v gift.Voucher, _ gift.Context) (gift.Voucher, gift.Entry, error) {
			if v.Status != gift.NotActivated { // of which nothing is kept: it is no opening
				return v, gift.Entry{}, gift.Refuse(gift.ValidationFailure, "Something else happened to this card.")
			}
			return v, gift.Entry{}, nil
		}},
		Render: func(ledger.Result, error) ledger.Answer {
			body, _ := json.Marshal(kept) // of two texts, and JSON of ours
			return ledger.Answer{Code: ledger.Nothing, Body: body}
		}})
	if err != nil || !done.Succeeded() {
		return t.told(done, err), err
	}
	return api.Reply{Status: 200, Body: kept.Answer}, nil
}

// firstLoad reports whether value that is added is the first in a card that was activated with nothing: it is, or was
// when this very transaction came first.
func (t *transaction) firstLoad() (bool, error) {
	if t.opened {
		return true, nil
	}
	known, err := t.Requests(key(t.guid, &t.card.Voucher))
	for _, r := range known {
		if r.Operation == ledger.ActivateGift && !r.Spent {
			return true, nil
		}
	}
	return false, err
}

// nothing takes nothing.
func (t *transaction) nothing() ledger.Command {
	return &ledger.Change{Context: t.Context(), VoucherID: t.card.ID,
		Rule: func(v gift.Voucher, _ gift.Context) (gift.Voucher, gift.Entry, error) { return v, gift.Entry{}, nil }}
}
