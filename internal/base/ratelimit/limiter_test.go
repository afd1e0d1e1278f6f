package ratelimit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// bucketStore keeps buckets as a store does: it takes its time, and fails when it is told to.
type bucketStore struct {
	mu      sync.Mutex
	buckets map[string]Bucket
	full    bool // nothing can be written
}

func (s *bucketStore) Bucket(context.Context, string) (Bucket, error) {
	time.Sleep(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buckets["till"], nil
}

var errFull = errors.New("database or disk is full")

func (s *bucketStore) Take(_ context.Context, key string, n int) (Bucket, error) {
	time.Sleep(2 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return Bucket{}, errFull
	}
	s.buckets[key] = hourly.Take(s.buckets[key], time.Now(), n)
	return s.buckets[key], nil
}

func (s *bucketStore) fill(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

// inBubble runs test with a limiter of each of several instances over one store, on a clock of its own.
func inBubble(t *testing.T, instances int, test func(*bucketStore, []*Limiter[string])) {
	t.Parallel()
	synctest.Test(t, func(*testing.T) {
		s := &bucketStore{buckets: map[string]Bucket{}}
		var all []*Limiter[string]
		for range instances {
			all = append(all, NewLimiter(hourly, s, time.Now))
		}
		test(s, all)
	})
}

// miss tries something that costs a token; looked tells whether it was tried.
func miss(l *Limiter[string]) (looked bool, err error) {
	err = l.Try(context.Background(), "till", func() int {
		time.Sleep(time.Millisecond)
		looked = true
		return 1
	})
	return looked, err
}

// flood makes tries at once, and counts those that took place.
func flood(tries int, limiters []*Limiter[string]) int {
	var looked atomic.Int32
	var all sync.WaitGroup
	for n := range tries {
		all.Go(func() {
			if ok, _ := miss(limiters[n%len(limiters)]); ok {
				looked.Add(1)
			}
		})
	}
	all.Wait()
	return int(looked.Load())
}

func TestAThousandAtOnceAreNoMoreThanTheBucketHolds(t *testing.T) {
	inBubble(t, 1, func(_ *bucketStore, l []*Limiter[string]) {
		if n := flood(1000, l); n != hourly.Burst {
			t.Errorf("%d were tried, want %d", n, hourly.Burst)
		}
		time.Sleep(time.Hour)
		if n := flood(1000, l); n != 1 {
			t.Errorf("%d were tried an hour later, want 1", n)
		}
	})
}

// TestInstancesOweWhatTheyTook: several instances that are asked in the same moment may let more through than the
// bucket holds; it is owed then, so that over the days it is no more than one an hour.
func TestInstancesOweWhatTheyTook(t *testing.T) {
	inBubble(t, 4, func(_ *bucketStore, l []*Limiter[string]) {
		n := flood(1000, l)
		for range 10 * 24 {
			time.Sleep(time.Hour)
			n += flood(40, l)
		}
		if most := hourly.Burst + 10*24 + len(l); n > most || n < hourly.Burst+10*24 {
			t.Errorf("%d were tried in ten days, want %d to %d", n, hourly.Burst+10*24, most)
		}
	})
}

func TestWhatCostsNothingIsNotLimited(t *testing.T) {
	inBubble(t, 1, func(s *bucketStore, l []*Limiter[string]) {
		for range hourly.Burst - 1 {
			if _, err := miss(l[0]); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		var failed atomic.Int32
		for range 500 { // one token is left, for which they wait in turn
			all.Go(func() {
				if l[0].Try(context.Background(), "till", func() int { return 0 }) != nil {
					failed.Add(1)
				}
			})
		}
		all.Wait()
		if failed.Load() != 0 || hourly.Left(s.buckets["till"], time.Now()) != 1 {
			t.Errorf("%d of 500 were refused, %d tokens left", failed.Load(), hourly.Left(s.buckets["till"], time.Now()))
		}
	})
}

// TestCancelledTryLetsOthersGoOn: a try that is cancelled while it waits takes no other's turn.
func TestCancelledTryLetsOthersGoOn(t *testing.T) {
	inBubble(t, 1, func(_ *bucketStore, l []*Limiter[string]) {
		var all sync.WaitGroup
		for range hourly.Burst {
			all.Go(func() {
				l[0].Try(context.Background(), "till", func() int { time.Sleep(time.Second); return 0 })
			})
		}
		time.Sleep(100 * time.Millisecond)
		var gone, done atomic.Int32
		for n := range 100 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(500+n%2*10_000)*time.Millisecond)
				defer cancel()
				err := l[0].Try(ctx, "till", func() int { time.Sleep(time.Millisecond); return 0 })
				if errors.Is(err, context.DeadlineExceeded) {
					gone.Add(1)
				} else if err == nil {
					done.Add(1)
				}
			})
		}
		all.Wait()
		if gone.Load() != 50 || done.Load() != 50 {
			t.Errorf("%d gave up and %d were done, want 50 each", gone.Load(), done.Load())
		}
	})
}

// TestAFullDiskLetsNobodyTry: what could not be taken from the records is taken before anything else is tried.
func TestAFullDiskLetsNobodyTry(t *testing.T) {
	inBubble(t, 1, func(s *bucketStore, l []*Limiter[string]) {
		s.fill(true)
		if n := flood(1000, l); n > hourly.Burst {
			t.Errorf("%d were tried on a full disk", n)
		}
		for range 100 {
			if ok, err := miss(l[0]); ok || !errors.Is(err, errFull) {
				t.Fatalf("tried %v, %v", ok, err)
			}
			time.Sleep(10 * time.Second)
		}
		s.fill(false)
		if _, err := miss(l[0]); err == nil {
			t.Error("what was tried on the full disk was never taken")
		}
	})
}

// TestAPanicCostsAToken: what a try had found out when it panicked may be known.
func TestAPanicCostsAToken(t *testing.T) {
	inBubble(t, 1, func(s *bucketStore, l []*Limiter[string]) {
		for range hourly.Burst {
			func() {
				defer func() { _ = recover() }()
				l[0].Try(context.Background(), "till", func() int { panic("x") })
			}()
		}
		if _, err := miss(l[0]); err == nil {
			t.Error("panics are free")
		}
	})
}

func TestAClockThatGoesBackIsNoticed(t *testing.T) {
	inBubble(t, 1, func(s *bucketStore, _ []*Limiter[string]) {
		var ahead atomic.Int64
		l := NewLimiter(hourly, s, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
		s.buckets["till"] = hourly.Take(Bucket{}, time.Now().Add(24*time.Hour), 20)
		ahead.Store(int64(24 * time.Hour))
		if ok, err := miss(l); ok {
			t.Errorf("the bucket was empty, and %v", err)
		}
		ahead.Store(0)
		if ok, err := miss(l); !ok || err != nil {
			t.Errorf("after the clock went back: %v", err)
		}
		if full, err := l.Full(context.Background(), "till"); full || err != nil {
			t.Errorf("full: %v, %v", full, err)
		}
	})
}
