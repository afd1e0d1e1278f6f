package api

import (
	"errors"
	"net/http"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/ticket"
)

// validation is a validate-gift request.
type validation struct {
	wanted
	place  gift.Place
	target gift.Target
	ticket *ticket.Ticket
}

func readValidation(o *object, currency gift.Currency) validation {
	return validation{
		wanted: readWanted(o, byCode, byToken),
		place:  readPlace(o),
		target: readTarget(o),
		ticket: readTicket(o, currency),
	}
}

func (v *validation) canon(c *canon, caller *gift.Caller) {
	c.wanted(v.wanted)
	c.place(v.place, caller)
	c.target(v.target)
	c.ticket(v.ticket)
}

// validateGift tells what a gift is and whether it can be redeemed at a location. It changes nothing, so that no account requires an
// Idempotency-Key of it; under one that is sent, the first answer is kept and given again.
func validateGift(c *call) (ledger.Answer, error) {
	var problems gift.Problems
	asked, err := decode(c, &problems, func(o *object) validation { return readValidation(o, c.account.Currency) })
	if err != nil {
		return ledger.Answer{}, err
	}
	request := c.request(ledger.ValidateGift, func(form *canon) { asked.canon(form, c.caller) })
	at, err := c.locate(asked.place)
	if errors.Is(err, gift.NotAuthorized) {
		return ledger.Answer{}, err // what the key may not do, it may not see the outcome of either
	} else if err != nil {
		return request.refuse(err)
	}
	g, verdict, err := c.validate(&asked, at)
	if err != nil {
		return request.refuse(err)
	}
	write := func(w *writer) {
		w.voucher(&g, view{account: c.account, location: at, now: c.now, verdict: verdict, pages: c.PublicURL})
	}
	if c.key == "" {
		return c.answer(http.StatusOK, write), nil
	}
	return request.do(&ledger.Looked{LocationID: at.ID}, http.StatusOK, func(w *writer, _ ledger.Result) { write(w) })
}

// validate finds the gift that is asked for, and refuses what cannot be used as the till means to.
func (c *call) validate(asked *validation, at *gift.Location) (g gift.Gift, _ *ticket.Verdict, err error) {
	if g, err = c.find(asked.wanted, at); err != nil {
		return g, nil, err
	}
	if g.Status == gift.PurchaseFailed {
		return g, nil, gift.Refuse(gift.RedemptionNotAllowed, "The purchase of this gift failed.")
	}
	if err := asked.target.Check(&g.Voucher); err != nil {
		return g, nil, err
	}
	verdict := judge(asked.ticket, c.account, &g.Voucher)
	if verdict != nil && verdict.NoneEligible {
		return g, nil, gift.NoEligibleItems()
	}
	return g, verdict, nil
}
