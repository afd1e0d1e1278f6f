package vtex

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/face/provider"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// part is something that was done about a transaction.
type part struct {
	ID    string         `json:"oid"`
	Value jsontext.Value `json:"value"`
	Date  string         `json:"date"`
}

func (c *call) part(id guid.ID, amount money.Amount, at time.Time) part {
	return part{id.String(), c.money(amount), date(at)}
}

// parted is the transaction of the address, and what is asked to be done about a part of it.
func (c *call) parted() (t *transaction, asked change, amount money.Amount, err error) {
	if t, err = c.named(); err == nil {
		asked, amount, err = c.read()
	}
	return t, asked, amount, err
}

// captured are the redemptions of what the transaction holds, the oldest first.
func (t *transaction) captured() (ids []guid.ID, entries []gift.Entry) {
	for _, e := range t.parts {
		if e.Kind == gift.Redemption && e.HoldID == t.ID {
			ids, entries = append(ids, e.ID), append(entries, e)
		}
	}
	return ids, entries
}

// cancellations lists what was given back of a transaction, whoever did it. What is held no more without having been
// captured was given back, too.
func (c *call) cancellations() service.Reply {
	t, err := c.named()
	if err != nil {
		return c.failed(err)
	}
	of := map[guid.ID]bool{t.ID: true}
	list := []part{}
	for _, e := range t.parts {
		switch {
		case e.HoldID == t.ID:
			of[e.ID] = true
			if released := e.Delta - e.Held; released > 0 {
				list = append(list, c.part(e.ID, released, e.At))
			}
		case !e.Reverses.IsZero() && of[e.Reverses]:
			list = append(list, c.part(e.ID, max(e.Delta, -e.Delta), e.At))
		}
	}
	return answer(list)
}

// cancel gives back of a transaction, no more than is left of it. What is still held is given back first. A Credit is
// taken back as a whole.
func (c *call) cancel() service.Reply {
	t, asked, amount, err := c.parted()
	if err != nil {
		return c.failed(err)
	}
	order := provider.Order{Operation: cancelTransaction, Key: c.key(asked.RequestID),
		Asked:  fingerprinted{Amount: amount, Transaction: t.ID.String()},
		Render: c.render(func(r ledger.Result) any { return c.part(r.Entries[0].ID, amount, r.Entries[0].At) })}
	back := gift.Reverse{Context: c.Actor(c.Location), Caller: c.caller, Amount: amount}
	switch t.Kind {
	case gift.HoldMade:
		captures, _ := t.captured()
		order.Command = &ledger.GiveBack{Reverse: back, HoldID: t.ID, Captures: captures}
	case gift.Reload:
		if amount != t.value() {
			return c.failed(malformed("A Credit is taken back as a whole: %s.", c.currency.Money(t.value())))
		}
		order.Command = &ledger.Undo{Operation: operation.ReloadGift, EntryID: t.ID,
			Undo: gift.Undo{Context: c.Actor(c.Location), Caller: c.caller}}
	default:
		order.Command = &ledger.Reverse{Reverse: back, RedemptionID: t.ID}
	}
	done, err := c.Do(order)
	return c.told(done, err, false)
}

// settlements lists what was settled of a transaction: captured of what it held, or else kept.
func (c *call) settlements() service.Reply {
	t, err := c.named()
	if err != nil {
		return c.failed(err)
	}
	list := []part{}
	if t.Kind == gift.HoldMade {
		_, captured := t.captured()
		for _, e := range captured {
			list = append(list, c.part(e.ID, -e.Delta, e.At))
		}
		return answer(list)
	}
	kept, _, err := c.settled(t.ID)
	if err != nil {
		return c.failed(err)
	}
	for _, s := range kept {
		list = append(list, s.part)
	}
	return answer(list)
}

// settle redeems a part of what a transaction holds. Of one that holds nothing it keeps that a part is settled, which
// moves nothing. Of either, a requestId counts once, and what was refused may be asked for again under it.
func (c *call) settle() service.Reply {
	t, asked, amount, err := c.parted()
	switch {
	case err != nil:
		return c.failed(err)
	case t.Kind != gift.HoldMade:
		return c.note(t, asked, amount)
	}
	done, err := c.Do(provider.Order{Operation: settleTransaction, Key: asked.RequestID + ":" + t.ID.String(),
		Asked: fingerprinted{Amount: amount}, Command: &ledger.Capture{HoldID: t.ID, Forget: true,
			Notice: c.caller.Account.BalanceNotice, Capture: gift.Capture{Context: c.Actor(c.Location), Caller: c.caller,
				Amount:   amount,
				KeepRest: true, Reference: asked.RequestID}},
		Render: c.render(func(r ledger.Result) any {
			return c.part(r.Entries[0].ID, -r.Entries[0].Delta, r.Entries[0].At)
		})})
	return c.told(done, err, true)
}

