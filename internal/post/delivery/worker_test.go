package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/post/message"
	"boon.example/internal/racetest"
	"boon.example/internal/store/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner{M: m}) }

// wire is a small gateway: it remembers every attempt and answers as it is told. Without an answer it accepts.
type wire struct {
	answer func(ctx context.Context, attempt int) error // attempt is 1 for a job's first

	mu   sync.Mutex
	sent []attempt
}

type attempt struct {
	job ledger.Job
	at  time.Time
}

func (w *wire) Send(ctx context.Context, _ []gift.Gift, job ledger.Job) error {
	w.mu.Lock()
	w.sent = append(w.sent, attempt{job, time.Now()})
	n := 0
	for _, a := range w.sent {
		if a.job.ID == job.ID {
			n++
		}
	}
	w.mu.Unlock()
	if w.answer == nil {
		return nil
	}
	return w.answer(ctx, n)
}

func (w *wire) attempts() []attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// world is a worker with its store and gateway.
type world struct {
	*faulty
	*wire
	*Worker
	log *strings.Builder
}

func newWorld(t *testing.T, answer func(context.Context, int) error) *world {
	t.Helper()
	if pgtest.OnPostgres() {
		t.Skip("deliverytest has what runs on both stores")
	}
	m, g, log := newFaulty(t), &wire{answer: answer}, &strings.Builder{}
	return &world{m, g, &Worker{
		Jobs: m, Gateway: g, Record: m.record, Log: slog.New(slog.NewTextHandler(log, nil)),
		Random: func() float64 { return 0.5 }, // no jitter
	}, log}
}

// start runs the worker until the test ends.
func (w *world) start(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func (w *world) expect(t *testing.T, job ledger.Job, status gift.Status, finished bool) {
	t.Helper()
	s, r := w.what(job)
	if s != status || (r == nil) != finished {
		t.Errorf("the gift is %v and its job finished: %t; want %v and %t", s, r == nil, status, finished)
	}
}

func TestDeliversAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.start(t)
		synctest.Wait()
		start := time.Now()
		job := w.issue(aGift(contact.Email))
		w.Wake()
		synctest.Wait()
		w.expect(t, job, gift.Delivered, true)
		if len(w.attempts()) != 1 || !w.attempts()[0].at.Equal(start) {
			t.Errorf("attempts %v, want one at %v", w.attempts(), start)
		}
	})
}

func TestFindsWhatAnotherProcessLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.start(t)
		synctest.Wait()
		job := w.issue(aGift(contact.Email)) // and the worker is not woken
		time.Sleep(idle)
		synctest.Wait()
		w.expect(t, job, gift.Delivered, true)
	})
}

func TestScheduledIsSentWhenDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.start(t)
		due := time.Now().Add(3*time.Hour + 123*time.Millisecond)
		g := aGift(contact.SMS)
		g.Card.Scheduled, g.Card.DeliveryDate = true, due
		job := w.issue(g)
		w.Wake()
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		w.expect(t, job, gift.Pending, false)
		time.Sleep(123 * time.Millisecond)
		synctest.Wait()
		w.expect(t, job, gift.Delivered, true)
		if at := w.attempts()[0].at; !at.Equal(due) {
			t.Errorf("sent at %v, due at %v", at, due)
		}
		if most := int(3*time.Hour/idle) + 10; w.claims > most {
			t.Errorf("%d claims in three quiet hours, want at most %d", w.claims, most)
		}
	})
}

func TestRefusedForGood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gift.Gift
		w := newWorld(t, func(context.Context, int) error {
			return fmt.Errorf("RCPT: %w", &message.Refusal{Words: "550 5.1.1 <anna@example.com>\r\nno such user for " +
				g.Card.Code.Grouped()})
		})
		job := w.issue(aGift(contact.Email))
		g = w.gift(job)
		w.start(t)
		synctest.Wait()
		w.expect(t, job, gift.FailedDelivery, true)
		if len(w.attempts()) != 1 {
			t.Errorf("%d attempts after a refusal for good, want 1", len(w.attempts()))
		}
		said := "RCPT: 550 5.1.1 <the recipient> no such user for ••••••••••" + g.Card.Code.Reveal()[10:]
		if got := w.reason(job); got != said {
			t.Errorf("the history says %q, want %q", got, said)
		}
	})
}

