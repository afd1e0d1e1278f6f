package client

import (
	"context"
	"errors"
	"time"
)

// Paying is a gift that pays for a sale: exactly one of its three names.
type Paying struct {
	VoucherID          string  `json:"voucherID,omitzero"`
	VoucherCode        string  `json:"voucherCode,omitzero"`
	VoucherPublicToken string  `json:"voucherPublicToken,omitzero"`
	Amount             Decimal `json:"amount,omitzero"` // absent: all that is available, as far as there is something to pay
	VerificationCode   string  `json:"verificationCode,omitzero"`
}

// RedeemGiftsRequest asks to have several gifts pay for one sale, in their order.
type RedeemGiftsRequest struct {
	OrganizationID                          string      `json:"organizationID,omitzero"`
	PointOfSaleSystemOrganizationIdentifier string      `json:"pointOfSaleSystemOrganizationIdentifier,omitzero"`
	Gifts                                   []Paying    `json:"gifts"`               // 1 to 10
	UpTo                                    Decimal     `json:"upTo,omitzero"`       // what is to be paid
	TicketData                              *TicketData `json:"ticketData,omitzero"` // in place of UpTo
	Reference                               string      `json:"reference,omitzero"`

	// Everything says that each gift without an Amount is to pay all that is available, where there is neither UpTo nor
	// TicketData to end that.
	Everything     bool   `json:"-"`
	IdempotencyKey string `json:"-"` // absent: a new one
}

// Share is what one gift paid for a sale.
type Share struct {
	RedemptionID     string  `json:"redemptionID"` // "" if nothing was taken
	VoucherID        string  `json:"voucherID"`
	OrganizationID   string  `json:"organizationID"`
	Amount           Decimal `json:"amount"`
	CurrentBalance   Decimal `json:"currentBalance"`
	HeldBalance      Decimal `json:"heldBalance"`
	AvailableBalance Decimal `json:"availableBalance"`
	Currency         string  `json:"currency"`
	Status           Status  `json:"status"`
	StatusID         int     `json:"statusID"`
	IsRedeemable     bool    `json:"isRedeemable"`
	// NewCard is nil unless the card was replaced: see Redemption.
	NewCard *NewCard `json:"newCard"`
}

// Sale is what several gifts paid together.
type Sale struct {
	Redemptions []Share   `json:"redemptions"` // in the order of the request
	SaleID      string    `json:"saleID"`      // the RedemptionID of the first redemption
	Amount      Decimal   `json:"amount"`      // the sum
	LeftToPay   *Decimal  `json:"leftToPay"`   // of UpTo or the ticket; nil without either
	Currency    string    `json:"currency"`
	RedeemedAt  time.Time `json:"redeemedAt"`
	Reference   string    `json:"reference"`
	Meta        Meta      `json:"-"`
}

// RedeemGifts has several gifts pay for one sale, all or none. If it is not known whether they did, or the sale is
// undone, [Client.ReverseRedemption] with OriginalKey and the Operation [OpRedeemGifts] gives everything back. A till
// that must know for certain before the guest leaves uses [Client.RedeemGiftsSafely].
func (c *Client) RedeemGifts(ctx context.Context, r RedeemGiftsRequest) (*Sale, error) {
	if err := r.saysHowMuch(); err != nil {
		return nil, err
	}
	return c.redeemGifts(ctx, post(OpRedeemGifts, redemptionPath, r, r.IdempotencyKey))
}

// RedeemGiftsSafely has several gifts pay for one sale as a till must: see [Client.RedeemSafely]. If there is no
// answer, it gives back by the key what all of them paid. An IdempotencyKey must be of this sale alone: the service
// cannot tell by the gifts that the key was used for another sale before.
func (c *Client) RedeemGiftsSafely(ctx context.Context, r RedeemGiftsRequest) (*Sale, error) {
	if err := r.saysHowMuch(); err != nil {
		return nil, err
	}
	k := post(OpRedeemGifts, redemptionPath, r, r.IdempotencyKey)
	k.attempts, k.perAttempt = tillAttempts, tillTimeout
	done, err := inTime(ctx, func(ctx context.Context) (*Sale, error) { return c.redeemGifts(ctx, k) })
	return done, c.voidUnknown(ctx, k, err, ReverseRedemptionRequest{OrganizationID: r.OrganizationID,
		PointOfSaleSystemOrganizationIdentifier: r.PointOfSaleSystemOrganizationIdentifier})
}

func (c *Client) redeemGifts(ctx context.Context, k call) (*Sale, error) {
	var a Sale
	return answered(ctx, c, k, &a, &a.Meta)
}

// saysHowMuch refuses a sale that does not say which gifts pay, or how much.
func (r *RedeemGiftsRequest) saysHowMuch() error {
	if len(r.Gifts) == 0 {
		return errors.New("nothing was sent: say which gifts pay")
	}
	for _, g := range r.Gifts {
		if g.Amount == (Decimal{}) && r.UpTo == (Decimal{}) && r.TicketData == nil && !r.Everything {
			return errors.New("nothing was sent: say what is to be paid (UpTo or TicketData), or an Amount of each " +
				"gift, or Everything")
		}
	}
	return nil
}
