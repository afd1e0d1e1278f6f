package api_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/base/ratelimit"
	"boon.example/internal/face/api"
	"boon.example/internal/merchant"
)

// chain is a merchant with many locations.
const (
	chain       = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f6c01"
	chainPlaces = 40
)

func chainPlace(n int) string { return fmt.Sprintf("7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f6d%02d", n) }

func chainKey(n int) string { return fmt.Sprintf("boon_test_chain-%024d", n) }

// unlimited never counts anything.
type unlimited struct{ api.Records }

func (unlimited) CountMisses(context.Context, merchant.Till, time.Time, int) (ratelimit.Bucket, bool, error) {
	return ratelimit.Bucket{}, false, nil
}

// siege is an attacker with some stolen keys, each good at some locations, who calls from a thousand addresses.
type siege struct {
	*world
	handler http.Handler
	keys    []string
	places  func(key int) []int
	tried   int // codes, none twice
}

func newSiege(t *testing.T, off bool, keys int, places func(key int) []int, change ...func(*config)) *siege {
	var calls atomic.Int64
	s := &siege{places: places}
	s.world = newWorld(t, func(c *config) {
		if off {
			c.Records = unlimited{c.Records}
		}
		for _, f := range change {
			f(c)
		}
		c.ClientAddress = func(*http.Request) netip.Addr {
			n := calls.Add(1) % 1000
			return netip.AddrFrom4([4]byte{203, 0, byte(n >> 8), byte(n)})
		}
	})
	a := &merchant.Account{ID: id(chain), Name: "Chain", Currency: dollars, Zone: time.UTC, MaxGiftValue: 10_000_00}
	for n := range chainPlaces {
		a.Locations = append(a.Locations, merchant.Location{ID: id(chainPlace(n)), Name: fmt.Sprint("Place ", n)})
	}
	chained := merchant.Changes{Accounts: []*merchant.Account{a}}
	for n := range keys {
		k := &merchant.Key{ID: id(fmt.Sprintf("00000000-0000-7000-8000-0000000001%02d", n)), Kind: merchant.AccountKey,
			AccountID: a.ID,
			Name:      fmt.Sprint("key ", n), Hash: merchant.HashKey(chainKey(n)), CreatedAt: s.now(),
			Permissions: merchant.AllPermissions}
		for _, p := range places(n) {
			k.Locations = append(k.Locations, id(chainPlace(p)))
		}
		chained.Keys, s.keys = append(chained.Keys, k), append(s.keys, chainKey(n))
	}
	if err := s.store.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
		return chained,
			nil
	}); err != nil {
		t.Fatal(err)
	}
	directory, err := s.store.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.directory.Store(directory)
	s.handler = s.config.handler()
	return s
}

// guess tries one more code; ok tells that it was looked up, wait for how long no other will be at this till.
func (s *siege) guess(key string, place int) (ok bool, wait time.Duration) {
	s.Helper()
	body := fmt.Sprintf(`{"voucherCode":"%d","organizationID":"%s"}`, 100_000_000_000+s.tried, chainPlace(place))
	r := httptest.NewRequest("POST", paths["validate-gift"], strings.NewReader(body))
	r.Header.Set("Authorization", key)
	answer := httptest.NewRecorder()
	s.handler.ServeHTTP(answer, r)
	switch answer.Code {
	case 404:
		s.tried++
		return true, 0
	case 429:
		n, _ := strconv.Atoi(answer.Header().Get("Retry-After"))
		return false, time.Duration(n) * time.Second
	}
	s.Fatalf("%d: %s", answer.Code, answer.Body)
	return false, 0
}

// day guesses as fast as the limits allow for a whole day of the clock, or until there were enough guesses; it tells
// how many there were in how many days.
func (s *siege) day(enough int) (guessed int, days float64) {
	s.Helper()
	begun := s.now()
	end := begun.Add(24 * time.Hour)
	free := map[string]time.Time{} // by till: when it is worth another try
	for s.now().Before(end) && guessed < enough {
		next := end
		for n, key := range s.keys {
			for _, place := range s.places(n) {
				at := key + strconv.Itoa(place)
				for s.now().After(free[at]) && guessed < enough {
					ok, wait := s.guess(key, place)
					if ok {
						guessed++
						s.pass(10 * time.Millisecond) // as fast as the line is
						continue
					}
					free[at] = s.now().Add(wait)
				}
				if free[at].Before(next) {
					next = free[at]
				}
			}
		}
		if wait := next.Sub(s.now()); wait > 0 {
			s.pass(wait)
		}
	}
	return guessed, s.now().Sub(begun).Hours() / 24
}

