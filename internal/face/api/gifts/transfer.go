package gifts

import (
	"errors"

	"boon.example/internal/face/api/outcome"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

// transferring is a transfer-balance request.
type transferring struct {
	From, To guid.ID
	gift.Transfer
}

// The members that name the two gifts.
const byFrom, byTo = "fromVoucherID", "toVoucherID"

func readTransferring(o *wire.Object, c *Call) (r transferring) {
	for _, name := range []string{byFrom, byTo} {
		if !o.Given(name) {
			o.Add(name, "Say which gift is meant.")
		}
	}
	r.From, r.To = o.GUID(byFrom), o.GUID(byTo)
	r.Number = readAmount(o, c.Account.Currency)
	return r
}

// TransferBalance moves value between two gifts.
func TransferBalance(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) transferring { return readTransferring(o, c) })
	problems.Refuse(c.NeedKey())
	if err := problems.Err(); err != nil {
		return ledger.Answer{}, err
	}
	request := c.Request(operation.TransferBalance, asked)
	var refused *refusal.Error
	for n, id := range []guid.ID{asked.From, asked.To} {
		g, err := c.Records.Gift(c.Context(), c.Account.ID, id)
		switch {
		case err != nil && !errors.Is(err, refusal.NotFound):
			return ledger.Answer{}, service.Stored(err)
		case err != nil || !g.UsableBy(c.Caller):
			refused = refusal.Join(refused, gift.NoSuchTransferGift(n == 0))
		}
		asked.Labels[n], asked.Terms[n] = g.Card.Label, g.Promised(c.Account)
		asked.Taxed[n] = gift.Taxation{Treatment: g.Card.VATTreatment, Rate: g.Card.VATRate}
	}
	if refused != nil {
		return request.Refuse(refused)
	}
	asked.Context, asked.Caller = c.Actor(guid.ID{}), c.Caller
	return request.Do(&ledger.Transfer{From: asked.From, To: asked.To, Transfer: asked.Transfer}, ledger.OK,
		outcome.Transfer)
}
