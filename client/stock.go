package client

import (
	"context"
	"net/url"
	"time"
)

// CreateStockRequest asks for cards without value, to be sold later. With Value, or with Label and Quantity, they are
// of fixed worth; else each activation says how much was paid.
type CreateStockRequest struct {
	Count             int     `json:"count"`
	Value             Decimal `json:"value,omitzero"`
	Label             string  `json:"label,omitzero"` // in place of Value: an item
	Terms             string  `json:"terms,omitzero"`
	Quantity          int     `json:"quantity,omitzero"`
	EquivalentValue   Decimal `json:"equivalentValue,omitzero"`
	ProgramID         string  `json:"programID,omitzero"`
	OrganizationID    string  `json:"organizationID,omitzero"` // the only location where they will be good; absent: all
	VoucherDesignID   string  `json:"voucherDesignID,omitzero"`
	VerificationCodes bool    `json:"verificationCodes,omitzero"` // each gets one of four digits
	ActivationCodes   bool    `json:"activationCodes,omitzero"`   // each gets one of 16 digits, by which it is sold

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Stock is what one call of CreateStock made. Codes are in no answer.
type Stock struct {
	OrderID           string    `json:"orderID"`
	Count             int       `json:"count"`
	AccountID         string    `json:"accountID"`
	OrganizationID    string    `json:"organizationID"`
	ProgramID         string    `json:"programID"`
	Currency          string    `json:"currency"` // "" for an item
	Unit              Unit      `json:"unit"`
	Value             Decimal   `json:"value"` // zero: what is paid for each, or an item
	Label             string    `json:"label"`
	Terms             string    `json:"terms"`
	Quantity          int       `json:"quantity"`
	EquivalentValue   Decimal   `json:"equivalentValue"`
	VoucherDesignID   string    `json:"voucherDesignID"`
	VerificationCodes bool      `json:"verificationCodes"`
	ActivationCodes   bool      `json:"activationCodes"`
	Status            Status    `json:"status"`
	StatusID          int       `json:"statusID"`
	CreatedAt         time.Time `json:"createdAt"`
	Meta              Meta      `json:"-"`
}

// CreateStock makes cards, all or none. Each is worth nothing until it is activated.
func (c *Client) CreateStock(ctx context.Context, r CreateStockRequest) (*Stock, error) {
	var a Stock
	return answered(ctx, c, post(OpCreateStock, giftingPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// ActivateGiftRequest asks to give a card its value, as it is sold. Exactly one of VoucherID, VoucherCode,
// VoucherPublicToken and ActivationCode is given, and all that says who paid.
type ActivateGiftRequest struct {
	OrganizationID                          string `json:"organizationID,omitzero"`
	PointOfSaleSystemOrganizationIdentifier string `json:"pointOfSaleSystemOrganizationIdentifier,omitzero"`

	VoucherID          string `json:"voucherID,omitzero"`
	VoucherCode        string `json:"voucherCode,omitzero"`
	VoucherPublicToken string `json:"voucherPublicToken,omitzero"`
	ActivationCode     string `json:"activationCode,omitzero"` // the second number on the card, of 16 digits

	Amount          Decimal       `json:"amount,omitzero"`    // absent for a card of fixed worth
	PricePaid       Decimal       `json:"pricePaid,omitzero"` // absent: as much as the card is worth from now on
	PaymentMethodID PaymentMethod `json:"paymentMethodID,omitzero"`

	ExternalPayment

	Reference  string `json:"reference,omitzero"`
	CustomerID string `json:"customerID,omitzero"` // your own id of the customer to whom the card is linked

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Activation is what was put into a card.
type Activation struct {
	ActivationID string `json:"activationID"`
	Changed
	OrganizationID string    `json:"organizationID"`
	IsRedeemable   bool      `json:"isRedeemable"`
	ActivatedAt    time.Time `json:"activatedAt"`
	Reference      string    `json:"reference"`
	Receipt        *Receipt  `json:"receipt"` // nil unless [Client.Receipts] asks for it
	Meta           Meta      `json:"-"`
}

// ActivateGift gives a card of a stock its value.
func (c *Client) ActivateGift(ctx context.Context, r ActivateGiftRequest) (*Activation, error) {
	var a Activation
	return answered(ctx, c, post(OpActivateGift, redemptionPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// ReverseActivationRequest asks to take an activation back, named by ActivationID or, when its answer never came, by
// the Idempotency-Key it was made with.
type ReverseActivationRequest struct {
	ActivationID string `json:"activationID,omitzero"`
	OriginalKey  string `json:"idempotencyKey,omitzero"` // of the activation
	// At most one of these, beside OriginalKey: the gift that the activation was of. A key that was used before, for
	// another gift, is then [IdempotencyMismatch] and takes nothing back.
	VoucherID          string `json:"voucherID,omitzero"`
	VoucherCode        string `json:"voucherCode,omitzero"`
	VoucherPublicToken string `json:"voucherPublicToken,omitzero"`

	IdempotencyKey string `json:"-"` // of the reversal itself; absent: a new one
}

// ActivationReversal is an activation that was taken back.
type ActivationReversal struct {
	ReversalID string `json:"reversalID"`
	Changed
	ActivationID   string    `json:"activationID"`
	OrganizationID string    `json:"organizationID"`
	IsRedeemable   bool      `json:"isRedeemable"`
	ReversedAt     time.Time `json:"reversedAt"`
	Meta           Meta      `json:"-"`
}

// ReverseActivation makes a card what it was before it was activated, as long as nothing else happened to it. By
// OriginalKey, [NotFound] is good news: that activation never arrived, and will be refused should it still come.
func (c *Client) ReverseActivation(ctx context.Context, r ReverseActivationRequest) (*ActivationReversal, error) {
	var a ActivationReversal
	return answered(ctx, c, post(OpReverseActivation, redemptionPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// StockFormat is the form in which the codes of a stock leave.
type StockFormat string

// The forms.
const (
	StockPDF StockFormat = "pdf" // sheets of ten cards
	// StockCSV has the columns code, lastFour, verificationCode, status, link, codeText, verificationText, activationCode
	// and activationText.
	StockCSV StockFormat = "csv"
)

// ExportStock gives the codes of the cards of a stock that were not activated yet, as a file. Each download is noted by
// the service.
func (c *Client) ExportStock(ctx context.Context, orderID string, format StockFormat) (file []byte, _ error) {
	k := get("orders/" + url.PathEscape(orderID) + "/stock?format=" + url.QueryEscape(string(format)))
	k.limit, k.file = largeAnswer, true
	meta, _, err := c.repeat(ctx, k, nil)
	return meta.Body, err
}
