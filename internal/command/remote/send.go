package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type giftSendCmd struct {
	Value           string `group:"The gift" placeholder:"AMOUNT" help:"A monetary gift of this value."`
	Item            string `group:"The gift" placeholder:"LABEL" help:"An item gift: the name of the item."`
	Quantity        int    `group:"The gift" placeholder:"N" help:"How many items."`
	Terms           string `group:"The gift" placeholder:"TEXT" help:"Terms of an item gift."`
	EquivalentValue string `group:"The gift" placeholder:"AMOUNT" help:"What the items are worth in money."`
	Program         string `group:"The gift" placeholder:"ID" help:"Gifting program. Default: that of the payment."`
	Account         string `group:"The gift" placeholder:"ID" help:"Account the gift is good for; needed with a system key only."`
	Location        string `group:"The gift" placeholder:"ID" help:"The only location where the gift is good. Default: all of the account's."`
	Design          string `group:"The gift" placeholder:"ID" help:"Look of the gift card."`

	Email      []string `group:"To whom" sep:"none" placeholder:"ADDRESS" help:"Send by e-mail; \"Ana <ana@example.com>\" names the recipient. May be repeated."`
	SMS        []string `group:"To whom" name:"sms" sep:"none" placeholder:"NUMBER" help:"Send by SMS; \"Ben <415-555-0132>\" names the recipient. May be repeated."`
	Print      []string `group:"To whom" sep:"none" placeholder:"NAME" help:"Make a gift to be printed, for this recipient. May be repeated."`
	DeliverTo  string   `group:"To whom" enum:",buyer" default:"" placeholder:"buyer" help:"Send all gifts to who purchased them, in one e-mail. --for names the recipients."`
	For        []string `group:"To whom" sep:"none" placeholder:"NAME" help:"With --deliver-to buyer: make a gift for this recipient. May be repeated."`
	Attachment string   `group:"To whom" enum:",pdf,csv" default:"" placeholder:"pdf|csv" help:"With --deliver-to buyer: attach cards to print, or a table. Default: pdf."`

	Message    string    `group:"To whom" placeholder:"TEXT" help:"Message to every recipient."`
	CustomerID string    `group:"To whom" placeholder:"TEXT" help:"Your own id of the customer to whom the gifts are linked."`
	Language   string    `group:"To whom" placeholder:"TAG" help:"Language that recipients are written to in, such as de (BCP 47). Default: the account's."`
	Sender     string    `group:"To whom" placeholder:"NAME" help:"Who appears as the sender. Default: the purchaser, else the account."`
	DeliverAt  time.Time `group:"To whom" placeholder:"TIME" help:"Deliver then, such as \"2026-12-24 18:00\" (this machine's time zone). Default: at once."`
	TimeZone   string    `group:"To whom" placeholder:"ZONE" help:"Zone in which recipients are shown dates. Default: the account's."`

	Purchase   string `group:"How it was paid" placeholder:"REF" help:"An external purchase: its reference number."`
	FirstName  string `group:"How it was paid" placeholder:"NAME" help:"First name of who purchased it."`
	LastName   string `group:"How it was paid" placeholder:"NAME" help:"Last name of who purchased it."`
	Customer   string `group:"How it was paid" placeholder:"EMAIL" help:"E-mail address of who purchased it."`
	Storefront string `group:"How it was paid" placeholder:"ID" help:"Storefront where it was purchased."`
	PricePaid  string `group:"How it was paid" placeholder:"N" help:"What was paid for each gift, if that is less than its value. Default: as much as its value."`

	NotifyBuyer      bool   `group:"How it was paid" help:"Tell who purchased it that it was delivered, and that it was used for the first time."`
	CustomerLanguage string `group:"How it was paid" placeholder:"TAG" help:"Language that who purchased it is written to in, such as de (BCP 47). Default: the account's."`

	Promotion        string    `group:"How it was paid" placeholder:"ID" help:"A promotional gift: its promotion."`
	ValidFrom        time.Time `group:"How it was paid" placeholder:"TIME" help:"Start of its validity. Default: the promotion's."`
	ValidDays        int       `group:"How it was paid" placeholder:"N" help:"Length of its validity. Default: the promotion's."`
	PromotionalTerms string    `group:"How it was paid" placeholder:"TEXT" help:"Terms of the promotion. Default: the promotion's."`

	Notes string `placeholder:"TEXT" help:"Why the gift is sent; not shown to recipients."`
	File  string `placeholder:"FILE" help:"Send this JSON request instead (- is standard input); no other flag describes the gift then."`
	changing
}

func (giftSendCmd) Help() string {
	return `Creates one gift for each recipient, all or none.

Examples:

    boon gift send --value 25 --email "Ana <ana@example.com>" --email "Ben <ben@example.com>" --message "Happy birthday!" \
        --purchase WEB-1001 --first-name Carla --last-name Diaz --customer carla@example.com --storefront 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21

    boon gift send --item "Latte" --quantity 2 --print "Table 7" --promotion 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c31 \
        --valid-from "$(date -u +%Y-%m-%dT%H:%M:%SZ)"

    boon gift send --value 20 --deliver-to buyer --for Ana --for Ben --purchase WEB-1002 --first-name Carla --last-name Diaz \
        --customer carla@example.com --storefront 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21

Next: boon gift validate CODE, and boon gift list.`
}

