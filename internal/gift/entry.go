package gift

import (
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Entry is one row of a gift's history: one change of its balance, its status, or of how it is delivered. Entries are
// only ever added. A balance is that of the first entry and the sum of all Deltas; what is held is the sum of all Held.
type Entry struct {
	ID        guid.ID // also names the redemption, the reversal or the hold that it is
	AccountID guid.ID
	VoucherID guid.ID
	Seq       int     // 1 for the first
	Previous  guid.ID // the entry before it, zero for the first
	Kind      Kind
	Delta     money.Amount // what it added to the balance; a redemption's is negative
	Balance   money.Amount // after it
	Status    Status       // after it
	At        time.Time
	Actor     merchant.Actor
	Reverses  guid.ID      // of a reversal: the entry it undoes
	HoldID    guid.ID      // the hold that a redemption captures of, or that is released or expired
	Held      money.Amount // what it added to what is held
	HeldAfter money.Amount // what is held after it; HeldUnknown: nobody noted that
	Until     time.Time    // of a hold: when it expires; of an extension: the new end
	Reference string       // of a redemption and a hold: the till's own id
	Reason    string       // what the caller or the gateway said of the cause; of a resend, what it changed
	RequestID string       // the X-Request-ID of the call that caused it
	Details
}

// HeldUnknown is the HeldAfter of entries that were made before it was noted.
const HeldUnknown money.Amount = -1

// Available is what of the balance was not held after the entry; ok is false where that was not noted.
func (e *Entry) Available() (_ money.Amount, ok bool) {
	return e.Balance - e.HeldAfter, e.HeldAfter != HeldUnknown
}

// EventType is what the entry is as an event.
func (e *Entry) EventType() EventType {
	if e.Kind == Redemption && !e.HoldID.IsZero() {
		return EventHoldCaptured
	}
	return e.Kind.EventType()
}

// Details are what few kinds of entry have.
type Details struct {
	ReasonCode      ReasonCode // of an adjustment and a block; of a reversal, ReasonCashOut or none
	Counterpart     guid.ID    // of a transfer: the entry of the other gift
	CounterpartGift guid.ID    // of a transfer: the other gift
	Purchase        Purchase   // of an activation and a reload: what paid for it
	IssuedOn        time.Time  // of an import: the day on which another system issued the gift; zero: it did not say
	// Of entries that one call made of several gifts, by RedeemGifts or by giving that back as a whole: the first of
	// them, and the next one.
	Sale, Next guid.ID
	Link       CustomerLink // what became of the link to a customer
}

// ReasonCode says in one word why somebody changed a gift.
type ReasonCode string

// Context is what every command carries beside its own arguments: the id of the entry to be made, who asks, and when.
type Context struct {
	EntryID   guid.ID
	Actor     merchant.Actor
	Now       time.Time
	RequestID string
}

// enter makes the next entry of v's history and applies it to v.
func (v *Voucher) enter(c Context, kind Kind, delta money.Amount, status Status) Entry {
	previous := v.Last
	v.Seq++
	v.Last = c.EntryID
	v.Balance += delta
	if kind.Loads() {
		v.Funded += delta
	}
	v.Status = status
	return Entry{
		ID: c.EntryID, AccountID: v.AccountID, VoucherID: v.ID, Seq: v.Seq, Previous: previous, Kind: kind,
		Delta: delta, Balance: v.Balance, HeldAfter: sumOf(v.Holds),
		Status: status, At: c.Now, Actor: c.Actor, RequestID: c.RequestID,
	}
}
