package gift

// NoSuchGift is told of an id that names no gift, one of another account, or one of a location that the caller
// is not enabled for: there is one sentence for all of them, so that it tells nothing.
func NoSuchGift() *Error { return RefuseAt(NotFound, FieldGift, noSuchGift) }

const noSuchGift = "This account has no such gift."

// NoSuchRedemption is the same for a redemption.
func NoSuchRedemption() *Error {
	return RefuseAt(NotFound, FieldRedemption, "This account has no such redemption.")
}

// NoSuchHold is the same for a hold.
func NoSuchHold() *Error { return RefuseAt(NotFound, FieldHold, "This account has no such hold.") }

// NoSuchReload is the same for a reload.
func NoSuchReload() *Error {
	return RefuseAt(NotFound, FieldReload, "This account has no such reload.")
}

// NoSuchActivation is the same for an activation.
func NoSuchActivation() *Error {
	return RefuseAt(NotFound, FieldActivation, "This account has no such activation.")
}
