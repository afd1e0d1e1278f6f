package client

import (
	"context"
	"time"
)

// ReplaceGiftRequest asks to give a gift another code, as its card was lost.
type ReplaceGiftRequest struct {
	VoucherID string    `json:"voucherID,omitzero"`
	Reason    string    `json:"reason,omitzero"`
	Deliver   *Delivery `json:"deliver,omitzero"` // absent: the gift is sent nowhere, and the answer has its code

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Delivery is where a gift is sent.
type Delivery struct {
	DeliveryMethodID DeliveryMethod `json:"deliveryMethodID"`
	RecipientContact string         `json:"recipientContact,omitzero"` // absent: where it was sent before
}

// ReplacedGift is a gift with its new code, and where it can be seen.
type ReplacedGift struct {
	ResentGift
	Sent       bool      `json:"sent"` // whether it was to be delivered
	ReplacedAt time.Time `json:"replacedAt"`
}

// ReplaceGift gives a gift another code, token and page. Those until now are refused with [RedemptionNotAllowed].
func (c *Client) ReplaceGift(ctx context.Context, r ReplaceGiftRequest) (*ReplacedGift, error) {
	var g ReplacedGift
	return answered(ctx, c, post(OpReplaceGift, giftingPath, r, r.IdempotencyKey), &g, &g.Meta)
}
