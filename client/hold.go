package client

import (
	"context"
	"time"
)

// HoldGiftRequest asks to hold something of a gift for one sale: what a redemption would take, for a while.
type HoldGiftRequest struct {
	RedeemGiftRequest
	ExpiresInSeconds int `json:"expiresInSeconds,omitzero"` // 60 to 2,592,000; 0: 900
}

// Hold is an amount of a gift that is kept for one sale.
type Hold struct {
	HoldID           string    `json:"holdID"`
	VoucherID        string    `json:"voucherID"`
	OrganizationID   string    `json:"organizationID"`
	Amount           Decimal   `json:"amount"`
	CurrentBalance   Decimal   `json:"currentBalance"` // which a hold does not change
	HeldBalance      Decimal   `json:"heldBalance"`    // by all holds
	AvailableBalance Decimal   `json:"availableBalance"`
	Currency         string    `json:"currency"` // "" for an item gift
	ExpiresAt        time.Time `json:"expiresAt"`
	Reference        string    `json:"reference"`
	NewCard          *NewCard  `json:"newCard"` // see Redemption
	Meta             Meta      `json:"-"`
}

// HoldGift keeps an amount of money, or a quantity of items, until it is captured or released, or its time is over.
func (c *Client) HoldGift(ctx context.Context, r HoldGiftRequest) (*Hold, error) {
	if err := howMuch(r.Amount, r.All); err != nil {
		return nil, err
	}
	var a Hold
	return answered(ctx, c, post(OpHoldGift, redemptionPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// CaptureHoldRequest asks to redeem what is held.
type CaptureHoldRequest struct {
	HoldID    string  `json:"holdID"`
	Amount    Decimal `json:"amount,omitzero"` // this or All
	Final     *bool   `json:"final,omitzero"`  // absent: true, what is not captured is released
	Reference string  `json:"reference,omitzero"`

	All            bool   `json:"-"` // in place of Amount: all that is held
	IdempotencyKey string `json:"-"` // absent: a new one
}

// Capture is the redemption of what was held.
type Capture struct {
	HoldID string `json:"holdID"`
	Redemption
}

// CaptureHold redeems what is held.
func (c *Client) CaptureHold(ctx context.Context, r CaptureHoldRequest) (*Capture, error) {
	if err := howMuch(r.Amount, r.All); err != nil {
		return nil, err
	}
	var a Capture
	return answered(ctx, c, post(OpCaptureHold, redemptionPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// ReleaseHoldRequest asks to end a hold, named by HoldID or, when its answer never came, by the Idempotency-Key it was
// made with.
type ReleaseHoldRequest struct {
	HoldID      string `json:"holdID,omitzero"`
	OriginalKey string `json:"idempotencyKey,omitzero"` // of the hold
	// At most one of these, beside OriginalKey: the gift that the hold was of. A key that was used before, for
	// another gift, is then [IdempotencyMismatch] and releases nothing.
	VoucherID          string `json:"voucherID,omitzero"`
	VoucherCode        string `json:"voucherCode,omitzero"`
	VoucherPublicToken string `json:"voucherPublicToken,omitzero"`

	IdempotencyKey string `json:"-"` // of the release itself; absent: a new one
}

// Release is the end of a hold.
type Release struct {
	HoldID           string    `json:"holdID"`
	VoucherID        string    `json:"voucherID"`
	OrganizationID   string    `json:"organizationID"`
	Amount           Decimal   `json:"amount"` // what was still held
	CurrentBalance   Decimal   `json:"currentBalance"`
	HeldBalance      Decimal   `json:"heldBalance"` // by other holds
	AvailableBalance Decimal   `json:"availableBalance"`
	Currency         string    `json:"currency"` // "" for an item gift
	ReleasedAt       time.Time `json:"releasedAt"`
	Reference        string    `json:"reference"` // of the hold
	Meta             Meta      `json:"-"`
}

// ReleaseHold ends a hold. By OriginalKey, [NotFound] is good news: that hold never arrived, and will be refused should
// it still come.
func (c *Client) ReleaseHold(ctx context.Context, r ReleaseHoldRequest) (*Release, error) {
	var a Release
	return answered(ctx, c, post(OpReleaseHold, redemptionPath, r, r.IdempotencyKey), &a, &a.Meta)
}
