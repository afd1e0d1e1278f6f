package gifts

import (
	"errors"

	"boon.example/internal/face/api/outcome"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// redemption is a redeem-gift request.
type redemption struct {
	giftRef
	Where  place
	Ticket any // as it was asked for; nil: there is none
	ticket *ticket.Ticket
	gift.Redeem
}

func readRedemption(o *wire.Object, c *Call) redemption {
	where := readPlace(o, c.Caller)
	t, asked := readTicket(o, c.Account.Currency, c.locationOrNil(where), nil)
	return redemption{
		giftRef: readGiftRef(o, c.Account, byID, byCode, byToken),
		Where:   where,
		Ticket:  asked,
		ticket:  c.noteTicket(t),
		Redeem: gift.Redeem{
			Number: readAmount(o, c.Account.Currency), AllowPartial: o.True("allowPartial"),
			Target: readTarget(o), Reference: o.Line("reference", maxReference), Verification: readVerification(o),
		},
	}
}

// readVerification reads the verification code of a card; "": there is none.
func readVerification(o *wire.Object) (code string) {
	const name = "verificationCode"
	if v := o.Of(name, '"', "a text"); v != nil {
		if code = string(wire.Unquote(v)); code != "" && !gift.IsVerificationCode(code) {
			o.Add(o.At(name), "A verification code has %s.", gift.VerificationCodeForm)
		}
	}
	return code
}

// RedeemGift decrements a gift.
func RedeemGift(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) redemption { return readRedemption(o, c) })
	return c.withGift(operation.RedeemGift, asked, &asked.giftRef, asked.Where, problems, nil,
		func(r *service.Request, at *merchant.Location) (ledger.Answer, error) {
			write, err := c.withReceipt(asked.ID, outcome.Redemption)
			if err != nil {
				return ledger.Answer{}, err
			}
			answer, err := verified(r, at, asked.Verification, func() (ledger.Answer, error) {
				return r.Do(asked.command(c, at), ledger.OK, write)
			})
			if answer.Fresh() {
				c.Redeemed(asked.ID, at.ID)
			}
			return answer, err
		})
}

// verified has do do what a verification code is shown for.
func verified(r *service.Request, at *merchant.Location, code string, do func() (ledger.Answer, error)) (ledger.Answer,
	error) {
	answer, err := r.Verified(code, at.ID, do)
	if code != "" && !r.NoVerification && errors.Is(err, refusal.RateLimited) {
		return r.Refuse(err)
	}
	return answer, err
}

// withGift finds where and with which gift something is to be done, and has do do it. asked and where are parts of
// whole, the request. unfit is what else is wrong with the request, by the set-up: it is told before any gift is
// looked for, so that no code counts as a guess; nil: nothing is.
func (c *Call) withGift(op operation.Name, whole any, asked *giftRef, where place, problems *wire.Problems,
	unfit error, do func(*service.Request, *merchant.Location) (ledger.Answer, error)) (ledger.Answer, error) {
	problems.Refuse(c.NeedKey())
	if problems.Err() != nil {
		return ledger.Answer{}, c.besides(problems, where.Place)
	}
	request := c.Request(op, whole)
	at, err := c.locate(where.Place)
	if errors.Is(err, refusal.NotAuthorized) {
		return ledger.Answer{}, err // what the key may not do, it may not see the outcome of either
	} else if err != nil {
		misconfigured := errors.Is(err, refusal.AccountMisconfigured) // which no other request would mend
		err = c.alsoMissing(err, *asked)
		if _, told := errors.AsType[*refusal.Error](err); told && unfit != nil && !misconfigured {
			problems.Refuse(err)
			problems.Refuse(unfit)
			err = problems.Err()
		}
		return request.Refuse(err)
	}
	if unfit != nil {
		return request.Refuse(unfit)
	}
	if asked.ID.IsZero() {
		find := c.findToUse
		if op == operation.ActivateGift {
			find = c.find
		}
		g, err := find(*asked, at.ID)
		if err != nil {
			return request.Refuse(err)
		}
		asked.ID, request.Seen, request.NoVerification = g.ID, &g.Replaced, !g.AsksVerification()
	}
	return do(request, at)
}

func (r *redemption) command(c *Call, at *merchant.Location) *ledger.Redeem {
	cmd := &ledger.Redeem{VoucherID: r.ID, Notice: c.Account.BalanceNotice, Redeem: r.Redeem}
	cmd.Context, cmd.LocationID, cmd.Account = c.Actor(at.ID), at.ID, c.Account
	cmd.FirstUse = ledger.FirstUse{Deliverable: c.deliverableBy}
	if r.ticket != nil {
		cmd.Eligible = func(v *gift.Voucher) *gift.Eligibility { return &c.eligibility(r.ticket, v).Eligibility }
	}
	return cmd
}