// A gift that expired while its gateway was down is not sent: nobody could redeem it.
func TestExpiredIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(context.Context, int) error { return errors.New("451 try again later") })
		w.start(t)
		g := aGift(contact.Email)
		g.ValidUntil = time.Now().Add(time.Minute)
		job := w.issue(g)
		w.Wake()
		synctest.Wait()
		before := len(w.attempts())
		time.Sleep(time.Hour)
		synctest.Wait()
		w.expect(t, job, gift.FailedDelivery, true)
		for _, a := range w.attempts()[before:] {
			if !a.at.Before(g.ValidUntil) {
				t.Errorf("an attempt at %v, and it expired at %v", a.at, g.ValidUntil)
			}
		}
		if got := w.reason(job); got != "The gift expired before it could be delivered." {
			t.Errorf("the history says %q", got)
		}
	})
}

// The buyer of a gift is told what became of it, also where the mail gets through only after the gift has expired.
func TestBuyersAreToldAfterTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		w := newWorld(t, func(context.Context, int) error {
			if since := time.Since(begun); since > 0 && since < 10*time.Second { // after the gift itself
				return errors.New("451 try again later")
			}
			return nil
		})
		w.start(t)
		g := aGift(contact.Email)
		g.ValidUntil = time.Now().Add(10 * time.Second)
		g.Tells, g.Card.Purchase.EmailAddress = gift.TellArrival, "carla@example.com"
		w.issue(g)
		w.Wake()
		time.Sleep(time.Hour)
		synctest.Wait()
		all := w.attempts()
		if len(all) != 3 || !all[1].at.Before(g.ValidUntil) || all[2].at.Before(g.ValidUntil) {
			t.Errorf("the gift expired at %v, and the attempts are %+v", g.ValidUntil, all)
		}
	})
}

func TestRetriesOverADayThenFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, n int) error { return fmt.Errorf("451 try again later (%d)", n) })
		w.start(t)
		start := time.Now()
		job := w.issue(aGift(contact.Email))
		w.Wake()
		time.Sleep(23*time.Hour + 59*time.Minute)
		synctest.Wait()
		w.expect(t, job, gift.Pending, false)
		if _, r := w.what(job); r.Attempts != len(w.attempts()) || r.words == "" {
			t.Errorf("%d attempts charged, %d made, words %q", r.Attempts, len(w.attempts()), r.words)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		w.expect(t, job, gift.FailedDelivery, true)
		all := w.attempts()
		if last := all[len(all)-1].at.Sub(start); last != 24*time.Hour {
			t.Errorf("the last attempt was after %v, want 24 h", last)
		}
		if want := fmt.Sprintf("451 try again later (%d)", len(all)); w.reason(job) != want {
			t.Errorf("the history says %q, want the last words %q", w.reason(job), want)
		}
		for i := 2; i < len(all)-1; i++ {
			if all[i].at.Sub(all[i-1].at) < all[i-1].at.Sub(all[i-2].at) {
				t.Errorf("the pause before attempt %d is shorter than the one before it", i+1)
			}
		}
	})
}

func TestRetryThenDelivered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, n int) error {
			if n < 3 {
				return errors.New("421 busy")
			}
			return nil
		})
		w.start(t)
		job := w.issue(aGift(contact.Email))
		w.Wake()
		time.Sleep(firstDelay)
		synctest.Wait()
		w.expect(t, job, gift.Pending, false)
		time.Sleep(2 * firstDelay)
		synctest.Wait()
		w.expect(t, job, gift.Delivered, true)
	})
}

func TestGatewayPanicIsAFailedAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, n int) error {
			if n == 1 {
				panic("index out of range")
			}
			return nil
		})
		w.start(t)
		job := w.issue(aGift(contact.Email))
		w.Wake()
		synctest.Wait()
		_, r := w.what(job)
		if r == nil || r.Attempts != 1 || strings.Contains(r.words, "index") {
			t.Fatalf("after a panic the job is %+v, want one attempt charged and no internals in its words", r)
		}
		time.Sleep(firstDelay)
		synctest.Wait()
		w.expect(t, job, gift.Delivered, true)
	})
}

func TestSlowGatewayIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() })
		w.SendTimeout = 20 * time.Second
		w.start(t)
		job := w.issue(aGift(contact.Email))
		w.Wake()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		_, r := w.what(job)
		if r == nil || r.Attempts != 1 || r.words != "The gateway did not answer in time." {
			t.Errorf("after the timeout the job is %+v", r)
		}
	})
}

