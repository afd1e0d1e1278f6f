package remote

import (
	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type giftHoldCmd struct {
	takeFlags
	Seconds int `placeholder:"N" help:"After how long it is available again: 60 to 2592000. Default: 900."`
}

func (giftHoldCmd) Help() string {
	return `Keeps an amount for one sale whose total is not known yet.

Example:

    boon gift hold 482913375026 --amount 100 --reference "pump 4"

Next: boon gift capture --help takes it; boon gift release --help gives it up.`
}

// Run holds.
func (c *giftHoldCmd) Run(t *terminal.Terminal) error {
	take, err := c.request(t)
	if err != nil {
		return err
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	a, err := api.HoldGift(t, client.HoldGiftRequest{RedeemGiftRequest: take, ExpiresInSeconds: c.Seconds})
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "held", Money(a.Amount, a.Currency), "available", Money(a.AvailableBalance, a.Currency),
			"until",
			terminal.Moment(a.ExpiresAt), "hold", a.HoldID, "gift", a.VoucherID, "reference", a.Reference, "note",
			replayed(a.Meta))
		printNewCard(t, api, a.HoldID, a.NewCard)
	})
}

type giftCaptureCmd struct {
	Hold      string `arg:"" help:"The holdID."`
	Amount    string `xor:"how much" placeholder:"N" help:"How much to take of it."`
	All       bool   `xor:"how much" help:"Take all that is held."`
	Keep      bool   `help:"Keep the rest held, for another capture. Default: it is released."`
	Reference string `placeholder:"TEXT" help:"Your own id of the sale."`
	receiptFlag
	changing
}

func (giftCaptureCmd) Help() string {
	return `A redemption of what is held.

Example:

    boon gift capture 019576b2-6a00-7000-8000-00000000000a --amount 43.17

Next: boon gift reverse --help gives it back.`
}

// Run captures.
func (c *giftCaptureCmd) Run(t *terminal.Terminal) error {
	if c.Amount == "" && !c.All {
		return terminal.UsageError("Say how much to take: --amount N or --all.")
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	take, err := Amount("--amount", c.Amount)
	if err != nil {
		return err
	}
	r := client.CaptureHoldRequest{HoldID: c.Hold, Amount: take, All: c.All, Reference: c.Reference,
		IdempotencyKey: c.IdempotencyKey}
	if c.Keep {
		r.Final = new(bool)
	}
	a, err := c.with(api).CaptureHold(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "taken", Money(a.Amount, a.Currency), "left", Money(a.CurrentBalance, a.Currency),
			"available",
			Money(a.AvailableBalance, a.Currency), "status", string(a.Status), "redemption", a.RedemptionID, "gift",
			a.VoucherID, "reference", a.Reference, "note", replayed(a.Meta))
		c.print(t, a.Receipt)
	})
}

type giftReleaseCmd struct {
	Hold        string `arg:"" optional:"" help:"The holdID."`
	OriginalKey string `placeholder:"KEY" help:"In place of the holdID: the Idempotency-Key of the hold. If the hold never arrived, it is refused from now on."`
	changing
}

func (giftReleaseCmd) Help() string {
	return `Ends a hold before its time. A hold that is released or over counts as done.

Example:

    boon gift release 019576b2-6a00-7000-8000-00000000000a

Next: boon gift show --help.`
}

// Run releases.
func (c *giftReleaseCmd) Run(t *terminal.Terminal) error {
	if (c.Hold == "") == (c.OriginalKey == "") {
		return terminal.UsageError("Name the hold by its holdID or by --original-key: one of the two.")
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	a, err := api.ReleaseHold(t, client.ReleaseHoldRequest{HoldID: c.Hold, OriginalKey: c.OriginalKey,
		IdempotencyKey: c.IdempotencyKey})
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "released", Money(a.Amount, a.Currency), "available", Money(a.AvailableBalance,
			a.Currency), "hold",
			a.HoldID, "gift", a.VoucherID, "note", replayed(a.Meta))
	})
}
