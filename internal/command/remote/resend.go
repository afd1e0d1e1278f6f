package remote

import (
	"time"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type giftResendCmd struct {
	Gift  []string `arg:"" help:"The voucherID, or the code."`
	Email string   `xor:"how" placeholder:"ADDRESS" help:"By e-mail, to this address."`
	SMS   string   `name:"sms" xor:"how" placeholder:"NUMBER" help:"By SMS, to this number."`
	Print bool     `xor:"how" help:"In print; the answer tells where the PDF is."`

	WithOrder bool `help:"A gift that went to its buyer: send the buyer all gifts of the order again, in one e-mail."`
	changing
}

func (giftResendCmd) Help() string {
	return `Without a flag it goes the way it went before. A message that was still to go out to an older address is taken back. A gift that waits for
its delivery date goes on waiting. At most ten times a day for each gift.

Examples:

    boon gift resend 019576b2-6a00-7000-8000-000000000002 --email ana.diaz@example.com
    boon gift resend 019576b2-6a00-7000-8000-000000000002 --print

Next: boon gift show --help tells what became of it.`
}

func (c *giftResendCmd) Run(t *terminal.Terminal) error {
	api, voucherID, err := c.openGift(t, c.Gift)
	if err != nil {
		return err
	}
	r := client.ResendGiftRequest{VoucherID: voucherID, RecipientContact: c.Email + c.SMS, WithOrder: c.WithOrder,
		IdempotencyKey: c.IdempotencyKey}
	switch {
	case c.Email != "":
		r.DeliveryMethodID = client.Email
	case c.SMS != "":
		r.DeliveryMethodID = client.SMS
	case c.Print:
		r.DeliveryMethodID = client.Printed
	}
	g, err := api.ResendGift(t, r)
	if err != nil {
		return err
	}
	return c.resent(t, g)
}

type giftRescheduleCmd struct {
	Gift     string    `arg:"" help:"The voucherID."`
	At       time.Time `required:"" placeholder:"TIME" help:"Deliver then, such as 2026-12-24T18:00:00Z."`
	TimeZone string    `placeholder:"ZONE" help:"Zone in which the recipient is shown dates. Default: as before."`
	changing
}

func (giftRescheduleCmd) Help() string {
	return `Works as long as the gift waits: PENDING, and nobody has begun to send it.

Example:

    boon gift reschedule 019576b2-6a00-7000-8000-000000000002 --at 2026-12-24T08:00:00-08:00

Next: boon gift show --help.`
}

func (c *giftRescheduleCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	g, err := api.RescheduleGift(t, client.RescheduleGiftRequest{
		VoucherID: c.Gift, DeliveryDate: c.At, DeliveryTimezoneID: c.TimeZone, IdempotencyKey: c.IdempotencyKey,
	})
	if err != nil {
		return err
	}
	return c.resent(t, g)
}

// resent tells how a gift goes now.
func (s *Service) resent(t *terminal.Terminal, g *client.ResentGift) error {
	return s.Answer(t, g.Meta.Body, func() {
		terminal.Facts(t.Stdout, "gift", g.VoucherID, "status", string(g.Status), "available", available(&g.Voucher),
			"delivery date", terminal.Moment(g.DeliveryDate),
			"page", g.GiftURL, "print", g.PrintURL, "note", replayed(g.Meta))
	})
}