// TestSlowDomainHoldsNobodyUp: a domain that stalls keeps a few messages under way, and the others go out as if it were
// not there.
func TestSlowDomainHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		stalled, most := 0, 0
		var mu sync.Mutex
		w.Gateway = sender(func(_ context.Context, g gift.Gift, _ ledger.Job) error {
			if laneOf(&g).to != "slow.example" {
				return nil
			}
			mu.Lock()
			stalled++
			if time.Since(g.CreatedAt) > slowAfter {
				most = max(most, stalled)
			}
			mu.Unlock()
			defer func() { mu.Lock(); stalled--; mu.Unlock() }()
			time.Sleep(20 * time.Second)
			return nil
		})
		w.Senders, w.PerDomain = 4, 2
		var slow, quick []ledger.Job
		for range 40 {
			g := aGift(contact.Email)
			g.Card.Contact = "anna@slow.example"
			slow = append(slow, w.issue(g))
		}
		time.Sleep(time.Millisecond)
		for range 40 {
			quick = append(quick, w.issue(aGift(contact.Email)))
		}
		w.start(t)
		time.Sleep(2 * slowAfter)
		synctest.Wait()
		for _, job := range quick {
			w.expect(t, job, gift.Delivered, true)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		for _, job := range slow {
			w.expect(t, job, gift.Delivered, true)
		}
		if most > 4 {
			t.Errorf("%d messages at once to a slow domain", most)
		}
	})
}

// sender is a gateway made of a function.
type sender func(context.Context, gift.Gift, ledger.Job) error

func (s sender) Send(ctx context.Context, g []gift.Gift, job ledger.Job) error {
	return s(ctx, g[0], job)
}

// TestSendersBoundWhatIsBegun: no more messages are begun at once than there are senders.
func TestSendersBoundWhatIsBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(context.Context, int) error { time.Sleep(time.Second); return nil })
		w.Senders = 4
		start := time.Now()
		for range 10 {
			w.issue(aGift(contact.Email))
		}
		w.start(t)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		perRound := map[time.Duration]int{}
		for _, a := range w.attempts() {
			perRound[a.at.Sub(start)]++
		}
		for at, want := range map[time.Duration]int{0: 4, time.Second: 4, 2 * time.Second: 2} {
			if perRound[at] != want {
				t.Errorf("%d messages were begun after %v, want %d", perRound[at], at, want)
			}
		}
	})
}

// TestLostAnswers: a message whose answer was lost goes out once more, under the same id, and not a third time.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	doubt := &message.Doubt{Cause: errors.New("connection reset")}
	for name, tc := range map[string]struct {
		answers []error
		status  gift.Status
	}{
		"lost once":         {[]error{doubt, nil}, gift.Delivered},
		"lost twice":        {[]error{doubt, doubt}, gift.FailedDelivery},
		"busy between":      {[]error{doubt, errors.New("451 busy"), nil}, gift.Delivered},
		"lost, busy, lost":  {[]error{doubt, errors.New("451 busy"), doubt}, gift.FailedDelivery},
		"lost, and refused": {[]error{doubt, &message.Refusal{Words: "550 no"}}, gift.FailedDelivery},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(_ context.Context, n int) error { return tc.answers[n-1] })
				job := w.issue(aGift(contact.Email))
				w.start(t)
				time.Sleep(time.Hour)
				synctest.Wait()
				w.expect(t, job, tc.status, true)
				if len(w.attempts()) != len(tc.answers) {
					t.Errorf("%d attempts, want %d", len(w.attempts()), len(tc.answers))
				}
			})
		})
	}
}

// TestLostAnswerWhileStopping: a doubt outlives a stop of the service.
func TestLostAnswerWhileStopping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, _ int) error { <-ctx.Done(); return &message.Doubt{Cause: ctx.Err()} })
		job := w.issue(aGift(contact.Email))
		stop := w.start(t)
		synctest.Wait()
		stop()
		if _, r := w.what(job); r == nil || r.Doubts != 1 || r.Attempts != 0 || r.leased {
			t.Errorf("the job was left as %+v, want one doubt, no attempt charged and no lease", r)
		}
	})
}

