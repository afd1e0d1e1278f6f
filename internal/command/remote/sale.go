package remote

import (
	"fmt"
	"strings"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type giftRedeemGiftsCmd struct {
	Gift      []string `arg:"" help:"The gifts, in the order in which they pay: each its voucherID, its code without spaces, or its QR link; with =N behind it, at most N is taken of it."`
	UpTo      string   `xor:"how much" placeholder:"N" help:"What is to be paid. Each gift pays what is there, until nothing is left to pay."`
	All       bool     `xor:"how much" help:"All that is available of each gift, or with --ticket all that the ticket allows."`
	Reference string   `placeholder:"TEXT" help:"Your own id of the sale."`
	ticketFlag
	place
	changing
}

func (giftRedeemGiftsCmd) Help() string {
	return `Several gifts of money pay for one sale: all of them, or none. It acts as a till, as boon gift redeem does.

Examples:

    boon gift redeem-gifts 482913375026 591733862044 --up-to 30 --reference "check 4711"
    boon gift redeem-gifts 482913375026=12.50 591733862044=17.50

Next: boon gift reverse --original-key KEY --operation redeem-gifts gives back what all of them paid.`
}

func (c *giftRedeemGiftsCmd) Run(t *terminal.Terminal) error {
	r, err := c.request(t)
	if err != nil {
		return err
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	a, err := api.RedeemGiftsSafely(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		var rows [][]string
		for n := range a.Redemptions {
			one := &a.Redemptions[n]
			rows = append(rows, []string{one.VoucherID, Money(one.Amount, one.Currency),
				Money(one.CurrentBalance, one.Currency), string(one.Status), one.RedemptionID})
		}
		terminal.Table(t.Stdout, []string{"GIFT", "TAKEN", "LEFT", "STATUS", "REDEMPTION"}, rows)
		leftToPay := ""
		if a.LeftToPay != nil {
			leftToPay = Money(*a.LeftToPay, a.Currency)
		}
		terminal.Facts(t.Stdout, "taken", Money(a.Amount, a.Currency), "left to pay", leftToPay, "key",
			a.Meta.IdempotencyKey, "reference", a.Reference, "note", replayed(a.Meta))
		for n := range a.Redemptions {
			printNewCard(t, api, a.Redemptions[n].RedemptionID, a.Redemptions[n].NewCard)
		}
	})
}

func (c *giftRedeemGiftsCmd) request(t *terminal.Terminal) (r client.RedeemGiftsRequest, err error) {
	r = client.RedeemGiftsRequest{OrganizationID: c.Location, PointOfSaleSystemOrganizationIdentifier: c.PointOfSale,
		Everything: c.All, Reference: c.Reference, IdempotencyKey: c.IdempotencyKey}
	limited := 0
	for _, name := range c.Gift {
		var g client.Paying
		name, most, ends := strings.Cut(name, "=")
		if ends {
			limited++
			if g.Amount, err = Amount(fmt.Sprintf("the amount behind %s=", name), most); err != nil {
				return r, err
			}
		}
		if g.VoucherID, g.VoucherCode, g.VoucherPublicToken, err = giftNamed([]string{name}); err != nil {
			return r, err
		}
		r.Gifts = append(r.Gifts, g)
	}
	if c.UpTo == "" && !c.All && c.Ticket == "" && limited < len(c.Gift) {
		return r, terminal.UsageError("Say how much: --up-to N, --ticket FILE, --all, or =N behind each gift.")
	}
	if r.UpTo, err = Amount("--up-to", c.UpTo); err != nil {
		return r, err
	}
	r.TicketData, err = c.read(t)
	return r, err
}
