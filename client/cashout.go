package client

import (
	"context"
	"time"
)

// CashOutGiftRequest asks to pay the rest of a gift out in cash. Exactly one of VoucherID, VoucherCode and
// VoucherPublicToken is given.
type CashOutGiftRequest struct {
	OrganizationID                          string `json:"organizationID,omitzero"`
	PointOfSaleSystemOrganizationIdentifier string `json:"pointOfSaleSystemOrganizationIdentifier,omitzero"`
	VoucherID                               string `json:"voucherID,omitzero"`
	VoucherCode                             string `json:"voucherCode,omitzero"`
	VoucherPublicToken                      string `json:"voucherPublicToken,omitzero"`
	VerificationCode                        string `json:"verificationCode,omitzero"` // of a card that has one

	IdempotencyKey string `json:"-"` // absent: a new one
}

// CashOut is the rest of a gift that was paid out.
type CashOut struct {
	CashOutID string `json:"cashOutID"`
	Changed
	OrganizationID string    `json:"organizationID"`
	CashedOutAt    time.Time `json:"cashedOutAt"`
	Receipt        *Receipt  `json:"receipt"` // nil unless [Client.Receipts] asks for it
	Meta           Meta      `json:"-"`
}

// CashOutGift takes all that is left of a gift as cash, where the law lets a guest ask for it. ReverseRedemption takes
// it back, by the CashOutID or by OriginalKey with the Operation OpCashOutGift.
func (c *Client) CashOutGift(ctx context.Context, r CashOutGiftRequest) (*CashOut, error) {
	var a CashOut
	return answered(ctx, c, post(OpCashOutGift, redemptionPath, r, r.IdempotencyKey), &a, &a.Meta)
}
