package gift

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBucket(t *testing.T) {
	t.Parallel()
	var b Bucket
	if b.Left(now, GuessBurst, GuessRefill) != 20 || b.Wait(now, GuessBurst, GuessRefill) != 0 {
		t.Fatal("a new bucket is not full")
	}
	for n := range GuessBurst {
		if left := b.Left(now, GuessBurst, GuessRefill); left != GuessBurst-n {
			t.Fatalf("after %d misses %d are left", n, left)
		}
		b = b.Take(now, GuessRefill)
	}
	if b.Left(now, GuessBurst, GuessRefill) != 0 || b.Wait(now, GuessBurst, GuessRefill) != 3*time.Minute {
		t.Errorf("after a burst %d are left, the next in %s", b.Left(now, GuessBurst, GuessRefill), b.Wait(now, GuessBurst, GuessRefill))
	}
	later := func(d time.Duration) int { return b.Left(now.Add(d), GuessBurst, GuessRefill) }
	if later(3*time.Minute-1) != 0 || later(3*time.Minute) != 1 || later(time.Hour-1) != 19 || later(time.Hour) != 20 || later(1000*time.Hour) != 20 {
		t.Error("it does not refill 20 an hour")
	}
	if given := b.Give(GuessReward, GuessRefill); given.Left(now, GuessBurst, GuessRefill) != 3 {
		t.Errorf("a redemption gives %d back", given.Left(now, GuessBurst, GuessRefill))
	}
	full := Bucket{}.Take(now, GuessRefill).Give(GuessReward, GuessRefill)
	if full.Left(now, GuessBurst, GuessRefill) != 20 || full.Take(now, GuessRefill).Left(now, GuessBurst, GuessRefill) != 19 {
		t.Error("a reward fills it above full")
	}
	if (Bucket{}).Give(GuessReward, GuessRefill) != (Bucket{}) {
		t.Error("a reward changes a full bucket")
	}
	if StrangerBurst*StrangerRefill != time.Minute {
		t.Error("a stranger has 10 a minute")
	}
}

// TestBucketModel compares with a bucket that counts drops.
func TestBucketModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const burst, refill = 5, time.Minute
		var b Bucket
		drops, at := float64(burst), now
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			pause := time.Duration(rapid.IntRange(0, 150).Draw(t, "seconds")) * time.Second
			at, drops = at.Add(pause), min(burst, drops+pause.Minutes())
			if got := b.Left(at, burst, refill); got != int(drops+1e-9) {
				t.Fatalf("%d left, want %f", got, drops)
			}
			if wait := b.Wait(at, burst, refill); (wait == 0) != (b.Left(at, burst, refill) > 0) || wait > 0 && b.Left(at.Add(wait), burst, refill) != 1 {
				t.Fatalf("wait %s with %f", wait, drops)
			}
			switch {
			case rapid.Bool().Draw(t, "give"):
				n := rapid.IntRange(1, 3).Draw(t, "reward")
				b, drops = b.Give(n, refill), min(burst, drops+float64(n))
			case b.Left(at, burst, refill) > 0:
				b, drops = b.Take(at, refill), drops-1
			}
		}
	})
}

func TestGuessesPerDay(t *testing.T) {
	t.Parallel()
	for live, want := range map[int64]int{0: 2000, 1: 2000, 1_000: 2000, 123_287: 2000, 123_288: 1999, 1_000_000: 246, 100_000_000: 2, 1_000_000_000: 1, 1 << 50: 1} {
		if got := GuessesPerDay(live); got != want {
			t.Errorf("%d live gifts: %d a day, want %d", live, got, want)
		}
	}
}
