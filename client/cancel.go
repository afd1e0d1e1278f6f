package client

import "context"

// Cause is why gifts are taken out of use.
type Cause string

// The causes.
const (
	CausePurchaseFailed Cause = "PURCHASE_FAILED" // the external purchase failed; only while nothing was redeemed
	CauseCancelled      Cause = "CANCELLED"
)

// CancelGiftRequest asks to take gifts out of use: exactly one of the first three members says which.
type CancelGiftRequest struct {
	VoucherID                          string `json:"voucherID,omitzero"`
	OrderID                            string `json:"orderID,omitzero"`                            // all gifts of one SendGift
	ExternalTransactionReferenceNumber string `json:"externalTransactionReferenceNumber,omitzero"` // all gifts of one purchase
	Cause                              Cause  `json:"cause,omitzero"`
	Reason                             string `json:"reason,omitzero"`

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Cancellation tells how the gifts stand afterwards.
type Cancellation struct {
	Vouchers []CancelledVoucher `json:"vouchers"`
	Meta     Meta               `json:"-"`
}

// CancelledVoucher is one gift that was taken out of use.
type CancelledVoucher struct {
	VoucherID      string  `json:"voucherID"`
	Status         Status  `json:"status"`
	StatusID       int     `json:"statusID"`
	CurrentBalance Decimal `json:"currentBalance"`
}

// CancelGift takes gifts out of use, all or none.
func (c *Client) CancelGift(ctx context.Context, r CancelGiftRequest) (*Cancellation, error) {
	k := post(OpCancelGift, giftingPath, r, r.IdempotencyKey)
	var a Cancellation
	var err error
	if a.Meta, err = c.do(ctx, k, &a); err != nil {
		return nil, err
	}
	return &a, nil
}
