package load

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Histogram counts durations in buckets that are never wider than 1/128 of what they hold, from a nanosecond to hours. The zero value
// is empty and ready; it is safe for concurrent use.
type Histogram struct {
	buckets [buckets]atomic.Int64
	sum     atomic.Int64
	highest atomic.Int64
}

const (
	fineBits = 7 // each power of two is divided in 1<<fineBits buckets
	maxBits  = 44
	buckets  = (maxBits - fineBits + 1) << fineBits
)

// bucketOf gives the bucket of a value, with the least significant bits beyond the finest cut off.
func bucketOf(v uint64) int {
	cut := max(0, bits.Len64(v)-fineBits-1)
	return min(cut<<fineBits+int(v>>cut), buckets-1)
}

// highestOf is the highest value of a bucket.
func highestOf(bucket int) uint64 {
	cut := max(0, bucket>>fineBits-1)
	return (uint64(bucket-cut<<fineBits)+1)<<cut - 1
}

// Add counts one duration; one below zero counts as zero.
func (h *Histogram) Add(d time.Duration) {
	d = max(0, d)
	h.buckets[bucketOf(uint64(d))].Add(1)
	h.sum.Add(int64(d))
	for {
		old := h.highest.Load()
		if int64(d) <= old || h.highest.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// Count is how many were counted.
func (h *Histogram) Count() (n int64) {
	for i := range h.buckets {
		n += h.buckets[i].Load()
	}
	return n
}

// Max is the longest that was counted, exactly.
func (h *Histogram) Max() time.Duration { return time.Duration(h.highest.Load()) }

// Mean is the average, exactly; 0 when nothing was counted.
func (h *Histogram) Mean() time.Duration {
	n := h.Count()
	if n == 0 {
		return 0
	}
	return time.Duration(h.sum.Load() / n)
}

// Quantile is the duration that this share of all stays within, such as 0.99 for the 99th percentile; at most 1/128 too long, never too
// short. 0 when nothing was counted.
func (h *Histogram) Quantile(share float64) time.Duration {
	n := h.Count()
	rank := int64(share*float64(n) + 0.9999999)
	var seen int64
	for i := range h.buckets {
		seen += h.buckets[i].Load()
		if seen >= rank && seen > 0 {
			return min(time.Duration(highestOf(i)), h.Max())
		}
	}
	return h.Max()
}
