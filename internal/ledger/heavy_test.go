package ledger_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
)

// oneWriter is a store that does one group at a time, a thousand gifts in orderTime and a light one in a millisecond.
type oneWriter chan struct{}

const orderTime = 45 * time.Millisecond

func (w oneWriter) Group(_ context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	w <- struct{}{}
	defer func() { <-w }()
	decide(&ledger.State{Codes: map[codes.VoucherCode]bool{}})
	time.Sleep(max(time.Millisecond, orderTime*time.Duration(len(want.Vouchers)/1000)))
	return nil
}

// heavy is a command on a thousand gifts, and light one on one.
var (
	heavy = &ledger.Cancel{VoucherIDs: make([]guid.ID, 1000)}
	light = &ledger.Rejected{Err: refusal.New(refusal.NotFound, "no")}
)

// Worth implements engine.Store.
func (oneWriter) Look(context.Context, ledger.Want, func(*ledger.State)) error { return nil }

func (oneWriter) Worth(context.Context, guid.ID, guid.ID) (gift.ItemWorth, error) {
	return gift.ItemWorth{}, nil
}

// latencies runs tills that make so many light commands a second for a time, beside senders of an account each that
// make so many heavy ones, and tells how long each command took.
func latencies(t *testing.T, rate float64, during time.Duration, senders, orders int) (tills, sent []time.Duration,
	took time.Duration) {
	return beside(t, light, rate, during, senders, orders)
}

// beside is latencies beside other light commands.
func beside(t *testing.T, light ledger.Command, rate float64, during time.Duration, senders, orders int) (
	tills, sent []time.Duration, took time.Duration,
) {
	synctest.Test(t, func(t *testing.T) {
		started := engine.Start(make(oneWriter, 1), engine.Options{})
		defer started.Stop()
		var mu sync.Mutex
		do := func(account int, c ledger.Command, times *[]time.Duration) {
			begun := time.Now()
			id := guid.ID{byte(account)}
			started.Do(t.Context(), ledger.Call{AccountID: id, Render: func(ledger.Result,
				error) ledger.Answer {
				return ledger.Answer{}
			}}, c)
			mu.Lock()
			defer mu.Unlock()
			*times = append(*times, time.Since(begun))
		}
		var all, calls sync.WaitGroup
		begun := time.Now()
		if rate > 0 {
			all.Go(func() {
				for time.Since(begun) < during {
					calls.Go(func() { do(0, light, &tills) })
					time.Sleep(time.Duration(float64(time.Second) / rate))
				}
			})
		}
		time.Sleep(10 * time.Millisecond)
		for n := range senders {
			all.Go(func() {
				for range orders {
					do(n+1, heavy, &sent)
				}
				mu.Lock()
				defer mu.Unlock()
				took = max(took, time.Since(begun))
			})
		}
		all.Wait()
		calls.Wait()
	})
	return tills, sent, took
}

// TestLightCommandsComeBetweenHeavyOnes: while tills are busy, far fewer than one of their calls in a hundred meets an
// order of a thousand, and yet every order is done in time.
func TestLightCommandsComeBetweenHeavyOnes(t *testing.T) {
	t.Parallel()
	for _, senders := range []int{1, 2, 4} {
		tills, sent, took := latencies(t, 200, 3*time.Minute, senders, 5)
		met := 0
		for _, d := range tills {
			if d > 3*time.Millisecond {
				met++
			}
		}
		if met*150 >= len(tills) {
			t.Errorf("beside %d senders, %d calls of %d met an order", senders, met, len(tills))
		}
		if len(sent) != 5*senders || took > 3*time.Minute {
			t.Errorf("%d senders: %d orders, in %v", senders, len(sent), took)
		}
	}
}

// TestDeliveriesHoldNoOrders: an order's own messages are no reason to hold back the next one.
func TestDeliveriesHoldNoOrders(t *testing.T) {
	t.Parallel()
	if _, _, took := beside(t, &ledger.Deliver{}, 200, 10*time.Second, 1, 20); took > 5*time.Second {
		t.Errorf("beside deliveries, 20 orders took %v", took)
	}
}

// TestAHundredOrders: they follow each other at once without tills, and take twenty minutes beside the busiest.
func TestAHundredOrders(t *testing.T) {
	racetest.SkipShort(t, "it simulates twenty minutes of tills")
	t.Parallel()
	if _, _, took := latencies(t, 0, 0, 1, 100); took > 100*orderTime+time.Second {
		t.Errorf("100 orders took %v", took)
	}
	// Ten locations that redeem 200 times an hour each make a call every two seconds, 3,000 make 167 a second.
	for rate, most := range map[float64]time.Duration{0.5: 2 * time.Minute, 167: 25 * time.Minute} {
		if _, sent, took := latencies(t, rate, most, 1, 100); len(sent) != 100 || took > most {
			t.Errorf("with %v calls a second, %d orders took %v", rate, len(sent), took)
		}
	}
}

