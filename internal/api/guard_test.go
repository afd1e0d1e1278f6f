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

	"boon.example/internal/api"
	"boon.example/internal/gift"
	"boon.example/internal/store"
)

func TestWrongCodesAreLimitedPerKeyAndLocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(money("50"))
	good := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `"}`
	for n := range gift.GuessBurst {
		w.validate(n).refused(404, gift.NotFound, "voucherCode")
		if n < gift.GuessBurst-1 {
			w.validate(0).refused(404, gift.NotFound) // the same code teaches nothing new
		}
	}
	limited := w.post("validate-gift", good, "X-Request-ID", "x").refused(429, gift.RateLimited, "")
	if bad := w.validate(500, "X-Request-ID", "x").refused(429, gift.RateLimited, ""); string(bad.body) != string(limited.body) {
		t.Errorf("good and bad codes are told apart: %s and %s", limited.body, bad.body)
	}
	if wait, _ := strconv.Atoi(limited.header.Get("Retry-After")); wait < 60 || wait > 180 {
		t.Errorf("Retry-After is %d s", wait)
	}
	w.post("redeem-gift", good).refused(429, gift.RateLimited)

	// What is not a guess goes on: the QR code, the id, another location, another key, a reversal.
	w.post("validate-gift", `{"voucherPublicToken":"`+g.token+`","organizationID":"`+pier+`"}`).want(200)
	w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+wharf+`"}`).want(200)
	w.post("validate-gift", good, as(rotatedKey)...).want(200)
	redeemed := w.post("redeem-gift", `{"voucherPublicToken":"`+g.token+`","organizationID":"`+pier+`","amount":1}`).want(200)
	w.post("reverse-redemption", `{"redemptionID":"`+redeemed.at("redemptionID")+`"}`).want(200)

	// That redemption gave three attempts back.
	for n := range gift.GuessReward {
		w.post("validate-gift", good).want(200)
		w.validate(600+n).refused(404, gift.NotFound)
	}
	w.post("validate-gift", good).refused(429, gift.RateLimited)
	w.pass(gift.GuessRefill + time.Second)
	w.post("validate-gift", good).want(200)
	w.validate(700).refused(404, gift.NotFound)
	w.post("validate-gift", good).refused(429, gift.RateLimited)

	// A restart forgives nothing.
	w.server.Close()
	w.engine.Stop()
	w.store.Close()
	reopened, err := store.Open(t.Context(), store.Options{Dir: w.dir, Database: w.database})
	if err != nil {
		t.Fatal(err)
	}
	w.run(reopened)
	w.post("validate-gift", good).refused(429, gift.RateLimited)
}

func TestGiftsThatAreNotForHereCountAsMisses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var foreign []made
	for range 10 {
		g := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":3},`+purchaseAt(cornerShop)+`}`, as(cornerKey)...)
		foreign = append(foreign, g, w.send(money("5", `,"organizationID":"`+wharf+`"`)))
	}
	for _, g := range foreign {
		w.post("validate-gift", `{"voucherPublicToken":"`+g.token+`","organizationID":"`+pier+`"}`).refused(403, gift.NotAuthorized)
		w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`"}`).refused(403, gift.NotAuthorized, "voucherCode")
	}
	w.validate(1).refused(429, gift.RateLimited)
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
	if counts[404] != gift.GuessBurst || counts[429] != len(answers)-gift.GuessBurst {
		t.Errorf("answers by status: %v", counts)
	}
}

func TestGoodCodesAtOnceWaitForEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(money("5"))
	for n := range gift.GuessBurst - 1 {
		w.validate(n).refused(404, gift.NotFound)
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

func TestAKeyMayUseHalfOfItsAccountsDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(money("5"))
	ask := func(key string) reply {
		return w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`"}`, as(key)...)
	}
	// The misses of a day, as they would be had they been made at many locations.
	spent := 0
	spend := func(key string, n int) {
		var who gift.ID
		for _, k := range keys() {
			if k.Hash == gift.HashKey(key) {
				who = k.ID
			}
		}
		for range n {
			spent++
			code, err := gift.ParseVoucherCode(fmt.Sprint(900_000_000_000 + spent))
			if err != nil {
				t.Fatal(err)
			}
			m := gift.Miss{AccountID: id(harbor), KeyID: who, LocationID: id(wharf), Code: code, At: w.now()}
			if _, err := w.store.CountMiss(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
	}
	spend(harborKey, gift.MaxGuessesPerDay/2-1)
	ask(harborKey).want(200)
	w.pass(2 * time.Second)
	w.validate(1).refused(404, gift.NotFound)
	r := ask(harborKey).refused(429, gift.RateLimited)
	if wait, _ := strconv.Atoi(r.header.Get("Retry-After")); wait < 1 || wait > 24*3600 {
		t.Errorf("Retry-After is %d s", wait)
	}
	ask(rotatedKey).want(200)
	spend(pierKey, gift.MaxGuessesPerDay/2)
	w.pass(2 * time.Second)
	ask(rotatedKey).refused(429, gift.RateLimited)
	w.post("validate-gift", `{"voucherCode":"`+g.code+`"}`, as(cornerKey)...).refused(403, gift.NotAuthorized)
	w.pass(24 * time.Hour)
	ask(harborKey).want(200)
}

func TestStrangersAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	var from atomic.Value
	from.Store("2001:db8::1")
	w := newWorld(t, func(c *api.Config) {
		c.ClientAddress = func(*http.Request) netip.Addr { return netip.MustParseAddr(from.Load().(string)) }
	})
	knock := func() reply { return w.get("/gifting/gifts", as("boon_test_stranger")...) }
	for n := range gift.StrangerBurst {
		from.Store(fmt.Sprintf("2001:db8:0:%d::1", n)) // one /56, one client
		knock().refused(401, gift.Unauthenticated)
	}
	for range 3 {
		knock().refused(429, gift.RateLimited)
	}
	w.get("/gifting/gifts").want(200) // whoever has a key is no stranger
	from.Store("2001:db8:0:100::1")
	knock().refused(401, gift.Unauthenticated)
	from.Store("192.0.2.1")
	for range gift.StrangerBurst {
		knock().refused(401, gift.Unauthenticated)
	}
	from.Store("::ffff:192.0.2.254")
	knock().refused(429, gift.RateLimited)
	w.pass(gift.StrangerRefill + time.Second)
	knock().refused(401, gift.Unauthenticated)
	knock().refused(429, gift.RateLimited)
}

// forgetful is a store that can be read, but counts no misses while it is full.
type forgetful struct {
	api.Records
	full atomic.Bool
}

func (f *forgetful) CountMiss(ctx context.Context, m gift.Miss) (gift.Guesses, error) {
	if f.full.Load() {
		return gift.Guesses{}, errors.New("database or disk is full")
	}
	return f.Records.CountMiss(ctx, m)
}

// TestAFullDiskIsNoLicenceToGuess: while misses cannot be counted, a till that made one is told nothing about codes, good or bad;
// it scans all the same. What was tried meanwhile is counted afterwards.
func TestAFullDiskIsNoLicenceToGuess(t *testing.T) {
	t.Parallel()
	var f *forgetful
	w := newWorld(t, func(c *api.Config) {
		f = &forgetful{Records: c.Records}
		c.Records = f
	})
	g := w.send(money("5"))
	good := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `"}`
	f.full.Store(true)
	w.post("validate-gift", good).want(200) // reading goes on
	w.validate(0).refused(503, gift.Unavailable)
	for n := range 40 {
		w.pass(2 * time.Second)
		w.validate(n).refused(503, gift.Unavailable)
		w.post("validate-gift", good).refused(503, gift.Unavailable)
	}
	w.post("validate-gift", `{"voucherPublicToken":"`+g.token+`","organizationID":"`+pier+`"}`).want(200)
	w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+wharf+`"}`).want(200)
	f.full.Store(false)
	w.post("validate-gift", good).want(200)
	for n := range gift.GuessBurst - 1 { // one was made while the disk was full
		w.validate(100+n).refused(404, gift.NotFound)
	}
	w.validate(200).refused(429, gift.RateLimited)
}