// TestWordsNameNoRecipient: servers repeat an address in small letters, or in the form that mail travels in.
func TestWordsNameNoRecipient(t *testing.T) {
	t.Parallel()
	for to, repeated := range map[string][]string{
		"Anna.Lee@Example.com":   {"Anna.Lee@Example.com", "anna.lee@example.com", "ANNA.LEE@EXAMPLE.COM"},
		"anna@münchen.example":   {"anna@münchen.example", "anna@xn--mnchen-3ya.example", "ANNA@MÜNCHEN.EXAMPLE"},
		`"anna lee"@example.com`: {`"anna lee"@example.com`, `"Anna Lee"@example.com`},
		"+14155550132":           {"+14155550132"},
		"anna+$1@example.com":    {"anna+$1@example.com"},
	} {
		g := aGift(contact.Email)
		g.Card.Contact = to
		for _, address := range repeated {
			got := words(&message.Refusal{Words: "550 5.1.1 <" + address + ">: User unknown"}, &g)
			if want := "550 5.1.1 <the recipient>: User unknown"; got != want {
				t.Errorf("%s: %s, want %s", to, got, want)
			}
		}
	}
	g := aGift(contact.Email)
	g.Card.Contact = ""
	if got := words(errors.New("550"), &g); got != "550" {
		t.Errorf("of no contact: %q", got)
	}
}

// TestLaterIsHonoured: a gateway is not asked before the pause that it wants, unless that is longer than messages are
// tried for.
func TestLaterIsHonoured(t *testing.T) {
	t.Parallel()
	for wanted, waits := range map[time.Duration]time.Duration{10 * time.Minute: 10 * time.Minute,
		12 * time.Hour: 12 * time.Hour, 72 * time.Hour: 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, func(_ context.Context, n int) error {
				if n == 1 {
					return &message.Later{Words: "too many", After: wanted}
				}
				return nil
			})
			job := w.issue(aGift(contact.SMS))
			w.start(t)
			time.Sleep(waits - time.Second)
			synctest.Wait()
			w.expect(t, job, gift.Pending, false)
			time.Sleep(time.Second)
			synctest.Wait()
			w.expect(t, job, gift.Delivered, true)
		})
	}
}

// carries is a carrier made of a function.
type carries func(context.Context, message.Message) error

func (c carries) Carry(ctx context.Context, m message.Message) error { return c(ctx, m) }

// TestBreaker: a gateway that is down for hours is asked seldom, costs no job more than the attempts that reached it,
// and gets everything when it is back.
func TestBreaker(t *testing.T) {
	racetest.SkipShort(t, "hours of a gateway that is away, one message after the other")
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		start, tries := time.Now(), 0
		const away = 2 * time.Hour
		var mu sync.Mutex
		down := carries(func(context.Context, message.Message) error {
			mu.Lock()
			defer mu.Unlock()
			if tries++; time.Since(start) < away {
				return &message.Unreachable{Cause: errors.New("connection refused")}
			}
			return nil
		})
		gateways := w.outbox()
		breaker := &Breaker{Carrier: down}
		gateways.Email = breaker
		w.Gateway = gateways
		came := map[Attempt]int{}
		w.Observe = func(m contact.Method, a Attempt) {
			mu.Lock()
			defer mu.Unlock()
			if m == contact.Email {
				came[a]++
			}
		}
		var jobs []ledger.Job
		for range 40 {
			jobs = append(jobs, w.issue(aGift(contact.Email)))
		}
		text := w.issue(aGift(contact.SMS))
		w.start(t)
		time.Sleep(time.Second)
		synctest.Wait()
		w.expect(t, text, gift.Delivered, true) // it has another gateway
		if !breaker.Paused() {
			t.Error("the gateway is not left alone")
		}
		time.Sleep(away)
		synctest.Wait()
		mu.Lock()
		if most := int(away/breakMost) + 20; tries > most || tries < most/4 {
			t.Errorf("the gateway was tried %d times meanwhile, want about %d", tries, most)
		}
		mu.Unlock()
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		for _, job := range jobs {
			w.expect(t, job, gift.Delivered, true)
		}
		if breaker.Paused() || came[Accepted] != len(jobs) || came[Accepted]+came[PutOff] != tries || came[NotAsked] == 0 ||
			came[GivenUp]+came[Abandoned] > 0 {
			t.Errorf("the gateway is paused: %t; %d tries came to %v", breaker.Paused(), tries, came)
		}
	})
}