func (c *giftSendCmd) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	r, err := c.request(t)
	if err != nil {
		return err
	}
	r.IdempotencyKey = c.IdempotencyKey
	order, err := api.SendGift(t, *r)
	if err != nil {
		return err
	}
	return c.Answer(t, order.Meta.Body, func() {
		var rows [][]string
		for _, g := range order.Gifts {
			rows = append(rows, []string{g.VoucherID, grouped(g.VoucherCode), worth(&g.Voucher, g.CurrentBalance),
				string(g.Status), g.RecipientDescription, g.GiftURL})
		}
		terminal.Facts(t.Stdout, "order", order.OrderID, "note", replayed(order.Meta))
		terminal.Table(t.Stdout, []string{"GIFT", "CODE", "BALANCE", "STATUS", "FOR", "PAGE"}, rows)
		for _, g := range order.Gifts {
			if len(g.NotPrintable) > 0 {
				fmt.Fprintf(t.Stdout, "note: on paper, gift %s lacks characters of %s: the service has no font for them\n",
					g.VoucherID, strings.Join(g.NotPrintable, ", "))
			}
		}
	})
}

// request is what the flags or the file describe. What is wrong with it is for the service to say.
func (c *giftSendCmd) request(t *terminal.Terminal) (*client.SendGiftRequest, error) {
	if c.File != "" {
		return c.read(t)
	}
	if (c.Value == "") == (c.Item == "") {
		return nil, terminal.UsageError("Say what the gift is: --value for money or --item for an item, one of the two.")
	}
	if (c.Purchase == "") == (c.Promotion == "") {
		return nil, terminal.UsageError("Say how it was paid: --purchase for an external purchase or --promotion for a " +
			"promotional " +
			"gift, one of the two.")
	}
	recipients := c.recipients()
	if len(recipients) == 0 {
		return nil, terminal.UsageError("Say to whom: --email, --sms or --print, at least once; or --deliver-to buyer with " +
			"--for, at least once.")
	}
	r := &client.SendGiftRequest{
		Recipients: recipients, SenderDescription: c.Sender, PaymentMethodID: client.ExternalTransaction,
		NotifyBuyer: c.NotifyBuyer, ExternalTransactionCustomerLanguage: c.CustomerLanguage,
		DeliverTo: client.DeliverTo(c.DeliverTo), Attachment: client.Attachment(c.Attachment),
		ExternalPayment: client.ExternalPayment{
			ExternalTransactionReferenceNumber:      c.Purchase,
			ExternalTransactionCustomerFirstName:    c.FirstName,
			ExternalTransactionCustomerLastName:     c.LastName,
			ExternalTransactionCustomerEmailAddress: c.Customer,
			ExternalStorefrontID:                    c.Storefront,
		},
		PromotionID: c.Promotion, ValidStarting: c.ValidFrom, ValidForDays: c.ValidDays,
		PromotionalTerms: c.PromotionalTerms,
		Notes:            c.Notes,
	}
	if c.Promotion != "" {
		r.PaymentMethodID = client.Promotional
	}
	return r, c.gift(r)
}

// recipients lists who gets a gift, in the order of those whose buyer gets them all, of e-mail, SMS and print.
func (c *giftSendCmd) recipients() []client.Recipient {
	var all []client.Recipient
	add := func(method client.DeliveryMethod, specs []string) {
		for _, spec := range specs {
			r := client.Recipient{DeliveryMethodID: method, Message: c.Message, RecipientLanguage: c.Language,
				CustomerID: c.CustomerID}
			if method == client.Printed || c.DeliverTo != "" {
				r.RecipientDescription = spec
			} else {
				r.RecipientDescription, r.RecipientContact = named(spec)
			}
			all = append(all, r)
		}
	}
	add(client.Email, c.For)
	add(client.Email, c.Email)
	add(client.SMS, c.SMS)
	add(client.Printed, c.Print)
	return all
}

// named takes "Ana <ana@example.com>" apart; without the brackets all of it is the contact.
func named(spec string) (name, contact string) {
	before, rest, found := strings.Cut(spec, "<")
	contact, closed := strings.CutSuffix(strings.TrimSpace(rest), ">")
	if !found || !closed {
		return "", spec
	}
	return strings.TrimSpace(before), contact
}

// gift puts the gift definition into the request.
func (c *giftSendCmd) gift(r *client.SendGiftRequest) error {
	value, err := Amount("--value", c.Value)
	if err != nil {
		return err
	}
	equivalent, err := Amount("--equivalent-value", c.EquivalentValue)
	if err != nil {
		return err
	}
	price, err := Amount("--price-paid", c.PricePaid)
	if err != nil {
		return err
	}
	scheduled := !c.DeliverAt.IsZero()
	if c.Value != "" {
		if c.Quantity != 0 || c.Terms != "" || c.EquivalentValue != "" {
			return terminal.UsageError("--quantity, --terms and --equivalent-value belong to an item gift (--item).")
		}
		r.MonetaryGift = &client.MonetaryGift{
			Value: value, PricePaid: price, ProgramID: c.Program, AccountID: c.Account,
			OrganizationID: c.Location, VoucherDesignID: c.Design,
			HasScheduledDelivery: scheduled, DeliveryDate: c.DeliverAt, DeliveryTimezoneID: c.TimeZone,
		}
		return nil
	}
	r.ItemGift = &client.ItemGift{
		Label: c.Item, Quantity: c.Quantity, Terms: c.Terms, EquivalentValue: equivalent, PricePaid: price,
		ProgramID: c.Program, AccountID: c.Account, OrganizationID: c.Location, VoucherDesignID: c.Design,
		HasScheduledDelivery: scheduled, DeliveryDate: c.DeliverAt, DeliveryTimezoneID: c.TimeZone,
	}
	return nil
}

// read takes the request from a file.
func (c *giftSendCmd) read(t *terminal.Terminal) (*client.SendGiftRequest, error) {
	text, err := terminal.ReadFile(t, c.File)
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	var r client.SendGiftRequest
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("%s is not a send-gift request: %w", c.File, err)
	}
	return &r, nil
}
