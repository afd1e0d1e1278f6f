package ledger_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

// oneWriter is a store that does one group at a time, a heavy one in orderTime and any other in a millisecond.
type oneWriter chan struct{}

const orderTime = 60 * time.Millisecond

func (w oneWriter) Group(_ context.Context, want ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	w <- struct{}{}
	defer func() { <-w }()
	if decide(&ledger.State{}); len(want.Vouchers) == 1000 {
		time.Sleep(orderTime)
	} else {
		time.Sleep(time.Millisecond)
	}
	return nil
}

// heavy is a command on a thousand gifts, and light one on one.
var (
	heavy = &ledger.Cancel{VoucherIDs: make([]gift.ID, 1000)}
	light = &ledger.Rejected{Err: gift.Refuse(gift.NotFound, "no")}
)

// latencies runs tills that make so many light commands a second for a time, beside senders that each make so many
// heavy ones, and tells how long each command took.
func latencies(t *testing.T, rate int, during time.Duration, senders, orders int) (tills, sent []time.Duration,
	took time.Duration) {
	return beside(t, light, rate, during, senders, orders)
}

// beside is latencies beside other light commands.
func beside(t *testing.T, light ledger.Command, rate int, during time.Duration, senders, orders int) (
	tills, sent []time.Duration, took time.Duration,
) {
	synctest.Test(t, func(t *testing.T) {
		engine := ledger.Start(make(oneWriter, 1), ledger.Options{})
		defer engine.Stop()
		var mu sync.Mutex
		do := func(account int, c ledger.Command, times *[]time.Duration) {
			begun := time.Now()
			id := gift.ID{byte(account)}
			engine.Do(t.Context(), ledger.Call{AccountID: id, Render: func(ledger.Result,
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
					time.Sleep(time.Second / time.Duration(rate))
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

// TestLightCommandsComeBetweenHeavyOnes: while tills are busy, fewer than one of their calls in a hundred meets an
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
		if met*100 >= len(tills) {
			t.Errorf("beside %d senders, %d calls of %d met an order", senders, met, len(tills))
		}
		if len(sent) != 5*senders || took > 3*time.Minute {
			t.Errorf("%d senders: %d orders, in %v", senders, len(sent), took)
		}
	}
}

// TestOrdersAreHeldForAWhile: however many there are and however busy the tills, nobody waits much longer than MaxHeld.
func TestOrdersAreHeldForAWhile(t *testing.T) {
	t.Parallel()
	const senders = 50
	_, sent, _ := latencies(t, 200, 2*time.Minute, senders, 3)
	for _, d := range sent {
		if most := ledger.MaxHeld + (senders+1)*2*orderTime; d > most {
			t.Errorf("an order took %v, which should be %v at most", d, most)
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

// TestAHundredOrders: they follow each other at once without tills, and take a few minutes beside the busiest.
func TestAHundredOrders(t *testing.T) {
	t.Parallel()
	if _, _, took := latencies(t, 0, 0, 1, 100); took > 100*orderTime+time.Second {
		t.Errorf("100 orders took %v", took)
	}
	// Twenty locations that redeem 200 times an hour each make about a call a second, 3,000 make 167.
	for rate, most := range map[int]time.Duration{1: 2 * time.Minute, 167: 13 * time.Minute} {
		if _, sent, took := latencies(t, rate, most, 1, 100); len(sent) != 100 || took > most {
			t.Errorf("with %d calls a second, %d orders took %v", rate, len(sent), took)
		}
	}
}

// TestOrdersOfAnAccountAreBounded: one merchant's orders fill neither the queue nor the memory; another's are taken.
func TestOrdersOfAnAccountAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := ledger.Start(make(oneWriter, 1), ledger.Options{})
		defer engine.Stop()
		var done, refused int
		var mu sync.Mutex
		send := func(account byte) {
			_, err := engine.Do(t.Context(), ledger.Call{AccountID: gift.ID{account}, Render: func(ledger.Result,
				error) ledger.Answer {
				return ledger.Answer{Body: []byte("{}")}
			}}, heavy)
			mu.Lock()
			defer mu.Unlock()
			refusal, _ := errors.AsType[*gift.Error](err)
			if refusal != nil && refusal.Code == gift.Unavailable && refusal.RetryAfter > 0 {
				refused++
			} else {
				done++
			}
		}
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() { send(1) })
		}
		synctest.Wait()
		all.Go(func() { send(2) })
		all.Wait()
		if done != 33 || refused != 8 {
			t.Errorf("%d orders were done and %d refused, want 32 of one account, 1 of another, and 8", done, refused)
		}
		if send(1); done != 34 {
			t.Error("nothing is under way, and an order was refused")
		}
	})
}
