package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/base/ratelimit"
	"boon.example/internal/face/api"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store"
)

func TestWrongCodesAreLimitedPerKeyAndLocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("50"))
	good := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `"}`
	for n := range merchant.GuessBurst {
		w.validate(n).refused(404, refusal.NotFound, "voucherCode")
	}
	limited := w.post("validate-gift", good, "X-Request-ID", "x").refused(429, refusal.RateLimited, "")
	if bad := w.validate(500, "X-Request-ID", "x").refused(429, refusal.RateLimited,
		""); string(bad.body) != string(limited.body) {
		t.Errorf("good and bad codes are told apart: %s and %s", limited.body, bad.body)
	}
	if wait, _ := strconv.Atoi(limited.header.Get("Retry-After")); wait < 3500 || wait > 3600 {
		t.Errorf("Retry-After is %d s", wait)
	}
	w.post("redeem-gift", good).refused(429, refusal.RateLimited)

	// What is not a guess goes on: the QR code, the id, another location, another key, a reversal.
	w.post("validate-gift", `{"voucherPublicToken":"`+g.token+`","organizationID":"`+pier+`"}`).want(200)
	w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+wharf+`"}`).want(200)
	w.post("validate-gift", good, as(rotatedKey)...).want(200)
	redeemed := w.post("redeem-gift", `{"voucherPublicToken":"`+g.token+`","organizationID":"`+pier+
		`","amount":1}`).want(200)
	w.post("reverse-redemption", `{"redemptionID":"`+redeemed.at("redemptionID")+`"}`).want(200)

	// That redemption gave three attempts back.
	for n := range merchant.GuessReward {
		w.post("validate-gift", good).want(200)
		w.validate(600+n).refused(404, refusal.NotFound)
	}
	w.post("validate-gift", good).refused(429, refusal.RateLimited)
	w.pass(merchant.GuessRefill + time.Second)
	w.post("validate-gift", good).want(200)
	w.validate(700).refused(404, refusal.NotFound)
	w.post("validate-gift", good).refused(429, refusal.RateLimited)

	// A restart forgives nothing.
	w.server.Close()
	w.engine.Stop()
	w.store.Close()
	reopened, err := store.Open(t.Context(), store.Options{Dir: w.dir, Database: w.database})
	if err != nil {
		t.Fatal(err)
	}
	w.run(reopened)
	w.post("validate-gift", good).refused(429, refusal.RateLimited)
}

// TestLocationsOfAKeyHave20Each: 20 wrong codes at one location of a key leave the 20 of another one, and each waits an
// hour then.
func TestLocationsOfAKeyHave20Each(t *testing.T) {
	t.Parallel()
	for _, places := range []int{2, 10} {
		s := newSiege(t, false, 1, func(int) (all []int) {
			for n := range places {
				all = append(all, n)
			}
			return all
		})
		for _, place := range []int{0, 1} {
			for n := range merchant.GuessBurst {
				if ok, _ := s.guess(s.keys[0], place); !ok {
					t.Fatalf("%d locations: stopped at %d after %d", places, place, n)
				}
			}
			if ok, wait := s.guess(s.keys[0], place); ok || wait < 59*time.Minute || wait > time.Hour {
				t.Errorf("%d locations: another guess at %d, %v, or in %s", places, place, ok, wait)
			}
		}
		s.pass(time.Hour)
		for _, place := range []int{0, 1} {
			if ok, _ := s.guess(s.keys[0], place); !ok {
				t.Errorf("%d locations: none at %d after an hour", places, place)
			}
		}
	}
}

// TestOneGiftIsRewardedOnce: a gift that is redeemed cent by cent gives attempts back once for each key and location,
// however long its history is, and a reversal gives none.
func TestOneGiftIsRewardedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g, other := w.send(ofMoney("50")), w.send(ofMoney("50"))
	missed := 0
	left := func(want int) {
		t.Helper()
		for n := range want {
			missed++
			if r := w.validate(missed); r.status != 404 {
				t.Fatalf("%d misses were left, want %d: %s", n, want, r.body)
			}
		}
		missed++
		w.validate(missed).refused(429, refusal.RateLimited)
	}
	left(merchant.GuessBurst)
	redeem := func(g made, place, key string) reply {
		return w.post("redeem-gift", `{"voucherPublicToken":"`+g.token+`","organizationID":"`+place+`","amount":0.01}`,
			as(key)...).want(200)
	}
	first := redeem(g, pier, harborKey)
	left(merchant.GuessReward)
	for range 70 {
		redeem(g, pier, harborKey)
	}
	redeem(g, wharf, harborKey)
	redeem(g, pier, rotatedKey)
	w.post("reverse-redemption", `{"redemptionID":"`+first.at("redemptionID")+`"}`).want(200)
	redeem(g, pier, harborKey)
	left(0)
	redeem(other, pier, harborKey)
	left(merchant.GuessReward)
}

