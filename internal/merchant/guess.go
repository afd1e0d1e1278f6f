package merchant

import (
	"crypto/sha256"
	"math/big"
	"time"

	"boon.example/internal/guid"
)

// Guessing limits: how many wrong voucher codes are answered before the answer is RATE_LIMITED. Only codes count;
// tokens, voucher ids and reversals are never limited.
const (
	GuessBurst  = 20        // misses in a row, per key and location
	GuessRefill = time.Hour // one more after this long
	// given back by each redemption of a gift that this key and location had not redeemed before
	GuessReward = 3

	// Of a web shop's platform, for all shoppers together. The ten years of a guesser are as many refills, to which
	// what there is at once adds little.
	ShopGuessBurst = 1000
	// Of a web shop's, and of a location's own share, a redemption gives one back in so many: more than twice what guests
	// need who mistype one code in ten.
	redemptionsForOne = 4

	// The locations of a key have one more each GuessRefill, but no more than so many together.
	SharedGuesses = 4
	// What of a location's own misses comes back where it shares the others.
	ownRefill = 30 * 24 * time.Hour

	AnonymousBurst  = 10 // attempts without a valid key, per client network
	AnonymousRefill = time.Minute / 10
)

// GuessesInAYear is how many wrong codes a key gets answers to in a year, whatever it is a key of. Redemptions, which
// give attempts back, need codes that are known.
const GuessesInAYear = ShopGuessBurst + SharedGuesses*int64(365*24*time.Hour/GuessRefill)

// Guessable reports whether one of so many live codes would be guessed within a year by a key, which tries codes of the
// space that they lie in: whether there are no more tries to a hit than it has.
func Guessable(space *big.Int, live int64) bool {
	hits := new(big.Int).Mul(big.NewInt(live), big.NewInt(GuessesInAYear))
	return hits.Cmp(space) >= 0
}

// How many wrong PINs of a person are answered before the PIN is paused: at one till, so that a till in the wrong hands
// keeps nobody out of the others, and at all tills of the account together.
const (
	PINBurst  = 5
	PINRefill = time.Minute // one more after this long

	// What a till can try for as long as it likes is a third of what all tills have: one till, or two, never rest a PIN
	// everywhere.
	AllTillsPINBurst  = 50
	AllTillsPINRefill = PINRefill / 3
)

// What a look-up by code costs.
const (
	MissUnknown = 1 // there is no gift with this code
	MissForeign = 3 // the gift is another account's: nobody mistypes that often
)

// GuessAlarm is how many misses of a key, at whatever locations, within GuessAlarmWithin are an event; of one with
// many locations it is GuessAlarmPlace for each of them, if that is more.
const (
	GuessAlarm       = 200
	GuessAlarmPlace  = 12
	GuessAlarmWithin = time.Hour
)

// Till is where codes are tried: a key at a location.
type Till struct {
	AccountID, KeyID, LocationID guid.ID

	LocationCount int  // at how many locations the key is used
	Shop          bool // it is a web shop's, or a restaurant's online ordering: guests type the codes
	// Used: codes are compared with those of gifts that the key used before, and no gift is looked up.
	Used  bool
	Share Share // empty: the misses of the key at the location
	// Fresh is of a till that was made within NewTillsWithin: how many locations its account has; 0: it is none.
	Fresh int
}

// FreshTills are all new tills of an account together, as their misses are counted beside those of each: whoever has
// stolen a key that makes tills tries a few codes at each. It is false for any other key.
func (t Till) FreshTills() (all Till, fresh bool) {
	return Till{AccountID: t.AccountID, KeyID: apart("fresh tills", t.AccountID), LocationCount: t.Fresh}, t.Fresh > 0
}

// Share is from what a miss is taken as well where a key has more than SharedGuesses locations: see Till.Shares.
type Share string

// The shares.
const (
	OwnShare    Share = "own"    // the misses in a row that no other location takes
	RefillShare Share = "refill" // what comes back by the hour, for all locations of the key together
)

// Shares are from what a miss at a till is taken as well: from own, and when own is used up, from refill. shared is
// false where the key has so few locations that each has all of its refill.
func (t Till) Shares() (own, refill Till, shared bool) {
	own, refill = t, t
	own.Share = OwnShare
	refill.Share, refill.LocationID = RefillShare, t.KeyID
	return own, refill, t.LocationCount > SharedGuesses && !t.Used
}

// CountedAt is in place of the location under what the attempts are counted: those of a shop apart from those at the
// tills of the same key and location, so that guests who guess online close no till, and comparisons apart from either,
// so that what was done can be undone while no code is looked up. Shares have counts of their own.
func (t Till) CountedAt() guid.ID {
	at := t.LocationID
	if t.Shop {
		at = apart("shop", at)
	}
	if t.Used {
		at = apart("used", at)
	}
	if t.Share != "" {
		at = apart(string(t.Share), at)
	}
	return at
}

func apart(what string, at guid.ID) guid.ID {
	sum := sha256.Sum256(append([]byte(what+"\x00"), at[:]...))
	return guid.ID(sum[:len(guid.ID{})])
}

// GuessBurst is how many misses there are at once.
func (t Till) GuessBurst() int {
	switch {
	case t.Share == RefillShare:
		return SharedGuesses
	case t.Shop && !t.Used:
		return ShopGuessBurst
	}
	return GuessBurst
}

// GuessRefill is after how long there is one more.
func (t Till) GuessRefill() time.Duration {
	switch t.Share {
	case RefillShare:
		return GuessRefill / SharedGuesses
	case OwnShare:
		return ownRefill
	}
	return GuessRefill
}

// GuessReward is what a redemption gives back, as the time in which as much comes by itself.
func (t Till) GuessReward() time.Duration {
	if t.Shop || t.Share == OwnShare {
		return t.GuessRefill() / redemptionsForOne
	}
	return GuessReward * t.GuessRefill()
}

// MissCount counts the misses of a key.
type MissCount struct {
	Since time.Time // of the first that is counted
	Count int64
}

// Add counts n more at a till. alarm tells that they are an event: there are too many, or as many as all locations of
// the key have at once, or spent tells that what they share is used up. It is one once in GuessAlarmWithin.
func (m MissCount) Add(at Till, now time.Time, n int, spent bool) (_ MissCount, alarm bool) {
	if age := now.Sub(m.Since); age < 0 || age >= GuessAlarmWithin { // below 0: the clock was ahead
		m = MissCount{Since: now}
	}
	at.Share = ""
	most, before := int64(max(GuessAlarm, GuessAlarmPlace*at.LocationCount)), m.Count
	if at.LocationCount > 1 {
		most = min(most, int64(at.GuessBurst()*at.LocationCount))
	}
	if m.Count += int64(n); spent {
		m.Count = max(m.Count, most)
	}
	return m, before < most && m.Count >= most
}
