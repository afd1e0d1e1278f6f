package api

import (
	"errors"
	"net/http"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/ticket"
)

// redemption is a redeem-gift request.
type redemption struct {
	wanted
	place     gift.Place
	amount    string // JSON number text; "": all that is left
	partial   *bool
	target    gift.Target
	ticket    *ticket.Ticket
	reference string
}

func readRedemption(o *object, currency gift.Currency) redemption {
	return redemption{
		wanted:    readWanted(o, byID, byCode, byToken),
		place:     readPlace(o),
		amount:    readAmount(o, currency),
		partial:   o.boolean("allowPartial"),
		target:    readTarget(o),
		ticket:    readTicket(o, currency),
		reference: o.line("reference", maxReference),
	}
}

func (r *redemption) canon(c *canon, caller *gift.Caller) {
	c.wanted(r.wanted)
	c.place(r.place, caller)
	c.number("amount", r.amount)
	if r.partial != nil && *r.partial {
		c.boolean("allowPartial", r.partial)
	}
	c.target(r.target)
	c.ticket(r.ticket)
	c.text("reference", r.reference)
}

// redeemGift decrements a gift.
func redeemGift(c *call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *object) redemption { return readRedemption(o, c.account.Currency) })
	c.needKey(problems)
	if problems.Err() != nil {
		return ledger.Answer{}, c.besides(problems, asked.place)
	}
	request := c.request(ledger.RedeemGift, func(form *canon) { asked.canon(form, c.caller) })
	at, err := c.locate(asked.place)
	if errors.Is(err, gift.NotAuthorized) {
		return ledger.Answer{}, err // what the key may not do, it may not see the outcome of either
	} else if err != nil {
		return request.refuse(c.alsoMissing(err, asked.wanted))
	}
	if asked.id.IsZero() {
		g, err := c.find(asked.wanted, at)
		if err != nil {
			return request.refuse(err)
		}
		asked.id = g.ID
	}
	answer, err := request.do(asked.command(c, at), http.StatusOK, func(w *writer, r ledger.Result) { w.redemption(r, at) })
	if err == nil && answer.Status == http.StatusOK && !answer.Replayed {
		// The redemption stands, whatever becomes of the reward.
		_ = c.guesses.reward(c.ctx, c.till(at), asked.id)
		if c.account.BalanceNotice {
			c.Wake()
		}
	}
	return answer, err
}

func (r *redemption) command(c *call, at *gift.Location) *ledger.Redeem {
	cmd := &ledger.Redeem{
		VoucherID: r.id, Notice: c.account.BalanceNotice,
		Redeem: gift.Redeem{
			Context: c.actor(at.ID), LocationID: at.ID, AllowPartial: r.partial != nil && *r.partial,
			Target: r.target, Reference: r.reference, Account: c.account,
		},
		AmountOf: amountOf(r.amount),
	}
	if r.ticket != nil {
		cmd.Eligible = func(v *gift.Voucher) *gift.Eligibility { return &judge(r.ticket, c.account, v).Eligibility }
	}
	return cmd
}

// redemption writes the members of a successful redeem-gift.
func (w *writer) redemption(r ledger.Result, at *gift.Location) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.id("redemptionID", e.ID)
	w.moved(v, e, -e.Delta)
	w.boolean("isRedeemable", len(v.NotRedeemable(at.ID, e.At, nil)) == 0)
	w.instant("redeemedAt", e.At)
	w.textOrNull("reference", e.Reference)
}

// moved writes what a redemption and a reversal have in common.
func (w *writer) moved(v *gift.Voucher, e *gift.Entry, amount gift.Amount) {
	w.id("voucherID", v.ID)
	w.idOrNull("organizationID", e.Actor.LocationID)
	w.amount("amount", v.Unit(), amount)
	w.amount("currentBalance", v.Unit(), v.Balance)
	w.unitCode(v)
	w.text("status", v.Status.String())
	w.integer("statusID", int(v.Status))
}
