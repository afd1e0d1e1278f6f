package remote

import (
	"time"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

// careFlags are those of the commands that take care of one gift.
type careFlags struct {
	Gift []string `arg:"" help:"The voucherID, or the code."`
	changing
}

// open finds the gift that is meant.
func (f *careFlags) open(t *terminal.Terminal) (api *client.Client, voucherID string, err error) {
	return f.openGift(t, f.Gift)
}

// openGift gives the client of a service, and the voucherID of a gift that is named as voucherIDOf has it.
func (s *Service) openGift(t *terminal.Terminal, gift []string) (api *client.Client, voucherID string, err error) {
	if api, err = s.Client(t); err == nil {
		voucherID, err = voucherIDOf(t, api, gift)
	}
	return api, voucherID, err
}

type giftBlockCmd struct {
	ReasonCode string `required:"" enum:"LOST,STOLEN,FRAUD,CHARGEBACK,OTHER" placeholder:"WORD" help:"Why: ${enum}."`
	Reason     string `placeholder:"TEXT" help:"Why, in words, for the gift's history."`
	careFlags
}

func (giftBlockCmd) Help() string {
	return `A blocked gift cannot be redeemed, held or sent. What is held of it can still be captured, and what was redeemed given back.

Example:

    boon gift block 019576b2-6a00-7000-8000-000000000002 --reason-code LOST

Next: boon gift unblock --help takes it back.`
}

// Run blocks.
func (c *giftBlockCmd) Run(t *terminal.Terminal) error {
	api, voucherID, err := c.open(t)
	if err != nil {
		return err
	}
	a, err := api.BlockGift(t, client.BlockGiftRequest{VoucherID: voucherID, ReasonCode: client.ReasonCode(c.ReasonCode),
		Reason: c.Reason, IdempotencyKey: c.IdempotencyKey})
	if err != nil {
		return err
	}
	return c.blocked(t, a)
}

type giftUnblockCmd struct {
	Reason string `placeholder:"TEXT" help:"Why, for the gift's history."`
	careFlags
}

func (giftUnblockCmd) Help() string {
	return `A gift that is not blocked counts as done.

Example:

    boon gift unblock 019576b2-6a00-7000-8000-000000000002 --reason "the guest has found it"`
}

// Run unblocks.
func (c *giftUnblockCmd) Run(t *terminal.Terminal) error {
	api, voucherID, err := c.open(t)
	if err != nil {
		return err
	}
	a, err := api.UnblockGift(t, client.UnblockGiftRequest{VoucherID: voucherID, Reason: c.Reason,
		IdempotencyKey: c.IdempotencyKey})
	if err != nil {
		return err
	}
	return c.blocked(t, a)
}

// blocked prints whether a gift is blocked.
func (f *careFlags) blocked(t *terminal.Terminal, a *client.Blocked) error {
	return f.Answer(t, a.Meta.Body, func() {
		blocked, note := "no", replayed(a.Meta)
		if a.BlockedReason != "" {
			blocked = string(a.BlockedReason)
		}
		if a.Outcome == client.OutcomeAlreadyDone {
			note = "it was so already"
		}
		terminal.Facts(t.Stdout, "gift", a.VoucherID, "blocked", blocked, "status", string(a.Status), "note", note)
	})
}

type giftLinkCustomerCmd struct {
	CustomerID string `required:"" placeholder:"TEXT" help:"Your own id of the customer."`
	careFlags
}

func (giftLinkCustomerCmd) Help() string {
	return `A gift is linked to one customer at a time. A link is a way to find a gift, and restricts nothing. The key needs the permission link.

Example:

    boon gift link-customer 019576b2-6a00-7000-8000-000000000002 --customer-id C-20177

Next: boon gift list --customer-id C-20177 lists the customer's gifts.`
}

// Run links.
func (c *giftLinkCustomerCmd) Run(t *terminal.Terminal) error {
	api, voucherID, err := c.open(t)
	if err != nil {
		return err
	}
	a, err := api.LinkCustomer(t, client.LinkCustomerRequest{VoucherID: voucherID, CustomerID: c.CustomerID,
		IdempotencyKey: c.IdempotencyKey})
	if err != nil {
		return err
	}
	return c.linked(t, a)
}

type giftUnlinkCustomerCmd struct {
	CustomerID string `placeholder:"TEXT" help:"Only if the gift is linked to this customer. Default: to whomever it is."`
	careFlags
}

func (giftUnlinkCustomerCmd) Help() string {
	return `A gift that is not linked counts as done, and so does one that is linked to another customer than the one that is named.

Example:

    boon gift unlink-customer 019576b2-6a00-7000-8000-000000000002`
}

// Run ends a link.
func (c *giftUnlinkCustomerCmd) Run(t *terminal.Terminal) error {
	api, voucherID, err := c.open(t)
	if err != nil {
		return err
	}
	a, err := api.UnlinkCustomer(t, client.UnlinkCustomerRequest{VoucherID: voucherID, CustomerID: c.CustomerID,
		IdempotencyKey: c.IdempotencyKey})
	if err != nil {
		return err
	}
	return c.linked(t, a)
}

// linked prints whether a gift is linked to a customer.
func (f *careFlags) linked(t *terminal.Terminal, a *client.CustomerLink) error {
	return f.Answer(t, a.Meta.Body, func() {
		linked, note := "no", replayed(a.Meta)
		if a.Linked {
			linked = "yes"
		}
		if a.Outcome == client.OutcomeAlreadyDone {
			note = "it was so already"
		}
		terminal.Facts(t.Stdout, "gift", a.VoucherID, "linked", linked, "status", string(a.Status), "note", note)
	})
}

type giftAdjustCmd struct {
	Amount     string `required:"" placeholder:"N" help:"What to add to the balance: money, or a number of items. To take of it: --amount=-N."`
	ReasonCode string `required:"" enum:"COMPLIMENTARY,SUPPORT,MISTAKE,FRAUD,PURCHASE_REFUNDED,MIGRATION" placeholder:"WORD" help:"Why: ${enum}."`
	Reason     string `required:"" placeholder:"TEXT" help:"Why, in words, for the gift's history."`
	careFlags
}

func (giftAdjustCmd) Help() string {
	return `Corrects a balance. What is held is not taken.

Example:

    boon gift adjust 019576b2-6a00-7000-8000-000000000002 --amount 5 --reason-code COMPLIMENTARY --reason "long wait"
    boon gift adjust 019576b2-6a00-7000-8000-000000000002 --amount=-5 --reason-code MISTAKE --reason "typed twice"

Next: boon gift show --help.`
}

// Run adjusts.
func (c *giftAdjustCmd) Run(t *terminal.Terminal) error {
	by, err := Amount("--amount", c.Amount)
	if err != nil {
		return err
	}
	api, voucherID, err := c.open(t)
	if err != nil {
		return err
	}
	a, err := api.AdjustGift(t, client.AdjustGiftRequest{VoucherID: voucherID, Amount: by,
		ReasonCode: client.ReasonCode(c.ReasonCode), Reason: c.Reason, IdempotencyKey: c.IdempotencyKey})
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "added", Money(a.Amount, a.Currency), "balance", Money(a.CurrentBalance, a.Currency),
			"available",
			Money(a.AvailableBalance, a.Currency), "status", string(a.Status), "adjustment", a.AdjustmentID, "gift", a.VoucherID,
			"note", replayed(a.Meta))
	})
}

type giftExtendCmd struct {
	Until time.Time `required:"" placeholder:"TIME" help:"The first instant at which it is no longer valid, such as 2037-01-01T00:00:00Z."`
	careFlags
}

func (giftExtendCmd) Help() string {
	return `Makes a promotional gift valid for longer, also one that has expired.

Example:

    boon gift extend 019576b2-6a00-7000-8000-000000000002 --until 2037-01-01T00:00:00Z`
}

// Run extends.
func (c *giftExtendCmd) Run(t *terminal.Terminal) error {
	api, voucherID, err := c.open(t)
	if err != nil {
		return err
	}
	a, err := api.ExtendGift(t, client.ExtendGiftRequest{VoucherID: voucherID, ValidUntil: c.Until,
		IdempotencyKey: c.IdempotencyKey})
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "gift", a.VoucherID, "valid until", terminal.Moment(a.ValidUntil), "status",
			string(a.Status), "note",
			replayed(a.Meta))
	})
}
