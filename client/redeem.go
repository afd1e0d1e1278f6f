package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// RedeemGiftRequest asks to take something from a gift. Exactly one of VoucherID, VoucherCode and VoucherPublicToken
// is given.
type RedeemGiftRequest struct {
	OrganizationID                          string  `json:"organizationID,omitzero"`
	PointOfSaleSystemOrganizationIdentifier string  `json:"pointOfSaleSystemOrganizationIdentifier,omitzero"`
	VoucherID                               string  `json:"voucherID,omitzero"`
	VoucherCode                             string  `json:"voucherCode,omitzero"`
	VoucherPublicToken                      string  `json:"voucherPublicToken,omitzero"`
	Amount                                  Decimal `json:"amount,omitzero"` // this or All
	// take what is there when Amount is more
	AllowPartial bool   `json:"allowPartial,omitzero"`
	Reference    string `json:"reference,omitzero"` // the till's own id of the sale
	// VerificationCode is that of a card that has one, four digits, or the PIN of a card from another system, 4 to 12.
	VerificationCode string `json:"verificationCode,omitzero"`
	Expect
	TicketData *TicketData `json:"ticketData,omitzero"`

	All            bool   `json:"-"` // in place of Amount: all that is left, or all that the ticket allows
	IdempotencyKey string `json:"-"` // absent: a new one
}

// Redemption is one decrement of a gift.
type Redemption struct {
	RedemptionID string `json:"redemptionID"`
	Changed
	OrganizationID string    `json:"organizationID"`
	IsRedeemable   bool      `json:"isRedeemable"`
	RedeemedAt     time.Time `json:"redeemedAt"`
	Reference      string    `json:"reference"`
	GraceUntil     time.Time `json:"graceUntil"` // as [Voucher] has it
	Receipt        *Receipt  `json:"receipt"`    // nil unless [Client.Receipts] asks for it
	NewCard        *NewCard  `json:"newCard"`    // nil unless the card was replaced, as it was used first at a till
	Meta           Meta      `json:"-"`
}

// Changed is what the answer to every change of a balance tells of the gift.
type Changed struct {
	VoucherID        string  `json:"voucherID"`
	Amount           Decimal `json:"amount"`         // of the change; of an adjustment below zero, it was taken
	CurrentBalance   Decimal `json:"currentBalance"` // what is left
	HeldBalance      Decimal `json:"heldBalance"`    // of that, for sales to come
	AvailableBalance Decimal `json:"availableBalance"`
	Currency         string  `json:"currency"` // "" for an item gift
	Status           Status  `json:"status"`
	StatusID         int     `json:"statusID"`
}

// NewCard tells that a card of another system was used first at a till, and that its code works no more:
// [Client.NewCard] tells the new one.
type NewCard struct {
	LastFour string `json:"lastFour"` // of the new code
	Sent     bool   `json:"sent"`     // whether a message brings the recipient the new code
}

// NewCode is the code that a card got as it was used first at a till.
type NewCode struct {
	VoucherID   string   `json:"voucherID"`
	VoucherCode string   `json:"voucherCode"`
	LastFour    string   `json:"lastFour"`
	Lines       []string `json:"lines"` // what a till prints for the guest
	Meta        Meta     `json:"-"`
}

// NewCard tells the new code of a card that a redemption or hold has replaced, for 24 hours, to the key that made it.
func (c *Client) NewCard(ctx context.Context, entryID string) (*NewCode, error) {
	var a NewCode
	k := call{method: http.MethodGet, path: redemptionPath + "new-cards/" + url.PathEscape(entryID), limit: smallAnswer}
	return answered(ctx, c, k, &a, &a.Meta)
}

// RedeemGift takes an amount of money, or a quantity of items, from a gift. When it returns a Redemption, that is
// durable. A till that must know for certain before the guest leaves uses [Client.RedeemSafely].
func (c *Client) RedeemGift(ctx context.Context, r RedeemGiftRequest) (*Redemption, error) {
	if err := howMuch(r.Amount, r.All); err != nil {
		return nil, err
	}
	return c.redeem(ctx, post(OpRedeemGift, redemptionPath, r, r.IdempotencyKey))
}

// howMuch refuses a request that does not say how much it is about: an amount that a program failed to work out must
// not mean everything.
func howMuch(amount Decimal, all bool) error {
	if amount.Given() == all {
		return errors.New("nothing was sent: the request must say an Amount, or else All, and not both")
	}
	return nil
}

func (c *Client) redeem(ctx context.Context, k call) (*Redemption, error) {
	var a Redemption
	var err error
	if a.Meta, err = c.do(ctx, k, &a); err != nil {
		return nil, err
	}
	return &a, nil
}

// inTime gives a call of a till no longer than a till waits.
func inTime[A any](ctx context.Context, do func(context.Context) (A, error)) (A, error) {
	ctx, cancel := context.WithTimeout(ctx, tillDeadline)
	defer cancel()
	return do(ctx)
}

// ReverseRedemptionRequest asks to undo a redemption, named by RedemptionID or, when its answer never came, by the
// Idempotency-Key it was made with.
type ReverseRedemptionRequest struct {
	RedemptionID string    `json:"redemptionID,omitzero"`
	OriginalKey  string    `json:"idempotencyKey,omitzero"` // of the redemption
	Operation    Operation `json:"operation,omitzero"`      // of that key; absent: OpRedeemGift
	// At most one of these, beside OriginalKey: the gift that the redemption was of. A key that was used before, for
	// another gift, is then [IdempotencyMismatch] and gives nothing back.
	VoucherID                               string  `json:"voucherID,omitzero"`
	VoucherCode                             string  `json:"voucherCode,omitzero"`
	VoucherPublicToken                      string  `json:"voucherPublicToken,omitzero"`
	Amount                                  Decimal `json:"amount,omitzero"` // this or All
	Reason                                  string  `json:"reason,omitzero"`
	OrganizationID                          string  `json:"organizationID,omitzero"`
	PointOfSaleSystemOrganizationIdentifier string  `json:"pointOfSaleSystemOrganizationIdentifier,omitzero"`

	All            bool   `json:"-"` // in place of Amount: all that is left of the redemption
	IdempotencyKey string `json:"-"` // of the reversal itself; absent: a new one
}

