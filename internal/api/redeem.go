package api

import (
	"errors"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// redemption is a redeem-gift request.
type redemption struct {
	giftRef
	Where  place
	Ticket *ticket.Ticket
	gift.Redeem
}

func readRedemption(o *wire.Object, c *call) redemption {
	return redemption{
		giftRef: readGiftRef(o, byID, byCode, byToken),
		Where:   readPlace(o, c.caller),
		Ticket:  readTicket(o, c.account.Currency),
		Redeem: gift.Redeem{
			Number: readAmount(o, c.account.Currency), AllowPartial: o.True("allowPartial"),
			Target: readTarget(o), Reference: o.Line("reference", maxReference),
		},
	}
}

// redeemGift decrements a gift.
func redeemGift(c *call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) redemption { return readRedemption(o, c) })
	problems.Refuse(c.account.NeedKey(c.key))
	if problems.Err() != nil {
		return ledger.Answer{}, c.besides(problems, asked.Where.Place)
	}
	request := c.request(ledger.RedeemGift, asked)
	at, err := c.locate(asked.Where.Place)
	if errors.Is(err, gift.NotAuthorized) {
		return ledger.Answer{}, err // what the key may not do, it may not see the outcome of either
	} else if err != nil {
		return request.refuse(c.alsoMissing(err, asked.giftRef))
	}
	if asked.ID.IsZero() {
		g, err := c.find(asked.giftRef, at)
		if err != nil {
			return request.refuse(err)
		}
		asked.ID = g.ID
	}
	answer, err := request.do(asked.command(c, at), ledger.OK, func(w *writer, r ledger.Result) {
		w.redemption(r,
			at)
	})
	if answer.Fresh() {
		// The redemption stands, whatever becomes of the reward.
		_ = c.guesses.reward(c.ctx, c.till(at), asked.ID)
		if c.account.BalanceNotice {
			c.Wake()
		}
	}
	return answer, err
}

func (r *redemption) command(c *call, at *gift.Location) *ledger.Redeem {
	cmd := &ledger.Redeem{VoucherID: r.ID, Notice: c.account.BalanceNotice, Redeem: r.Redeem}
	cmd.Context, cmd.LocationID, cmd.Account = c.actor(at.ID), at.ID, c.account
	if r.Ticket != nil {
		cmd.Eligible = func(v *gift.Voucher) *gift.Eligibility { return &c.eligibility(r.Ticket, v).Eligibility }
	}
	return cmd
}

// redemption writes the members of a successful redeem-gift.
func (w *writer) redemption(r ledger.Result, at *gift.Location) {
	v, e := &r.Vouchers[0], &r.Entries[0]
	w.ID("redemptionID", e.ID)
	w.moved(v, e, -e.Delta)
	w.Boolean("isRedeemable", len(v.NotRedeemable(at.ID, e.At, nil)) == 0)
	w.Instant("redeemedAt", e.At)
	w.TextOrNull("reference", e.Reference)
}

// moved writes what a redemption and a reversal have in common.
func (w *writer) moved(v *gift.Voucher, e *gift.Entry, amount gift.Amount) {
	w.ID("voucherID", v.ID)
	w.IDOrNull("organizationID", e.Actor.LocationID)
	w.Amount("amount", v.Unit(), amount)
	w.Amount("currentBalance", v.Unit(), v.Balance)
	w.unitCode(v)
	w.Text("status", v.Status.String())
	w.Integer("statusID", int(v.Status))
}