// orders is an engine in a bubble, beside whose light commands one order is done after the other, with pauses.
type orders struct {
	*testing.T
	engine *engine.Engine
	tills  sync.WaitGroup
	sent   sync.WaitGroup

	mu            sync.Mutex
	done, refused map[byte][]time.Duration // of each account: after how long
}

func withOrders(t *testing.T, tillsFor time.Duration, test func(*orders)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := &orders{T: t, engine: engine.Start(make(oneWriter, 1), engine.Options{}),
			done: map[byte][]time.Duration{}, refused: map[byte][]time.Duration{}}
		defer o.engine.Stop()
		o.tills.Go(func() {
			for begun := time.Now(); time.Since(begun) < tillsFor; time.Sleep(6 * time.Millisecond) {
				o.do(0, light)
			}
		})
		if tillsFor > 0 {
			time.Sleep(10 * time.Millisecond)
		}
		test(o)
		o.sent.Wait()
		o.tills.Wait()
	})
}

func (o *orders) do(account byte, c ledger.Command) error {
	_, err := o.engine.Do(o.Context(), ledger.Call{AccountID: guid.ID{account}, Render: func(ledger.Result,
		error) ledger.Answer {
		return ledger.Answer{Body: []byte("{}")}
	}}, c)
	return err
}

// send makes n heavy commands of an account at the same time.
func (o *orders) send(account byte, n int) {
	for range n {
		o.sent.Go(func() {
			begun := time.Now()
			err := o.do(account, heavy)
			o.mu.Lock()
			defer o.mu.Unlock()
			refused, _ := errors.AsType[*refusal.Error](err)
			into := o.done // decided, if only to be NOT_FOUND
			if refused != nil && refused.Code == refusal.Unavailable && refused.RetryAfter > 0 {
				into = o.refused
			}
			into[account] = append(into[account], time.Since(begun))
		})
	}
	synctest.Wait()
}

// TestOrdersOfAnAccountAreBounded: one merchant's orders fill neither the queue nor the memory; another's are taken.
func TestOrdersOfAnAccountAreBounded(t *testing.T) {
	withOrders(t, 0, func(o *orders) {
		o.send(1, 1)
		o.send(1, 39)
		o.send(2, 1)
		o.sent.Wait()
		if len(o.done[1]) != 33 || len(o.refused[1]) != 7 || len(o.done[2]) != 1 {
			t.Errorf("%d orders of an account were done and %d refused, and %d of another, want 33, 7 and 1",
				len(o.done[1]), len(o.refused[1]), len(o.done[2]))
		}
		o.send(1, 1)
		if o.sent.Wait(); len(o.done[1]) != 34 {
			t.Error("nothing is under way, and an order was refused")
		}
	})
}

// TestAStockIsAsLongAsTenOrders: it takes no larger share of the time from tills, and others need not wait for all of
// it.
func TestAStockIsAsLongAsTenOrders(t *testing.T) {
	withOrders(t, 4*time.Minute, func(o *orders) {
		stock := &ledger.Cancel{VoucherIDs: make([]guid.ID, 10_000)}
		refused := func(want bool) {
			t.Helper()
			if err := o.do(1, stock); errors.Is(err, refusal.Unavailable) != want {
				t.Errorf("a stock was answered %v", err)
			}
		}
		refused(false)
		o.send(2, 1)
		refused(true)
		if o.sent.Wait(); len(o.done[2]) != 1 || o.done[2][0] > engine.MaxHeld+time.Second {
			t.Errorf("the only order of another account took %v", o.done[2])
		}
		time.Sleep(2 * time.Minute)
		refused(false)
	})
}

// TestAccountsTakeTurns: a merchant's single order waits for one of another's thirty, not for all.
func TestAccountsTakeTurns(t *testing.T) {
	withOrders(t, time.Minute, func(o *orders) {
		o.send(1, 30)
		o.send(2, 1)
		o.sent.Wait()
		if len(o.done[2]) != 1 || o.done[2][0] > 14*time.Second {
			t.Errorf("the only order of an account beside thirty of another took %v", o.done[2])
		}
	})
}