// TestBreakerCountsLostAnswers: a gateway whose answers are lost, one after the other, is left alone, so that few gifts
// are given up in doubt.
func TestBreakerCountsLostAnswers(t *testing.T) {
	racetest.SkipShort(t, "hours of a gateway that is away, one message after the other")
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var tries atomic.Int64
		gateways := w.outbox()
		breaker := &Breaker{Carrier: carries(func(context.Context, message.Message) error {
			tries.Add(1)
			return &message.Doubt{Cause: errors.New("504 Gateway Timeout")}
		})}
		gateways.Email = breaker
		w.Gateway = gateways
		for range 100 {
			w.issue(aGift(contact.Email))
		}
		w.start(t)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := tries.Load(); !breaker.Paused() || n > 30 {
			t.Errorf("the gateway is paused: %t; it was tried %d times", breaker.Paused(), n)
		}
	})
}

// TestBreakerPausesForHalfAMinuteAtMost: once a gateway works again, the first of many messages goes within 30 seconds,
// however long it was away; and so does the only one that waits, when others have been put off for longer.
func TestBreakerPausesForHalfAMinuteAtMost(t *testing.T) {
	racetest.SkipShort(t, "hours of a gateway that is away, one message after the other")
	t.Parallel()
	for name, test := range map[string]struct {
		jobs   int
		away   time.Duration
		starts int // at different moments of the rest
	}{"many, after half an hour": {150, 30 * time.Minute, 1}, "many, after minutes": {150, 10 * time.Minute,
		4}, "one that waits": {breakAfter + 1, time.Second, 4}} {
		for start := range test.starts {
			if testing.Short() && start > 0 {
				break
			}
			t.Run(fmt.Sprintf("%s, start %d", name, start), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					firstAfterPause(t, test.jobs, test.away+time.Duration(start)*7*time.Second)
				})
			})
		}
	}
}

// firstAfterPause has a gateway be away for so long while so many messages wait, and expects the first in time.
func firstAfterPause(t *testing.T, jobs int, away time.Duration) {
	w := newWorld(t, nil)
	back := time.Now().Add(away)
	var first time.Time
	var mu sync.Mutex
	gateways := w.outbox()
	gateways.Email = &Breaker{Carrier: carries(func(context.Context, message.Message) error {
		mu.Lock()
		defer mu.Unlock()
		if time.Now().Before(back) {
			return &message.Unreachable{Cause: errors.New("connection refused")}
		}
		if first.IsZero() {
			first = time.Now()
		}
		return nil
	})}
	w.Gateway = gateways
	w.Senders = 1 // so that failures come one after the other
	for range jobs {
		w.issue(aGift(contact.Email))
	}
	w.start(t)
	const latest = 30*time.Second + time.Millisecond
	time.Sleep(time.Until(back) + latest)
	synctest.Wait()
	mu.Lock()
	defer mu.Unlock()
	if took := first.Sub(back); first.IsZero() || took > latest {
		t.Errorf("the first message went at %v, want by %v", first, back.Add(latest))
	}
}

func TestCancelledIsNotSent(t *testing.T) {
	t.Parallel()
	for _, status := range []gift.Status{gift.Cancelled, gift.PurchaseFailed} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil)
			job := w.issue(aGift(contact.Email))
			w.set(job, status)
			w.start(t)
			synctest.Wait()
			w.expect(t, job, status, true)
			if len(w.attempts()) != 0 {
				t.Errorf("a gift that was %v was sent", status)
			}
		})
	}
}

// TestCancelledWhileSending: the message is out, but the gift stays cancelled.
func TestCancelledWhileSending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(context.Context, int) error { time.Sleep(time.Second); return nil })
		job := w.issue(aGift(contact.Email))
		w.start(t)
		synctest.Wait()
		w.set(job, gift.Cancelled)
		time.Sleep(time.Second)
		synctest.Wait()
		w.expect(t, job, gift.Cancelled, true)
	})
}

// TestLeaseOfTheDead: a job that was claimed by a process that died is sent when its lease ends, not before, under the
// same id.
func TestLeaseOfTheDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		job := w.issue(aGift(contact.Email))
		if claimed, err := w.ClaimJobs(t.Context(), time.Now(), time.Minute, 1); err != nil || len(claimed) != 1 {
			t.Fatalf("claimed %v, %v", claimed, err)
		}
		w.start(t)
		time.Sleep(time.Minute - 1)
		synctest.Wait()
		w.expect(t, job, gift.Pending, false)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		w.expect(t, job, gift.Delivered, true)
		if got := w.attempts()[0].job.ID; got != job.ID {
			t.Errorf("sent under %v, want %v", got, job.ID)
		}
	})
}

