package service

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"boon.example/internal/base/ratelimit"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// tills are the records of a limiter, without a disk. Every redemption is of another gift.
type tills struct {
	Records
	buckets map[merchant.Till]ratelimit.Bucket
	keys    map[guid.ID]merchant.MissCount
}

func newTills() *tills {
	return &tills{buckets: map[merchant.Till]ratelimit.Bucket{}, keys: map[guid.ID]merchant.MissCount{}}
}

func (m *tills) TillBucket(_ context.Context, t merchant.Till) (ratelimit.Bucket, error) {
	return m.buckets[t], nil
}

func guessRate(t merchant.Till) ratelimit.Rate {
	return ratelimit.Rate{Burst: t.GuessBurst(), Refill: t.GuessRefill()}
}

func (m *tills) CountMisses(_ context.Context, t merchant.Till, now time.Time, n int) (_ ratelimit.Bucket, alarm bool,
	_ error) {
	m.buckets[t] = guessRate(t).Take(m.buckets[t], now, n)
	spent := t.Share == merchant.RefillShare && guessRate(t).Left(m.buckets[t], now) == 0
	if t.Share != "" {
		n = 0
	}
	m.keys[t.KeyID], alarm = m.keys[t.KeyID].Add(t, now, n, spent)
	return m.buckets[t], alarm, nil
}

func (m *tills) RewardTill(_ context.Context, t merchant.Till, _ guid.ID, now time.Time) error {
	m.buckets[t] = m.buckets[t].Give(now, t.GuessReward())
	if own, _, shared := t.Shares(); shared {
		m.buckets[own] = m.buckets[own].Give(now, own.GuessReward())
	}
	return nil
}

// store is one location that redeems by typed codes, and what a thief with its key adds to that.
type till struct {
	*testing.T
	lot             *rand.Rand
	limiter         *guessLimiter
	now             time.Time
	at              merchant.Till
	redeemed, typos int
	stopped         int
}

func newTill(t *testing.T, seed uint64, n int, m *tills) *till {
	s := &till{T: t, lot: rand.New(rand.NewPCG(seed, uint64(n))), now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)}
	s.at = merchant.Till{AccountID: guid.ID{1}, KeyID: guid.ID{2}, LocationID: guid.ID{3, byte(n), byte(n >> 8)}}
	s.limiter = newGuessLimiter(&Config{Records: m, Now: func() time.Time { return s.now },
		GuessAlarm: func(context.Context, merchant.Till) {}})
	return s
}

// look looks up a code that costs so much.
func (s *till) look(cost int) (limited bool) {
	err := s.limiter.lookUp(s.Context(), s.at, func() (int, error) { return cost, nil })
	if refused, ok := err.(*refusal.Error); ok && refused.Code == refusal.RateLimited {
		return true
	} else if err != nil {
		s.Fatal(err)
	}
	return false
}

// open is ten hours of 200 redemptions each, twice as many around noon; two codes in a hundred are mistyped.
func (s *till) open(meanwhile func()) {
	for opened := s.now; s.now.Sub(opened) < 10*time.Hour; {
		meanwhile()
		for s.lot.IntN(50) == 0 {
			s.typos++
			if s.look(merchant.MissUnknown) {
				s.stopped++
			}
			s.now = s.now.Add(5 * time.Second)
		}
		if s.look(0) {
			s.stopped++ // the guest shows the QR code instead
		}
		s.redeemed++
		if err := s.limiter.reward(s.Context(), s.at, guid.ID{}); err != nil {
			s.Fatal(err)
		}
		pause := 18 * time.Second
		if hour := s.now.Hour(); hour == 12 {
			pause /= 2
		}
		s.now = s.now.Add(time.Duration(s.lot.Int64N(int64(2 * pause))))
	}
	s.now = s.now.Truncate(24 * time.Hour).Add(33 * time.Hour)
}

// TestAnHonestStoreIsNeverStopped is a month of a store at each of some locations: 2,200 redemptions a day, all by
// codes that cashiers type. Nothing is shared between locations with a key each, nor does anything depend on how many
// gifts are live, so that an account of 3,000 locations is as one of 30.
func TestAnHonestStoreIsNeverStopped(t *testing.T) {
	t.Parallel()
	days, locations := 30, 30
	if testing.Short() {
		days, locations = 10, 3
	}
	m := newTills()
	redeemed, typos, stopped := 0, 0, 0
	for n := range locations {
		s := newTill(t, 1, n, m)
		for range days {
			s.open(func() {})
		}
		redeemed, typos, stopped = redeemed+s.redeemed, typos+s.typos, stopped+s.stopped
	}
	t.Logf("%d redemptions at %d locations with a key each, %d typos: stopped %d times", redeemed, locations, typos,
		stopped)
	if stopped != 0 || typos < redeemed/100 {
		t.Errorf("stopped %d times, %d typos in %d", stopped, typos, redeemed)
	}
}

// TestWhatAKeyInUseIsWorthToAThief: where the store itself goes on redeeming with a key that somebody has stolen, its
// redemptions give the thief attempts too. The figure is for the threat model; what stops this thief is the event
// that it is.
func TestWhatAKeyInUseIsWorthToAThief(t *testing.T) {
	t.Parallel()
	m := newTills()
	s, tried, alarms := newTill(t, 2, 0, m), 0, 0
	s.limiter.alarm = func(context.Context, merchant.Till) { alarms++ }
	const days = 3
	for range days {
		s.open(func() {
			for !s.look(merchant.MissUnknown) {
				tried++
			}
		})
	}
	perDay := float64(tried) / days
	t.Logf("%.0f guesses a day beside 2,200 redemptions: %s to the first hit among 10,000,000 live gifts, %d events "+
		"in %d days",
		perDay, inYears(9e11/1e7/perDay), alarms, days)
	if alarms < days*10 {
		t.Errorf("%d events in %d days of ten hours", alarms, days)
	}
}

func inYears(days float64) string {
	if days < 365 {
		return fmt.Sprintf("%.1f days", days)
	}
	return fmt.Sprintf("%.1f years", days/365)
}
