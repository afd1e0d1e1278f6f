package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts durations up to an hour, each to three digits. The zero value is empty and ready; it is safe for
// concurrent use.
type Histogram struct {
	mu sync.Mutex
	of *hdrhistogram.Histogram // nil: nothing was counted
}

// Add counts one duration; one below zero counts as zero, and one beyond an hour as that.
func (h *Histogram) Add(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = hdrhistogram.New(1, int64(time.Hour), 3)
	}
	_ = h.of.RecordValue(int64(min(max(0, d), time.Hour))) // it fails for what is out of its range
}

// Merge counts all that another one has counted.
func (h *Histogram) Merge(other *Histogram) {
	other.read(func(of *hdrhistogram.Histogram) int64 {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.of == nil {
			h.of = hdrhistogram.New(1, int64(time.Hour), 3)
		}
		return h.of.Merge(of)
	})
}

// read gives a figure of what was counted; 0 when nothing was.
func (h *Histogram) read(figure func(*hdrhistogram.Histogram) int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		return 0
	}
	return figure(h.of)
}

// Count is how many were counted.
func (h *Histogram) Count() int64 { return h.read((*hdrhistogram.Histogram).TotalCount) }

// Max is the longest that was counted.
func (h *Histogram) Max() time.Duration { return time.Duration(h.read((*hdrhistogram.Histogram).Max)) }

// Mean is the average; 0 when nothing was counted.
func (h *Histogram) Mean() time.Duration {
	return time.Duration(h.read(func(of *hdrhistogram.Histogram) int64 { return int64(of.Mean()) }))
}

// Quantile is the duration that this share of all stays within, such as 0.99 for the 99th percentile; 0 when nothing
// was counted.
func (h *Histogram) Quantile(share float64) time.Duration {
	return time.Duration(h.read(func(of *hdrhistogram.Histogram) int64 { return of.ValueAtQuantile(100 * share) }))
}