// TestKilledBetweenSendAndRecord: the message went out but the outcome was never written. After the lease it goes out
// again, under the same id, and the outbox keeps one.
func TestKilledBetweenSendAndRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.Gateway = w.outbox()
		job := w.issue(aGift(contact.Email))
		if err := w.Gateway.Send(t.Context(), []gift.Gift{w.gift(job)}, job); err != nil {
			t.Fatal(err)
		}
		if _, err := w.ClaimJobs(t.Context(), time.Now(), time.Minute, 1); err != nil {
			t.Fatal(err)
		}
		w.start(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		w.expect(t, job, gift.Delivered, true)
		if kept, _ := w.Messages(t.Context(), guid.ID{}, 10); len(kept) != 1 || kept[0].ID != job.ID {
			t.Errorf("the outbox holds %d messages, want the one of job %v", len(kept), job.ID)
		}
	})
}

// TestBusyEngine: a message that went out does not go out again because the engine was busy for a while.
func TestBusyEngine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		job := w.issue(aGift(contact.Email))
		w.fault("record", 5)
		w.start(t)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		w.expect(t, job, gift.Delivered, true)
		if len(w.attempts()) != 1 {
			t.Errorf("sent %d times, want once", len(w.attempts()))
		}
	})
}

// TestEngineAway: when the outcome cannot be written for as long as the lease lasts, the message goes out again under
// the same id.
func TestEngineAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		job := w.issue(aGift(contact.Email))
		w.fault("record", 1_000)
		w.start(t)
		time.Sleep(59 * time.Second) // 30 s to send, 30 s to write
		w.fault("record", 0)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		w.expect(t, job, gift.Delivered, true)
		all := w.attempts()
		if len(all) != 2 || all[0].job.ID != all[1].job.ID {
			t.Errorf("attempts %v, want two under one id", all)
		}
	})
}

func TestStoreAway(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"ClaimJobs", "NextJob", "GiftOf", "PostponeJob"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(_ context.Context, n int) error {
					if n == 1 {
						return errors.New("421 busy")
					}
					return nil
				})
				w.fault(method, 3)
				job := w.issue(aGift(contact.Email))
				w.start(t)
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				w.expect(t, job, gift.Delivered, true)
				if method != "PostponeJob" && w.attempts()[1].job.Attempts != 1 {
					t.Errorf("%d attempts charged, want that of the gateway only", w.attempts()[1].job.Attempts)
				}
				if !strings.Contains(w.log.String(), errAway.Error()) {
					t.Error("the log does not tell that the store failed")
				}
			})
		})
	}
}

// TestStopFinishesWhatIsUnderWay: a message under way is finished and recorded, and none is begun after the stop.
func TestStopFinishesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(context.Context, int) error { time.Sleep(5 * time.Second); return nil })
		w.Senders = 1
		first, second := w.issue(aGift(contact.Email)), w.issue(aGift(contact.SMS))
		stop := w.start(t)
		synctest.Wait()
		start := time.Now()
		stop()
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("stopping took %v, want 5 s: the message under way", took)
		}
		w.expect(t, first, gift.Delivered, true)
		w.expect(t, second, gift.Pending, false)
		if _, r := w.what(second); r.leased {
			t.Error("a job that was not begun is leased after the stop")
		}
	})
}

// TestStopCutsOffWhatTakesTooLong: the job is given back, due at once and not charged.
func TestStopCutsOffWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() })
		w.StopWithin = 3 * time.Second
		job := w.issue(aGift(contact.Email))
		stop := w.start(t)
		synctest.Wait()
		start := time.Now()
		stop()
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("stopping took %v, want the limit of 3 s", took)
		}
		_, r := w.what(job)
		if r == nil || r.Attempts != 0 || r.leased || r.Due.After(time.Now()) {
			t.Errorf("the job was left as %+v, want it due, not leased and not charged", r)
		}
	})
}

// TestStopWhileClaiming: what a claim still brings is given back, not begun.
func TestStopWhileClaiming(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.slow = time.Second
		job := w.issue(aGift(contact.Email))
		stop := w.start(t)
		synctest.Wait()
		stop()
		_, r := w.what(job)
		if len(w.attempts()) != 0 || r == nil || r.leased || w.claims != 1 {
			t.Errorf("%d attempts, %d claims, job %+v; want none begun and the job free", len(w.attempts()), w.claims, r)
		}
	})
}

