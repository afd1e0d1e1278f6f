package remote

import (
	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type giftReplaceCmd struct {
	Gift   []string `arg:"" help:"The voucherID, or the code."`
	Reason string   `required:"" placeholder:"TEXT" help:"Why; it stands in the history."`
	Email  string   `xor:"how" placeholder:"ADDRESS" help:"Send it by e-mail, to this address."`
	SMS    string   `name:"sms" xor:"how" placeholder:"NUMBER" help:"Send it by SMS, to this number."`
	Print  bool     `xor:"how" help:"It goes in print from now on."`
	changing
}

func (giftReplaceCmd) Help() string {
	return `The old code and link are refused from then on; balance and history stay, and so does a block. Without --email, --sms or --print the new code is
printed here. Needs the permission replace.

Example:

    boon gift replace 019576b2-6a00-7000-8000-000000000002 --reason "lost on the ferry"

Next: boon gift show --help.`
}

// Run replaces.
func (c *giftReplaceCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	r := client.ReplaceGiftRequest{Reason: c.Reason, IdempotencyKey: c.IdempotencyKey}
	switch {
	case c.Email != "":
		r.Deliver = &client.Delivery{DeliveryMethodID: client.Email, RecipientContact: c.Email}
	case c.SMS != "":
		r.Deliver = &client.Delivery{DeliveryMethodID: client.SMS, RecipientContact: c.SMS}
	case c.Print:
		r.Deliver = &client.Delivery{DeliveryMethodID: client.Printed}
	}
	if r.VoucherID, err = voucherIDOf(t, api, c.Gift); err != nil {
		return err
	}
	g, err := api.ReplaceGift(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, g.Meta.Body, func() {
		terminal.Facts(t.Stdout, "gift", g.VoucherID, "code", grouped(g.VoucherCode), "status", string(g.Status), "balance",
			Money(g.CurrentBalance, g.Currency), "page", g.GiftURL, "print", g.PrintURL, "note", replayed(g.Meta))
	})
}