// settled is a settlement as it is kept.
type settled struct {
	part
	RequestID string `json:"requestId"`
}

// settled reads the settlements of a transaction: each stands under the next number.
func (c *call) settled(transaction guid.ID) (list []settled, sum money.Amount, err error) {
	for {
		known, err := c.Requests(numbered(transaction, len(list)+1))
		if err != nil || len(known) == 0 {
			return list, sum, err
		}
		var s settled
		if err := json.Unmarshal(known[0].Answer.Body, &s); err != nil {
			return nil, 0, fmt.Errorf("a settlement is damaged: %w", err)
		}
		amount, err := c.currency.Parse(money.Number(s.Value))
		if err != nil {
			return nil, 0, fmt.Errorf("a settlement is damaged: %w", err)
		}
		list, sum = append(list, s), sum+amount
	}
}

func numbered(transaction guid.ID, n int) string {
	return fmt.Sprintf("%s:settlement:%d", transaction, n)
}

// maxSettlements is in how many parts a transaction is settled.
const maxSettlements = 100

// givenBack is how much was given back of a transaction that holds nothing, whoever did it.
func (t *transaction) givenBack() (sum money.Amount) {
	for _, e := range t.parts {
		if e.Reverses == t.ID {
			sum += max(e.Delta, -e.Delta)
		}
	}
	return sum
}

// errChanged tells that something happened to the card since it was read. Nothing is kept of it.
var errChanged = malformed("This gift card changes too often.")

// note keeps that a part of a transaction is settled. All parts together are no more than its value, less what was
// given back before it was settled.
func (c *call) note(t *transaction, asked change, amount money.Amount) service.Reply {
	for {
		list, sum, err := c.settled(t.ID)
		if err != nil {
			return c.failed(err)
		}
		for _, s := range list {
			switch {
			case s.RequestID == asked.RequestID && string(s.Value) == string(c.money(amount)):
				return answer(s.part)
			case s.RequestID == asked.RequestID:
				return c.failed(refusal.New(refusal.IdempotencyMismatch, "This requestId was used for another settlement."))
			}
		}
		if left := max(0, t.value()-sum-t.givenBack()); amount > left || len(list) >= maxSettlements {
			return c.failed(malformed("Of this transaction, %s is left to settle, in at most %d parts.",
				c.currency.Money(left), maxSettlements))
		}
		kept, err := c.keepSettlement(numbered(t.ID, len(list)+1), asked.RequestID, amount)
		switch {
		case errors.Is(err, errChanged):
			if err = c.find(); err == nil { // the card before its history, so that this is no older
				t, err = c.named()
			}
			if err != nil {
				return c.failed(err)
			}
		case !errors.Is(err, refusal.IdempotencyMismatch): // else another one came first, and counts
			return kept
		}
	}
}

// keepSettlement keeps a settlement under its number, unless the card has changed since it was read: it may have been
// given back.
func (c *call) keepSettlement(key, request string, amount money.Amount) (service.Reply, error) {
	var s settled
	read := c.card.Seq
	made, err := c.Do(provider.Order{Operation: settleTransaction, Key: key,
		Asked: fingerprinted{Amount: amount, Request: request},
		Command: &ledger.Change{Context: c.Actor(c.Location), VoucherID: c.card.ID, Notes: true,
			Rule: func(v gift.Voucher, _ gift.Context) (gift.Voucher, gift.Entry, error) {
				if v.Seq != read {
					return v, gift.Entry{}, errChanged
				}
				return v, gift.Entry{}, nil
			}},
		Render: c.render(func(ledger.Result) any {
			return settled{part{key, c.money(amount), date(c.Now)}, request}
		})})
	if err != nil {
		return c.failed(err), err
	}
	if err := json.Unmarshal(made.Body, &s); err != nil || !made.Succeeded() {
		return c.told(made, nil, false), nil
	}
	return answer(s.part), nil
}
