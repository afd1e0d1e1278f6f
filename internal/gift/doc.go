// Package gift is the domain: what a gift is, what may be done with it, and what it is worth afterwards.
//
// Everything in it is a pure function of its arguments: (state, command, now) gives (new state, entry) or
// a *refusal.Error that the caller may see. It knows no database, no HTTP and no clock. It imports the standard
// library and pure packages of ours only. A rule that concerns money stands here and nowhere else.
//
// Words: a merchant.Account is a merchant; a merchant.Location is what the interface calls an organization; a Voucher
// is one gift with one balance; a Redemption is one decrement; a Reversal undoes a Redemption, whole or in part.
package gift
