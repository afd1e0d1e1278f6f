package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

var account = guid.ID{1}

// apple stands in for Apple in time that is not real.
type apple struct {
	Store // nothing of it is asked but what is below

	mu       sync.Mutex
	answer   func(token string, try int) (Outcome, error) // nil: 200
	took     time.Duration
	tries    map[string]int
	taken    []string
	inFlight int
	most     int
	dropped  []guid.ID
}

func (a *apple) send(ctx context.Context, _ *merchant.AppleWallet, token string) (o Outcome, err error) {
	a.mu.Lock()
	a.tries[token]++
	try := a.tries[token]
	a.inFlight++
	a.most = max(a.most, a.inFlight)
	a.mu.Unlock()
	select {
	case <-time.After(a.took):
	case <-ctx.Done():
	}
	o = Outcome{Status: 200}
	if a.answer != nil {
		o, err = a.answer(token, try)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight--
	if o.Taken() {
		a.taken = append(a.taken, token)
	}
	return o, err
}

// UnregisterPass implements Store.
func (a *apple) UnregisterPass(_ context.Context, d *event.PassDevice) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropped = append(a.dropped, d.VoucherID)
	return nil
}

// with runs a test of a queue that ticks as a follower has it tick.
func with(t *testing.T, a *apple, test func(q *queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a.tries = map[string]int{}
		d := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account: {Wallet: merchant.Wallet{
			Apple: merchant.AppleWallet{Certificate: "c"}}}}}
		f := &Follower{Store: a, Send: a.send, Directory: func() *merchant.Directory { return d },
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Random: func() float64 { return 1 }}
		f.Begin()
		q := newQueue(f, account)
		over := make(chan bool)
		var ticking sync.WaitGroup
		ticking.Go(func() {
			for {
				select {
				case <-over:
					return
				case <-time.After(Every):
					q.tick()
				}
			}
		})
		test(q)
		close(over)
		ticking.Wait()
		q.close()
	})
}

func device(n int) event.PassDevice {
	return event.PassDevice{AccountID: account, VoucherID: guid.ID{2, byte(n)}, Push: fmt.Sprintf("%04x", n)}
}

func at(position int64) merchant.EventPlace { return merchant.EventPlace{Position: position, Part: 1} }

// TestChangesAreToldTogether: what happens while a phone is being told is told once more, however much it is; and the
// place of the oldest that is not told is remembered.
func TestChangesAreToldTogether(t *testing.T) {
	t.Parallel()
	a := &apple{took: time.Second}
	with(t, a, func(q *queue) {
		for n := range 10 {
			q.add([]event.PassDevice{device(1)}, at(int64(10+n)))
			time.Sleep(10 * time.Millisecond)
		}
		if since, _, n := q.oldest(); since != at(10) || n != 1 {
			t.Errorf("%d wait, since %v", n, since)
		}
		time.Sleep(1500 * time.Millisecond)
		if since, _, n := q.oldest(); since != at(11) || n != 1 {
			t.Errorf("after the first, %d wait, since %v", n, since)
		}
		time.Sleep(time.Second)
		if _, begun, n := q.oldest(); n != 0 || !begun.IsZero() || len(a.taken) != 2 {
			t.Errorf("%d wait, %d were told", n, len(a.taken))
		}
	})
}

// TestAppleIsAway: while Apple does not answer, one push at a time is tried, less and less often; then all are told.
// After an hour a push is given up.
func TestAppleIsAway(t *testing.T) {
	t.Parallel()
	for name, outcome := range map[string]func() (Outcome, error){
		"is silent":       func() (Outcome, error) { return Outcome{}, errors.New("no answer") },
		"fails":           func() (Outcome, error) { return Outcome{Status: 500}, nil },
		"is overloaded":   func() (Outcome, error) { return Outcome{Status: 503}, nil },
		"takes no pushes": func() (Outcome, error) { return Outcome{Status: 403, Reason: "BadCertificate"}, nil },
	} {
		back := make(chan bool)
		a := &apple{took: 50 * time.Millisecond}
		with(t, a, func(q *queue) {
			a.answer = func(string, int) (Outcome, error) {
				select {
				case <-back:
					return Outcome{Status: 200}, nil
				default:
					return outcome()
				}
			}
			q.add([]event.PassDevice{device(0)}, at(1))
			time.Sleep(time.Second)
			a.mu.Lock()
			a.most = 0
			a.mu.Unlock()
			for n := range 100 {
				q.add([]event.PassDevice{device(n)}, at(2))
			}
			time.Sleep(20 * time.Minute)
			tries := 0
			a.mu.Lock()
			for _, n := range a.tries {
				tries += n
			}
			if a.most != 1 || tries > 20 || tries < 8 {
				t.Errorf("%s: %d pushes at once, %d in 20 minutes", name, a.most, tries)
			}
			a.mu.Unlock()
			if since, _, n := q.oldest(); since != at(1) || n != 100 {
				t.Errorf("%s: %d wait, since %v", name, n, since)
			}
			if name == "fails" {
				time.Sleep(time.Hour)
				if _, _, n := q.oldest(); n != 0 || len(a.tries) > 2 {
					t.Errorf("%s: %d wait after an hour, %v were tried", name, n, a.tries)
				}
				return
			}
			close(back)
			time.Sleep(6 * time.Minute)
			if _, _, n := q.oldest(); n != 0 || len(a.taken) != 100 {
				t.Errorf("%s: %d wait after it is back, %d were told", name, n, len(a.taken))
			}
		})
	}
}

