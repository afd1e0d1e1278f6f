// Package deliverytest gives tests a merchant on a real store with a delivery worker, servers within the process, and
// the story of many gifts that leave through one that misbehaves. It knows no protocol. Its tests run in a synctest
// bubble, where hours pass in no time.
package deliverytest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/delivery"
	"boon.example/internal/post/print"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// Merchant is whose gifts they are.
var Merchant = &merchant.Account{
	ID: guid.ID{1}, Name: "Harbor Coffee", Currency: money.Currency{Code: "USD", Decimals: 2}, Zone: time.UTC,
	Locations: []merchant.Location{{ID: guid.ID{2}, Name: "Pier 39"}},
}

// Shop is the real store and engine, with a worker that is not running yet. Gateways is what the worker sends by: at
// first all goes to the outbox.
type Shop struct {
	*store.Store
	Gateways *delivery.Gateways
	Worker   *delivery.Worker
	engine   *engine.Engine
}

// Open opens a shop on the database that pgtest names, until the test ends.
func Open(t *testing.T) *Shop {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Database: pgtest.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	h := &Shop{Store: s, engine: engine.Start(s, engine.Options{})}
	outbox := delivery.OutboxCarrier{Outbox: s}
	directory := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{Merchant.ID: Merchant}}
	h.Gateways = &delivery.Gateways{
		Email: outbox, SMS: outbox, PublicURL: "https://gifts.example.com",
		Directory: func() *merchant.Directory { return directory },
		Entry:     s.Entry, Gifts: s.Gifts, Fonts: print.BuiltIn(), Printer: fair.New(1),
	}
	h.Worker = &delivery.Worker{
		Jobs: s, Log: slog.New(slog.DiscardHandler), Gateway: h.Gateways,
		Record: func(ctx context.Context, d ledger.Deliver) error {
			_, err := h.engine.Do(ctx, call(nil), &d)
			return err
		},
	}
	t.Cleanup(func() {
		h.engine.Stop()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func call(got *ledger.Result) ledger.Call {
	return ledger.Call{AccountID: Merchant.ID, Render: func(r ledger.Result, _ error) ledger.Answer {
		if got != nil {
			*got = r
		}
		return ledger.Answer{}
	}}
}

// Do has the engine carry out a command; one that it refuses does nothing.
func (h *Shop) Do(t *testing.T, command ledger.Command) ledger.Result {
	t.Helper()
	var did ledger.Result
	if _, err := h.engine.Do(t.Context(), call(&did), command); err != nil {
		t.Fatal(err)
	}
	return did
}

// Issue makes a gift through the engine, as send-gift does, to be sent when it is due; zero: at once.
func (h *Shop) Issue(t *testing.T, m contact.Method, contact string, due time.Time) guid.ID {
	t.Helper()
	did := h.Do(t, &ledger.Issue{Context: gift.Context{Now: time.Now()}, Gifts: []gift.Gift{{
		Voucher: gift.Voucher{
			AccountID: Merchant.ID, ProgramID: merchant.PromotionalProgram.ID, Promotional: true, PromotionID: guid.ID{3},
			Currency: Merchant.Currency, Funded: 2500, Balance: 2500, CreatedAt: time.Now(),
		},
		Card: gift.Card{
			Sender: "Ben", Recipient: "Anna", Method: m, Contact: contact, DeliveryZone: "UTC", Scheduled: !due.IsZero(),
			DeliveryDate: due,
		},
	}}})
	if len(did.Gifts) != 1 {
		t.Fatalf("issued %d gifts", len(did.Gifts))
	}
	h.Worker.Wake()
	return did.Gifts[0].ID
}

// Run starts the worker, until stop is called or the test ends.
func (h *Shop) Run(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); h.Worker.Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// Fate is what became of a gift, and its history.
func (h *Shop) Fate(t *testing.T, id guid.ID) (gift.Gift, []gift.Entry) {
	t.Helper()
	g, err := h.Gift(t.Context(), Merchant.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	history, err := h.History(t.Context(), Merchant.ID, id, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	return g, history
}

// Idle checks that no job is left.
func (h *Shop) Idle(t *testing.T) {
	t.Helper()
	if next, err := h.NextJob(t.Context()); err != nil || !next.IsZero() {
		t.Errorf("a job is left, due at %v (%v)", next, err)
	}
}
