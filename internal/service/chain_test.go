package service

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
)

// shared is a key that many locations use, or the platform of a web shop.
type shared struct {
	*testing.T
	lot     *rand.Rand
	limiter *guessLimiter
	now     time.Time
	at      merchant.Till
	alarms  int
}

func newShared(t *testing.T, places int, shop bool) *shared {
	s := &shared{T: t, lot: rand.New(rand.NewPCG(7, uint64(places))), now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)}
	s.at = merchant.Till{AccountID: guid.ID{1}, KeyID: guid.ID{2}, LocationCount: places, Shop: shop}
	s.limiter = newGuessLimiter(&Config{Records: newTills(), Now: func() time.Time { return s.now },
		GuessAlarm: func(context.Context, merchant.Till) { s.alarms++ }})
	return s
}

func (s *shared) place(n int) merchant.Till {
	t := s.at
	t.LocationID = guid.ID{3, byte(n), byte(n >> 8)}
	return t
}

// look looks up a code that costs so much at the n-th location.
func (s *shared) look(n, cost int) (limited bool) {
	err := s.limiter.lookUp(s.Context(), s.place(n), func() (int, error) { return cost, nil })
	if refused, ok := err.(*refusal.Error); ok && refused.Code == refusal.RateLimited {
		return true
	} else if err != nil {
		s.Fatal(err)
	}
	return false
}

// guess guesses as fast as the limits allow for so long: once a day at every location, and each hour until a location
// has nothing left.
func (s *shared) guess(lasts time.Duration) (guesses int) {
	for hour, end := 0, s.now.Add(lasts); s.now.Before(end); s.now = s.now.Add(time.Hour) {
		for n := range s.at.LocationCount {
			before := guesses
			for !s.look(n, merchant.MissUnknown) {
				guesses++
			}
			if guesses == before && hour%24 > 0 {
				break
			}
		}
		hour++
	}
	return guesses
}

// trade is so many redemptions by typed codes, at one location and the other; mistyped are so many in a hundred before
// the code is right.
func (s *shared) trade(redemptions, perHour, typosInHundred int, meanwhile func(n int)) (typos, stopped int) {
	for range redemptions {
		n := s.lot.IntN(s.at.LocationCount)
		meanwhile(n)
		for s.lot.IntN(100) < typosInHundred {
			typos++
			if s.look(n, merchant.MissUnknown) {
				stopped++
			}
		}
		if s.look(n, 0) {
			stopped++
		}
		if err := s.limiter.reward(s.Context(), s.place(n), guid.ID{}); err != nil {
			s.Fatal(err)
		}
		s.now = s.now.Add(time.Hour / time.Duration(perHour))
	}
	return typos, stopped
}

// TestWhatAKeyOfManyLocationsIsWorthToAGuesser: each location of a stolen key gives the thief 20 guesses once, and one
// an hour at up to four of them; more share four an hour. The figures, of which -v tells, are those of
// docs/why/promises.md. A web shop's checkout, where anybody may guess, is as a location.
func TestWhatAKeyOfManyLocationsIsWorthToAGuesser(t *testing.T) {
	racetest.SkipShort(t, "it simulates shops and guessers, one look after the other")
	t.Parallel()
	for _, tt := range []struct {
		places         int
		shop           bool
		atOnce, perDay int
		days           float64 // to the first hit
	}{
		{1, false, 20, 24, 3749}, {2, false, 40, 48, 1874}, {4, false, 80, 96, 936},
		{10, false, 200, 96, 932}, {100, false, 2000, 99, 886}, {3000, false, 60_000, 196, 153},
		{20_000, false, 400_000, 762, 0}, {1, true, 1000, 24, 3708}, {5, true, 5000, 96, 884},
	} {
		t.Run(fmt.Sprintf("%d locations, web shop %v", tt.places, tt.shop), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && tt.places > 3000 {
				t.Skip("20,000 locations")
			}
			s := newShared(t, tt.places, tt.shop)
			atOnce := s.guess(time.Hour)
			const days = 60
			perDay := float64(s.guess(days*24*time.Hour)) / days
			took := max(0, 9e11/1e7-float64(atOnce)) / perDay
			t.Logf("%d guesses at once and %.1f a day: %s to the first hit among 10,000,000 gifts, %d events", atOnce,
				perDay, inYears(took), s.alarms)
			if atOnce != tt.atOnce || math.Abs(perDay-float64(tt.perDay)) > 1 || math.Abs(took-tt.days) > 0.02*tt.days {
				t.Errorf("%d at once, %.1f a day, %.1f days; want %d, %d, %.1f", atOnce, perDay, took, tt.atOnce, tt.perDay,
					tt.days)
			}
			if tt.places > 1 && s.alarms == 0 {
				t.Error("it was no event")
			}
		})
	}
}