// TestShortRetryWindow: a job that is put off for less than the worker pauses is due on time.
func TestShortRetryWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(context.Context, int) error { time.Sleep(time.Millisecond); return errors.New("421 busy") })
		w.RetryFor = 2 * time.Second
		job := w.issue(aGift(contact.Email))
		w.start(t)
		time.Sleep(2*time.Second + 2*time.Millisecond)
		synctest.Wait()
		w.expect(t, job, gift.FailedDelivery, true)
	})
}

func TestTwoWorkersSendOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(context.Context, int) error { time.Sleep(time.Second); return nil })
		other := &Worker{Jobs: w.faulty, Gateway: w.wire, Record: w.faulty.record, Log: w.Log}
		var jobs []ledger.Job
		for range 50 {
			jobs = append(jobs, w.issue(aGift(contact.Email)))
		}
		w.start(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); other.Run(ctx) }()
		time.Sleep(time.Minute)
		cancel()
		<-done
		for _, job := range jobs {
			w.expect(t, job, gift.Delivered, true)
		}
		if n := len(w.attempts()); n != len(jobs) {
			t.Errorf("%d messages for %d jobs", n, len(jobs))
		}
	})
}

func TestNothingSecretInTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := aGift(contact.Email)
		w := newWorld(t, func(context.Context, int) error {
			return fmt.Errorf("cannot send %s %s %s to %s", g.Card.Code.Reveal(), g.Card.Code.Grouped(), g.Card.Token.Reveal(),
				g.Card.Contact)
		})
		job := w.issue(g)
		g = w.gift(job)
		w.start(t)
		time.Sleep(25 * time.Hour)
		synctest.Wait()
		if w.log.Len() == 0 {
			t.Fatal("failures left no trace in the log")
		}
		for _, secret := range []string{g.Card.Code.Reveal(), g.Card.Code.Grouped(), g.Card.Token.Reveal(), g.Card.Contact} {
			if strings.Contains(w.log.String(), secret) || strings.Contains(w.reason(job), secret) {
				t.Errorf("%q is in the log or in the history", secret)
			}
		}
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, tc := range []struct {
		attempts int
		window   time.Duration
		random   float64
		want     time.Duration
		again    bool
	}{
		{1, day, 0.5, 30 * time.Second, true},
		{1, day, 0, 24 * time.Second, true},
		{1, day, 0.999999999, 36 * time.Second, true},
		{2, day, 0.5, time.Minute, true},
		{5, day, 0.5, 8 * time.Minute, true},
		{11, day, 0.5, 4 * time.Hour, true},
		{1, 10 * time.Second, 0.5, 10 * time.Second, true},
		{2, 10 * time.Second, 0.5, 0, false},
		{100, day, 0.5, 0, false},
		{1, -1, 0.5, 0, false},
	} {
		got, again := retryAfter(tc.attempts, tc.window, tc.random)
		if got.Round(time.Millisecond) != tc.want || again != tc.again {
			t.Errorf("retryAfter(%d, %v, %v) = %v, %t; want %v, %t", tc.attempts, tc.window, tc.random, got, again, tc.want,
				tc.again)
		}
	}
	var sum time.Duration
	for n := 1; ; n++ {
		pause, again := retryAfter(n, day, 0.5)
		if !again {
			break
		}
		sum += pause
	}
	if sum != day {
		t.Errorf("all pauses together are %v, want %v", sum, day)
	}
}

// TestTakeSender: a claimed job does not wait for a sender until its lease is too short to send it, nor when the worker
// stops.
func TestTakeSender(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &Worker{}
		w.prepare()
		senders := make(chan struct{}, 1)
		begun := time.Now()
		if !w.takeSender(t.Context(), senders, begun.Add(w.lease())) || len(senders) != 1 {
			t.Error("the free sender was not taken")
		}
		if w.takeSender(t.Context(), senders, begun.Add(w.lease())) || time.Since(begun) != w.lease()-w.SendTimeout-writing {
			t.Errorf("waited %v for a sender", time.Since(begun))
		}
		<-senders
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 20 { // select chooses among what is possible
			if w.takeSender(ctx, senders, time.Now().Add(w.lease())) || len(senders) != 0 {
				t.Error("a sender was taken while stopping")
			}
		}
	})
}
