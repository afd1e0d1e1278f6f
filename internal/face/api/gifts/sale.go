package gifts

import (
	"errors"
	"slices"

	"boon.example/internal/face/api/outcome"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/sale"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// selling is a redeem-gifts request.
type selling struct {
	Gifts     []paying
	Where     place
	UpTo      money.Number
	Ticket    any // as it was asked for; nil: there is none
	Reference string
	ticket    *ticket.Ticket
	upTo      money.Amount
}

// paying is a gift that pays for a sale.
type paying struct {
	giftRef
	Number       money.Number
	Verification string
}

func readSale(o *wire.Object, c *Call) (s selling) {
	const gifts, upTo, ticketData = "gifts", "upTo", "ticketData"
	s.Where = readPlace(o, c.Caller)
	if !o.Objects(gifts, sale.MaxGifts, func(g *wire.Object) {
		s.Gifts = append(s.Gifts, paying{readGiftRef(g, c.Account, byID, byCode, byToken),
			readAmount(g, c.Account.Currency), readVerification(g)})
		g.Finish()
	}) || len(s.Gifts) == 0 {
		o.Add(gifts, "Say which gifts pay: 1 to %d of them.", sale.MaxGifts)
	}
	if s.UpTo = readAmountOf(o, upTo, c.Account.Currency); s.UpTo != "" {
		s.upTo, _ = c.Account.Currency.Parse(s.UpTo) // what is no amount is told already
	}
	t, asked := readTicket(o, c.Account.Currency, c.locationOrNil(s.Where), nil)
	s.ticket, s.Ticket = c.noteTicket(t), asked
	if o.Given(upTo) && o.Given(ticketData) {
		o.Add(upTo, "Send only one of %s and %s.", upTo, ticketData)
	}
	s.Reference = o.Line("reference", maxReference)
	return s
}

// RedeemGifts has several gifts pay for one sale.
func RedeemGifts(c *Call) (ledger.Answer, error) {
	asked, problems := decode(c, func(o *wire.Object) selling { return readSale(o, c) })
	problems.Refuse(c.NeedKey())
	if problems.Err() != nil {
		return ledger.Answer{}, c.besides(problems, asked.Where.Place)
	}
	request := c.Request(operation.RedeemGifts, asked)
	at, err := c.locate(asked.Where.Place)
	if errors.Is(err, refusal.NotAuthorized) {
		return ledger.Answer{}, err
	} else if err != nil {
		return request.Refuse(err)
	}
	cmd, verification, err := c.payers(&asked, at)
	if err != nil {
		return request.Refuse(err)
	}
	var taken []gift.Entry // a gift that paid nothing gives no attempts back
	answer, err := verified(request, at, verification, func() (ledger.Answer, error) {
		return request.Do(cmd, ledger.OK, func(w *wire.Writer, r ledger.Result) {
			taken = r.Entries
			outcome.Sale(w, r, c.Account.Currency, asked.toPay())
		})
	})
	if answer.Fresh() {
		for n := range taken {
			c.Redeemed(taken[n].VoucherID, at.ID)
		}
	}
	return answer, err
}

// toPay is what is to be paid; nil: nobody says.
func (s *selling) toPay() *money.Amount {
	switch {
	case s.upTo > 0:
		return &s.upTo
	case s.ticket != nil:
		due := s.ticket.Due()
		return &due
	}
	return nil
}

// payers finds the gifts that pay for a sale. All that are refused are told. verification is one of the verification
// codes that are shown for them; "": none is.
func (c *Call) payers(asked *selling, at *merchant.Location) (cmd *ledger.RedeemTogether, verification string,
	_ error) {
	cmd = &ledger.RedeemTogether{Context: c.Actor(at.ID), LocationID: at.ID, Notice: c.Account.BalanceNotice,
		Sale: sale.Sale{UpTo: asked.upTo}}
	cmd.Deliverable = c.deliverableBy
	if asked.ticket != nil {
		cmd.Eligible = func(v *gift.Voucher, before []sale.Paid) *gift.Eligibility {
			rest := asked.ticket
			for _, p := range before {
				rest = rest.Paid(p.Voucher.GoodFor(c.Account), p.Voucher, p.Amount)
			}
			verdict := &c.eligibility(rest, v).Eligibility
			if verdict.NoneEligible && len(before) > 0 && !c.eligibility(asked.ticket, v).NoneEligible {
				return &gift.Eligibility{} // all that it is good for is paid
			}
			return verdict
		}
	}
	var refused *refusal.Error
	for n := range asked.Gifts {
		g := &asked.Gifts[n]
		id, seen, shows := g.ID, (*int)(nil), g.Verification
		if id.IsZero() {
			found, err := c.findToUse(g.giftRef, at.ID)
			if _, told := errors.AsType[*refusal.Error](err); err != nil && (!told || errors.Is(err, refusal.Unavailable) ||
				errors.Is(err, refusal.RateLimited)) {
				return nil, "", err
			} else if err != nil {
				refused = refusal.Join(refused, sale.In(err, n))
				continue
			}
			id, seen = found.ID, &found.Replaced
			if !found.AsksVerification() {
				shows = ""
			}
		}
		if slices.Contains(cmd.VoucherIDs, id) {
			refused = refusal.Join(refused, sale.In(refusal.At(refusal.ValidationFailure, "",
				"This gift stands in the list twice."), n))
			continue
		}
		if shows != "" {
			verification = shows
		}
		cmd.VoucherIDs, cmd.Seen = append(cmd.VoucherIDs, id), append(cmd.Seen, seen)
		cmd.Gifts = append(cmd.Gifts, gift.Redeem{LocationID: at.ID, Account: c.Account, Number: g.Number,
			Reference: asked.Reference, Verification: g.Verification})
	}
	if refused != nil {
		return nil, "", refused
	}
	return cmd, verification, nil
}
