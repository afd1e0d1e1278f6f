package gift

import "time"

// Guessing limits: how many wrong voucher codes are answered before the answer is RATE_LIMITED. Only unknown codes count,
// each once; tokens, voucher ids and reversals are never limited.
const (
	GuessBurst             = 20             // misses in a row, per key and location
	GuessRefill            = time.Hour / 20 // one more after this long
	GuessReward            = 3              // given back by a successful redemption
	MaxGuessesPerDay       = 2_000          // per account, or less where many gifts are live
	StrangerBurst          = 10             // attempts without a valid key, per client address
	StrangerRefill         = time.Minute / 10
	yearsToHit             = 10
	daysPerYear            = 365
	codeSpace        int64 = 900_000_000_000 // no code begins with 0
)

// Bucket is a token bucket, kept as the one instant at which it will be full again; the zero Bucket is full.
type Bucket struct{ FullAt time.Time }

// Left is how many attempts the bucket holds, at most burst.
func (b Bucket) Left(now time.Time, burst int, refill time.Duration) int {
	missing := b.FullAt.Sub(now)
	if b.FullAt.IsZero() || missing <= 0 {
		return burst
	}
	return max(0, burst-int((missing+refill-1)/refill))
}

// Take takes one attempt out. Whoever takes from an empty bucket makes the wait longer: ask Left first.
func (b Bucket) Take(now time.Time, refill time.Duration) Bucket {
	if b.FullAt.Before(now) {
		b.FullAt = now
	}
	return Bucket{b.FullAt.Add(refill)}
}

// Give puts n attempts back, up to full.
func (b Bucket) Give(n int, refill time.Duration) Bucket {
	if b.FullAt.IsZero() {
		return b
	}
	return Bucket{b.FullAt.Add(-time.Duration(n) * refill)}
}

// Wait is how long until the bucket holds an attempt again; 0: it does now.
func (b Bucket) Wait(now time.Time, burst int, refill time.Duration) time.Duration {
	return max(0, b.FullAt.Add(-time.Duration(burst-1)*refill).Sub(now))
}

// GuessesPerDay is how many misses one account may have in a day, so that whoever holds a stolen key takes ten years on
// average to the first hit among that many live gifts. A single key may use half of it.
func GuessesPerDay(liveGifts int64) int {
	return int(max(1, min(MaxGuessesPerDay, codeSpace/(yearsToHit*daysPerYear*max(1, liveGifts)))))
}
