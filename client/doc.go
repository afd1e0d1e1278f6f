// Package client speaks the JSON interface of Boon, the gift-card service.
//
// A [Client] is made once and shared by all goroutines. Its methods are named after the endpoints: [Client.SendGift],
// [Client.ValidateGift], [Client.RedeemGift], [Client.ReverseRedemption], [Client.CancelGift],
// [Client.ReinstateGift], [Client.ResendGift], [Client.RescheduleGift], [Client.BlockGift],
// [Client.UnblockGift], [Client.AdjustGift], [Client.ExtendGift], [Client.LinkCustomer], and the
// look-ups [Client.Gift], [Client.Gifts], [Client.History] and [Client.RequestStatus]. [Client.RedeemSafely] is what a
// till wants in place of RedeemGift.
//
// # Money is exact
//
// Amounts are [Decimal]: decimal numbers that are never turned into a float, on the way out or on the way in. Who
// means all of a gift, or of a redemption, says All: a request without an amount is not sent.
//
// # Repeating is safe
//
// Every call that changes something carries an Idempotency-Key: the one in the request, else a new one. The service
// does the work at most once for each key, so the client repeats a call whose outcome it does not know (the
// connection broke, the service was overloaded, the answer was lost), always under the same key, with growing random
// pauses, as often as [WithAttempts] says and never beyond the context's deadline. What the service refuses for good
// is not repeated.
//
// # Errors
//
// The service's refusals are [*Error], whose [Code] can be asked for:
//
//	if errors.Is(err, client.AlreadyRedeemed) { … }
//
// [Refused] tells a definite no, after which nothing was changed, from everything else. When a call that changes
// something got no definite answer in any attempt, the error is an [*UnknownOutcome] and holds the key to ask again
// with.
//
// What is absent or null is the zero value: "", a zero time, a zero Decimal. Members that are newer than this package
// are in [Meta].Body. No error and no text of this package contains the API key, and none contains a voucher code or
// token that the service did not put into its message.
package client