// TestALocationWaitsAnHour: whatever the number of locations of a key, each has 20 misses in a row and then one an
// hour, while no other location is out of them.
func TestALocationWaitsAnHour(t *testing.T) {
	t.Parallel()
	for _, places := range []int{1, 2, merchant.SharedGuesses, merchant.SharedGuesses + 1, 10, 3000} {
		s := newShared(t, places, false)
		left := func(want int) {
			t.Helper()
			for n := range want {
				if s.look(0, merchant.MissUnknown) {
					t.Fatalf("%d locations: stopped after %d misses, want %d", places, n, want)
				}
			}
			var refused *refusal.Error
			err := s.limiter.lookUp(t.Context(), s.place(0), func() (int, error) { return 0, nil })
			if !errors.As(err, &refused) || refused.RetryAfter != time.Hour {
				t.Fatalf("%d locations: %v after %d misses, want an hour's wait", places, err, want)
			}
		}
		left(merchant.GuessBurst)
		for range 50 {
			s.now = s.now.Add(time.Hour)
			left(1)
		}
	}
}

// TestNoLocationTakesAnothersGuesses: however many codes are mistyped at the other locations of its key, a location
// has its own 20, and what its redemptions give back.
func TestNoLocationTakesAnothersGuesses(t *testing.T) {
	racetest.SkipShort(t, "it simulates shops and guessers, one look after the other")
	t.Parallel()
	for _, shop := range []bool{false, true} {
		for _, places := range []int{2, merchant.SharedGuesses, merchant.SharedGuesses + 1, 10, 300} {
			s := newShared(t, places, shop)
			last := places - 1
			for range 48 {
				for n := range last {
					for !s.look(n, merchant.MissUnknown) {
					}
				}
				s.now = s.now.Add(time.Hour)
			}
			for n := range s.place(last).GuessBurst() {
				if s.look(last, 0) || s.look(last, merchant.MissUnknown) {
					t.Fatalf("%d locations, web shop %v: stopped after %d misses", places, shop, n)
				}
			}
			for n := range last { // nothing of what comes back by the hour is left
				for !s.look(n, merchant.MissUnknown) {
				}
			}
			if !s.look(last, 0) {
				t.Errorf("%d locations, web shop %v: it has more than its burst", places, shop)
			}
			for range 4 {
				if err := s.limiter.reward(t.Context(), s.place(last), guid.ID{}); err != nil {
					t.Fatal(err)
				}
			}
			if s.look(last, merchant.MissUnknown) {
				t.Errorf("%d locations, web shop %v: its redemptions gave nothing back", places, shop)
			}
		}
	}
}

// TestAnHonestChainIsNeverStopped: where all locations of a chain share one key and redeem 400 gifts an hour each by
// typed codes, of which two in a hundred are mistyped, nobody is stopped and no alarm rings. In a web shop ten are.
func TestAnHonestChainIsNeverStopped(t *testing.T) {
	racetest.SkipShort(t, "it simulates shops and guessers, one look after the other")
	t.Parallel()
	for _, tt := range []struct {
		places, hours, perHour, typos int
		shop                          bool
	}{
		{2, 100, 400, 2, false}, {10, 50, 400, 2, false}, {100, 5, 400, 2, false}, {3000, 1, 100, 2, false},
		{3000, 1, 400, 2, false}, {1, 200, 60, 10, true}, {1, 20, 1000, 10, true}, {5, 20, 100, 10, true},
	} {
		t.Run(fmt.Sprintf("%d locations, %d an hour, web shop %v", tt.places, tt.perHour, tt.shop), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && tt.places*tt.perHour > 1e6 {
				t.Skip("1,200,000 redemptions")
			}
			s := newShared(t, tt.places, tt.shop)
			redemptions := tt.hours * tt.perHour * tt.places
			typos, stopped := s.trade(redemptions, tt.perHour*tt.places, tt.typos, func(int) {})
			t.Logf("%d redemptions, %d typos: stopped %d times, %d events", redemptions, typos, stopped, s.alarms)
			if stopped != 0 || s.alarms != 0 || typos*120 < redemptions*tt.typos {
				t.Errorf("stopped %d times, %d events; %d typos in %d", stopped, s.alarms, typos, redemptions)
			}
		})
	}
}

// TestWhatAChainInUseIsWorthToAThief: beside a chain that goes on redeeming with a stolen key, the thief has a quarter
// of a guess for each redemption, beside what all locations share, and every hour of it is an event. The figures are
// for the threat model.
func TestWhatAChainInUseIsWorthToAThief(t *testing.T) {
	racetest.SkipShort(t, "it simulates shops and guessers, one look after the other")
	t.Parallel()
	for _, places := range []int{10, 100, 3000} {
		s, tried := newShared(t, places, false), 0
		const hours, perHour = 2, 40
		redemptions := hours * perHour * places
		atOnce := s.guess(time.Minute)
		s.alarms = 0
		s.trade(redemptions, perHour*places, 2, func(n int) {
			for !s.look(n, merchant.MissUnknown) {
				tried++
			}
		})
		perDay := float64(tried) / hours * 10
		t.Logf("%d locations with 400 redemptions a day each: %d guesses at once, %.0f a day, %s to the first hit among "+
			"10,000,000 live gifts, %d events in %d hours", places, atOnce, perDay, inYears((9e11/1e7-float64(atOnce))/perDay),
			s.alarms, hours)
		if tried < redemptions/5 || tried > redemptions/3+places || s.alarms < hours {
			t.Errorf("%d guesses beside %d redemptions, %d events", tried, redemptions, s.alarms)
		}
	}
}
