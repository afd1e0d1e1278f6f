package gift

import "boon.example/internal/refusal"

// NoSuchGift is told of an id that names no gift, one of another account, or one of a location that the caller
// is not enabled for: there is one sentence for all of them, so that it tells nothing.
func NoSuchGift() *refusal.Error { return refusal.At(refusal.NotFound, refusal.FieldGift, noSuchGift) }

const noSuchGift = "This account has no such gift."

// NoSuchRedemption is the same for a redemption.
func NoSuchRedemption() *refusal.Error {
	return refusal.At(refusal.NotFound, refusal.FieldRedemption, "This account has no such redemption.")
}

// NoSuchHold is the same for a hold.
func NoSuchHold() *refusal.Error {
	return refusal.At(refusal.NotFound, refusal.FieldHold, "This account has no such hold.")
}

// NoSuchReload is the same for a reload.
func NoSuchReload() *refusal.Error {
	return refusal.At(refusal.NotFound, refusal.FieldReload, "This account has no such reload.")
}

// NoSuchActivation is the same for an activation.
func NoSuchActivation() *refusal.Error {
	return refusal.At(refusal.NotFound, refusal.FieldActivation, "This account has no such activation.")
}

// NoSuchCode and NoSuchToken are told of what names no gift.
func NoSuchCode() *refusal.Error {
	return refusal.At(refusal.NotFound, refusal.FieldCode, "There is no gift with this code.")
}

// NoSuchActivationCode is told of what no card of the account is sold by.
func NoSuchActivationCode() *refusal.Error {
	return refusal.At(refusal.NotFound, refusal.FieldActivationCode, "There is no card with this activation code.")
}

// NoSuchToken see NoSuchCode.
func NoSuchToken() *refusal.Error {
	return refusal.At(refusal.NotFound, refusal.FieldToken, "There is no gift with this token.")
}
