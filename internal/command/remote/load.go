package remote

import (
	"boon.example/client"
	"boon.example/internal/command/terminal"
)

// paidFlags say who paid for value, and where.
type paidFlags struct {
	Purchase   string `group:"How it was paid" required:"" placeholder:"TEXT" help:"Reference of the payment in your own system."`
	FirstName  string `group:"How it was paid" required:"" placeholder:"NAME" help:"First name of who paid."`
	LastName   string `group:"How it was paid" required:"" placeholder:"NAME" help:"Last name of who paid."`
	Customer   string `group:"How it was paid" required:"" placeholder:"EMAIL" help:"E-mail address of who paid."`
	Storefront string `group:"How it was paid" required:"" placeholder:"ID" help:"Storefront where it was paid."`
	PricePaid  string `group:"How it was paid" placeholder:"N" help:"What was paid, if that is less than the value. Default: as much as the value."`
}

func (f *paidFlags) payment() client.ExternalPayment {
	return client.ExternalPayment{
		ExternalTransactionReferenceNumber: f.Purchase, ExternalTransactionCustomerFirstName: f.FirstName,
		ExternalTransactionCustomerLastName: f.LastName, ExternalTransactionCustomerEmailAddress: f.Customer,
		ExternalStorefrontID: f.Storefront,
	}
}

type giftReloadCmd struct {
	Gift   []string `arg:"" help:"The gift: its voucherID, its code, or its QR link."`
	Amount string   `required:"" placeholder:"N" help:"How much to put into it."`
	paidFlags
	Reference  string `placeholder:"TEXT" help:"Your own id of the sale."`
	CustomerID string `placeholder:"TEXT" help:"Your own id of the customer to whom the gift is linked. Default: a link stays as it is."`
	place
	receiptFlag
	changing
}

func (giftReloadCmd) Help() string {
	return `For gifts of money that were paid for, where the set-up calls their program reloadable. It needs a key with the permission reload.

Example:

    boon gift reload 482913375026 --amount 20 --purchase TOPUP-7 --first-name Carla --last-name Diaz --customer carla@example.com \
        --storefront 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21

Next: boon gift reverse-reload --help takes it back.`
}

// Run reloads.
func (c *giftReloadCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	r := client.ReloadGiftRequest{
		OrganizationID: c.Location, PointOfSaleSystemOrganizationIdentifier: c.PointOfSale, Reference: c.Reference,
		ExternalPayment: c.payment(), CustomerID: c.CustomerID, IdempotencyKey: c.IdempotencyKey,
	}
	if r.Amount, err = Amount("--amount", c.Amount); err != nil {
		return err
	}
	if r.PricePaid, err = Amount("--price-paid", c.PricePaid); err != nil {
		return err
	}
	if r.VoucherID, r.VoucherCode, r.VoucherPublicToken, err = giftNamed(c.Gift); err != nil {
		return err
	}
	a, err := c.with(api).ReloadGift(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "loaded", Money(a.Amount, a.Currency), "balance", Money(a.CurrentBalance, a.Currency),
			"available", Money(a.AvailableBalance, a.Currency), "status", string(a.Status), "reload", a.ReloadID,
			"gift", a.VoucherID, "reference", a.Reference, "note", replayed(a.Meta))
		c.print(t, a.Receipt)
	})
}

type giftReverseReloadCmd struct {
	Reload      string `arg:"" optional:"" help:"The reloadID."`
	OriginalKey string `placeholder:"KEY" help:"In place of the reloadID: the Idempotency-Key of the reload. If the reload never arrived, it is refused from now on."`
	changing
}

func (giftReverseReloadCmd) Help() string {
	return `Takes back the whole of it, once, as long as that much is available.

Example:

    boon gift reverse-reload 019576b2-6a00-7000-8000-00000000000b

Next: boon gift show --help.`
}

// Run takes it back.
func (c *giftReverseReloadCmd) Run(t *terminal.Terminal) error {
	if (c.Reload == "") == (c.OriginalKey == "") {
		return terminal.UsageError("Name the reload by its reloadID or by --original-key: one of the two.")
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	a, err := api.ReverseReload(t, client.ReverseReloadRequest{ReloadID: c.Reload, OriginalKey: c.OriginalKey,
		IdempotencyKey: c.IdempotencyKey})
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "taken back", Money(a.Amount, a.Currency), "balance", Money(a.CurrentBalance,
			a.Currency), "status", string(a.Status), "reload", a.ReloadID, "gift", a.VoucherID, "note", replayed(a.Meta))
	})
}

type giftCashOutCmd struct {
	Gift             []string `arg:"" help:"The gift: its voucherID, its code, or its QR link."`
	VerificationCode string   `placeholder:"DIGITS" help:"The verification code of a card that has one."`
	place
	receiptFlag
	changing
}

func (giftCashOutCmd) Help() string {
	return `Takes all that is left of a gift that was paid for. You then pay it to the guest. boon gift validate tells whether the law lets the
guest ask for it: this is no legal advice. The key needs the permission cash-out.

Example:

    boon gift cash-out 482913375026

Next: boon gift reverse --help takes it back, once the guest has given the cash back.`
}

// Run pays out.
func (c *giftCashOutCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	r := client.CashOutGiftRequest{OrganizationID: c.Location, PointOfSaleSystemOrganizationIdentifier: c.PointOfSale,
		VerificationCode: c.VerificationCode, IdempotencyKey: c.IdempotencyKey}
	if r.VoucherID, r.VoucherCode, r.VoucherPublicToken, err = giftNamed(c.Gift); err != nil {
		return err
	}
	a, err := c.with(api).CashOutGift(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "pay", Money(a.Amount, a.Currency), "status", string(a.Status), "cash-out", a.CashOutID,
			"gift", a.VoucherID, "note", replayed(a.Meta))
		c.print(t, a.Receipt)
	})
}
