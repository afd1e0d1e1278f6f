package delivery_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/delivery/deliverytest"
)

var ourShop = &merchant.Caller{Account: deliverytest.Merchant}

// shop is deliverytest's, with what the tests here do over and over.
type shop struct{ *deliverytest.Shop }

// answers is a gateway that says the same to everyone.
type answers struct{ error }

func (a answers) Send(context.Context, []gift.Gift, ledger.Job) error { return a.error }

// send issues a gift to somebody.
func (h shop) send(t *testing.T, m contact.Method, due time.Time) guid.ID {
	t.Helper()
	return h.Issue(t, m, map[contact.Method]string{contact.Email: "anna@example.com", contact.SMS: "+14155550132"}[m], due)
}

// expect compares a gift's status and the number of messages in the outbox, and gives the gift's history.
func (h shop) expect(t *testing.T, id guid.ID, status gift.Status, messages int) []gift.Entry {
	t.Helper()
	synctest.Wait()
	g, history := h.Fate(t, id)
	kept, err := h.Messages(t.Context(), guid.ID{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if g.Status != status || len(kept) != messages {
		t.Errorf("the gift is %v and the outbox holds %d messages, want %v and %d", g.Status, len(kept), status, messages)
	}
	if status == gift.Delivered && g.Card.DeliveredAt.IsZero() {
		t.Error("the gift does not tell when it was delivered")
	}
	return history
}

func TestStoreDeliversAtOnceAndOnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Run(t)
		h.expect(t, h.send(t, contact.Email, time.Time{}), gift.Delivered, 1)
		h.expect(t, h.send(t, contact.SMS, time.Time{}), gift.Delivered, 2)
		h.expect(t, h.send(t, contact.Printed, time.Time{}), gift.Delivered, 2)
		later := h.send(t, contact.Email, time.Now().Add(2*time.Hour))
		time.Sleep(2*time.Hour - time.Millisecond)
		h.expect(t, later, gift.Pending, 2)
		time.Sleep(time.Millisecond)
		history := h.expect(t, later, gift.Delivered, 3)
		if len(history) != 2 || history[1].Kind != gift.Sent || history[1].ID.IsZero() {
			t.Errorf("history %+v, want its making and its delivery", history)
		}
		h.Idle(t)
	})
}

// TestStoreComesBackLate: what came due while no service ran is sent at once when one does.
func TestStoreComesBackLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		second := h.send(t, contact.Email, time.Now().Add(2*time.Hour))
		first := h.send(t, contact.SMS, time.Now().Add(time.Hour))
		time.Sleep(48 * time.Hour)
		h.Run(t)
		h.expect(t, first, gift.Delivered, 2)
		h.expect(t, second, gift.Delivered, 2)
	})
}

// TestStoreSendsElsewhere: a message that waits to be tried again goes to the corrected address, at once, and the old
// one never does.
func TestStoreSendsElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Worker.Gateway = answers{errors.New("451 the mailbox is busy")}
		h.Run(t)
		id := h.send(t, contact.Email, time.Time{})
		h.expect(t, id, gift.Pending, 0)
		h.Worker.Gateway = h.Gateways
		h.Do(t, &ledger.Resend{VoucherID: id, Resend: gift.Resend{Caller: ourShop, Contact: "ben@example.com"}})
		h.Worker.Wake()
		h.expect(t, id, gift.Delivered, 1)
		time.Sleep(24 * time.Hour)
		h.expect(t, id, gift.Delivered, 1)
		if kept, err := h.Messages(t.Context(), guid.ID{}, 2); err != nil || len(kept) != 1 ||
			kept[0].To != "ben@example.com" {
			t.Errorf("sent %v, %v", kept, err)
		}
		h.Idle(t)
	})
}

// TestStorePutsOff: a rescheduled gift is sent at its new time and not before, also when that is earlier.
func TestStorePutsOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Run(t)
		id := h.send(t, contact.Email, time.Now().Add(time.Hour))
		put := func(in time.Duration) {
			h.Do(t, &ledger.Reschedule{VoucherID: id, Reschedule: gift.Reschedule{Caller: ourShop, Date: time.Now().Add(in)}})
		}
		put(3 * time.Hour)
		time.Sleep(3*time.Hour - time.Millisecond)
		h.expect(t, id, gift.Pending, 0)
		put(2 * time.Hour)
		time.Sleep(time.Hour)
		put(time.Minute) // at another instance: this one is not woken
		time.Sleep(time.Minute - time.Microsecond)
		h.expect(t, id, gift.Pending, 0)
		time.Sleep(5 * time.Second)
		h.expect(t, id, gift.Delivered, 1)
		h.Idle(t)
	})
}

// TestStoreLeaseOfTheDead: a process died after it had kept the message and before it had recorded that. The job is
// done again when its lease ends; the outbox knows it by its id.
func TestStoreLeaseOfTheDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		id := h.send(t, contact.Email, time.Time{})
		jobs, err := h.ClaimJobs(t.Context(), time.Now(), time.Minute, 10)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("claimed %v, %v", jobs, err)
		}
		g, _ := h.Fate(t, id)
		if err := h.Worker.Gateway.Send(t.Context(), []gift.Gift{g}, jobs[0]); err != nil {
			t.Fatal(err)
		}
		h.Run(t)
		time.Sleep(time.Minute - time.Millisecond)
		h.expect(t, id, gift.Pending, 1)
		time.Sleep(time.Millisecond)
		h.expect(t, id, gift.Delivered, 1)
		h.Idle(t)
	})
}