// TestOnePhoneHoldsUpNoOther: a phone of which Apple wants fewer pushes is paused; one that is gone is forgotten with
// all of its passes; what Apple never takes is dropped; and the others are told at once.
func TestOnePhoneHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	a := &apple{took: 50 * time.Millisecond}
	with(t, a, func(q *queue) {
		a.answer = func(token string, try int) (Outcome, error) {
			switch {
			case strings.HasSuffix(token, "1") && try < 3:
				return Outcome{Status: 429}, nil
			case strings.HasSuffix(token, "2"):
				return Outcome{Status: 410, Reason: "Unregistered"}, nil
			case strings.HasSuffix(token, "3"):
				return Outcome{Status: 413}, nil
			case strings.HasSuffix(token, "4"):
				return Outcome{Status: 400, Reason: "BadDeviceToken"}, nil
			}
			return Outcome{Status: 200}, nil
		}
		two := device(2)
		two.VoucherID = guid.ID{3}
		q.add([]event.PassDevice{device(1), device(2), two, device(3), device(4), device(5)}, at(1))
		time.Sleep(time.Second)
		a.mu.Lock()
		if len(a.taken) != 1 || len(a.dropped) != 3 {
			t.Errorf("told are %v, forgotten %v", a.taken, a.dropped)
		}
		a.mu.Unlock()
		time.Sleep(11 * time.Second)
		if _, _, n := q.oldest(); n != 0 || len(a.taken) != 2 || a.tries["0002"] != 1 || a.tries["0003"] != 1 {
			t.Errorf("%d wait; told are %v, tried %v", n, a.taken, a.tries)
		}
	})
}

// TestPushesAreSpread: many pushes that wait together begin one after the other, and within half a second; a few begin
// at once, and one alone does not wait for those before it.
func TestPushesAreSpread(t *testing.T) {
	t.Parallel()
	a := &apple{}
	with(t, a, func(q *queue) {
		begun := func(n int) (all []time.Duration) {
			start := time.Now()
			var mu sync.Mutex
			a.answer = func(string, int) (Outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, time.Since(start))
				return Outcome{Status: 200}, nil
			}
			var devices []event.PassDevice
			for i := range n {
				devices = append(devices, device(i))
			}
			q.add(devices, at(1))
			time.Sleep(2 * time.Second)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return all
		}
		if one := begun(1); len(one) != 1 || one[0] > 0 {
			t.Errorf("a push alone begins after %v", one)
		}
		all := begun(500)
		if len(all) != 500 || all[0] > 0 || all[499] > 500*time.Millisecond {
			t.Errorf("%d pushes, the last after %v", len(all), all[len(all)-1])
			return
		}
		for n := range all[:450] {
			if gap := all[n+50] - all[n]; gap < 35*time.Millisecond {
				t.Errorf("51 pushes begin within %v", gap)
				return
			}
		}
		if one := begun(1); len(one) != 1 || one[0] > 0 {
			t.Errorf("a push alone begins after %v, as others went before it", one)
		}
	})
}

// TestChangesJoinAPushThatHasNotBegun: what changes while a push waits for its turn goes with it.
func TestChangesJoinAPushThatHasNotBegun(t *testing.T) {
	t.Parallel()
	a := &apple{}
	with(t, a, func(q *queue) {
		devices := make([]event.PassDevice, 50)
		for n := range devices {
			devices[n] = device(n)
		}
		q.add(devices, at(1))
		time.Sleep(100 * time.Millisecond)
		q.add(devices[49:], at(2))
		time.Sleep(time.Second)
		synctest.Wait()
		if n := a.tries["0031"]; n != 1 || len(a.taken) != 50 {
			t.Errorf("the phone was told %d times; %d were told", n, len(a.taken))
		}
	})
}
