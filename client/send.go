package client

import (
	"context"
	"time"
)

// DeliveryMethod is how a gift reaches its recipient.
type DeliveryMethod int

// The delivery methods.
const (
	Email   DeliveryMethod = 1 // recipientContact is an e-mail address
	SMS     DeliveryMethod = 2 // recipientContact is a mobile number: E.164, or as send-gift reads it
	Printed DeliveryMethod = 3 // no recipientContact; also for gifts that are handed over outside the service
)

// PaymentMethod is how the value of a gift became available.
type PaymentMethod int

// The payment methods.
const (
	ExternalTransaction PaymentMethod = 2 // purchased and paid on another system
	Promotional         PaymentMethod = 4 // no payment captured or necessary
)

// The gifting programs.
const (
	BusinessProgram     = "22222222-2222-2222-2222-222222222222" // the default for external transactions
	PromotionalProgram  = "33333333-3333-3333-3333-333333333333" // the default for promotional gifts
	DistributionProgram = "55555555-5555-5555-5555-555555555555"
)

// ExternalPayment says who paid for value on another system, and where: all five.
type ExternalPayment struct {
	ExternalTransactionReferenceNumber      string `json:"externalTransactionReferenceNumber,omitzero"`
	ExternalTransactionCustomerFirstName    string `json:"externalTransactionCustomerFirstName,omitzero"`
	ExternalTransactionCustomerLastName     string `json:"externalTransactionCustomerLastName,omitzero"`
	ExternalTransactionCustomerEmailAddress string `json:"externalTransactionCustomerEmailAddress,omitzero"`
	ExternalStorefrontID                    string `json:"externalStorefrontID,omitzero"`
}

// DeliverTo says who gets the gifts of an order; "": each its recipient.
type DeliverTo string

// Buyer is who paid.
const Buyer DeliverTo = "buyer"

// Attachment is as what gifts are attached to the message to their buyer.
type Attachment string

// The attachments.
const (
	PDF Attachment = "pdf" // cards to be printed
	CSV Attachment = "csv" // a table
)

