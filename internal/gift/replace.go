package gift

import (
	"fmt"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Replace asks to give a gift another code, token and page, as its card was lost or is worn.
type Replace struct {
	Context
	Caller  *merchant.Caller
	Reason  string
	Sending bool // a message with the code until now is on its way, and none is to follow it
}

// ErrBlockedDelivery refuses to send the new code of a gift that is blocked. It names a way on which the old code never
// works again.
var ErrBlockedDelivery = refusal.At(refusal.RedemptionNotAllowed, refusal.FieldDeliver, "The gift is blocked, and a "+
	"blocked gift is sent to nobody. Replace the card without deliver; the old code then leads to nothing. Unblock the "+
	"gift, and send it with resend-gift.")

// Replace gives a voucher another code and token: those until now lead to no value any more. Its history and its
// balance stay, and so do its holds and a block. It fails with NOT_FOUND where the caller may not see the gift, and
// REDEMPTION_NOT_ALLOWED or ALREADY_REDEEMED when its status does not allow it, it has expired, or its message is being
// sent.
func (v Voucher) Replace(r Replace) (Voucher, Entry, error) {
	if err := v.sendable(r.Caller, "replaced", r.Now); err != nil {
		return v, Entry{}, err
	}
	if r.Sending {
		return v, Entry{}, v.cannotBe("replaced", itIsSent)
	}
	e := v.enter(r.Context, Replaced, 0, v.Status)
	e.Reason, v.Replaced = r.Reason, e.Seq
	return v, e, nil
}

// ReplacedError tells that a code or token is of a card that was replaced.
type ReplacedError struct {
	Voucher Voucher
	At      time.Time // when it was
}

// Error implements error.
func (e *ReplacedError) Error() string {
	return fmt.Sprintf("the card of gift %s was replaced at %s", e.Voucher.ID, e.At.UTC().Format(time.RFC3339))
}

// months stand in the date of a replacement.
var months = [...]phrase.Text{"January", "February", "March", "April", "May", "June", "July", "August", "September",
	"October", "November", "December"}

// Refusal is what somebody with the card is told, in a zone; nil is UTC. It says nothing of the new card.
func (e *ReplacedError) Refusal(zone *time.Location) *refusal.Error {
	if zone == nil {
		zone = time.UTC
	}
	at := e.At.In(zone)
	return refusal.New(refusal.RedemptionNotAllowed, "This card was replaced on %d %s %d.", at.Day(),
		months[at.Month()-1], at.Year())
}

// SameCard refuses a voucher whose card was replaced since it was found by a code or token: seen is what Replaced was
// then; nil: it was named by its id.
func (v *Voucher) SameCard(seen *int, now time.Time, zone *time.Location) error {
	if seen == nil || *seen == v.Replaced {
		return nil
	}
	return (&ReplacedError{*v, now}).Refusal(zone) // a moment ago
}
