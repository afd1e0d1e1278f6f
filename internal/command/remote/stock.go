package remote

import (
	"fmt"
	"os"
	"strconv"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type Stock struct {
	Create stockCreateCmd `cmd:"" help:"Make cards without value, to be activated as they are sold."`
	Export stockExportCmd `cmd:"" help:"Write the codes of cards that boon stock create made into a file, to be printed."`
}

type stockCreateCmd struct {
	Count             int    `arg:"" help:"How many cards: 1 to 10000."`
	Value             string `group:"What each is worth once it is activated" placeholder:"AMOUNT" help:"Money. Default: what is paid for it then."`
	Item              string `group:"What each is worth once it is activated" placeholder:"LABEL" help:"An item: its name."`
	Quantity          int    `group:"What each is worth once it is activated" placeholder:"N" help:"How many items."`
	Terms             string `group:"What each is worth once it is activated" placeholder:"TEXT" help:"Terms of the item."`
	EquivalentValue   string `group:"What each is worth once it is activated" placeholder:"AMOUNT" help:"What the items are worth in money."`
	Program           string `placeholder:"ID" help:"Gifting program. Default: that of purchases."`
	Location          string `placeholder:"ID" help:"The only location where the cards are good. Default: all of the account's."`
	Design            string `placeholder:"ID" help:"Look of the cards."`
	VerificationCodes bool   `help:"Give each card a verification code of four digits, without which nothing is redeemed."`
	ActivationCodes   bool   `help:"Give each card a second number of 16 digits, by which it is sold: print it where the cover does not hide it."`
	changing
}

func (stockCreateCmd) Help() string {
	return `The key needs the permission stock.

Example:

    boon stock create 500 --value 25 --activation-codes

Next: boon stock export --help has them printed; boon gift activate --help sells one.`
}

// Run makes cards.
func (c *stockCreateCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	r := client.CreateStockRequest{Count: c.Count, Label: c.Item, Terms: c.Terms, Quantity: c.Quantity,
		ProgramID:      c.Program,
		OrganizationID: c.Location, VoucherDesignID: c.Design, VerificationCodes: c.VerificationCodes,
		ActivationCodes: c.ActivationCodes, IdempotencyKey: c.IdempotencyKey}
	if r.Value, err = Amount("--value", c.Value); err != nil {
		return err
	}
	if r.EquivalentValue, err = Amount("--equivalent-value", c.EquivalentValue); err != nil {
		return err
	}
	a, err := api.CreateStock(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "order", a.OrderID, "cards", strconv.Itoa(a.Count), "status", string(a.Status), "note",
			replayed(a.Meta))
	})
}

type stockExportCmd struct {
	Order  string `arg:"" help:"The orderID that boon stock create told."`
	To     string `required:"" placeholder:"FILE" help:"The file, which must not exist yet. Only you can read it."`
	Format string `enum:"pdf,csv" default:"pdf" help:"pdf: sheets of ten cards; csv: a list. Default: ${default}."`
	Service
}

func (stockExportCmd) Help() string {
	return `The key needs the permission export; the service notes each export. The codes of cards that were sold are left out.

Example:

    boon stock export 01a1f97c-79b1-7a00-8d11-5b0c6b3e9a00 --format csv --to cards.csv

Next: boon gift activate --help.`
}

// Run writes the file.
func (c *stockExportCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	to, err := os.OpenFile(c.To, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return terminal.UsageError(fmt.Sprintf("--to: %v.", err))
	}
	file, err := api.ExportStock(t, c.Order, client.StockFormat(c.Format))
	if err == nil {
		_, err = to.Write(file)
	}
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(c.To) // it holds nothing whole
		return err
	}
	fmt.Fprintf(t.Stdout, "%s holds the codes of the cards that are not sold: keep it secret.\n", terminal.Cell(c.To))
	return nil
}

type giftActivateCmd struct {
	Gift           []string `arg:"" optional:"" help:"The card: its voucherID, its 12-digit code, or its QR link."`
	ActivationCode string   `placeholder:"DIGITS" help:"In place of the card: its second number, of 16 digits. So nobody uncovers its code."`
	Amount         string   `placeholder:"N" help:"How much it is worth from now on. Leave it out for a card of fixed worth."`
	paidFlags
	Reference  string `placeholder:"TEXT" help:"Your own id of the sale."`
	CustomerID string `placeholder:"TEXT" help:"Your own id of the customer to whom the card is linked."`
	place
	receiptFlag
	changing
}

func (giftActivateCmd) Help() string {
	return `Gives a card that boon stock create made its value, as it is sold. The key needs the permission activate.

Example:

    boon gift activate 482913375026 --amount 20 --purchase POS-7 --first-name Carla --last-name Diaz --customer carla@example.com \
        --storefront 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21

With --activation-code 4829135760248137 in place of the code, nobody uncovers it.

Next: boon gift reverse-activation --help takes it back.`
}

// Run activates.
func (c *giftActivateCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	r := client.ActivateGiftRequest{
		OrganizationID: c.Location, PointOfSaleSystemOrganizationIdentifier: c.PointOfSale, Reference: c.Reference,
		ExternalPayment: c.payment(), CustomerID: c.CustomerID, IdempotencyKey: c.IdempotencyKey,
	}
	if r.Amount, err = Amount("--amount", c.Amount); err != nil {
		return err
	}
	if r.PricePaid, err = Amount("--price-paid", c.PricePaid); err != nil {
		return err
	}
	switch r.ActivationCode = c.ActivationCode; {
	case (c.ActivationCode == "") == (len(c.Gift) == 0):
		return terminal.UsageError("Name the card itself or by --activation-code: one of the two.")
	case c.ActivationCode == "":
		if r.VoucherID, r.VoucherCode, r.VoucherPublicToken, err = giftNamed(c.Gift); err != nil {
			return err
		}
	}
	a, err := c.with(api).ActivateGift(t, r)
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "worth", Money(a.Amount, a.Currency), "status", string(a.Status), "activation",
			a.ActivationID, "gift", a.VoucherID, "reference", a.Reference, "note", replayed(a.Meta))
		c.print(t, a.Receipt)
	})
}

type giftReverseActivationCmd struct {
	Activation  string `arg:"" optional:"" help:"The activationID."`
	OriginalKey string `placeholder:"KEY" help:"In place of the activationID: the Idempotency-Key of the activation. If the activation never arrived, it is refused from now on."`
	changing
}

func (giftReverseActivationCmd) Help() string {
	return `Takes back the whole of it, as long as nothing else happened to the card.

Example:

    boon gift reverse-activation 019576b2-6a00-7000-8000-00000000000b

Next: boon gift show --help.`
}

// Run takes it back.
func (c *giftReverseActivationCmd) Run(t *terminal.Terminal) error {
	if (c.Activation == "") == (c.OriginalKey == "") {
		return terminal.UsageError("Name the activation by its activationID or by --original-key: one of the two.")
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	a, err := api.ReverseActivation(t, client.ReverseActivationRequest{ActivationID: c.Activation,
		OriginalKey: c.OriginalKey, IdempotencyKey: c.IdempotencyKey})
	if err != nil {
		return err
	}
	return c.Answer(t, a.Meta.Body, func() {
		terminal.Facts(t.Stdout, "taken back", Money(a.Amount, a.Currency), "status", string(a.Status), "activation",
			a.ActivationID,
			"gift", a.VoucherID, "note", replayed(a.Meta))
	})
}
