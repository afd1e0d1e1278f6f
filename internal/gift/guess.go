package gift

import "time"

// Guessing limits: how many wrong voucher codes are answered before the answer is RATE_LIMITED. Only codes count;
// tokens, voucher ids and reversals are never limited.
const (
	GuessBurst  = 20        // misses in a row, per key and location
	GuessRefill = time.Hour // one more after this long
	// given back by each redemption of a gift that this key and location had not redeemed before
	GuessReward     = 3
	AnonymousBurst  = 10 // attempts without a valid key, per client network
	AnonymousRefill = time.Minute / 10
)

// How many wrong PINs of a person are answered before the person rests, at all tills together.
const (
	PINBurst  = 5
	PINRefill = time.Minute // one more after this long
)

// What a look-up by code costs.
const (
	MissUnknown = 1 // there is no gift with this code
	MissForeign = 3 // the gift is another account's: nobody mistypes that often
)

// CheckUse judges a gift that was looked up by its code or token, for use at a location of the caller's account. It
// refuses what is not there (v is nil) with missing, and what is not the account's or not good at the location with
// NOT_AUTHORIZED, and tells what that costs as a guess. A gift of the account itself costs nothing, wherever it may
// be used.
func (c *Caller) CheckUse(v *Voucher, at ID, missing *Error) (cost int, _ error) {
	field := missing.Messages[0].Field
	switch {
	case v == nil:
		return MissUnknown, missing
	case v.AccountID != c.Account.ID:
		return MissForeign, RefuseAt(NotAuthorized, field, "This gift cannot be used here.")
	case !v.AllowedAt(at):
		return 0, RefuseAt(NotAuthorized, field, goodElsewhere)
	}
	return 0, nil
}

// NoSuchCode and NoSuchToken are told of what names no gift.
func NoSuchCode() *Error {
	return RefuseAt(NotFound, FieldCode, "There is no gift with this code.")
}

// NoSuchToken see NoSuchCode.
func NoSuchToken() *Error {
	return RefuseAt(NotFound, FieldToken, "There is no gift with this token.")
}

// GuessAlarm is how many misses of a key, at whatever locations, within GuessAlarmWithin are an event.
const (
	GuessAlarm       = 200
	GuessAlarmWithin = time.Hour
)

// Till is where codes are tried: a key at a location.
type Till struct{ AccountID, KeyID, LocationID ID }

// MissCount counts the misses of a key.
type MissCount struct {
	Since time.Time // of the first that is counted
	Count int64
}

// Add counts n more. alarm tells that GuessAlarm was reached, once in GuessAlarmWithin.
func (m MissCount) Add(now time.Time, n int) (_ MissCount, alarm bool) {
	if age := now.Sub(m.Since); age < 0 || age >= GuessAlarmWithin { // below 0: the clock was ahead
		m = MissCount{Since: now}
	}
	before := m.Count
	m.Count += int64(n)
	return m, before < GuessAlarm && m.Count >= GuessAlarm
}
