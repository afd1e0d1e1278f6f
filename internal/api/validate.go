package api

import (
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

// validateGift tells what a gift is and whether it can be redeemed at a location. It changes nothing, so that an
// Idempotency-Key has nothing to protect: it is neither required nor stored.
func validateGift(c *call) (ledger.Answer, error) {
	var problems gift.Problems
	asked, err := decode(c, &problems, func(o *object) validation { return readValidation(o, c.account.Currency) })
	if err != nil {
		return ledger.Answer{}, err
	}
	at, err := c.caller.Locate(asked.place)
	if err != nil {
		return ledger.Answer{}, err
	}
	g, err := c.find(asked.wanted, at)
	if err != nil {
		return ledger.Answer{}, err
	}
	if g.Status == gift.PurchaseFailed {
		return ledger.Answer{}, gift.Refuse(gift.RedemptionNotAllowed, "The purchase of this gift failed.")
	}
	if err := asked.target.Check(&g.Voucher); err != nil {
		return ledger.Answer{}, err
	}
	verdict := judge(asked.ticket, c.account, &g.Voucher)
	if verdict != nil && verdict.Required && len(verdict.Eligible) == 0 {
		return ledger.Answer{}, gift.NoEligibleItems()
	}
	return c.answer(http.StatusOK, func(w *writer) {
		w.voucher(&g, view{account: c.account, location: at, now: c.now, verdict: verdict})
	}), nil
}
