package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Records keeps buckets durably. Several limiters, of one process or many, may share them.
type Records[K comparable] interface {
	// Bucket reads the bucket of a key.
	Bucket(ctx context.Context, key K) (Bucket, error)
	// Take takes n tokens out of it, whether it holds them or not, and gives the bucket after it.
	Take(ctx context.Context, key K, n int) (Bucket, error)
}

// Limiter lets something be tried while its key's bucket holds a token. Each try reserves a token in memory first, so
// that a thousand tries at once are no more than the bucket holds; what the try turns out to cost is then taken from
// the records, before its caller learns the outcome. A try that costs nothing writes nothing.
type Limiter[K comparable] struct {
	rate    func(K) Rate
	records Records[K]
	now     func() time.Time

	mu    sync.Mutex
	views map[K]*view
}

// view is what is known of a bucket.
type view struct {
	bucket     Bucket
	read       time.Time // when it was; zero: read again
	version    int       // counts what was taken, so that an older answer of the records does not replace a newer one
	users      int       // goroutines that hold the view
	inFlight   int       // reserved tokens
	unrecorded int       // tokens that the records could not take
	flushing   bool      // a goroutine is writing them
	changed    *sync.Cond
}

const (
	viewAge  = time.Second // what other instances took is missed for that long; it is owed then
	fullAge  = time.Minute // how long a bucket that was full is believed to be where nothing but a reward depends on it
	maxViews = 100_000     // beyond this, views that are not in use are dropped
)

// NewLimiter makes a limiter over records.
func NewLimiter[K comparable](rate Rate, records Records[K], now func() time.Time) *Limiter[K] {
	return NewLimiterBy(func(K) Rate { return rate }, records, now)
}

// NewLimiterBy makes a limiter whose keys have a rate each.
func NewLimiterBy[K comparable](rate func(K) Rate, records Records[K], now func() time.Time) *Limiter[K] {
	return &Limiter[K]{rate: rate, records: records, now: now, views: map[K]*view{}}
}

// Limited tells that a bucket is empty.
type Limited struct{ Wait time.Duration }

func (l *Limited) Error() string { return fmt.Sprintf("no token for %s", l.Wait) }

// Try runs try, which tells what it cost, when the key has a token left; while others have reserved the last ones, it
// waits for them. It fails with *Limited when there is none, with ctx, and with whatever the records fail with: as
// long as they cannot take what earlier tries of the key cost, there are no more of them. When Try
// fails, the outcome of the try must not be told.
func (l *Limiter[K]) Try(ctx context.Context, key K, try func() (cost int)) error {
	v := l.hold(key)
	defer l.release(v)
	if err := l.reserve(ctx, key, v); err != nil {
		return err
	}
	cost, taken := 1, false // of a try that panics: whatever it found out may be known
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !taken {
			v.unrecorded += cost
		}
		v.inFlight--
		v.changed.Signal()
	}()
	if cost = try(); cost == 0 {
		return nil
	}
	bucket, err := l.records.Take(ctx, key, cost)
	if err != nil {
		return err
	}
	taken = true
	l.mu.Lock()
	defer l.mu.Unlock()
	v.learn(bucket)
	return nil
}

// hold finds or makes a view.
func (l *Limiter[K]) hold(key K) *view {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.views[key]
	if v == nil {
		if len(l.views) >= maxViews {
			for k, old := range l.views {
				if old.users == 0 && old.unrecorded == 0 {
					delete(l.views, k)
				}
			}
		}
		v = &view{changed: sync.NewCond(&l.mu)}
		l.views[key] = v
	}
	v.users++
	return v
}

func (l *Limiter[K]) release(v *view) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v.users--
}

// reserve takes a token in memory.
func (l *Limiter[K]) reserve(ctx context.Context, key K, v *view) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	// one that waits is woken at a time, and wakes the next when there is nothing to wait for any more
	defer v.changed.Signal()
	for {
		if err := l.refresh(ctx, key, v, viewAge); err != nil {
			return err
		}
		now, rate := l.now(), l.rate(key)
		left := rate.Left(v.bucket, now)
		switch {
		case v.flushing:
		case left == 0:
			return &Limited{rate.Wait(v.bucket, now)}
		case v.inFlight < left:
			v.inFlight++
			return nil
		}
		if err := l.wait(ctx, v); err != nil {
			return err
		}
	}
}

// wait waits for a change of the view.
func (l *Limiter[K]) wait(ctx context.Context, v *view) error {
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		v.changed.Broadcast()
	})
	defer stop()
	if ctx.Err() == nil {
		v.changed.Wait()
	}
	return ctx.Err()
}

// refresh has the records take what they could not take before, and reads the bucket when the view of it is older
// than age. It lets go of the lock meanwhile.
func (l *Limiter[K]) refresh(ctx context.Context, key K, v *view, age time.Duration) error {
	for {
		if v.flushing {
			return nil // the goroutine that writes them wakes the others
		}
		old := l.now().Sub(v.read)
		switch {
		case v.unrecorded > 0:
			n := v.unrecorded
			v.flushing = true
			bucket, err := unlocked(&l.mu, func() (Bucket, error) { return l.records.Take(ctx, key, n) })
			v.flushing = false
			v.changed.Broadcast()
			if err != nil {
				return err
			}
			v.unrecorded -= n
			v.learn(bucket)
		case old < 0 || old >= age:
			version, now := v.version, l.now()
			bucket, err := unlocked(&l.mu, func() (Bucket, error) { return l.records.Bucket(ctx, key) })
			if err != nil {
				return err
			}
			if v.version == version {
				v.bucket, v.read = bucket, now
			}
		default:
			return nil
		}
	}
}

func unlocked(mu *sync.Mutex, ask func() (Bucket, error)) (Bucket, error) {
	mu.Unlock()
	defer mu.Lock()
	return ask()
}

// learn takes over what is left after a Take. Answers may come out of order, so that the bucket is read again before
// it is relied upon.
func (v *view) learn(b Bucket) {
	v.bucket, v.read = b, time.Time{}
	v.version++
}

// Full reports whether nothing was taken from the key's bucket lately, as far as is known here.
func (l *Limiter[K]) Full(ctx context.Context, key K) (bool, error) {
	v := l.hold(key)
	defer l.release(v)
	l.mu.Lock()
	defer l.mu.Unlock()
	rate := l.rate(key)
	if v.read.IsZero() || rate.Full(v.bucket, l.now()) {
		if err := l.refresh(ctx, key, v, fullAge); err != nil {
			return false, err
		}
	}
	return rate.Full(v.bucket, l.now()), nil
}

// Forget has the key's bucket read again before it is relied upon.
func (l *Limiter[K]) Forget(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v := l.views[key]; v != nil {
		v.read = time.Time{}
		v.version++
	}
}