func TestStoreKeepsTheLastWords(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Worker.Gateway, h.Worker.RetryFor = answers{errors.New("451 the mailbox is busy")}, 10*time.Minute
		h.Run(t)
		id := h.send(t, contact.Email, time.Time{})
		h.expect(t, id, gift.Pending, 0)
		time.Sleep(13 * time.Minute) // with all its jitter
		history := h.expect(t, id, gift.FailedDelivery, 0)
		if last := history[len(history)-1]; last.Kind != gift.SendFailed || last.Reason != "451 the mailbox is busy" {
			t.Errorf("the history ends with %+v", last)
		}
		h.Idle(t)
	})
}

// TestStoreSendsWhatWasReinstated: a gift that waited when it was cancelled is sent once after all, whether its time
// came while it was out of use or not, and what was delivered is not sent again.
func TestStoreSendsWhatWasReinstated(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]time.Duration{"before its time": time.Minute, "after its time": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := shop{deliverytest.Open(t)}
				h.Run(t)
				cancel := func(id guid.ID) {
					h.Do(t, &ledger.Cancel{VoucherIDs: []guid.ID{id}, Cancel: gift.Cancel{Caller: ourShop, To: gift.Cancelled}})
				}
				reinstate := func(id guid.ID) {
					h.Do(t, &ledger.Reinstate{VoucherIDs: []guid.ID{id}, Reinstate: gift.Reinstate{Caller: ourShop}})
				}
				id := h.send(t, contact.SMS, time.Now().Add(time.Hour))
				cancel(id)
				time.Sleep(pause)
				h.expect(t, id, gift.Cancelled, 0)
				reinstate(id)
				h.expect(t, id, gift.Pending, 0)
				time.Sleep(2 * time.Hour)
				h.expect(t, id, gift.Delivered, 1)
				cancel(id)
				reinstate(id)
				time.Sleep(time.Hour)
				h.expect(t, id, gift.Delivered, 1)
				h.Idle(t)
			})
		})
	}
}

func TestStoreDoesNotSendWhatWasCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Run(t)
		id := h.send(t, contact.SMS, time.Now().Add(time.Hour))
		h.Do(t, &ledger.Cancel{VoucherIDs: []guid.ID{id}, Cancel: gift.Cancel{Caller: ourShop, To: gift.Cancelled}})
		time.Sleep(time.Hour)
		h.expect(t, id, gift.Cancelled, 0)
		h.Idle(t)
	})
}

// TestStoreSendsNothingOfABlockedGift: what waits is sent when the gift is unblocked, at once, or at its time.
func TestStoreSendsNothingOfABlockedGift(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Run(t)
		block := func(id guid.ID) {
			h.Do(t, &ledger.Change{VoucherID: id, Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
				return v.Block(gift.Block{Context: at, Caller: ourShop, ReasonCode: gift.ReasonFraud})
			}})
		}
		unblock := func(id guid.ID) {
			h.Do(t, &ledger.Change{VoucherID: id, Sends: true,
				Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
					return v.Unblock(gift.Unblock{Context: at, Caller: ourShop})
				}})
			h.Worker.Wake()
		}
		due, later := h.send(t, contact.Email, time.Now().Add(time.Hour)), h.send(t, contact.SMS, time.Now().Add(9*time.Hour))
		block(due)
		block(later)
		time.Sleep(3*time.Hour + 30*time.Minute)
		h.expect(t, due, gift.Pending, 0)
		unblock(due)
		unblock(later)
		h.expect(t, due, gift.Delivered, 1)
		h.expect(t, later, gift.Pending, 1)
		time.Sleep(6 * time.Hour)
		h.expect(t, later, gift.Delivered, 2)
		h.Do(t, &ledger.Redeem{VoucherID: due, Redeem: gift.Redeem{Amount: 137}, Notice: true})
		block(due) // before the worker hears of the notice
		h.Worker.Wake()
		h.expect(t, due, gift.Claimed, 2)
		h.Idle(t)
	})
}

// TestStoreTellsWhatWasUsed: the notice after a redemption says how much it took.
func TestStoreTellsWhatWasUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Run(t)
		id := h.send(t, contact.SMS, time.Now())
		h.expect(t, id, gift.Delivered, 1)
		h.Do(t, &ledger.Redeem{VoucherID: id, Redeem: gift.Redeem{Amount: 137}, Notice: true})
		time.Sleep(time.Minute)
		h.expect(t, id, gift.Claimed, 2)
		kept, err := h.Messages(t.Context(), guid.ID{}, 1)
		if err != nil || len(kept) != 1 || !strings.Contains(kept[0].Text, "1.37") ||
			!strings.Contains(kept[0].Text, " used, ") {
			t.Errorf("the notice is %+v, %v", kept, err)
		}
	})
}
