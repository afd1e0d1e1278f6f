package gifts

import (
	"boon.example/internal/face/api/outcome"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/order"
	"boon.example/internal/wire"
)

// cardMemory is about how much memory a card of a stock takes until it is made.
const cardMemory = 1 << 10

func readStock(o *wire.Object) (s order.Stock) {
	s.Count = o.Integer("count")
	s.Value = o.Number("value")
	s.Label, s.Terms = o.Text("label"), o.Text("terms")
	s.Quantity, s.EquivalentValue = o.Number("quantity"), o.Number("equivalentValue")
	s.ProgramID, s.LocationID = o.GUID("programID"), o.GUID("organizationID")
	s.DesignID = o.GUID("voucherDesignID")
	s.VerificationCodes = o.True("verificationCodes")
	s.ActivationCodes = o.True("activationCodes")
	return s
}

// CreateStock makes cards without value. Their codes are in no answer.
func CreateStock(c *Call) (ledger.Answer, error) {
	stock, problems := decode(c, readStock)
	problems.Refuse(c.NeedKey())
	request := c.Request(operation.CreateStock, stock)
	stock.Caller, c.Location = c.Caller, stock.LocationID
	malformed := problems.Err() != nil
	cards, err := stock.Make(c.Account, c.Now, problems.Unread())
	if malformed {
		if !c.unread {
			problems.Refuse(err)
		}
		return ledger.Answer{}, problems.Err()
	}
	if err == nil {
		err = c.TakeMemory(len(cards) * cardMemory)
	}
	if err != nil {
		return request.Refuse(err)
	}
	return request.Do(&ledger.Issue{Context: c.Actor(guid.ID{}), Gifts: cards, ActivationCodes: stock.ActivationCodes},
		ledger.Created, outcome.Stock)
}