// Reversal is the undoing of a redemption, whole or in part.
type Reversal struct {
	ReversalID string `json:"reversalID"`
	Changed
	RedemptionID   string    `json:"redemptionID"`
	OrganizationID string    `json:"organizationID"`
	IsRedeemable   bool      `json:"isRedeemable"`
	ReversedAt     time.Time `json:"reversedAt"`
	Reason         string    `json:"reason"`
	// Reversals tells of each gift that got something back, where what several gifts paid for one sale was given back by
	// its key. The other members tell of the first of them.
	Reversals []GivenBack `json:"reversals"`
	Meta      Meta        `json:"-"`
}

// GivenBack is what one of several gifts got back.
type GivenBack struct {
	ReversalID string `json:"reversalID"`
	Changed
	RedemptionID   string    `json:"redemptionID"`
	OrganizationID string    `json:"organizationID"`
	IsRedeemable   bool      `json:"isRedeemable"`
	ReversedAt     time.Time `json:"reversedAt"`
	Reason         string    `json:"reason"`
}

// ReverseRedemption gives back to a gift what a redemption took. By OriginalKey, [NotFound] is good news: that
// redemption never arrived, and will be refused should it still come.
func (c *Client) ReverseRedemption(ctx context.Context, r ReverseRedemptionRequest) (*Reversal, error) {
	if err := howMuch(r.Amount, r.All); err != nil {
		return nil, err
	}
	return c.reverse(ctx, post(OpReverseRedemption, redemptionPath, r, r.IdempotencyKey))
}

func (c *Client) reverse(ctx context.Context, k call) (*Reversal, error) {
	var a Reversal
	var err error
	if a.Meta, err = c.do(ctx, k, &a); err != nil {
		return nil, err
	}
	return &a, nil
}

// How a till behaves: the service decides a redemption within 4 seconds, so 5 are enough for each attempt. The deadline
// is for all attempts and the pauses that the service asks for.
const (
	tillTimeout  = 5 * time.Second
	tillAttempts = 3
	tillDeadline = 20 * time.Second
)

// RedeemSafely redeems as a till must, so that the guest never pays twice and never for nothing. It waits at most 5
// seconds for an answer and tries three times under one key; when there is still none, it reverses the redemption by
// that key, in another three tries. So it ends in one of four ways, within 40 seconds:
//
//   - a Redemption and no error: the amount was taken, once;
//   - an error for which [Refused] holds: nothing was taken, because of what the error says; [IdempotencyMismatch] says
//     that the key was used before, for another sale;
//   - an error for which errors.Is(err, [ErrVoided]) holds: nothing is taken, whatever became of the attempts;
//   - any other error. If it is an [*UnknownOutcome], the reversal got no answer either: keep its IdempotencyKey and
//     call ReverseRedemption with it as OriginalKey, and the gift, until there is an answer. If it is not, nothing was
//     sent.
//
// When ctx ends while the outcome is unknown, the reversal is still made.
func (c *Client) RedeemSafely(ctx context.Context, r RedeemGiftRequest) (*Redemption, error) {
	if err := howMuch(r.Amount, r.All); err != nil {
		return nil, err
	}
	k := post(OpRedeemGift, redemptionPath, r, r.IdempotencyKey)
	k.attempts, k.perAttempt = tillAttempts, tillTimeout
	done, err := inTime(ctx, func(ctx context.Context) (*Redemption, error) { return c.redeem(ctx, k) })
	return done, c.voidUnknown(ctx, k, err, ReverseRedemptionRequest{VoucherID: r.VoucherID, VoucherCode: r.VoucherCode,
		VoucherPublicToken: r.VoucherPublicToken, OrganizationID: r.OrganizationID,
		PointOfSaleSystemOrganizationIdentifier: r.PointOfSaleSystemOrganizationIdentifier})
}

// voidUnknown undoes by its key what a till does not know the outcome of, as err says. Else it gives err. void names
// the gift and the location.
func (c *Client) voidUnknown(ctx context.Context, k call, err error, void ReverseRedemptionRequest) error {
	unknown, ok := errors.AsType[*UnknownOutcome](err)
	if !ok {
		return err
	}
	void.OriginalKey, void.Operation, void.All, void.Reason = k.key, k.op, true, "no answer to the till"
	v := post(OpReverseRedemption, redemptionPath, void, "")
	v.attempts, v.perAttempt = tillAttempts, tillTimeout
	voiding, cancel := context.WithTimeout(context.WithoutCancel(ctx), tillDeadline)
	defer cancel()
	_, failed := c.reverse(voiding, v)
	if failed == nil || errors.Is(failed, AlreadyReversed) || errors.Is(failed, NotFound) {
		return fmt.Errorf("%w: %w", ErrVoided, unknown.Err)
	}
	if errors.Is(failed, IdempotencyMismatch) { // what was taken under this key is another sale's
		return failed
	}
	return &UnknownOutcome{k.op, k.key, errors.Join(unknown.Err, fmt.Errorf("and it could not be voided: %w",
		failed))}
}
