package client

import (
	"context"
	"time"
)

// Status is where a gift stands. Use Voucher.IsRedeemable rather than comparing statuses.
type Status string

// The statuses.
const (
	StatusPending        Status = "PENDING"         // created, delivery not yet done
	StatusPurchaseFailed Status = "PURCHASE_FAILED" // the external purchase was reported as failed
	StatusDelivered      Status = "DELIVERED"
	StatusFailedDelivery Status = "FAILED_DELIVERY"
	StatusClaimed        Status = "CLAIMED" // redeemed in part
	StatusRedeemed       Status = "REDEEMED"
	StatusCancelled      Status = "CANCELLED"
	StatusNotActivated   Status = "NOT_ACTIVATED"
)

// Voucher is one gift with one balance.
type Voucher struct {
	VoucherID string `json:"voucherID"`
	// 12 digits; a secret; "" in look-ups by a key without the permission codes, as are the next two
	VoucherCode        string `json:"voucherCode"`
	VoucherPublicToken string `json:"voucherPublicToken"` // what the QR code holds; a secret
	GiftURL            string `json:"giftURL"`            // the recipient's page; whoever has it can spend the gift
	Mode               string `json:"mode"`               // live, or test: it is worth nothing
	LastFour           string `json:"lastFour"`           // of the code, to tell gifts apart
	AccountID          string `json:"accountID"`
	OrganizationID     string `json:"organizationID"` // the only location where it is good; "": all of the account's

	OrderID                            string `json:"orderID"`                            // the SendGift that made it
	ExternalTransactionReferenceNumber string `json:"externalTransactionReferenceNumber"` // of a purchase, as the next
	ExternalStorefrontID               string `json:"externalStorefrontID"`
	PromotionID                        string `json:"promotionID"` // of a promotional gift

	ProgramID            string `json:"programID"`
	ProgramName          string `json:"programName"`
	ProgramIsPromotional bool   `json:"programIsPromotional"`
	VoucherTypeID        int    `json:"voucherTypeID"` // 1 monetary, 2 item, 3 promotional monetary, 4 promotional item
	IsItemType           bool   `json:"isItemType"`
	IsPromoType          bool   `json:"isPromoType"`

	DeliverTo  DeliverTo  `json:"deliverTo"`  // Buyer: it went to who paid, with the others of its order
	Attachment Attachment `json:"attachment"` // beside it: as what

	Status               Status     `json:"status"`
	StatusID             int        `json:"statusID"`
	IsRedeemable         bool       `json:"isRedeemable"` // all of the following, and allowed at this location
	HasRemainingBalance  bool       `json:"hasRemainingBalance"`
	IsInRedeemableStatus bool       `json:"isInRedeemableStatus"`
	IsInRedeemablePeriod bool       `json:"isInRedeemablePeriod"`
	NotRedeemableReasons []Reason   `json:"notRedeemableReasons"`
	BlockedReason        ReasonCode `json:"blockedReason"` // "": it is not blocked, or it is told by ValidateGift

	Currency         string  `json:"currency"`        // ISO 4217; "" for an item gift
	Unit             Unit    `json:"unit"`            // what the balances count
	PricePaid        Decimal `json:"pricePaid"`       // zero: as much as it is worth, or it is told by ValidateGift
	OriginalBalance  Decimal `json:"originalBalance"` // money, or whole pieces of an item gift
	CurrentBalance   Decimal `json:"currentBalance"`
	HeldBalance      Decimal `json:"heldBalance"`      // what of it is held for sales to come
	AvailableBalance Decimal `json:"availableBalance"` // what can be redeemed or held

	Value            Decimal `json:"value"`           // of a monetary gift
	Label            string  `json:"label"`           // of an item gift, as the next three
	Terms            string  `json:"terms"`           //
	Quantity         int     `json:"quantity"`        //
	EquivalentValue  Decimal `json:"equivalentValue"` // in money
	VATTreatment     string  `json:"vatTreatment"`    // multiPurpose, singlePurpose; "": the set-up did not say
	VATRate          Decimal `json:"vatRate"`         // in percent, of singlePurpose
	PromotionalTerms string  `json:"promotionalTerms"`

	ValidFrom  time.Time `json:"validFrom"`  // zero: from the start
	ValidUntil time.Time `json:"validUntil"` // zero: it does not expire
	GraceUntil time.Time `json:"graceUntil"` // of days of grace: until when tills take it; zero: none was told

	SenderDescription    string         `json:"senderDescription"`
	RecipientDescription string         `json:"recipientDescription"`
	Message              string         `json:"message"`
	RecipientLanguage    string         `json:"recipientLanguage"` // BCP 47; "": the account's
	CustomerID           string         `json:"customerID"`        // that it is linked to; "": none, or it is told by ValidateGift
	DeliveryMethodID     DeliveryMethod `json:"deliveryMethodID"`
	DeliveryDate         time.Time      `json:"deliveryDate"` // zero: at once
	DeliveredAt          time.Time      `json:"deliveredAt"`  // zero: not yet
	VoucherDesignID      string         `json:"voucherDesignID"`
	CreatedAt            time.Time      `json:"createdAt"`

	RequiresEligibleItems bool         `json:"requiresEligibleItems"` // it is good for certain items on the ticket only
	EligibleItems         []Item       `json:"eligibleItems"`         // these; nil: any
	Eligibility           *Eligibility `json:"eligibility"`           // nil: no ticket was given
	CashOutAllowed        bool         `json:"cashOutAllowed"`        // the guest may ask for the rest in cash here

	Meta Meta `json:"-"`
}

