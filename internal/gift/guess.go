package gift

import "time"

// Guessing limits: how many wrong voucher codes are answered before the answer is RATE_LIMITED. Only codes count; tokens, voucher ids and
// reversals are never limited.
const (
	GuessBurst     = 20        // misses in a row, per key and location
	GuessRefill    = time.Hour // one more after this long
	GuessReward    = 3         // given back by each redemption of a gift that this key and location had not redeemed before
	StrangerBurst  = 10        // attempts without a valid key, per client network
	StrangerRefill = time.Minute / 10
)

// What a look-up by code costs.
const (
	MissUnknown = 1 // there is no gift with this code
	MissForeign = 3 // the gift is another account's: nobody mistypes that often
)

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
