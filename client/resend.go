package client

import (
	"context"
	"time"
)

// ResendGiftRequest asks to send a gift again. What is left out stays as it is.
type ResendGiftRequest struct {
	VoucherID        string         `json:"voucherID,omitzero"`
	DeliveryMethodID DeliveryMethod `json:"deliveryMethodID,omitzero"`
	// needed with another DeliveryMethodID, unless that is Printed
	RecipientContact string `json:"recipientContact,omitzero"`
	// WithOrder sends a gift that goes to its buyer with the others of its order, in one e-mail.
	WithOrder bool `json:"withOrder,omitzero"`

	IdempotencyKey string `json:"-"` // absent: a new one
}

// RescheduleGiftRequest asks for another delivery date of a gift that waits. The present time sends it at once.
type RescheduleGiftRequest struct {
	VoucherID          string    `json:"voucherID,omitzero"`
	DeliveryDate       time.Time `json:"deliveryDate,omitzero"`
	DeliveryTimezoneID string    `json:"deliveryTimezoneId,omitzero"` // IANA or Windows id; absent: as before

	IdempotencyKey string `json:"-"` // absent: a new one
}

// ResentGift is a gift that is on its way again, or waits for another date, and where it can be seen.
type ResentGift struct {
	Voucher
	// PrintURL is a PDF of a printed gift, "" of others and for a key without the permission codes; whoever has it can
	// spend the gift.
	PrintURL string `json:"printURL"`
	// NotPrintable are the members of a printed gift with characters that are left out on paper.
	NotPrintable []string `json:"notPrintable"`
}

// ResendGift sends a gift again, to the same address, a corrected one, or by another method. After ten times within a
// day it fails with [RateLimited] and an [Error].RetryAfter of hours.
func (c *Client) ResendGift(ctx context.Context, r ResendGiftRequest) (*ResentGift, error) {
	return c.resent(ctx, post(OpResendGift, giftingPath, r, r.IdempotencyKey))
}

// RescheduleGift changes when a gift that waits is delivered.
func (c *Client) RescheduleGift(ctx context.Context, r RescheduleGiftRequest) (*ResentGift, error) {
	return c.resent(ctx, post(OpRescheduleGift, giftingPath, r, r.IdempotencyKey))
}

func (c *Client) resent(ctx context.Context, k call) (*ResentGift, error) {
	var g ResentGift
	var err error
	if g.Meta, err = c.do(ctx, k, &g); err != nil {
		return nil, err
	}
	return &g, nil
}
