// Package ratelimit limits how often something is done: token buckets that fit into one instant, and a limiter over
// buckets that are kept elsewhere. It knows neither gifts nor HTTP answers.
package ratelimit

import "time"

// Rate is so many tokens at once, and one more each time Refill has passed.
type Rate struct {
	Burst  int
	Refill time.Duration
}

// Bucket is a token bucket, kept as the instant at which it will be full again (GCRA). The zero Bucket is full.
type Bucket struct {
	FullAt  time.Time
	TakenAt time.Time // when a token was taken last; zero: not known
}

// clockTolerance is how far apart the clocks of instances may be. A bucket that was taken from further in the future
// than that comes from a clock that was wrong and has been set back.
const clockTolerance = 10 * time.Minute

// misdated reports whether the bucket was written by a clock that was ahead. It is worth as much as a full one.
func (b Bucket) misdated(now time.Time) bool { return b.TakenAt.Sub(now) > clockTolerance }

// Full reports whether nothing is missing from the bucket, and nothing will seem to be once the clock has caught up
// with it.
func (r Rate) Full(b Bucket, now time.Time) bool { return !b.misdated(now) && !b.FullAt.After(now) }

// Left is how many tokens the bucket holds. It may be owed some; then it holds 0 for longer.
func (r Rate) Left(b Bucket, now time.Time) int {
	missing := b.FullAt.Sub(now)
	if b.misdated(now) || missing <= 0 {
		return r.Burst
	}
	taken := missing / r.Refill // rounded up, without a sum that a long time would overflow
	if missing%r.Refill > 0 {
		taken++
	}
	return max(0, r.Burst-int(taken))
}

// Take takes n tokens out, also those that the bucket does not hold: they are owed, and make the wait longer.
func (r Rate) Take(b Bucket, now time.Time, n int) Bucket {
	if b.misdated(now) || b.FullAt.Before(now) {
		b.FullAt = now
	}
	return Bucket{FullAt: b.FullAt.Add(time.Duration(n) * r.Refill), TakenAt: now}
}

// Give puts n tokens back, up to full.
func (r Rate) Give(b Bucket, now time.Time, n int) Bucket {
	return b.Give(now, time.Duration(n)*r.Refill)
}

// Give puts back, up to full, what would come by itself in so long: it may be a part of a token.
func (b Bucket) Give(now time.Time, so time.Duration) Bucket {
	b.FullAt = b.FullAt.Add(-so)
	if b.misdated(now) || !b.FullAt.After(now) {
		return Bucket{}
	}
	return b
}

// Wait is how long until the bucket holds a token; 0: it does now.
func (r Rate) Wait(b Bucket, now time.Time) time.Duration {
	if r.Left(b, now) > 0 {
		return 0
	}
	return b.FullAt.Add(-time.Duration(r.Burst-1) * r.Refill).Sub(now)
}