// SendGiftRequest asks for gifts to be created and sent. Exactly one of MonetaryGift and ItemGift is given. A gift
// for one recipient names it in the gift itself; with Recipients, one gift is made for each, and those members of the
// gift stay empty.
type SendGiftRequest struct {
	Recipients   []Recipient   `json:"recipients,omitzero"`
	MonetaryGift *MonetaryGift `json:"monetaryGift,omitzero"`
	ItemGift     *ItemGift     `json:"itemGift,omitzero"`
	// absent: the gift's, else the purchaser's name, else the account's
	SenderDescription string        `json:"senderDescription,omitzero"`
	PaymentMethodID   PaymentMethod `json:"paymentMethodID,omitzero"`

	ExternalPayment // for ExternalTransaction
	// Beside it: in which language the customer is written to, BCP 47 (absent: the account's), and whether by e-mail:
	// that the gift was delivered, and that it was used for the first time.
	ExternalTransactionCustomerLanguage string `json:"externalTransactionCustomerLanguage,omitzero"`
	NotifyBuyer                         bool   `json:"notifyBuyer,omitzero"`
	// DeliverTo has all gifts go to the customer in one e-mail, with the Attachment (absent: PDF). The recipients then
	// have no contacts.
	DeliverTo  DeliverTo  `json:"deliverTo,omitzero"`
	Attachment Attachment `json:"attachment,omitzero"`

	// For Promotional: the promotion, and what its record does not say already.
	PromotionID      string    `json:"promotionID,omitzero"`
	ValidStarting    time.Time `json:"validStarting,omitzero"`
	ValidForDays     int       `json:"validForDays,omitzero"` // calendar days of the account's time zone
	PromotionalTerms string    `json:"promotionalTerms,omitzero"`

	Notes              string `json:"notes,omitzero"` // why the gift was sent; not shown to the recipient
	RelatedOrderID     string `json:"relatedOrderID,omitzero"`
	RelatedOrderNumber string `json:"relatedOrderNumber,omitzero"`

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Recipient is one receiver among several.
type Recipient struct {
	DeliveryMethodID     DeliveryMethod `json:"deliveryMethodID,omitzero"` // absent: the gift's
	RecipientDescription string         `json:"recipientDescription,omitzero"`
	RecipientContact     string         `json:"recipientContact,omitzero"`
	Message              string         `json:"message,omitzero"`
	RecipientLanguage    string         `json:"recipientLanguage,omitzero"` // absent: the gift's
	CustomerID           string         `json:"customerID,omitzero"`        // your own id of the customer that it is linked to
}

// MonetaryGift is a gift of a value in the account's currency.
type MonetaryGift struct {
	Value     Decimal `json:"value,omitzero"`
	PricePaid Decimal `json:"pricePaid,omitzero"` // of a purchase, where less was paid than Value; absent: Value
	ProgramID string  `json:"programID,omitzero"` // absent: the default of the payment method
	AccountID string  `json:"accountID,omitzero"` // needed with a system integrator key only
	// the only location where the gift is good; absent: all
	OrganizationID       string         `json:"organizationID,omitzero"`
	DeliveryMethodID     DeliveryMethod `json:"deliveryMethodID,omitzero"`
	SenderDescription    string         `json:"senderDescription,omitzero"`
	RecipientDescription string         `json:"recipientDescription,omitzero"`
	RecipientContact     string         `json:"recipientContact,omitzero"`
	Message              string         `json:"message,omitzero"`
	RecipientLanguage    string         `json:"recipientLanguage,omitzero"` // BCP 47, such as de; absent: the account's
	CustomerID           string         `json:"customerID,omitzero"`        // your own id of the customer that it is linked to
	HasScheduledDelivery bool           `json:"hasScheduledDelivery,omitzero"`
	DeliveryDate         time.Time      `json:"deliveryDate,omitzero"`
	DeliveryTimezoneID   string         `json:"deliveryTimezoneId,omitzero"` // IANA or Windows id; absent: the account's
	VoucherDesignID      string         `json:"voucherDesignID,omitzero"`    // absent: the location's, else the account's
}

// ItemGift is a gift of a quantity of an item. Its other members are those of MonetaryGift.
type ItemGift struct {
	Label                string         `json:"label,omitzero"`
	Terms                string         `json:"terms,omitzero"`
	Quantity             int            `json:"quantity,omitzero"`
	EquivalentValue      Decimal        `json:"equivalentValue,omitzero"`
	PricePaid            Decimal        `json:"pricePaid,omitzero"` // of a purchase; absent: EquivalentValue
	ProgramID            string         `json:"programID,omitzero"`
	AccountID            string         `json:"accountID,omitzero"`
	OrganizationID       string         `json:"organizationID,omitzero"`
	DeliveryMethodID     DeliveryMethod `json:"deliveryMethodID,omitzero"`
	SenderDescription    string         `json:"senderDescription,omitzero"`
	RecipientDescription string         `json:"recipientDescription,omitzero"`
	RecipientContact     string         `json:"recipientContact,omitzero"`
	Message              string         `json:"message,omitzero"`
	RecipientLanguage    string         `json:"recipientLanguage,omitzero"`
	CustomerID           string         `json:"customerID,omitzero"` // your own id of the customer that it is linked to
	HasScheduledDelivery bool           `json:"hasScheduledDelivery,omitzero"`
	DeliveryDate         time.Time      `json:"deliveryDate,omitzero"`
	DeliveryTimezoneID   string         `json:"deliveryTimezoneId,omitzero"`
	VoucherDesignID      string         `json:"voucherDesignID,omitzero"`
}

// Order is what one call of SendGift made.
type Order struct {
	OrderID  string     `json:"orderID"`
	PrintURL string     `json:"printURL"` // a PDF of all printed gifts, ten cards to a page; "" when none is printed
	Gifts    []SentGift `json:"gifts"`    // in the order of the recipients
	Meta     Meta       `json:"-"`
}

// SentGift is a new gift and where it can be seen.
type SentGift struct {
	Voucher
	RecipientIndex int    `json:"recipientIndex"`
	PrintURL       string `json:"printURL"` // a PDF of a printed gift; whoever has it can spend the gift
	// NotPrintable are the members of a printed gift with characters that are left out on paper.
	NotPrintable []string `json:"notPrintable"`
}

// SendGift creates gifts, all or none, and sends them.
func (c *Client) SendGift(ctx context.Context, r SendGiftRequest) (*Order, error) {
	k := post(OpSendGift, giftingPath, r, r.IdempotencyKey)
	k.limit = largeAnswer
	var o Order
	var err error
	if o.Meta, err = c.do(ctx, k, &o); err != nil {
		return nil, err
	}
	return &o, nil
}