// TestWhatALookUpCosts: a gift of another account counts three, one of the same account nothing, wherever it may be
// used; a token, whosesoever, nothing either.
func TestWhatALookUpCosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var foreign []made
	for range 7 {
		foreign = append(foreign, w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},`+purchaseAt(cornerShop)+`}`,
			as(cornerKey)...))
	}
	ours := w.send(ofMoney("5", `,"organizationID":"`+wharf+`"`))
	for _, g := range append(foreign, ours) {
		for range 10 {
			w.post("validate-gift", `{"voucherPublicToken":"`+g.token+`","organizationID":"`+pier+`"}`).refused(403,
				refusal.NotAuthorized)
			w.post("validate-gift", `{"voucherCode":"`+ours.code+`","organizationID":"`+pier+`"}`).refused(403,
				refusal.NotAuthorized, "voucherCode")
			w.post("validate-gift", `{"voucherPublicToken":"ABCDEFGHIJKLMNOPQRSTUV","organizationID":"`+pier+`"}`).refused(404,
				refusal.NotFound)
		}
	}
	for _, g := range foreign { // 21
		w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`"}`).refused(403, refusal.NotAuthorized,
			"voucherCode")
	}
	w.validate(1).refused(429, refusal.RateLimited)
	w.pass(merchant.GuessRefill + time.Second) // the last cost more than was left
	w.validate(2).refused(429, refusal.RateLimited)
	w.pass(merchant.GuessRefill)
	w.validate(3).refused(404, refusal.NotFound)
}

// TestManyMissesAreAnEvent: it is told of once an hour that a key has had 12 misses for each of its locations. Another
// key is not stopped by it.
func TestManyMissesAreAnEvent(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var alarms []merchant.Till
	s := newSiege(t, false, 2, allPlaces, func(c *config) {
		c.GuessAlarm = func(_ context.Context, at merchant.Till) {
			mu.Lock()
			defer mu.Unlock()
			alarms = append(alarms, at)
		}
	})
	const all = merchant.GuessAlarmPlace * chainPlaces
	for n := range all {
		if len(alarms) > 0 {
			t.Errorf("told of it after %d", n)
		}
		if ok, _ := s.guess(s.keys[0], n/merchant.GuessBurst); !ok {
			t.Fatalf("stopped after %d", n)
		}
		if n < 100 {
			s.guess(s.keys[1], n/merchant.GuessBurst) // not so many that they are an event
		}
	}
	s.pass(time.Hour - time.Minute)
	s.guess(s.keys[0], all/merchant.GuessBurst)
	if ok, _ := s.guess(s.keys[1], 39); !ok {
		t.Error("another key was stopped")
	}
	if len(alarms) != 1 || alarms[0].AccountID != id(chain) ||
		alarms[0].KeyID != id("00000000-0000-7000-8000-000000000100") {
		t.Errorf("events: %v", alarms)
	}
	s.pass(2 * time.Minute)
	for n := range all / 2 { // at the locations that have theirs, and what came back by the hour
		s.guess(s.keys[0], chainPlaces-1-n/merchant.GuessBurst)
	}
	if len(alarms) != 1 {
		t.Errorf("after an hour with half as many: %v", alarms)
	}
}

// TestGuessesAfterAClockThatWasAhead: a clock that was a day ahead while codes were mistyped stops nobody once it is
// right, neither then nor a day later, and not those who have no key either.
func TestGuessesAfterAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("50"))
	good := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","amount":1}`
	knock := func() reply { return w.get("/gifting/gifts", as("boon_test_anonymous")...) }
	w.pass(24 * time.Hour)
	for n := range merchant.GuessBurst {
		w.validate(n).refused(404, refusal.NotFound)
	}
	w.post("redeem-gift", good).refused(429, refusal.RateLimited)
	for range merchant.AnonymousBurst {
		knock().refused(401, refusal.Unauthenticated)
	}
	knock().refused(429, refusal.RateLimited)
	w.pass(-24 * time.Hour)
	w.post("redeem-gift", good).want(200)
	knock().refused(401, refusal.Unauthenticated)
	w.pass(24 * time.Hour)
	w.post("redeem-gift", good).want(200)
}