// Unit is what a gift's balance counts.
type Unit string

// The units.
const (
	UnitMoney Unit = "money"
	UnitItems Unit = "items"
)

// Reason is why a gift cannot be redeemed now.
type Reason struct {
	Code Code   `json:"code"`
	Text string `json:"text"`
}

// Item is something that a gift is good for.
type Item struct {
	ID    string `json:"id"`    // as tickets have it; "": Group names it, or else Name
	Name  string `json:"name"`  // "": the set-up gives none
	Group string `json:"group"` // all items of it, as platforms' orders have it; "": ID names it, or Name
}

// Eligibility is what a ticket says about a gift. Amounts are in the gift's own unit.
type Eligibility struct {
	MaximumAmount Decimal        `json:"maximumAmount"` // the most that can be applied to this ticket
	EligibleLines []EligibleLine `json:"eligibleLines"`
	ExcludedLines []ExcludedLine `json:"excludedLines"`
}

// EligibleLine is a line of the ticket to which the gift can be applied.
type EligibleLine struct {
	Index  int     `json:"index"` // from 0
	Amount Decimal `json:"amount"`
}

// ExcludedLine is a line of the ticket to which the gift cannot be applied.
type ExcludedLine struct {
	Index  int    `json:"index"`
	Reason string `json:"reason"`
}

// ValidateGiftRequest asks what a gift is worth at a location. Exactly one of VoucherCode and VoucherPublicToken is
// given. The location may be left out where the key or the account has only one.
type ValidateGiftRequest struct {
	OrganizationID                          string `json:"organizationID,omitzero"`
	PointOfSaleSystemOrganizationIdentifier string `json:"pointOfSaleSystemOrganizationIdentifier,omitzero"`
	// 12 digits with nothing between them
	VoucherCode string `json:"voucherCode,omitzero"`
	// what the QR code holds: the URL, its path, or the token
	VoucherPublicToken string `json:"voucherPublicToken,omitzero"`
	Expect
	TicketData *TicketData `json:"ticketData,omitzero"`
}

// Expect is what a till may ask of a gift beside its balance.
type Expect struct {
	TargetProgramID       string     `json:"targetProgramID,omitzero"`
	ValidateTargetProgram *bool      `json:"validateTargetProgram,omitzero"` // absent: true
	TargetTypeCode        TargetType `json:"targetTypeCode,omitzero"`
	ValidateTargetType    *bool      `json:"validateTargetType,omitzero"` // absent: true
}

// TargetType is a kind of gift that a till expects.
type TargetType string

// The target types.
const (
	TargetGift    TargetType = "GIFT"
	TargetNotGift TargetType = "NOT_GIFT" // promotional
)

// TicketData is the guest's bill. [Ticket.TicketData] makes one in the standard format; a platform's own order is
// sent as it came, with its format, such as "square".
type TicketData struct {
	Data    any            `json:"data"`
	Format  string         `json:"format"`
	Options *TicketOptions `json:"options,omitzero"`
}

// TicketOptions say how to read the order of a platform.
type TicketOptions struct {
	CheckGUID    string `json:"checkGuid,omitzero"`    // of Toast: which check is to be paid
	ItemID       string `json:"itemID,omitzero"`       // what names the item of a line; "": the format's own choice
	TaxInclusive *bool  `json:"taxInclusive,omitzero"` // of Lightspeed: whether prices are shown with tax
}

// Ticket is a bill in the standard format.
type Ticket struct {
	LineItems []LineItem `json:"lineItems"`
	Totals    *Totals    `json:"totals,omitzero"`
}

// TicketData wraps the ticket for a request.
func (t Ticket) TicketData() *TicketData { return &TicketData{Data: t, Format: "standard"} }

// LineItem is one line of a Ticket.
type LineItem struct {
	ItemID         string  `json:"itemID,omitzero"`
	ItemName       string  `json:"itemName,omitzero"`
	ItemUnitPrice  Decimal `json:"itemUnitPrice"`
	Quantity       int     `json:"quantity"`
	ItemTotalPrice Decimal `json:"itemTotalPrice"`
}

// Totals are the sums of a Ticket; what is not known stays zero and is sent as null.
type Totals struct {
	SubTotal           Decimal `json:"subTotal"`
	TaxTotal           Decimal `json:"taxTotal"`
	DiscountTotal      Decimal `json:"discountTotal"`
	ServiceChargeTotal Decimal `json:"serviceChargeTotal"`
	GrandTotal         Decimal `json:"grandTotal"`
}

// ValidateGift finds a gift by its code or token and tells whether it is good at a location, and how much is left. It
// changes nothing.
func (c *Client) ValidateGift(ctx context.Context, r ValidateGiftRequest) (*Voucher, error) {
	return c.voucher(ctx, post(OpValidateGift, redemptionPath, r, ""))
}

func (c *Client) voucher(ctx context.Context, k call) (*Voucher, error) {
	var v Voucher
	var err error
	if v.Meta, err = c.do(ctx, k, &v); err != nil {
		return nil, err
	}
	return &v, nil
}
