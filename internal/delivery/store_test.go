package delivery_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/delivery"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

var merchant = &gift.Account{
	ID: gift.ID{1}, Name: "Harbor Coffee", Currency: gift.Currency{Code: "USD", Decimals: 2}, Zone: time.UTC,
	Locations: []gift.Location{{ID: gift.ID{2}, Name: "Pier 39"}},
}

// house is the real store and engine, with a worker that is not running yet.
type house struct {
	*store.Store
	engine *ledger.Engine
	worker *delivery.Worker
}

// answers is a gateway that says the same to everyone.
type answers struct{ error }

func (a answers) Send(context.Context, gift.Gift, ledger.Job) error { return a.error }

func open(t *testing.T) *house {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Database: pgtest.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{Store: s, engine: ledger.Start(s, ledger.Options{})}
	directory := &gift.Directory{Accounts: map[gift.ID]*gift.Account{merchant.ID: merchant}}
	h.worker = &delivery.Worker{
		Jobs: s, Log: slog.New(slog.DiscardHandler),
		Gateway: &delivery.Gateways{
			Email: delivery.OutboxCarrier{Outbox: s}, SMS: delivery.OutboxCarrier{Outbox: s}, PublicURL: "https://gifts.example.com", Directory: func() *gift.Directory { return directory },
		},
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
	return ledger.Call{AccountID: merchant.ID, Render: func(r ledger.Result, _ error) ledger.Answer {
		if got != nil {
			*got = r
		}
		return ledger.Answer{}
	}}
}

// run starts the worker until the test ends.
func (h *house) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); h.worker.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

// send issues a gift through the engine, as send-gift does.
func (h *house) send(t *testing.T, m gift.Method, due time.Time) gift.ID {
	t.Helper()
	g := gift.Gift{
		Voucher: gift.Voucher{
			AccountID: merchant.ID, ProgramID: gift.PromotionalProgram.ID, Promotional: true, PromotionID: gift.ID{3},
			Currency: merchant.Currency, Original: 2500, Balance: 2500, CreatedAt: time.Now(),
		},
		Card: gift.Card{
			Sender: "Ben", Recipient: "Anna", Method: m, DeliveryZone: "UTC", Scheduled: !due.IsZero(), DeliveryDate: due,
			Contact: map[gift.Method]string{gift.Email: "anna@example.com", gift.SMS: "+14155550132"}[m],
		},
	}
	var r ledger.Result
	issue := &ledger.Issue{Context: gift.Context{Now: time.Now()}, Gifts: []gift.Gift{g}}
	if _, err := h.engine.Do(t.Context(), call(&r), issue); err != nil {
		t.Fatal(err)
	}
	if len(r.Gifts) != 1 {
		t.Fatalf("issued %d gifts", len(r.Gifts))
	}
	h.worker.Wake()
	return r.Gifts[0].ID
}

// expect compares a gift's status and the number of messages in the outbox, and gives the gift's history.
func (h *house) expect(t *testing.T, id gift.ID, status gift.Status, messages int) []gift.Entry {
	t.Helper()
	synctest.Wait()
	g, err := h.Gift(t.Context(), merchant.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := h.Messages(t.Context(), gift.ID{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if g.Status != status || len(kept) != messages {
		t.Errorf("the gift is %v and the outbox holds %d messages, want %v and %d", g.Status, len(kept), status, messages)
	}
	if status == gift.Delivered && g.Card.DeliveredAt.IsZero() {
		t.Error("the gift does not tell when it was delivered")
	}
	history, err := h.History(t.Context(), merchant.ID, id, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	return history
}

// idle checks that no job is left.
func (h *house) idle(t *testing.T) {
	t.Helper()
	if next, err := h.NextJob(t.Context()); err != nil || !next.IsZero() {
		t.Errorf("a job is left, due at %v (%v)", next, err)
	}
}

func TestStoreDeliversAtOnceAndOnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		h.run(t)
		h.expect(t, h.send(t, gift.Email, time.Time{}), gift.Delivered, 1)
		h.expect(t, h.send(t, gift.SMS, time.Time{}), gift.Delivered, 2)
		h.expect(t, h.send(t, gift.Printed, time.Time{}), gift.Delivered, 2)
		later := h.send(t, gift.Email, time.Now().Add(2*time.Hour))
		time.Sleep(2*time.Hour - time.Millisecond)
		h.expect(t, later, gift.Pending, 2)
		time.Sleep(time.Millisecond)
		history := h.expect(t, later, gift.Delivered, 3)
		if len(history) != 2 || history[1].Kind != gift.Sent || history[1].ID.IsZero() {
			t.Errorf("history %+v, want its making and its delivery", history)
		}
		h.idle(t)
	})
}

// TestStoreLeaseOfTheDead: a process died after it had kept the message and before it had recorded that. The job is done again
// when its lease ends; the outbox knows it by its id.
func TestStoreLeaseOfTheDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		id := h.send(t, gift.Email, time.Time{})
		jobs, err := h.ClaimJobs(t.Context(), time.Now(), time.Minute, 10)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("claimed %v, %v", jobs, err)
		}
		g, err := h.Gift(t.Context(), merchant.ID, id)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.worker.Gateway.Send(t.Context(), g, jobs[0]); err != nil {
			t.Fatal(err)
		}
		h.run(t)
		time.Sleep(time.Minute - time.Millisecond)
		h.expect(t, id, gift.Pending, 1)
		time.Sleep(time.Millisecond)
		h.expect(t, id, gift.Delivered, 1)
		h.idle(t)
	})
}

func TestStoreKeepsTheLastWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		h.worker.Gateway, h.worker.RetryFor = answers{errors.New("451 the mailbox is busy")}, 10*time.Minute
		h.run(t)
		id := h.send(t, gift.Email, time.Time{})
		h.expect(t, id, gift.Pending, 0)
		time.Sleep(13 * time.Minute) // with all its jitter
		history := h.expect(t, id, gift.FailedDelivery, 0)
		if last := history[len(history)-1]; last.Kind != gift.SendFailed || last.Reason != "451 the mailbox is busy" {
			t.Errorf("the history ends with %+v", last)
		}
		h.idle(t)
	})
}

func TestStoreDoesNotSendWhatWasWithdrawn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		h.run(t)
		id := h.send(t, gift.SMS, time.Now().Add(time.Hour))
		withdraw := &ledger.Withdraw{VoucherIDs: []gift.ID{id}, Withdraw: gift.Withdraw{
			Caller: &gift.Caller{Account: merchant}, To: gift.Cancelled,
		}}
		if _, err := h.engine.Do(t.Context(), call(nil), withdraw); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		h.expect(t, id, gift.Cancelled, 0)
		h.idle(t)
	})
}
