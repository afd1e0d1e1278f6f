package gift

import (
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// OnlyAtTills reports whether the voucher is taken at tills only: whoever guesses its code can pay in no web shop with
// it. Its first use replaces the code with one of Boon's, which is taken everywhere.
func (v *Voucher) OnlyAtTills() bool { return v.TillsOnly && v.Replaced == 0 }

// VerifiedBy is how whoever has the card shows that: by its verification code, or by coming to a till; "": by nothing.
func (v *Voucher) VerifiedBy() string {
	if v.TillsOnly {
		return ByTill
	}
	return v.Verification
}

// ByTill is what VerifiedBy gives of a card that was brought as one for tills only. No verification code is like it, so
// that a program that does not know it takes nothing of the card.
const ByTill = "tills only"

// MayBeTakenBy refuses a voucher that is taken at tills only to a caller that is none; a nil one is this program.
func (v *Voucher) MayBeTakenBy(c *merchant.Caller) error {
	if c == nil || !v.OnlyAtTills() || c.TakesTillsOnly() {
		return nil
	}
	return refusal.New(refusal.RedemptionNotAllowed, "This card is from another system, and it is taken at tills only.")
}

// UsedFirstAtTill reports whether the card of a voucher is replaced now that it was used: it was taken at tills only,
// and something is left on it.
func (v *Voucher) UsedFirstAtTill() bool { return v.OnlyAtTills() && v.Balance > 0 }

// NewCardOf reports whether the voucher has the card that it got when an entry used it first.
func (v *Voucher) NewCardOf(used *Entry) bool {
	return v.TillsOnly && v.Replaced == used.Seq+1 && (used.Kind == Redemption || used.Kind == HoldMade)
}

// NoNewCard refuses to tell a code that there is not, or that is not the caller's to know.
func NoNewCard() *refusal.Error {
	return refusal.At(refusal.NotFound, "entryID", "No card was replaced by a redemption or hold with this id, that this "+
		"key made within the last 24 hours.")
}

// ReplaceUsed replaces the card of a voucher that was used for the first time at a till.
func (v Voucher) ReplaceUsed(c Context) (Voucher, Entry) {
	e := v.enter(c, Replaced, 0, v.Status)
	e.Reason, v.Replaced = "It was used at a till for the first time.", e.Seq
	return v, e
}
