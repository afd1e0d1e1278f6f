package ledger_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/money"
)

// racers are two engines over one store, as two instances are, and a clock that can be moved on.
type racers struct {
	*bench
	engines [2]*engine.Engine
	later   atomic.Int64
}

func newRacers(t testing.TB) *racers {
	r := &racers{}
	opts := engine.Options{Lanes: 2, Now: func() time.Time { return time.Now().Add(time.Duration(r.later.Load())) }}
	r.bench = setup(t, nil, opts)
	other := engine.Start(r.store, opts)
	t.Cleanup(other.Stop)
	r.engines = [2]*engine.Engine{r.engine, other}
	return r
}

// do runs a command on one of the engines and gives the code of its refusal, "" for none, and its result.
func (r *racers) do(engine int, cmd ledger.Command) (refused string, done ledger.Result) {
	c := r.call("race", "")
	c.Render = func(result ledger.Result, _ error) ledger.Answer {
		done = result
		return ledger.Answer{Code: ledger.OK, Body: []byte("done")}
	}
	if _, err := r.engines[engine].Do(r.Context(), c, cmd); err != nil {
		return code(err), done
	}
	return "", done
}

// atOnce runs two things at the same moment, or one of them a little later.
func atOnce(round int, a, b func()) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for n, do := range []func(){a, b} {
		all.Go(func() {
			<-start
			if later := time.Duration(round%8) * 300 * time.Microsecond; n == round/8%2 {
				time.Sleep(later)
			}
			do()
		})
	}
	close(start)
	all.Wait()
}

func (r *racers) hold(g guid.ID, amount money.Amount) (string, guid.ID) {
	refused, done := r.do(0, &ledger.Hold{VoucherID: g, Hold: gift.Hold{Redeem: gift.Redeem{Amount: amount}}})
	if refused != "" {
		return refused, guid.ID{}
	}
	return "", done.Entries[0].ID
}

// left is what a gift has, and what of it is held.
func (r *racers) left(g guid.ID) (balance, held money.Amount) {
	v, err := r.store.Gift(r.Context(), r.caller.Account.ID, g)
	if err != nil {
		r.Fatal(err)
	}
	return v.Balance, v.Balance - v.Available(time.Now().Add(time.Duration(r.later.Load())))
}

func rounds() int {
	if testing.Short() {
		return 30
	}
	return 300
}

// TestHoldRacesRedemption: of what is there once, one of them has it.
func TestHoldRacesRedemption(t *testing.T) {
	t.Parallel()
	r, held := newRacers(t), 0
	for n := range rounds() {
		g := r.gift(100)
		var hold, redeem string
		atOnce(n, func() { hold, _ = r.hold(g, 60) }, func() {
			redeem, _ = r.do(1, &ledger.Redeem{VoucherID: g, Redeem: gift.Redeem{Amount: 60}})
		})
		balance, kept := r.left(g)
		switch {
		case hold == "" && redeem == "INSUFFICIENT_BALANCE" && balance == 100 && kept == 60:
			held++
		case hold == "INSUFFICIENT_BALANCE" && redeem == "" && balance == 40 && kept == 0:
		default:
			t.Fatalf("the hold %q, the redemption %q: %d is left, %d of it held", hold, redeem, balance, kept)
		}
	}
	t.Logf("%d of %d were held", held, rounds())
	r.verify()
}

// TestCaptureRacesRelease: a hold is captured or released, never both, and never neither.
func TestCaptureRacesRelease(t *testing.T) {
	t.Parallel()
	r, captured := newRacers(t), 0
	for n := range rounds() {
		g := r.gift(100)
		_, hold := r.hold(g, 60)
		var capture, release string
		atOnce(n, func() {
			release, _ = r.do(1, &ledger.Release{HoldID: hold, Release: gift.Release{Caller: r.caller}})
		}, func() {
			capture, _ = r.do(0, &ledger.Capture{HoldID: hold, Capture: gift.Capture{Caller: r.caller}})
		})
		balance, kept := r.left(g)
		switch {
		case kept != 0:
			t.Fatalf("%d is held still", kept)
		case capture == "" && release == "HOLD_NOT_OPEN" && balance == 40:
			captured++
		case capture == "HOLD_NOT_OPEN" && release == "" && balance == 100:
		default:
			t.Fatalf("the capture %q, the release %q: %d is left", capture, release, balance)
		}
	}
	t.Logf("%d of %d were captured", captured, rounds())
	r.verify()
}

// TestCaptureRacesExpiry: a hold is captured in time, or it is over, as is entered once.
func TestCaptureRacesExpiry(t *testing.T) {
	t.Parallel()
	r, captured := newRacers(t), 0
	for n := range rounds() {
		g := r.gift(100)
		_, hold := r.hold(g, 60)
		var capture, expire string
		atOnce(n, func() {
			r.later.Add(int64(gift.DefaultHoldTime))
			expire, _ = r.do(1, &ledger.Expire{Ref: ledger.Ref{AccountID: r.caller.Account.ID, ID: g}})
		}, func() {
			capture, _ = r.do(0, &ledger.Capture{HoldID: hold, Capture: gift.Capture{Caller: r.caller}})
		})
		balance, kept := r.left(g)
		history, err := r.store.History(t.Context(), r.caller.Account.ID, g, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		last := history[len(history)-1].Kind
		switch {
		case expire != "" || kept != 0 || len(history) != 3:
			t.Fatalf("the expiry %q: %d is held still, %d entries", expire, kept, len(history))
		case capture == "" && balance == 40 && last == gift.Redemption:
			captured++
		case capture == "HOLD_NOT_OPEN" && balance == 100 && last == gift.HoldExpired:
		default:
			t.Fatalf("the capture %q: %d is left, after %s", capture, balance, last)
		}
	}
	t.Logf("%d of %d were captured", captured, rounds())
	r.verify()
}

// BenchmarkRedeemAfterHolds redeems in turns of a gift that was never held, of one with 100 holds that are over, and of
// one that had 1,000, and tells how long the others take beside the first.
func BenchmarkRedeemAfterHolds(b *testing.B) {
	r := newRacers(b)
	gifts := []guid.ID{r.gift(1 << 40), r.gift(1 << 40), r.gift(1 << 40)}
	redeem := func(g guid.ID) {
		if refused, _ := r.do(0, &ledger.Redeem{VoucherID: g, Redeem: gift.Redeem{Amount: 1}}); refused != "" {
			b.Fatal(refused)
		}
	}
	for n, times := range []int{0, 1, 10} {
		for range times {
			var all sync.WaitGroup
			for range gift.MaxHolds {
				all.Go(func() { r.hold(gifts[n], 1) })
			}
			all.Wait()
			r.later.Add(int64(gift.DefaultHoldTime))
			redeem(gifts[n]) // which enters that they are over
		}
	}
	var took [3][]time.Duration
	for b.Loop() {
		for n, g := range gifts {
			begun := time.Now()
			redeem(g)
			took[n] = append(took[n], time.Since(begun))
		}
	}
	var middle [3]float64
	for n := range took {
		slices.Sort(took[n])
		middle[n] = float64(took[n][len(took[n])/2])
	}
	b.ReportMetric(middle[1]/middle[0], "with-100/with-none")
	b.ReportMetric(middle[2]/middle[0], "with-1000/with-none")
}
