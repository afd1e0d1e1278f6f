package client

import (
	"context"
	"time"
)

// ReloadGiftRequest asks to put more value into a gift that was paid for. Exactly one of VoucherID, VoucherCode and
// VoucherPublicToken is given.
type ReloadGiftRequest struct {
	OrganizationID                          string        `json:"organizationID,omitzero"`
	PointOfSaleSystemOrganizationIdentifier string        `json:"pointOfSaleSystemOrganizationIdentifier,omitzero"`
	VoucherID                               string        `json:"voucherID,omitzero"`
	VoucherCode                             string        `json:"voucherCode,omitzero"`
	VoucherPublicToken                      string        `json:"voucherPublicToken,omitzero"`
	Amount                                  Decimal       `json:"amount,omitzero"`
	PricePaid                               Decimal       `json:"pricePaid,omitzero"` // absent: Amount
	PaymentMethodID                         PaymentMethod `json:"paymentMethodID,omitzero"`
	ExternalPayment
	Reference  string `json:"reference,omitzero"`  // the till's own id of the sale
	CustomerID string `json:"customerID,omitzero"` // your own id of the customer to whom the gift is linked

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Reload is value that was put into a gift.
type Reload struct {
	ReloadID string `json:"reloadID"`
	Changed
	OrganizationID string    `json:"organizationID"`
	IsRedeemable   bool      `json:"isRedeemable"`
	ReloadedAt     time.Time `json:"reloadedAt"`
	Reference      string    `json:"reference"`
	Receipt        *Receipt  `json:"receipt"` // nil unless [Client.Receipts] asks for it
	Meta           Meta      `json:"-"`
}

// ReloadGift puts more value into a gift.
func (c *Client) ReloadGift(ctx context.Context, r ReloadGiftRequest) (*Reload, error) {
	var a Reload
	return answered(ctx, c, post(OpReloadGift, redemptionPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// ReverseReloadRequest asks to take a reload back, named by ReloadID or, when its answer never came, by the
// Idempotency-Key it was made with.
type ReverseReloadRequest struct {
	ReloadID    string `json:"reloadID,omitzero"`
	OriginalKey string `json:"idempotencyKey,omitzero"` // of the reload
	// At most one of these, beside OriginalKey: the gift that the reload was of. A key that was used before, for
	// another gift, is then [IdempotencyMismatch] and takes nothing back.
	VoucherID          string `json:"voucherID,omitzero"`
	VoucherCode        string `json:"voucherCode,omitzero"`
	VoucherPublicToken string `json:"voucherPublicToken,omitzero"`

	IdempotencyKey string `json:"-"` // of the reversal itself; absent: a new one
}

// ReloadReversal is a reload that was taken back.
type ReloadReversal struct {
	ReversalID string `json:"reversalID"`
	Changed
	ReloadID       string    `json:"reloadID"`
	OrganizationID string    `json:"organizationID"` // where it was loaded
	IsRedeemable   bool      `json:"isRedeemable"`
	ReversedAt     time.Time `json:"reversedAt"`
	Meta           Meta      `json:"-"`
}

// ReverseReload takes a reload back as a whole, while that much is available. By OriginalKey, [NotFound] is good news:
// that reload never arrived, and will be refused should it still come.
func (c *Client) ReverseReload(ctx context.Context, r ReverseReloadRequest) (*ReloadReversal, error) {
	var a ReloadReversal
	return answered(ctx, c, post(OpReverseReload, redemptionPath, r, r.IdempotencyKey), &a, &a.Meta)
}
