package client

import "context"

// Cause is why gifts are taken out of use.
type Cause string

// The causes.
const (
	CausePurchaseFailed Cause = "PURCHASE_FAILED" // the purchase failed; only while nothing was redeemed or transferred
	CauseCancelled      Cause = "CANCELLED"
)

// CancelGiftRequest asks to take gifts out of use: exactly one of the first three members says which.
type CancelGiftRequest struct {
	// needed with a system integrator key that serves several accounts
	AccountID string `json:"accountID,omitzero"`
	VoucherID string `json:"voucherID,omitzero"`
	// all gifts of one SendGift
	OrderID string `json:"orderID,omitzero"`
	// all gifts of one purchase
	ExternalTransactionReferenceNumber string `json:"externalTransactionReferenceNumber,omitzero"`
	// beside the reference: where the purchase was made
	ExternalStorefrontID string `json:"externalStorefrontID,omitzero"`
	Cause                Cause  `json:"cause,omitzero"`
	Reason               string `json:"reason,omitzero"`
	SkipNotAllowed       bool   `json:"skipNotAllowed,omitzero"` // does what can be done; absent: all or none
	ReleaseHolds         bool   `json:"releaseHolds,omitzero"`   // first; absent: gifts with open holds are refused

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Cancellation tells how the gifts stand afterwards.
type Cancellation struct {
	Vouchers []CancelledVoucher `json:"vouchers"`
	Meta     Meta               `json:"-"`
}

// CancelledVoucher is one gift that was taken out of use, or brought back into it.
type CancelledVoucher struct {
	VoucherID        string  `json:"voucherID"`
	Status           Status  `json:"status"`
	StatusID         int     `json:"statusID"`
	CurrentBalance   Decimal `json:"currentBalance"`
	HeldBalance      Decimal `json:"heldBalance"`      // of the current balance, as the next
	AvailableBalance Decimal `json:"availableBalance"` // what can be redeemed or held
	Outcome          Outcome `json:"outcome"`
	Reason           string  `json:"reason"` // of [OutcomeNotAllowed]: why
}

// Outcome is what became of one gift of several.
type Outcome string

// The outcomes.
const (
	OutcomeDone        Outcome = "DONE"
	OutcomeAlreadyDone Outcome = "ALREADY_DONE" // the gift was where it was to go
	OutcomeNotAllowed  Outcome = "NOT_ALLOWED"  // it was skipped
)

// CancelGift takes gifts out of use: all or none, unless SkipNotAllowed says otherwise.
func (c *Client) CancelGift(ctx context.Context, r CancelGiftRequest) (*Cancellation, error) {
	return c.outcomes(ctx, post(OpCancelGift, giftingPath, r, r.IdempotencyKey))
}

// ReinstateGiftRequest asks to take a cancellation, or the report of a failed purchase, back: of one gift or of an
// order.
type ReinstateGiftRequest struct {
	VoucherID string `json:"voucherID,omitzero"`
	OrderID   string `json:"orderID,omitzero"`
	Reason    string `json:"reason,omitzero"`

	IdempotencyKey string `json:"-"` // absent: a new one
}

// ReinstateGift brings gifts back into use as they were before, all or none.
func (c *Client) ReinstateGift(ctx context.Context, r ReinstateGiftRequest) (*Cancellation, error) {
	return c.outcomes(ctx, post(OpReinstateGift, giftingPath, r, r.IdempotencyKey))
}

func (c *Client) outcomes(ctx context.Context, k call) (*Cancellation, error) {
	var a Cancellation
	var err error
	if a.Meta, err = c.do(ctx, k, &a); err != nil {
		return nil, err
	}
	return &a, nil
}
