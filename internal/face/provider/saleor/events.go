package saleor

import (
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// The types of events.
const (
	gatewaySession       = "PaymentGatewayInitializeSession"
	initializeSession    = "TransactionInitializeSession"
	processSession       = "TransactionProcessSession"
	chargeRequested      = "TransactionChargeRequested"
	cancelationRequested = "TransactionCancelationRequested"
	refundRequested      = "TransactionRefundRequested"
)

// kind is how events of a type are answered.
type kind struct {
	needs  merchant.Permissions
	result string // of an answer, before _SUCCESS or _FAILURE
	do     func(*call) service.Reply
}

// kinds are those that are answered, by the type of the event.
func kinds() map[string]kind {
	return map[string]kind{
		gatewaySession:       {merchant.MayValidate, "", (*call).gateway},
		initializeSession:    {merchant.MayRedeem, "AUTHORIZATION", (*call).begin},
		processSession:       {merchant.MayRedeem, "AUTHORIZATION", (*call).begin},
		chargeRequested:      {merchant.MayRedeem, "CHARGE", (*call).charge},
		cancelationRequested: {merchant.MayRedeem, "CANCEL", (*call).cancel},
		refundRequested:      {merchant.MayReverse, "REFUND", (*call).refund},
	}
}

// Calls are the types of events that are answered.
func Calls() []string { return slices.Sorted(maps.Keys(kinds())) }

// event is what a body says; each has some of the members.
type event struct {
	Type           string         `json:"__typename"`
	IdempotencyKey string         `json:"idempotencyKey"`
	Data           jsontext.Value `json:"data"`
	Action         struct {
		Amount   provider.Amount `json:"amount"`
		Currency string          `json:"currency"`
		Type     string          `json:"actionType"`
	} `json:"action"`
	Source      source `json:"sourceObject"`
	Transaction struct {
		ID       string `json:"id"`
		PSP      string `json:"pspReference"`
		Checkout source `json:"checkout"`
		Order    source `json:"order"`
		Events   []struct {
			ID     string `json:"id"`
			Type   string `json:"type"`
			PSP    string `json:"pspReference"`
			Amount struct {
				Amount provider.Amount `json:"amount"`
			} `json:"amount"`
		} `json:"events"`
	} `json:"transaction"`
}

// source is a checkout or an order.
type source struct {
	ID      string `json:"id"`
	Number  string `json:"number"`
	Channel struct {
		Slug string `json:"slug"`
	} `json:"channel"`
}

// sources are where an event may name its order and its channel.
func (e *event) sources() []source {
	return []source{e.Source, e.Transaction.Order, e.Transaction.Checkout}
}

// channel is the slug of the event's channel.
func (e *event) channel() string {
	for _, s := range e.sources() {
		if s.Channel.Slug != "" {
			return s.Channel.Slug
		}
	}
	return ""
}

// reference is by what people know the order: its number, or else its id.
func (e *event) reference() string {
	for _, s := range e.sources() {
		for _, text := range []string{s.Number, s.ID} {
			if provider.IsReference(text) {
				return text
			}
		}
	}
	return ""
}

// readAmount reads what the event is about.
func (c *call) readAmount() (err error) {
	action := c.event.Action
	switch {
	case action.Amount == "" && (c.event.Type == cancelationRequested || c.event.Type == gatewaySession):
		return nil
	case action.Currency != "" && action.Currency != c.currency.Code:
		return refusal.New(refusal.ValidationFailure, "The gifts of this account are in %s.", c.currency.Code)
	}
	c.asked, err = action.Amount.In(c.currency)
	if err != nil {
		return refusal.New(refusal.ValidationFailure,
			"The amount must be above zero, and have no more decimals than the currency.")
	}
	return nil
}

// gateway answers what a storefront needs to know before a gift is typed: nothing.
func (c *call) gateway() service.Reply {
	return answer(http.StatusOK, map[string]any{"data": struct{}{}})
}

// typed is what a guest typed, as the storefront sends it.
type typed struct {
	Code         string `json:"code"`
	Verification string `json:"verificationCode"`
}

// fingerprinted is what tells a repeat from another call under its key.
type fingerprinted struct {
	Amount money.Amount
	Of     string // the gift, hold or redemption
}

// begin holds what the gift can pay of an amount, or redeems it where the channel charges at once.
func (c *call) begin() service.Reply {
	var t typed
	if provider.Read(c.event.Data, &t) != nil || t.Code == "" {
		return c.failed(refusal.New(refusal.ValidationFailure,
			"The storefront sends the code of the gift as data: {\"code\": …}."))
	}
	key := c.event.IdempotencyKey
	if c.event.Type == processSession {
		key = "process " + c.event.Transaction.ID
	}
	if len(key) > 255 || key == "" {
		return c.failed(refusal.New(refusal.ValidationFailure, "The idempotencyKey must have 1 to 255 characters."))
	}
	if err := c.find(t.Code); err != nil {
		return c.failed(err)
	}
	verification := ""
	if c.card.AsksVerification() {
		verification = t.Verification
	}
	ask := gift.Redeem{Context: c.Actor(c.Location), LocationID: c.Location, Amount: c.asked, AllowPartial: true,
		Reference: c.event.reference(), Verification: verification, Account: c.caller.Account}
	order := provider.Order{Operation: operation.HoldGift, Key: key, Asked: fingerprinted{c.asked, c.card.ID.String()},
		Verification: verification,
		Command:      &ledger.Hold{VoucherID: c.card.ID, Hold: gift.Hold{Redeem: ask, Lasts: c.holdTime()}},
		Render: c.render(func(r ledger.Result) any {
			return c.begun(r.Entries[0].ID, r.Entries[0].Held, "CHARGE", "CANCEL")
		})}
	var redeemed guid.ID
	if c.event.Action.Type == "CHARGE" {
		redeemed = c.card.ID
		order.Operation = operation.RedeemGift
		order.Command = &ledger.Redeem{VoucherID: c.card.ID, Notice: c.caller.Account.BalanceNotice, Redeem: ask}
		order.Render = c.render(func(r ledger.Result) any {
			return c.begun(r.Entries[0].ID, -r.Entries[0].Delta, "REFUND")
		})
	}
	return c.told(order, redeemed)
}

// find finds the gift of a code.
func (c *call) find(text string) (err error) {
	if c.code, err = codes.Read(c.Account, text); err != nil {
		return err
	}
	c.card, err = c.Find(c.code, provider.Before{})
	switch {
	case errors.Is(err, refusal.NotAuthorized): // whose it is, is nobody's business
		return gift.NoSuchCode()
	case err == nil && c.card.Item:
		return refusal.New(refusal.InvalidVoucherType, "This is an item gift.")
	}
	return err
}

// held finds the hold or the redemption of the event's transaction, and what became of it.
func (c *call) held() ([]gift.Entry, error) {
	id, err := guid.Parse(c.event.Transaction.PSP)
	if err != nil {
		return nil, gift.NoSuchHold()
	}
	parts, err := c.Lookup().Parts(c.Context(), c.Account.ID, id)
	if err != nil {
		return nil, service.Stored(err)
	}
	if len(parts) == 0 || parts[0].ID != id || parts[0].Actor.KeyID != c.caller.KeyID ||
		!c.caller.Enabled(parts[0].Actor.LocationID) || parts[0].Kind != gift.HoldMade && parts[0].Kind != gift.Redemption {
		return nil, gift.NoSuchHold()
	}
	return parts, nil
}

// key is under which the event's change is made: the id of the request that Saleor has noted and has no answer to yet.
// A repeat of the event has the same one.
func (c *call) key() string {
	for _, e := range slices.Backward(c.event.Transaction.Events) {
		amount, err := e.Amount.Amount.In(c.currency)
		if e.PSP == "" && e.Type == c.kind.result+"_REQUEST" && err == nil && amount == c.asked {
			return e.ID
		}
	}
	return ""
}

var errNoKey = refusal.New(refusal.ValidationFailure,
	"The transaction has no request of this amount that waits for an answer.")

// charge captures of what is held. The rest stays held.
func (c *call) charge() service.Reply {
	parts, err := c.held()
	switch {
	case err != nil:
		return c.failed(err)
	case parts[0].Kind != gift.HoldMade:
		return c.failed(gift.NoSuchHold())
	case c.key() == "":
		return c.failed(errNoKey)
	}
	hold := parts[0]
	return c.told(provider.Order{Operation: operation.CaptureHold, Key: c.key(),
		Asked: fingerprinted{c.asked, hold.ID.String()},
		Command: &ledger.Capture{HoldID: hold.ID, Notice: c.caller.Account.BalanceNotice,
			Capture: gift.Capture{Context: c.Actor(c.Location), Caller: c.caller, Amount: c.asked, KeepRest: true,
				Reference: c.event.reference()}},
		Render: c.render(func(r ledger.Result) any {
			actions := []string{"REFUND"}
			if slices.ContainsFunc(r.Vouchers[0].Holds, func(h gift.OpenHold) bool { return h.ID == hold.ID }) {
				actions = append(actions, "CHARGE", "CANCEL")
			}
			return c.success(r.Entries[0].ID, -r.Entries[0].Delta, actions...)
		})}, hold.VoucherID)
}

// cancel ends the hold. One that is over counts as done.
func (c *call) cancel() service.Reply {
	parts, err := c.held()
	switch {
	case err != nil:
		return c.failed(err)
	case parts[0].Kind != gift.HoldMade:
		return c.failed(gift.NoSuchHold())
	}
	return c.told(provider.Order{Operation: operation.ReleaseHold,
		Command: &ledger.Release{HoldID: parts[0].ID,
			Release: gift.Release{Context: c.Actor(c.Location), Caller: c.caller}},
		Render: c.render(func(ledger.Result) any { return c.success(parts[0].ID, c.asked) })}, guid.ID{})
}

// refund gives back of what was charged.
func (c *call) refund() service.Reply {
	parts, err := c.held()
	switch {
	case err != nil:
		return c.failed(err)
	case c.key() == "":
		return c.failed(errNoKey)
	}
	back := gift.Reverse{Context: c.Actor(c.Location), Caller: c.caller, Amount: c.asked}
	of, all := charged(parts, c.asked)
	order := provider.Order{Operation: operation.ReverseRedemption, Key: c.key(),
		Asked:   fingerprinted{c.asked, parts[0].ID.String()},
		Command: &ledger.Reverse{Reverse: back, RedemptionID: of},
		Render:  c.render(func(r ledger.Result) any { return c.success(r.Entries[0].ID, c.asked, "REFUND") })}
	if of.IsZero() {
		order.Command = &ledger.GiveBack{Reverse: back, HoldID: parts[0].ID, Captures: all}
	}
	return c.told(order, guid.ID{})
}

// charged are the redemptions of a transaction, and the first of them of which an amount is left; zero: of none is so
// much left.
func charged(parts []gift.Entry, amount money.Amount) (of guid.ID, all []guid.ID) {
	left := map[guid.ID]money.Amount{}
	for _, e := range parts {
		switch {
		case e.Kind == gift.Redemption:
			all = append(all, e.ID)
			left[e.ID] = -e.Delta
		case !e.Reverses.IsZero():
			left[e.Reverses] -= max(e.Delta, -e.Delta)
		}
	}
	for _, id := range all {
		if left[id] >= amount {
			return id, all
		}
	}
	return guid.ID{}, all
}

// answer writes an answer.
func answer(status int, value any) service.Reply {
	body, err := json.Marshal(value)
	if err != nil {
		return service.Reply{Status: http.StatusInternalServerError, Err: err}
	}
	return service.Reply{Status: status, Body: body}
}
