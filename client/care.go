package client

import (
	"context"
	"time"
)

// ReasonCode says in one word why a gift was blocked, or its balance adjusted.
type ReasonCode string

// The reasons: the first for blocks, those after ReasonFraud for adjustments, and ReasonFraud for both.
const (
	ReasonLost             ReasonCode = "LOST"
	ReasonStolen           ReasonCode = "STOLEN"
	ReasonChargeback       ReasonCode = "CHARGEBACK"
	ReasonOther            ReasonCode = "OTHER"
	ReasonVerificationCode ReasonCode = "VERIFICATION_CODE" // the service's own: too many wrong ones
	ReasonFraud            ReasonCode = "FRAUD"
	ReasonComplimentary    ReasonCode = "COMPLIMENTARY"
	ReasonSupport          ReasonCode = "SUPPORT"
	ReasonMistake          ReasonCode = "MISTAKE"
	ReasonPurchaseRefunded ReasonCode = "PURCHASE_REFUNDED"
	ReasonMigration        ReasonCode = "MIGRATION"
)

// BlockGiftRequest asks that a gift is not used until further notice.
type BlockGiftRequest struct {
	VoucherID  string     `json:"voucherID,omitzero"`
	ReasonCode ReasonCode `json:"reasonCode,omitzero"`
	Reason     string     `json:"reason,omitzero"`

	IdempotencyKey string `json:"-"` // absent: a new one
}

// UnblockGiftRequest asks that a blocked gift can be used again.
type UnblockGiftRequest struct {
	VoucherID string `json:"voucherID,omitzero"`
	Reason    string `json:"reason,omitzero"`

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Blocked tells whether a gift is blocked now.
type Blocked struct {
	VoucherID     string     `json:"voucherID"`
	BlockedReason ReasonCode `json:"blockedReason"` // "": it is not blocked
	Status        Status     `json:"status"`
	StatusID      int        `json:"statusID"`
	Outcome       Outcome    `json:"outcome"`
	Meta          Meta       `json:"-"`
}

// BlockGift keeps a gift from being redeemed, held or sent, until [Client.UnblockGift]. Its status and balance stay.
func (c *Client) BlockGift(ctx context.Context, r BlockGiftRequest) (*Blocked, error) {
	var a Blocked
	return answered(ctx, c, post(OpBlockGift, giftingPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// UnblockGift lets a blocked gift be used again.
func (c *Client) UnblockGift(ctx context.Context, r UnblockGiftRequest) (*Blocked, error) {
	var a Blocked
	return answered(ctx, c, post(OpUnblockGift, giftingPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// LinkCustomerRequest asks that a gift is found by a customer, see [GiftsFilter].
type LinkCustomerRequest struct {
	VoucherID  string `json:"voucherID,omitzero"`
	CustomerID string `json:"customerID,omitzero"` // the caller's own id of the customer

	IdempotencyKey string `json:"-"` // absent: a new one
}

// UnlinkCustomerRequest asks that a gift is found by its customer no more.
type UnlinkCustomerRequest struct {
	VoucherID  string `json:"voucherID,omitzero"`
	CustomerID string `json:"customerID,omitzero"` // only if it is linked to this customer; absent: to whomever

	IdempotencyKey string `json:"-"` // absent: a new one
}

// CustomerLink tells whether a gift is linked to a customer now. To whom, the gift itself says.
type CustomerLink struct {
	VoucherID string  `json:"voucherID"`
	Linked    bool    `json:"linked"`
	Status    Status  `json:"status"`
	StatusID  int     `json:"statusID"`
	EntryID   string  `json:"entryID"` // "": it was so already
	Outcome   Outcome `json:"outcome"`
	Meta      Meta    `json:"-"`
}

// LinkCustomer links a gift to a customer. It restricts nothing: whoever has the code redeems the gift. A gift that is
// linked to another customer is [CodeAlreadyLinked].
func (c *Client) LinkCustomer(ctx context.Context, r LinkCustomerRequest) (*CustomerLink, error) {
	var a CustomerLink
	return answered(ctx, c, post(OpLinkCustomer, giftingPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// UnlinkCustomer ends the link of a gift to a customer.
func (c *Client) UnlinkCustomer(ctx context.Context, r UnlinkCustomerRequest) (*CustomerLink, error) {
	var a CustomerLink
	return answered(ctx, c, post(OpUnlinkCustomer, giftingPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// AdjustGiftRequest asks to correct a balance.
type AdjustGiftRequest struct {
	VoucherID  string     `json:"voucherID,omitzero"`
	Amount     Decimal    `json:"amount,omitzero"` // what to add; below zero, what to take
	ReasonCode ReasonCode `json:"reasonCode,omitzero"`
	Reason     string     `json:"reason,omitzero"` // 3 characters at least

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Adjustment is the correction of a balance.
type Adjustment struct {
	AdjustmentID string `json:"adjustmentID"`
	Changed
	AdjustedAt time.Time  `json:"adjustedAt"`
	ReasonCode ReasonCode `json:"reasonCode"`
	Reason     string     `json:"reason"`
	Meta       Meta       `json:"-"`
}

// AdjustGift adds to the balance of a gift, or takes of it what is not held.
func (c *Client) AdjustGift(ctx context.Context, r AdjustGiftRequest) (*Adjustment, error) {
	var a Adjustment
	return answered(ctx, c, post(OpAdjustGift, giftingPath, r, r.IdempotencyKey), &a, &a.Meta)
}

// ExtendGiftRequest asks to make a promotional gift valid for longer.
type ExtendGiftRequest struct {
	VoucherID  string    `json:"voucherID,omitzero"`
	ValidUntil time.Time `json:"validUntil,omitzero"` // the first instant at which it is no longer valid

	IdempotencyKey string `json:"-"` // absent: a new one
}

// Extension tells until when a gift is valid now.
type Extension struct {
	VoucherID    string    `json:"voucherID"`
	ValidUntil   time.Time `json:"validUntil"`
	Status       Status    `json:"status"`
	StatusID     int       `json:"statusID"`
	IsRedeemable bool      `json:"isRedeemable"`
	Meta         Meta      `json:"-"`
}

// ExtendGift makes a promotional gift valid for longer, also when it has expired.
func (c *Client) ExtendGift(ctx context.Context, r ExtendGiftRequest) (*Extension, error) {
	var a Extension
	return answered(ctx, c, post(OpExtendGift, giftingPath, r, r.IdempotencyKey), &a, &a.Meta)
}