func purchaseAt(storefront string) string {
	return purchase[:len(purchase)-len(shop)-1] + storefront + `"`
}

func TestAThousandGuessesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var answers [600]int
	var all sync.WaitGroup
	gate := make(chan struct{}, 100) // connections
	for n := range answers {
		all.Go(func() {
			gate <- struct{}{}
			answers[n] = w.validate(n).status
			<-gate
		})
	}
	all.Wait()
	counts := map[int]int{}
	for _, status := range answers {
		counts[status]++
	}
	if counts[404] != merchant.GuessBurst || counts[429] != len(answers)-merchant.GuessBurst {
		t.Errorf("answers by status: %v", counts)
	}
}

func TestGoodCodesAtOnceWaitForEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	for n := range merchant.GuessBurst - 1 {
		w.validate(n).refused(404, refusal.NotFound)
	}
	var failed atomic.Int32
	var all sync.WaitGroup
	for range 40 { // one attempt is left, and a good code does not use it up
		all.Go(func() {
			if w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`"}`).status != 200 {
				failed.Add(1)
			}
		})
	}
	all.Wait()
	if failed.Load() != 0 {
		t.Errorf("%d of 40 were refused", failed.Load())
	}
}

func TestAnonymousClientsAreLimitedByNetwork(t *testing.T) {
	t.Parallel()
	var from atomic.Value
	from.Store("2001:db8::1")
	w := newWorld(t, func(c *config) {
		c.ClientAddress = func(*http.Request) netip.Addr { return netip.MustParseAddr(from.Load().(string)) }
	})
	knock := func() reply { return w.get("/gifting/gifts", as("boon_test_anonymous")...) }
	for n := range merchant.AnonymousBurst {
		from.Store(fmt.Sprintf("2001:db8:0:%d::1", n)) // one /56, one client
		knock().refused(401, refusal.Unauthenticated)
	}
	for range 3 {
		knock().refused(429, refusal.RateLimited)
	}
	w.get("/gifting/gifts").want(200) // whoever has a key is not anonymous
	from.Store("2001:db8:0:100::1")
	knock().refused(401, refusal.Unauthenticated)
	from.Store("192.0.2.1")
	for range merchant.AnonymousBurst {
		knock().refused(401, refusal.Unauthenticated)
	}
	from.Store("::ffff:192.0.2.254")
	knock().refused(429, refusal.RateLimited)
	w.pass(merchant.AnonymousRefill + time.Second)
	knock().refused(401, refusal.Unauthenticated)
	knock().refused(429, refusal.RateLimited)
}

// forgetful is a store that can be read, but counts no misses while it is full.
type forgetful struct {
	api.Records
	full atomic.Bool
}

func (f *forgetful) CountMisses(ctx context.Context, at merchant.Till, now time.Time, n int) (ratelimit.Bucket, bool,
	error) {
	if f.full.Load() {
		return ratelimit.Bucket{}, false, errors.New("database or disk is full")
	}
	return f.Records.CountMisses(ctx, at, now, n)
}

// TestAFullDiskIsNoLicenceToGuess: while misses cannot be counted, a till that made one is told nothing about codes,
// good or bad; it scans all the same. What was tried meanwhile is counted afterwards.
func TestAFullDiskIsNoLicenceToGuess(t *testing.T) {
	t.Parallel()
	var f *forgetful
	w := newWorld(t, func(c *config) {
		f = &forgetful{Records: c.Records}
		c.Records = f
	})
	g := w.send(ofMoney("5"))
	good := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `"}`
	f.full.Store(true)
	w.post("validate-gift", good).want(200) // reading goes on
	w.validate(0).refused(503, refusal.Unavailable)
	for n := range 40 {
		w.pass(2 * time.Second)
		w.validate(n).refused(503, refusal.Unavailable)
		w.post("validate-gift", good).refused(503, refusal.Unavailable)
	}
	w.post("validate-gift", `{"voucherPublicToken":"`+g.token+`","organizationID":"`+pier+`"}`).want(200)
	w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+wharf+`"}`).want(200)
	f.full.Store(false)
	w.post("validate-gift", good).want(200)
	for n := range merchant.GuessBurst - 1 { // one was made while the disk was full
		w.validate(100+n).refused(404, refusal.NotFound)
	}
	w.validate(200).refused(429, refusal.RateLimited)
}
