package gifts

import (
	"errors"

	"boon.example/internal/face/api/outcome"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/order"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// byActivation is the member that names an activation.
const byActivation = "activationID"

// activation is an activate-gift request.
type activation struct {
	giftRef
	Where     place
	Number    money.Number
	Purchase  gift.Purchase
	Price     money.Number
	Reference string
	Customer  string
}

func readActivation(o *wire.Object, c *Call) activation {
	readMethod(o)
	return activation{
		giftRef: readGiftRef(o, c.Account, byID, byCode, byToken, byActivationCode), Where: readPlace(o, c.Caller),
		Number: readAmount(o, c.Account.Currency), Purchase: readPurchase(o),
		Price: readPrice(o, c.Account.Currency), Reference: o.Line("reference", maxReference),
		Customer: readCustomer(o),
	}
}

// readMethod reads how value was paid for that a till puts into a gift.
func readMethod(o *wire.Object) {
	const method = "paymentMethodID"
	if id := o.Integer(method); id != nil && *id != order.ExternalTransaction {
		o.Add(method, "A card is paid for by an external transaction: the %s is 2, or left out.", method)
	}
}

// ActivateGift gives a card of a stock its value.
func ActivateGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) activation { return readActivation(o, c) })
	var paid error
	if !c.unread {
		if paid = order.CheckPurchase(c.Caller, asked.Purchase, problems.Unread()); problems.Err() != nil {
			problems.Refuse(paid)
		}
	}
	return c.withGift(operation.ActivateGift, asked, &asked.giftRef, asked.Where, problems, paid,
		func(r *service.Request, at *merchant.Location) (ledger.Answer, error) {
			write, err := c.withReceipt(asked.ID, outcome.Activation)
			if err != nil {
				return ledger.Answer{}, err
			}
			worth, err := c.worthOfPieces(asked)
			if err != nil {
				return ledger.Answer{}, err
			}
			ask := gift.Activate{LocationID: at.ID, Number: asked.Number, Purchase: asked.Purchase, Price: asked.Price,
				Worth: worth, Reference: asked.Reference, Customer: asked.Customer, Most: c.Account.MaxGiftValue}
			return r.Do(&ledger.Change{Context: c.Actor(at.ID), VoucherID: asked.ID, Counts: merchant.SentCount,
				Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
					ask.Context = at
					return v.Activate(ask)
				}}, ledger.OK, write)
		})
}

// worthOfPieces is what the pieces of an item card are worth together, where a price is compared with it; 0: nobody
// said.
func (c *Call) worthOfPieces(asked activation) (money.Amount, error) {
	if asked.Price == "" {
		return 0, nil
	}
	g, err := c.Records.Gift(c.Context(), c.Account.ID, asked.ID)
	if errors.Is(err, refusal.NotFound) { // as the answer will say
		return 0, nil
	}
	return g.Card.EquivalentValue, service.Stored(err)
}

// ReverseActivation makes a card what it was before it was activated.
func ReverseActivation(c *Call) (ledger.Answer, error) {
	return c.undo(operation.ReverseActivation, operation.ActivateGift, byActivation, outcome.ActivationReversal)
}
