package client

import (
	"context"
	"time"
)

// TransferBalanceRequest asks to move value from one gift to another.
type TransferBalanceRequest struct {
	FromVoucherID string  `json:"fromVoucherID,omitzero"`
	ToVoucherID   string  `json:"toVoucherID,omitzero"`
	Amount        Decimal `json:"amount,omitzero"` // this or All

	All            bool   `json:"-"` // in place of Amount: all that is available
	IdempotencyKey string `json:"-"` // absent: a new one
}

// Transfer is value that was moved from one gift to another.
type Transfer struct {
	Amount        Decimal     `json:"amount"`
	Currency      string      `json:"currency"` // "" for item gifts
	From          Transferred `json:"from"`
	To            Transferred `json:"to"`
	TransferredAt time.Time   `json:"transferredAt"`
	Meta          Meta        `json:"-"`
}

// Transferred is one of the two gifts of a transfer, as it is afterwards.
type Transferred struct {
	VoucherID        string  `json:"voucherID"`
	EntryID          string  `json:"entryID"` // in its history
	CurrentBalance   Decimal `json:"currentBalance"`
	HeldBalance      Decimal `json:"heldBalance"`
	AvailableBalance Decimal `json:"availableBalance"`
	Status           Status  `json:"status"`
	StatusID         int     `json:"statusID"`
}

// TransferBalance moves value from one gift to another of the same kind.
func (c *Client) TransferBalance(ctx context.Context, r TransferBalanceRequest) (*Transfer, error) {
	if err := howMuch(r.Amount, r.All); err != nil {
		return nil, err
	}
	var a Transfer
	return answered(ctx, c, post(OpTransferBalance, giftingPath, r, r.IdempotencyKey), &a, &a.Meta)
}
