package gifts

import (
	"errors"

	"boon.example/internal/face/api/payload"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// validation is a validate-gift request.
type validation struct {
	giftRef
	Where  place
	target gift.Target
	ticket *ticket.Ticket
}

func readValidation(o *wire.Object, c *Call, into *ticket.Memory) validation {
	v := validation{
		giftRef: readGiftRef(o, c.Account, byCode, byToken),
		Where:   readPlace(o, c.Caller),
		target:  readTarget(o),
	}
	t, _ := readTicket(o, c.Account.Currency, c.locationOrNil(v.Where), into)
	v.ticket = c.noteTicket(t)
	return v
}

// ValidateGift tells what a gift is and whether it can be redeemed at a location. It changes nothing and keeps nothing.
func ValidateGift(c *Call) (ledger.Answer, error) {
	into := c.tickets.Get().(*ticket.Memory)
	defer func() { // nothing but the answer, which is bytes, is left of the ticket
		into.Forget()
		c.tickets.Put(into)
	}()
	asked, problems := decode(c, func(o *wire.Object) validation { return readValidation(o, c, into) })
	if problems.Err() != nil {
		return ledger.Answer{}, c.besides(problems, asked.Where.Place)
	}
	at, err := c.locate(asked.Where.Place)
	if errors.Is(err, refusal.NotAuthorized) {
		return ledger.Answer{}, err
	} else if err != nil {
		return ledger.Answer{}, c.alsoMissing(err, asked.giftRef)
	}
	g, verdict, err := c.validate(&asked, at)
	if err != nil {
		return ledger.Answer{}, err
	}
	return c.Answer(ledger.OK, func(w *wire.Writer) {
		payload.WriteVoucher(w, &g, payload.View{Account: c.Account, Location: at, Now: c.Now, Law: c.CashOutLaw(),
			Verdict: verdict, Pages: c.PublicURL()})
	}), nil
}

// validate finds the gift that is asked for, and refuses what cannot be used as the till means to.
func (c *Call) validate(asked *validation, at *merchant.Location) (g gift.Gift, _ *ticket.Eligibility, err error) {
	if g, err = c.findToUse(asked.giftRef, at.ID); err != nil {
		return g, nil, err
	}
	verdict := c.eligibility(asked.ticket, &g.Voucher)
	var eligible *gift.Eligibility
	if verdict != nil {
		eligible = &verdict.Eligibility
	}
	return g, verdict, g.Validate(asked.target, eligible, c.Account)
}
