package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"boon.example/internal/gift"
)

// shared is a key that many locations use, or the platform of a web shop.
type shared struct {
	*testing.T
	lot     *rand.Rand
	limiter *guessLimiter
	now     time.Time
	at      gift.Till
	alarms  int
}

func newShared(t *testing.T, places int, shop bool) *shared {
	s := &shared{T: t, lot: rand.New(rand.NewPCG(7, uint64(places))), now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)}
	s.at = gift.Till{AccountID: gift.ID{1}, KeyID: gift.ID{2}, Places: places, Shop: shop}
	s.limiter = newGuessLimiter(&Config{Records: newTills(), Now: func() time.Time { return s.now },
		GuessAlarm: func(context.Context, gift.Till) { s.alarms++ }})
	return s
}

func (s *shared) place(n int) gift.Till {
	t := s.at
	t.LocationID = gift.ID{3, byte(n), byte(n >> 8)}
	return t
}

// look looks up a code that costs so much at the n-th location.
func (s *shared) look(n, cost int) (limited bool) {
	err := s.limiter.lookUp(s.Context(), s.place(n), func() (int, error) { return cost, nil })
	if refused, ok := err.(*gift.Error); ok && refused.Code == gift.RateLimited {
		return true
	} else if err != nil {
		s.Fatal(err)
	}
	return false
}

// guess guesses as fast as the limits allow at every location, for so long.
func (s *shared) guess(lasts time.Duration) (guesses int) {
	for end := s.now.Add(lasts); s.now.Before(end); s.now = s.now.Add(30 * time.Minute) {
		for n := range s.at.Places {
			for !s.look(n, gift.MissUnknown) {
				guesses++
			}
		}
	}
	return guesses
}

// trade is so many redemptions by typed codes, at one location and the other; mistyped are so many in a hundred before
// the code is right.
func (s *shared) trade(redemptions, perHour, typosInHundred int, meanwhile func(n int)) (typos, stopped int) {
	for range redemptions {
		n := s.lot.IntN(s.at.Places)
		meanwhile(n)
		for s.lot.IntN(100) < typosInHundred {
			typos++
			if s.look(n, gift.MissUnknown) {
				stopped++
			}
		}
		if s.look(n, 0) {
			stopped++
		}
		if err := s.limiter.reward(s.Context(), s.place(n), gift.ID{}); err != nil {
			s.Fatal(err)
		}
		s.now = s.now.Add(time.Hour / time.Duration(perHour))
	}
	return typos, stopped
}

// TestAKeyOfManyLocationsTakesTenYears: a stolen key of a chain, or the checkout of a web shop where anybody may guess,
// hits the first gift among ten million after ten years on average, if nothing else is redeemed there, and is an event.
func TestAKeyOfManyLocationsTakesTenYears(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		places int
		shop   bool
	}{{2, false}, {10, false}, {100, false}, {3000, false}, {20_000, false}, {1, true}, {5, true}} {
		t.Run(fmt.Sprintf("%d locations, web shop %v", tt.places, tt.shop), func(t *testing.T) {
			t.Parallel()
			s := newShared(t, tt.places, tt.shop)
			atOnce := s.guess(time.Minute)
			perDay := s.guess(72*time.Hour) / 3
			years := max(0, 9e11/1e7-float64(atOnce)) / float64(perDay) / 365
			t.Logf("%d guesses at once and %d a day: %.1f years to the first hit among 10,000,000 gifts", atOnce, perDay, years)
			if years < 10 || atOnce < gift.GuessBurst {
				t.Errorf("%d at once and %d a day: %.1f years", atOnce, perDay, years)
			}
			if atOnce > 100 && s.alarms == 0 {
				t.Error("it was no event")
			}
		})
	}
}

// TestAnHonestChainIsNeverStopped: where all locations of a chain share one key and redeem 400 gifts an hour each by
// typed codes, of which two in a hundred are mistyped, nobody is stopped and no alarm rings. In a web shop ten are.
func TestAnHonestChainIsNeverStopped(t *testing.T) {
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
// of a guess for each redemption, and every hour of it is an event. The figures are for the threat model.
func TestWhatAChainInUseIsWorthToAThief(t *testing.T) {
	t.Parallel()
	for _, places := range []int{10, 100, 3000} {
		s, tried := newShared(t, places, false), 0
		const hours, perHour = 2, 40
		redemptions := hours * perHour * places
		s.guess(time.Minute)
		s.alarms = 0
		s.trade(redemptions, perHour*places, 2, func(n int) {
			for !s.look(n, gift.MissUnknown) {
				tried++
			}
		})
		perDay := float64(tried) / hours * 10
		t.Logf("%d locations with 400 redemptions a day each: %.0f guesses a day, %s to the first hit among 10,000,000 live "+
			"gifts, %d events in %d hours", places, perDay, inYears(9e11/1e7/perDay), s.alarms, hours)
		if tried > redemptions/3+places || s.alarms < hours-1 {
			t.Errorf("%d guesses beside %d redemptions, %d events", tried, redemptions, s.alarms)
		}
	}
}
