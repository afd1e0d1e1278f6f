package saleor

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

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
			ID        string `json:"id"`
			Type      string `json:"type"`
			CreatedAt string `json:"createdAt"`
			PSP       string `json:"pspReference"`
			Amount    struct {
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

// waiting are the ids of the requests of this amount that Saleor has noted and has no answer to, the newest first.
// Saleor lists events so, and tells when each was made.
func (c *call) waiting() (ids []string) {
	type request struct {
		id string
		at time.Time
	}
	var all []request
	for _, e := range c.event.Transaction.Events {
		if c.isOf(e.Type, "_REQUEST", e.PSP, e.Amount.Amount) {
			at, _ := time.Parse(time.RFC3339, e.CreatedAt) // where it is not told, the order of the list holds
			all = append(all, request{e.ID, at})
		}
	}
	slices.SortStableFunc(all, func(a, b request) int { return b.at.Compare(a.at) })
	for _, r := range all {
		ids = append(ids, r.id)
	}
	return ids
}

// isOf reports whether an event of the transaction is of the kind that is asked for, of this amount, and without an
// answer of the app's.
func (c *call) isOf(typ, what, psp string, of provider.Amount) bool {
	amount, err := of.In(c.currency)
	return psp == "" && typ == c.kind.result+what && err == nil && amount == c.asked
}

// key is under which the event's change is made: the id of the newest request of this amount that waits for an answer.
// A repeat of the event has the same one. If Saleor gave an earlier request up, as the answer was lost, and it was done
// all the same, staff ask for it once more: the key is that request's, and nothing is done twice.
func (c *call) key() (string, error) {
	const most = 10 // requests of one amount that were given up
	events, waiting := c.event.Transaction.Events, c.waiting()
	if len(waiting) == 0 || waiting[0] == "" {
		return "", errNoKey
	}
	gaveUp := false
	told := map[string]bool{} // what Saleor knows of
	for _, e := range events {
		gaveUp = gaveUp || c.isOf(e.Type, "_FAILURE", e.PSP, e.Amount.Amount)
		told[e.PSP] = true
	}
	if !gaveUp {
		return waiting[0], nil
	}
	for _, id := range waiting[1:min(len(waiting), most)] {
		known, err := c.Requests(id)
		if err != nil {
			return "", err
		}
		for _, r := range known {
			var done struct {
				PSP string `json:"pspReference"`
			}
			if r.Answer.Succeeded() && provider.Read(r.Answer.Body, &done) == nil && done.PSP != "" && !told[done.PSP] {
				return id, nil
			}
		}
	}
	return waiting[0], nil
}

var errNoKey = refusal.New(refusal.ValidationFailure,
	"The transaction has no request of this amount that waits for an answer.")

// next tells what staff may ask for of a transaction of which an amount is charged and not given back, and whose gift
// is as it is now.
func next(charged money.Amount, v *gift.Voucher, hold guid.ID) (actions []string) {
	if charged > 0 {
		actions = append(actions, "REFUND")
	}
	if slices.ContainsFunc(v.Holds, func(h gift.OpenHold) bool { return h.ID == hold }) {
		actions = append(actions, "CHARGE", "CANCEL")
	}
	return actions
}

// charge captures of what is held. The rest stays held.
func (c *call) charge() service.Reply {
	parts, err := c.held()
	if err == nil && parts[0].Kind != gift.HoldMade {
		err = gift.NoSuchHold()
	}
	if err != nil {
		return c.failed(err)
	}
	key, err := c.key()
	if err != nil {
		return c.failed(err)
	}
	hold := parts[0]
	return c.told(provider.Order{Operation: operation.CaptureHold, Key: key,
		Asked: fingerprinted{c.asked, hold.ID.String()},
		Command: &ledger.Capture{HoldID: hold.ID, Notice: c.caller.Account.BalanceNotice,
			Capture: gift.Capture{Context: c.Actor(c.Location), Caller: c.caller, Amount: c.asked, KeepRest: true,
				Reference: c.event.reference()}},
		Render: c.render(func(r ledger.Result) any {
			return c.success(r.Entries[0].ID, -r.Entries[0].Delta, next(c.asked, &r.Vouchers[0], hold.ID)...)
		})}, hold.VoucherID)
}

// cancel ends the hold. One that is over counts as done. What was charged of it can be refunded all the same.
func (c *call) cancel() service.Reply {
	parts, err := c.held()
	switch {
	case err != nil:
		return c.failed(err)
	case parts[0].Kind != gift.HoldMade:
		return c.failed(gift.NoSuchHold())
	}
	left := charged(parts).sum
	return c.told(provider.Order{Operation: operation.ReleaseHold,
		Command: &ledger.Release{HoldID: parts[0].ID,
			Release: gift.Release{Context: c.Actor(c.Location), Caller: c.caller}},
		Render: c.render(func(r ledger.Result) any {
			return c.success(parts[0].ID, c.asked, next(left, &r.Vouchers[0], parts[0].ID)...)
		})}, guid.ID{})
}

// refund gives back of what was charged.
func (c *call) refund() service.Reply {
	parts, err := c.held()
	if err != nil {
		return c.failed(err)
	}
	key, err := c.key()
	if err != nil {
		return c.failed(err)
	}
	back := gift.Reverse{Context: c.Actor(c.Location), Caller: c.caller, Amount: c.asked}
	of := charged(parts)
	one := of.withAtLeast(c.asked)
	order := provider.Order{Operation: operation.ReverseRedemption, Key: key,
		Asked:   fingerprinted{c.asked, parts[0].ID.String()},
		Command: &ledger.Reverse{Reverse: back, RedemptionID: one},
		Render: c.render(func(r ledger.Result) any {
			return c.success(r.Entries[0].ID, c.asked, next(of.sum-c.asked, &r.Vouchers[0], parts[0].ID)...)
		})}
	if one.IsZero() {
		order.Command = &ledger.GiveBack{Reverse: back, HoldID: parts[0].ID, Captures: of.all}
	}
	return c.told(order, guid.ID{})
}

// charges are the redemptions of a transaction, and what is left of each, and of all.
type charges struct {
	all  []guid.ID
	left map[guid.ID]money.Amount
	sum  money.Amount
}

func charged(parts []gift.Entry) charges {
	c := charges{left: map[guid.ID]money.Amount{}}
	for _, e := range parts {
		switch {
		case e.Kind == gift.Redemption:
			c.all = append(c.all, e.ID)
			c.left[e.ID] = -e.Delta
		case !e.Reverses.IsZero():
			c.left[e.Reverses] -= max(e.Delta, -e.Delta)
		}
	}
	for _, id := range c.all {
		c.sum += c.left[id]
	}
	return c
}

// withAtLeast is the first of the redemptions of which an amount is left; zero: of none is so much left.
func (c charges) withAtLeast(amount money.Amount) guid.ID {
	for _, id := range c.all {
		if c.left[id] >= amount {
			return id
		}
	}
	return guid.ID{}
}

// answer writes an answer.
func answer(status int, value any) service.Reply {
	body, err := json.Marshal(value)
	if err != nil {
		return service.Reply{Status: http.StatusInternalServerError, Err: err}
	}
	return service.Reply{Status: status, Body: body}
}
