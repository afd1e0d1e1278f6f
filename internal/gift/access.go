package gift

import (
	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// UsableBy reports whether a caller may see and manage the voucher, which is of the caller's account. A caller that is
// limited to locations may do so where the voucher is good at one of them only; a voucher that is good everywhere is
// not. A system key may do so where its integrator made the voucher.
func (v *Voucher) UsableBy(c *merchant.Caller) bool {
	if c.Kind == merchant.SystemKey {
		return v.MadeBy == c.Integrator()
	}
	return c.Enabled(v.LocationID)
}

// CheckUse judges a gift that was looked up by its code or token, for use at a location of the account that asks. It
// refuses what is not there (v is nil) with missing, and what is not the account's or not good at the location with
// NOT_AUTHORIZED, and tells what that costs as a guess. A gift of the account itself costs nothing, wherever it may
// be used.
func CheckUse(account guid.ID, v *Voucher, at guid.ID, missing func() *refusal.Error) (cost int, _ error) {
	notAuthorized := func(text phrase.Text) error {
		return refusal.At(refusal.NotAuthorized, missing().Messages[0].Field, text)
	}
	switch {
	case v == nil:
		return merchant.MissUnknown, missing()
	case v.AccountID != account:
		return merchant.MissForeign, notAuthorized("This gift cannot be used here.")
	case !v.AllowedAt(at):
		return 0, notAuthorized(goodElsewhere)
	}
	return 0, nil
}
