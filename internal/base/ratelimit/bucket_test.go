package ratelimit

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	noon   = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	hourly = Rate{Burst: 20, Refill: time.Hour}
)

func TestBucket(t *testing.T) {
	t.Parallel()
	var b Bucket
	if hourly.Left(b, noon) != 20 || hourly.Wait(b, noon) != 0 || !hourly.Full(b, noon) {
		t.Fatal("a new bucket is not full")
	}
	for n := range 20 {
		if left := hourly.Left(b, noon); left != 20-n {
			t.Fatalf("after %d tokens %d are left", n, left)
		}
		b = hourly.Take(b, noon, 1)
	}
	later := func(d time.Duration) int { return hourly.Left(b, noon.Add(d)) }
	if later(0) != 0 || later(time.Hour-1) != 0 || later(time.Hour) != 1 || later(20*time.Hour-1) != 19 ||
		later(1000*time.Hour) != 20 {
		t.Error("it does not refill one an hour")
	}
	if wait := hourly.Wait(b, noon); wait != time.Hour {
		t.Errorf("an empty bucket holds a token in %s", wait)
	}
	if owing := hourly.Take(b, noon, 3); hourly.Left(owing, noon) != 0 || hourly.Wait(owing, noon) != 4*time.Hour {
		t.Errorf("three that are owed: the next in %s", hourly.Wait(owing, noon))
	}
	if given := hourly.Give(b, noon, 3); hourly.Left(given, noon) != 3 {
		t.Errorf("%d of 3 were given back", hourly.Left(given, noon))
	}
	if over := hourly.Give(hourly.Take(Bucket{}, noon, 1), noon, 3); over != (Bucket{}) {
		t.Errorf("a bucket was filled above full: %v", over)
	}
}

// TestAClockThatWasAhead: what a clock that was ahead wrote is a full bucket once the clock is right, and stays one
// when the time that it was written at comes; a clock that is a little off changes nothing.
func TestAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{11 * time.Minute, 12 * time.Hour, 24 * time.Hour, 40 * 24 * time.Hour} {
		for _, taken := range []int{1, 19, 20, 40} {
			b := hourly.Take(Bucket{}, noon.Add(ahead), taken)
			if hourly.Left(b, noon) != 20 || hourly.Wait(b, noon) != 0 {
				t.Errorf("%d taken %s ahead: %d left", taken, ahead, hourly.Left(b, noon))
			}
			if hourly.Full(b, noon) {
				t.Errorf("%d taken %s ahead: nobody puts it right before that time comes", taken, ahead)
			}
			for n, after := range []Bucket{hourly.Take(b, noon, 1), hourly.Give(b, noon, 1)} {
				if want := 19 + n; hourly.Left(after, noon) != want || hourly.Left(after, noon.Add(ahead)) < want {
					t.Errorf("%d taken %s ahead: %d left afterwards, and %d then", taken, ahead, hourly.Left(after, noon),
						hourly.Left(after, noon.Add(ahead)))
				}
			}
		}
	}
	if b := hourly.Take(Bucket{}, noon.Add(5*time.Minute), 20); hourly.Left(b, noon) != 0 {
		t.Error("an instance whose clock is five minutes behind lets more through")
	}
}

// TestBucketModel compares with a bucket that counts drops.
func TestBucketModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := Rate{Burst: 5, Refill: time.Minute}
		var b Bucket
		drops, at := 5.0, noon
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			pause := time.Duration(rapid.IntRange(0, 150).Draw(t, "seconds")) * time.Second
			at, drops = at.Add(pause), min(5, drops+pause.Minutes())
			if got, want := rate.Left(b, at), max(0, int(drops+1e-9)); got != want {
				t.Fatalf("%d left, want %d", got, want)
			}
			if wait := rate.Wait(b, at); (wait == 0) != (rate.Left(b, at) > 0) || wait > 0 && rate.Left(b, at.Add(wait)) != 1 {
				t.Fatalf("wait %s with %f", wait, drops)
			}
			n := rapid.IntRange(1, 3).Draw(t, "tokens")
			if rapid.Bool().Draw(t, "give") {
				b, drops = rate.Give(b, at, n), min(5, drops+float64(n))
			} else {
				b, drops = rate.Take(b, at, n), drops-float64(n)
			}
		}
	})
}

// TestMuchThatIsOwed: a bucket that is owed more than a time.Duration holds is empty.
func TestMuchThatIsOwed(t *testing.T) {
	t.Parallel()
	r, now := Rate{Burst: 1000, Refill: 30 * 24 * time.Hour}, time.Now()
	var b Bucket
	for range 5 {
		b = r.Take(b, now, 1000)
	}
	if left := r.Left(b, now); left != 0 {
		t.Errorf("%d tokens are left", left)
	}
}