// toTheFirstHit is the expected time in days: codes have 9 × 10¹¹ values, of which so many are live.
func toTheFirstHit(live, atOnce, perDay float64) float64 { return max(0, 9e11/live-atOnce) / perDay }

func allPlaces(int) (all []int) {
	for n := range chainPlaces {
		all = append(all, n)
	}
	return all
}

// TestGuessingTakesTenYears: whoever stole a till's key and guesses codes from a thousand addresses as fast as the
// limits allow needs ten years on average for the first hit among ten million live gifts. With the limits off the
// same thief is through in no time. A key that is enabled at many locations is worth as much a day as the keys of four
// (TestWhatAKeyOfManyLocationsIsWorthToAGuesser).
func TestGuessingTakesTenYears(t *testing.T) {
	t.Parallel()
	const live = 10_000_000
	one := func(n int) []int { return []int{n} }
	for _, tt := range []struct {
		name   string
		keys   int
		places func(int) []int
		off    bool
		years  float64 // at least; 0: below ten
	}{
		{"a key of one location", 1, one, false, 10},
		{"the keys of four locations", 4, one, false, 2.5},
		{"one key of forty locations", 1, allPlaces, false, 2.4},
		{"a key of one location with the limits off", 1, one, true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSiege(t, tt.off, tt.keys, tt.places)
			enough := 1 << 30
			if tt.off {
				enough = 300
			}
			atOnce, _ := s.day(tt.keys * len(tt.places(0)) * merchant.GuessBurst)
			guessed, days := s.day(enough)
			perDay := float64(guessed) / days
			took := toTheFirstHit(live, float64(atOnce), perDay)
			t.Logf("%d live gifts, %s: %d guesses at once and %.0f a day, %.3g years to the first hit", live, tt.name, atOnce,
				perDay, took/365)
			if !tt.off && perDay > float64(25*tt.keys*min(len(tt.places(0)), merchant.SharedGuesses))+4 {
				t.Errorf("%.0f guesses a day with %d keys", perDay, tt.keys)
			}
			if took/365 < tt.years || tt.years == 0 && took > 1 {
				t.Errorf("%.3g years to the first hit", took/365)
			}
		})
	}
}

// TestGuessersNeverStopAScan: whatever was guessed before, by stolen keys of the account, by other accounts and by
// anonymous clients at the store's own address, the store redeems the next gift that is scanned, by its token and by
// its id.
func TestGuessersNeverStopAScan(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			lot, w := rand.New(rand.NewPCG(seed, 9)), newWorld(t)
			g, limited := w.send(ofMoney("1000")), 0
			keys := []string{harborKey, rotatedKey, pierKey, wharfKey, cornerKey, "boon_test_nobody"}
			for range 60 {
				key, place := keys[lot.IntN(len(keys))], []string{pier, wharf, cornerPlace}[lot.IntN(3)]
				for range lot.IntN(30) {
					by := []string{
						fmt.Sprintf(`{"voucherCode":"%d"`, 200_000_000_000+lot.Int64N(1e11)), fmt.Sprintf(`{"voucherPublicToken":"%022d"`,
							lot.Int64()),
						fmt.Sprintf(`{"voucherID":"00000000-0000-7000-8000-%012d"`, lot.Int64N(1e12)), `{"voucherCode":"` + g.code + `"`,
					}[lot.IntN(4)]
					operation := []string{"validate-gift", "redeem-gift"}[lot.IntN(2)]
					r := w.post(operation, by+`,"amount":100000,"organizationID":"`+place+`"}`, as(key)...)
					if r.status == 429 {
						limited++
					}
				}
				w.post("validate-gift", `{"voucherPublicToken":"`+g.token+`","organizationID":"`+pier+`"}`).want(200)
				w.post("redeem-gift", `{"voucherPublicToken":"`+g.token+`","amount":1,"organizationID":"`+pier+`"}`).want(200)
				w.redeem(g, "1").want(200)
				w.pass(time.Duration(lot.IntN(120)) * time.Second)
			}
			if limited < 50 {
				t.Errorf("only %d guesses were limited: there was no attack", limited)
			}
		})
	}
}

// status makes a call past HTTP, and gives the status of its answer.
func (s *siege) status(operation, body, key string) int {
	r := httptest.NewRequest("POST", paths[operation], strings.NewReader(body))
	r.Header.Set("Authorization", key)
	answer := httptest.NewRecorder()
	s.handler.ServeHTTP(answer, r)
	if answer.Code != 429 && answer.Code >= 400 {
		s.Errorf("%s: %d %s", operation, answer.Code, answer.Body)
	}
	return answer.Code
}
