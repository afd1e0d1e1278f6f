package mail_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	stdmail "net/mail"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-smtp"

	"boon.example/internal/delivery"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/mail"
	"boon.example/internal/store"
)

var merchant = &gift.Account{
	ID: gift.ID{1}, Name: "Harbor Coffee", Currency: gift.Currency{Code: "USD", Decimals: 2}, Zone: time.UTC,
	Locations: []gift.Location{{ID: gift.ID{2}, Name: "Pier 39"}},
}

// fickle is a server that does everything that servers do, by lot, and remembers what it took under which Message-ID.
type fickle struct {
	mu      sync.Mutex
	lot     *rand.Rand
	taken   map[string]int  // by Message-ID
	unknown map[string]bool // those of which an answer was lost
	to      map[string]int  // by recipient
	tried   map[string]int  // by recipient; who has been tried often enough is served well, so that no lot outlasts the retries
}

// patience is how often the server plays its tricks on one recipient.
const patience = 6

type fickleSession struct {
	*fickle
	conn *smtp.Conn
	to   string // the recipient of this mail
}

func (s *fickleSession) Reset()                               {}
func (s *fickleSession) Logout() error                        { return nil }
func (s *fickleSession) Mail(string, *smtp.MailOptions) error { return nil }

// draw is one of n tricks, or n when the recipient has seen enough of them.
func (s *fickleSession) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried[s.to] > patience {
		return n
	}
	return s.lot.IntN(n)
}

// unreachable tells whether the line is dead this time.
func (f *fickle) unreachable() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lot.IntN(10) == 0
}

func (s *fickleSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	s.mu.Lock()
	s.tried[to]++
	s.mu.Unlock()
	switch {
	case strings.HasPrefix(to, "nobody"):
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	case strings.HasPrefix(to, "full"):
		return &smtp.SMTPError{Code: 452, Message: "mailbox full"}
	case s.draw(8) == 0:
		return &smtp.SMTPError{Code: 451, Message: "try again"}
	}
	return nil
}

func (s *fickleSession) Data(r io.Reader) error {
	switch s.draw(8) {
	case 0: // the line breaks in the middle
		io.ReadFull(r, make([]byte, 1000))
		return s.conn.Close()
	case 1:
		io.Copy(io.Discard, r)
		return &smtp.SMTPError{Code: 451, Message: "busy"}
	case 2: // taken, but the answer is lost
		s.take(r, true)
		return s.conn.Close()
	case 3: // not taken, and the answer is lost
		io.Copy(io.Discard, r)
		return s.conn.Close()
	case 4:
		time.Sleep(20 * time.Second)
	}
	return s.take(r, false)
}

func (s *fickleSession) take(r io.Reader, lost bool) error {
	m, err := stdmail.ReadMessage(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, m.Body); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := m.Header.Get("Message-ID")
	s.taken[id]++
	s.fickle.to[s.to]++
	if lost {
		s.unknown[id] = true
	}
	return nil
}

