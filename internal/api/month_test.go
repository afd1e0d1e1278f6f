package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/store"
)

// TestAnHonestStoreIsNeverStopped is a month of a store: 200 redemptions an hour, ten hours a day, twice as many around noon, every one by the
// code that the cashier types, two in a hundred with a typo. The limiter is the service's over the embedded store; the clock is not.
func TestAnHonestStoreIsNeverStopped(t *testing.T) {
	t.Parallel()
	days := 30
	if testing.Short() {
		days = 2
	}
	for _, seed := range []uint64{1} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			s := &honest{T: t, lot: rand.New(rand.NewPCG(seed, 2)), now: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)}
			s.guard = newGuard(db, func() time.Time { return s.now })
			for range days {
				s.day()
				s.now = s.now.Truncate(24 * time.Hour).Add(33 * time.Hour)
			}
			t.Logf("%d redemptions, %d typos, none stopped", s.redeemed, s.typos)
			if s.typos < s.redeemed/100 {
				t.Errorf("only %d typos in %d", s.typos, s.redeemed)
			}
		})
	}
}

// honest is a till.
type honest struct {
	*testing.T
	lot             *rand.Rand
	guard           *guard
	now             time.Time
	redeemed, typos int
}

func (s *honest) day() {
	for opened := s.now; s.now.Sub(opened) < 10*time.Hour; s.redeemed++ {
		for s.lot.IntN(50) == 0 {
			s.typos++
			if err := s.look(gift.Refuse(gift.NotFound, "There is no gift with this code.")); err == nil || !isMiss(err) {
				s.Fatalf("a typo at %v was answered %v", s.now, err)
			}
			s.now = s.now.Add(5 * time.Second)
		}
		if err := s.look(nil); err != nil {
			s.Fatalf("after %d redemptions and %d typos an honest code is answered %v", s.redeemed, s.typos, err)
		}
		if err := s.guard.reward(s.Context(), s.miss()); err != nil {
			s.Fatal(err)
		}
		pause := 18 * time.Second
		if hour := s.now.Hour(); hour == 12 {
			pause /= 2
		}
		s.now = s.now.Add(time.Duration(s.lot.Int64N(int64(2 * pause))))
	}
}

func (s *honest) miss() gift.Miss {
	return gift.Miss{AccountID: gift.ID{1}, KeyID: gift.ID{2}, LocationID: gift.ID{3}, At: s.now}
}

// look looks up a code, which is found unless it is refused.
func (s *honest) look(refused error) error {
	m := s.miss()
	code, err := gift.ParseVoucherCode(fmt.Sprint(100_000_000_000 + s.lot.Int64N(900_000_000_000)))
	if err != nil {
		s.Fatal(err)
	}
	m.Code = code
	return s.guard.lookUp(context.WithoutCancel(s.Context()), m, func() error { return refused })
}
