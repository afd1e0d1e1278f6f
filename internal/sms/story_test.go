package sms

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/delivery"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store"
)

var merchant = &gift.Account{
	ID: gift.ID{1}, Name: "Harbor Coffee", Currency: gift.Currency{Code: "USD", Decimals: 2}, Zone: time.UTC,
	Locations: []gift.Location{{ID: gift.ID{2}, Name: "Pier 39"}},
}

// fickle is a gateway that does everything that gateways do, by lot, and remembers what it took.
type fickle struct {
	mu      sync.Mutex
	lot     *rand.Rand
	taken   map[string]int  // by recipient
	unknown map[string]bool // those of which an answer was lost
	tried   map[string]int  // who has been tried often enough is served well, so that no lot outlasts the retries
}

// Recipients whose numbers begin so are nobody's, or their gateway's queue is always full.
const nobody, full = "+1415555", "+1415556"

func (f *fickle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	to := r.PostForm.Get("To")
	f.mu.Lock()
	f.tried[to]++
	trick := 9
	if f.tried[to] <= 6 {
		trick = f.lot.IntN(8)
	}
	f.mu.Unlock()
	switch {
	case strings.HasPrefix(to, nobody):
		http.Error(w, `{"code":21211,"message":"The 'To' number is not a valid phone number."}`, http.StatusBadRequest)
	case strings.HasPrefix(to, full):
		http.Error(w, `{"code":21611,"message":"The queue is full"}`, http.StatusBadRequest)
	case trick == 0:
		http.Error(w, "<html>", http.StatusBadGateway)
	case trick == 1:
		w.Header().Set("Retry-After", "30")
		http.Error(w, `{"code":20429,"message":"Too Many Requests"}`, http.StatusTooManyRequests)
	case trick == 2: // taken, but the answer is lost
		f.take(to, true)
		panic(http.ErrAbortHandler)
	case trick == 3: // not taken, and the answer is lost
		panic(http.ErrAbortHandler)
	case trick == 4: // taken in the end, long after nobody waits any more
		time.Sleep(2 * answerTimeout)
		f.take(to, true)
	default:
		f.take(to, false)
		w.WriteHeader(http.StatusCreated)
	}
}

func (f *fickle) take(to string, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken[to]++
	f.unknown[to] = f.unknown[to] || lost
}

// pipes is a listener without a network, so that hours pass in no time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }
func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }

// serve runs the gateway until stop is called. One connection in ten cannot be made.
func (f *fickle) serve() (c *Carrier, stop func()) {
	line := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: f, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(line) }()
	c = NewCarrier(Account{SID: "AC1", Token: token, Host: "localhost", From: "+14155550100", Plain: true}, "https://gifts.example.com")
	c.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
		f.mu.Lock()
		dead := f.lot.IntN(10) == 0
		f.mu.Unlock()
		if dead {
			return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
		}
		near, far := net.Pipe()
		select {
		case line.conns <- far:
			return near, nil
		case <-line.done:
			return nil, net.ErrClosed
		}
	}
	return c, func() { c.Close(); server.Close(); <-served }
}

// TestEveryTextArrives: through a gateway that refuses, stalls and hangs up, each gift ends as decided. Each text was taken exactly once where
// the answer was known, and at most twice where it was not.
func TestEveryTextArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fickle{lot: rand.New(rand.NewPCG(3, 4)), taken: map[string]int{}, unknown: map[string]bool{}, tried: map[string]int{}}
		carrier, stopGateway := f.serve()
		defer stopGateway()
		s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		engine := ledger.Start(s, ledger.Options{})
		defer s.Close()
		defer engine.Stop()
		directory := &gift.Directory{Accounts: map[gift.ID]*gift.Account{merchant.ID: merchant}}
		worker := &delivery.Worker{
			Jobs: s, Log: slog.New(slog.DiscardHandler), SendTimeout: time.Minute, Senders: 16, RetryFor: 24 * time.Hour,
			Gateway: &delivery.Gateways{
				SMS: &delivery.Breaker{Carrier: carrier}, PublicURL: "https://gifts.example.com", Directory: func() *gift.Directory { return directory },
			},
			Record: func(ctx context.Context, d ledger.Deliver) error {
				_, err := engine.Do(ctx, call(nil), &d)
				return err
			},
		}
		var want []gift.Gift
		for n := range 100 {
			number := fmt.Sprintf("+1415557%04d", n)
			switch n % 20 {
			case 7:
				number = fmt.Sprintf("%s%04d", nobody, n)
			case 13:
				number = fmt.Sprintf("%s%04d", full, n)
			}
			want = append(want, issue(t, engine, number))
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); worker.Run(ctx) }()
		time.Sleep(30 * time.Hour)
		stop()
		<-done
		f.check(t, s, want)
	})
}

// check holds every gift against what the gateway knows of it.
func (f *fickle) check(t *testing.T, s *store.Store, want []gift.Gift) {
	twice, doubted := 0, 0
	for _, g := range want {
		now, err := s.Gift(t.Context(), merchant.ID, g.ID)
		if err != nil {
			t.Fatal(err)
		}
		history, err := s.History(t.Context(), merchant.ID, g.ID, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		to, last := g.Card.Contact, history[len(history)-1]
		n := f.taken[to]
		switch {
		case strings.HasPrefix(to, nobody), strings.HasPrefix(to, full):
			if now.Status != gift.FailedDelivery || n > 0 || strings.HasPrefix(to, nobody) && !strings.Contains(last.Reason, "21211") {
				t.Errorf("%s is %v with the words %q, %d arrived", to, now.Status, last.Reason, n)
			}
		case now.Status == gift.Delivered:
			if n < 1 || n > 2 || n > 1 && !f.unknown[to] {
				t.Errorf("%s is DELIVERED and got %d texts; an answer was lost: %t", to, n, f.unknown[to])
			}
		case now.Status == gift.FailedDelivery && strings.Contains(last.Reason, "answer was lost"):
			if doubted++; n > 2 {
				t.Errorf("%s got %d texts", to, n)
			}
		default:
			t.Errorf("%s is %v: %q", to, now.Status, last.Reason)
		}
		if n == 2 {
			twice++
		}
	}
	if next, err := s.NextJob(t.Context()); err != nil || !next.IsZero() {
		t.Errorf("a job is left, due at %v (%v)", next, err)
	}
	t.Logf("%d recipients; %d got two, %d given up in doubt", len(f.taken), twice, doubted)
	if twice == 0 {
		t.Error("the gateway lost no answers: the test shows nothing")
	}
}

func issue(t *testing.T, engine *ledger.Engine, contact string) gift.Gift {
	t.Helper()
	g := gift.Gift{
		Voucher: gift.Voucher{
			AccountID: merchant.ID, ProgramID: gift.PromotionalProgram.ID, Promotional: true, PromotionID: gift.ID{3},
			Currency: merchant.Currency, Original: 2500, Balance: 2500, CreatedAt: time.Now(),
		},
		Card: gift.Card{Sender: "Ben", Recipient: "Anna", Method: gift.SMS, DeliveryZone: "UTC", Contact: contact},
	}
	var r ledger.Result
	if _, err := engine.Do(t.Context(), call(&r), &ledger.Issue{Context: gift.Context{Now: time.Now()}, Gifts: []gift.Gift{g}}); err != nil {
		t.Fatal(err)
	}
	return r.Gifts[0]
}

func call(got *ledger.Result) ledger.Call {
	return ledger.Call{AccountID: merchant.ID, Render: func(r ledger.Result, _ error) ledger.Answer {
		if got != nil {
			*got = r
		}
		return ledger.Answer{}
	}}
}