// TestOrdersAreHeldForAWhile: however many accounts have an order and however busy the tills, each is done soon after
// MaxHeld.
func TestOrdersAreHeldForAWhile(t *testing.T) {
	withOrders(t, time.Minute, func(o *orders) {
		const accounts = 50
		for n := range byte(accounts) {
			o.send(1+n, 1)
		}
		o.sent.Wait()
		for _, done := range o.done {
			if most := engine.MaxHeld + 2*accounts*orderTime; done[0] > most {
				t.Errorf("an order took %v, which should be %v at most", done[0], most)
			}
		}
		if len(o.done) != accounts {
			t.Errorf("the only orders of %d accounts were done, of %d", len(o.done), accounts)
		}
	})
}

// TestOrdersThatFindNoPlaceAreRefused: however many orders a merchant makes, the share of the time that they take from
// tills stays what it is, and each has an answer in time.
func TestOrdersThatFindNoPlaceAreRefused(t *testing.T) {
	withOrders(t, time.Minute, func(o *orders) {
		o.send(1, 30)
		o.sent.Wait()
		if done := len(o.done[1]); done != 3 {
			t.Errorf("%d orders of an account were done in %v", done, engine.MaxHeld)
		}
		for _, took := range o.refused[1] {
			if took > engine.MaxHeld+time.Second {
				t.Errorf("an order was refused after %v", took)
			}
		}
	})
}

// TestReleasesWeigh: each hold that a cancellation releases is one more entry, and nobody knows how many there are.
func TestReleasesWeigh(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]bool{1: {false, false}, 2: {false, true}, 16: {false, true}, 17: {true, true}} {
		cancel := &ledger.Cancel{VoucherIDs: make([]guid.ID, n)}
		plain := ledger.Heavy(cancel)
		cancel.ReleaseHolds = true
		if got := [2]bool{plain, ledger.Heavy(cancel)}; got != want {
			t.Errorf("%d gifts are heavy: %v, want %v", n, got, want)
		}
	}
}

// asked is a store that keeps what it was last asked for, and what was decided on it.
type asked struct {
	ledger.Want
	ledger.Changes
}

func (a *asked) Group(_ context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	a.Want = want
	a.Changes = decide(&ledger.State{Vouchers: map[ledger.Ref]*gift.Voucher{}, Codes: map[codes.VoucherCode]bool{},
		CashOuts: map[ledger.Ref]gift.CashOuts{}, Counts: map[merchant.CountKey]merchant.Count{}})
	return nil
}

// Look implements engine.Store.
func (*asked) Look(context.Context, ledger.Want, func(*ledger.State)) error { return nil }

// Worth implements engine.Store.
func (*asked) Worth(context.Context, guid.ID, guid.ID) (gift.ItemWorth, error) {
	return gift.ItemWorth{}, nil
}

// TestLargeOrdersTellTheirLimits: they do not lock what they count, so the store is told what that may come to.
func TestLargeOrdersTellTheirLimits(t *testing.T) {
	t.Parallel()
	store := &asked{}
	started := engine.Start(store, engine.Options{})
	defer started.Stop()
	account := &merchant.Account{ID: guid.ID{1}, Zone: time.UTC,
		Limits: merchant.Limits{GiftsPerDay: 100, TextsPerDay: 7, MessagesPerContactPerDay: 30}}
	issue := func(n int) {
		gifts := make([]gift.Gift, n)
		for i := range gifts {
			gifts[i] = gift.Gift{Voucher: gift.Voucher{AccountID: account.ID, Funded: 5},
				Card: gift.Card{Method: contact.Email, Contact: "ann@example.com"}}
		}
		_, err := started.Do(t.Context(), ledger.Call{AccountID: account.ID, Account: account,
			Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} }}, &ledger.Issue{Gifts: gifts})
		if err != nil {
			t.Fatal(err)
		}
	}
	issue(1)
	if store.Heavy || len(store.Most) > 0 {
		t.Errorf("one gift is heavy: %v, %v", store.Heavy, store.Most)
	}
	issue(17)
	const any = math.MaxInt64
	want := map[merchant.CountKey]merchant.Count{
		{AccountID: account.ID, Kind: merchant.SentCount, Owner: account.ID}: {Amount: any, Gifts: 100, Messages: any,
			Texts: any},
		{AccountID: account.ID, Kind: merchant.ContactCount, Owner: account.ID, Contact: "ann@example.com"}: {Amount: any,
			Gifts: any, Messages: 30, Texts: any},
	}
	if !store.Heavy || !maps.Equal(store.Most, want) {
		t.Errorf("17 gifts are heavy: %v, and may come to %v, want %v", store.Heavy, store.Most, want)
	}
}