// TestEveryMailArrives: through a server that refuses, stalls and hangs up, each gift ends as decided. Each mail was taken exactly once
// where the answer was known, and at most twice, with the same Message-ID, where it was not.
func TestEveryMailArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fickle{
			lot: rand.New(rand.NewPCG(1, 2)), taken: map[string]int{}, unknown: map[string]bool{}, to: map[string]int{}, tried: map[string]int{},
		}
		carrier := f.serve(t)
		s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		engine := ledger.Start(s, ledger.Options{})
		defer s.Close()
		defer engine.Stop()
		directory := &gift.Directory{Accounts: map[gift.ID]*gift.Account{merchant.ID: merchant}}
		worker := &delivery.Worker{
			Jobs: s, Log: slog.New(slog.DiscardHandler), SendTimeout: mail.SendTimeout, Senders: 16, RetryFor: 24 * time.Hour,
			Gateway: &delivery.Gateways{
				Email: &delivery.Breaker{Carrier: carrier}, PublicURL: "https://gifts.example.com", Directory: func() *gift.Directory { return directory },
			},
			Record: func(ctx context.Context, d ledger.Deliver) error {
				_, err := engine.Do(ctx, call(nil), &d)
				return err
			},
		}
		var want []gift.Gift
		for n := range gifts() {
			name := "anna"
			switch {
			case n%20 == 7:
				name = "nobody"
			case n%20 == 13:
				name = "full"
			}
			want = append(want, issue(t, engine, fmt.Sprintf("%s%d@d%d.example", name, n, n%3)))
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

// check holds every gift against what the server knows of it.
func (f *fickle) check(t *testing.T, s *store.Store, want []gift.Gift) {
	twice, failed := 0, 0
	for _, g := range want {
		now, err := s.Gift(t.Context(), merchant.ID, g.ID)
		if err != nil {
			t.Fatal(err)
		}
		history, err := s.History(t.Context(), merchant.ID, g.ID, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		last, arrived := history[len(history)-1], f.to[g.Card.Contact]
		switch {
		case strings.HasPrefix(g.Card.Contact, "nobody"), strings.HasPrefix(g.Card.Contact, "full"):
			if now.Status != gift.FailedDelivery || arrived > 0 ||
				strings.HasPrefix(g.Card.Contact, "nobody") && !strings.Contains(last.Reason, "no such user") {
				t.Errorf("%s is %v with the words %q, %d arrived", g.Card.Contact, now.Status, last.Reason, arrived)
			}
		case now.Status == gift.Delivered:
			if arrived < 1 || arrived > 2 {
				t.Errorf("%s is DELIVERED and got %d mails", g.Card.Contact, arrived)
			}
		case now.Status == gift.FailedDelivery && strings.Contains(last.Reason, "answer was lost"):
			if failed++; arrived > 2 {
				t.Errorf("%s got %d mails", g.Card.Contact, arrived)
			}
		default:
			t.Errorf("%s is %v: %q", g.Card.Contact, now.Status, last.Reason)
		}
	}
	for id, n := range f.taken {
		if n > 2 || n > 1 && !f.unknown[id] {
			t.Errorf("%s was taken %d times, an answer was lost: %t", id, n, f.unknown[id])
		}
		if n == 2 {
			twice++
		}
	}
	if next, err := s.NextJob(t.Context()); err != nil || !next.IsZero() {
		t.Errorf("a job is left, due at %v (%v)", next, err)
	}
	t.Logf("%d mails under %d ids; %d twice, %d given up in doubt", len(f.to), len(f.taken), twice, failed)
	if twice == 0 || failed == 0 && !testing.Short() {
		t.Error("the server lost no answers: the test shows nothing")
	}
}

// gifts is how many there are: fewer where time matters.
func gifts() int {
	if testing.Short() {
		return 40
	}
	return 100
}

func issue(t *testing.T, engine *ledger.Engine, contact string) gift.Gift {
	t.Helper()
	g := gift.Gift{
		Voucher: gift.Voucher{
			AccountID: merchant.ID, ProgramID: gift.PromotionalProgram.ID, Promotional: true, PromotionID: gift.ID{3},
			Currency: merchant.Currency, Original: 2500, Balance: 2500, CreatedAt: time.Now(),
		},
		Card: gift.Card{Sender: "Ben", Recipient: "Anna", Method: gift.Email, DeliveryZone: "UTC", Contact: contact},
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

// serve runs the server over pipes until the test ends.
func (f *fickle) serve(t *testing.T) *mail.Carrier {
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &fickleSession{fickle: f, conn: c}, nil }))
	server.Domain, server.ErrorLog = "localhost", slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	line := mail.NewPipes()
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(line) }()
	carrier := mail.NewCarrier(mail.Server{Host: "localhost", Plain: true, From: "gifts@example.com"})
	mail.Connect(carrier, func(context.Context) (net.Conn, error) {
		if f.unreachable() {
			return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
		}
		near, far := net.Pipe()
		return near, line.Put(far)
	})
	t.Cleanup(func() { carrier.Close(); server.Close(); line.Close(); <-served })
	return carrier
}
