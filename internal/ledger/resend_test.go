package ledger_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/refusal"
)

// mailed issues gifts by e-mail that are due at a time.
func (b *bench) mailed(n int, due time.Time) []gift.Gift {
	b.Helper()
	issue := &ledger.Issue{}
	for range n {
		g := b.draft(1000)
		g.Card.Method, g.Card.Contact, g.Card.Scheduled, g.Card.DeliveryDate = contact.Email, "ana@example.com", true, due
		issue.Gifts = append(issue.Gifts, g)
	}
	var made []gift.Gift
	c := b.call(operation.SendGift, "")
	c.Render = func(r ledger.Result, _ error) ledger.Answer {
		made = r.Gifts
		return ledger.Answer{}
	}
	if _, err := b.engine.Do(b.Context(), c, issue); err != nil {
		b.Fatal(err)
	}
	return made
}

// TestRescheduleAgainstTheWorker: a worker claims what is due while it is put off. Each gift has exactly one outcome:
// it is put off and not claimed, or claimed, sent, and not put off.
func TestRescheduleAgainstTheWorker(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{Lanes: 4})
	gifts := b.mailed(150, time.Now())
	later := time.Now().Add(time.Hour)
	putOff := make([]bool, len(gifts))
	var callers sync.WaitGroup
	var mu sync.Mutex
	claimed := map[guid.ID]ledger.Job{}
	for range 2 {
		callers.Go(func() {
			for tries := 0; tries < len(gifts); tries++ {
				jobs, err := b.store.ClaimJobs(t.Context(), time.Now(), time.Minute, 3)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, j := range jobs {
					if _, twice := claimed[j.VoucherID]; twice {
						t.Errorf("%s was claimed twice", j.VoucherID)
					}
					claimed[j.VoucherID] = j
				}
				mu.Unlock()
			}
		})
	}
	for lane := range 6 {
		callers.Go(func() {
			for n := len(gifts) - 1 - lane; n >= 0; n -= 6 { // from the other end
				_, err := b.engine.Do(t.Context(), b.call(operation.RescheduleGift, ""), &ledger.Reschedule{
					VoucherID: gifts[n].ID, Reschedule: gift.Reschedule{Caller: b.caller, Date: later}})
				if err != nil && !errors.Is(err, refusal.RedemptionNotAllowed) {
					t.Error(err)
				}
				putOff[n] = err == nil
			}
		})
	}
	callers.Wait()
	for n, g := range gifts {
		job, begun := claimed[g.ID]
		if begun == putOff[n] {
			t.Errorf("gift %d: claimed is %t, put off is %t", n, begun, putOff[n])
		}
		if begun {
			if _, err := b.store.GiftOf(t.Context(), job); err != nil {
				t.Errorf("gift %d: its job was claimed and then taken away: %v", n, err)
			}
		}
	}
	jobs, err := b.store.ClaimJobs(t.Context(), later, time.Minute, len(gifts)) // the leases have ended by then, too
	if err != nil || len(jobs) != len(gifts) {
		t.Errorf("%d jobs are left, want one for each gift, %v", len(jobs), err)
	}
	t.Logf("%d were claimed, %d put off", len(claimed), len(gifts)-len(claimed))
	b.verify()
}

// TestResendAgainstTheWorker: whatever a worker does with the old message meanwhile, the gift has one message that is
// still to be sent, to the new address, and its outcome is the one that counts.
func TestResendAgainstTheWorker(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{Lanes: 4})
	gifts := b.mailed(120, time.Now().Add(-time.Second))
	var callers sync.WaitGroup
	for range 2 {
		callers.Go(func() {
			for range len(gifts) / 2 {
				jobs, err := b.store.ClaimJobs(t.Context(), time.Now(), time.Minute, 4)
				if err != nil {
					t.Error(err)
				}
				for n, j := range jobs {
					g, err := b.store.GiftOf(t.Context(), j)
					switch {
					case errors.Is(err, ledger.ErrTakenBack):
						continue
					case err != nil:
						t.Error(err)
					case g.Card.Contact != "ana@example.com":
						continue // a new message; it is left alone, to be counted
					case n%2 == 0:
						err = b.do(&ledger.Deliver{Job: j, Outcome: gift.Outcome{Delivered: n%4 == 0, Reason: "550"}})
					default:
						j.Due = time.Now().Add(time.Hour)
						if err = b.store.PostponeJob(t.Context(), j, "451"); errors.Is(err, ledger.ErrTakenBack) {
							err = nil
						}
					}
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for lane := range 6 {
		callers.Go(func() {
			for n := lane; n < len(gifts); n += 6 {
				if err := b.do(&ledger.Resend{VoucherID: gifts[n].ID, Resend: gift.Resend{Caller: b.caller,
					Contact: "ben@example.com"}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	jobs, err := b.store.ClaimJobs(t.Context(), time.Now().Add(2*time.Hour), time.Minute, 1000)
	jobs = slices.DeleteFunc(jobs, func(j ledger.Job) bool { return j.Kind == ledger.RedirectedJob })
	if err != nil || len(jobs) != len(gifts) {
		t.Errorf("%d jobs are left, %v; want one for each gift", len(jobs), err)
	}
	for _, j := range jobs {
		if g, err := b.store.GiftOf(t.Context(), j); err != nil || g.Card.Contact != "ben@example.com" {
			t.Errorf("a message goes to %q, %v", g.Card.Contact, err)
		}
		if err := b.do(&ledger.Deliver{Job: j, Outcome: gift.Outcome{Delivered: true}}); err != nil {
			t.Error(err)
		}
		b.status(j.VoucherID, gift.Delivered)
	}
	b.verify()
}

// TestBounceOfAnOvertakenMessage: a report of a message that a resend has overtaken changes nothing, before and after
// the new one is accepted; a report of the new one that overtakes our own record waits for it. A notice of what is left
// is no gift.
func TestBounceOfAnOvertakenMessage(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	old := b.posted()
	bounce := func(j ledger.Job) error {
		return b.do(&ledger.Bounce{AccountID: j.AccountID, VoucherID: j.VoucherID, JobID: j.ID, Reason: "undelivered"})
	}
	accept := func(j ledger.Job) {
		t.Helper()
		if err := b.do(&ledger.Deliver{Job: j, Outcome: gift.Outcome{Delivered: true}}); err != nil {
			t.Fatal(err)
		}
	}
	accept(old)
	if err := b.do(&ledger.Resend{VoucherID: old.VoucherID, Resend: gift.Resend{Caller: b.caller,
		Contact: "4155550133"}}); err != nil {
		t.Fatal(err)
	}
	if err := bounce(old); err != nil {
		t.Error(err)
	}
	b.status(old.VoucherID, gift.Delivered)
	due, err := b.store.ClaimJobs(t.Context(), time.Now().Add(time.Minute), time.Minute, 10)
	if err != nil || len(due) != 2 {
		t.Fatalf("claimed %v, %v, want the message and the notice to the former number", due, err)
	}
	slices.SortFunc(due, func(a, b ledger.Job) int { return strings.Compare(string(a.Kind), string(b.Kind)) })
	fresh, told := due[0], due[1]
	accept(told)
	if err := bounce(told); err != nil {
		t.Error(err)
	}
	b.status(old.VoucherID, gift.Delivered)
	if err := bounce(fresh); !errors.Is(err, ledger.ErrTooEarly) {
		t.Errorf("before the acceptance is recorded: %v", err)
	}
	accept(fresh)
	if err := bounce(fresh); err != nil {
		t.Error(err)
	}
	b.status(old.VoucherID, gift.FailedDelivery)
	if _, err := b.engine.Do(t.Context(), b.call(operation.RedeemGift, ""), &ledger.Redeem{VoucherID: old.VoucherID,
		Redeem: gift.Redeem{Amount: 1}, Notice: true}); err != nil {
		t.Fatal(err)
	}
	notice := b.claim()
	for range 2 { // of a gift that is claimed, and of one that is redeemed
		if err := bounce(notice); err != nil {
			t.Errorf("a report about a notice: %v", err)
		}
		if _, err := b.redeem(t.Context(), old.VoucherID, 0, "all"); err != nil {
			t.Fatal(err)
		}
	}
	b.status(old.VoucherID, gift.Redeemed)
	b.verify()
}

// TestResendsInOneGroup: several commands on one gift that share a transaction see each other's effect.
func TestResendsInOneGroup(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	g := b.mailed(1, time.Now().Add(time.Hour))[0]
	resend := func(to string) ledger.Command {
		return &ledger.Resend{VoucherID: g.ID, Resend: gift.Resend{Caller: b.caller, Contact: to}}
	}
	reschedule := func(in time.Duration) ledger.Command {
		return &ledger.Reschedule{VoucherID: g.ID, Reschedule: gift.Reschedule{Caller: b.caller, Date: time.Now().Add(in)}}
	}
	for range 3 {
		var callers sync.WaitGroup
		for _, cmd := range []ledger.Command{resend("ben@example.com"), reschedule(2 * time.Hour), resend("eve@example.com"),
			reschedule(3 * time.Hour)} {
			callers.Go(func() {
				if err := b.do(cmd); err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
	}
	made, err := b.store.Gift(t.Context(), g.AccountID, g.ID)
	if err != nil || made.Seq != 13 {
		t.Errorf("%d entries, %v; want 13", made.Seq, err)
	}
	if next, err := b.store.NextJob(t.Context()); err != nil || next.Sub(made.Card.DeliveryDate).Abs() > time.Microsecond {
		t.Errorf("due at %v, %v; the card says %v", next, err, made.Card.DeliveryDate)
	}
	if err := b.do(reschedule(0)); err != nil {
		t.Fatal(err)
	}
	b.claim() // the only one
	b.verify()
}

// TestWhoIsToldOfARedirection: whom a message has reached, or may have, is told that the gift goes elsewhere, whatever
// is still to be sent; whom none has reached is not.
func TestWhoIsToldOfARedirection(t *testing.T) {
	t.Parallel()
	const toEve, inPrint, again, accept, bounce, refuse, claim, doubt = "to Eve", "in print", "again", "accepted",
		"came back", "refused", "being sent", "in doubt"
	for steps, want := range map[string][]string{ // before the gift is sent to Ben
		"":                                     nil,
		accept:                                 {"ana"},
		refuse:                                 nil,
		claim:                                  {"ana"},
		doubt:                                  {"ana"},
		again + ", " + accept:                  {"ana"},
		accept + ", " + bounce:                 nil,
		accept + ", " + again:                  {"ana"},
		accept + ", " + again + ", " + refuse:  {"ana"},
		refuse + ", " + again:                  nil,
		accept + ", " + inPrint:                {"ana"},
		accept + ", " + inPrint + ", " + toEve: {"ana"},
		accept + ", " + toEve:                  {"ana"},
		toEve:                                  nil,
		toEve + ", " + again:                   nil,
		toEve + ", " + accept:                  {"eve"},
		toEve + ", " + accept + ", " + again:   {"eve"},
		accept + ", " + toEve + ", " + accept:  {"ana", "eve"},
	} {
		t.Run(steps, func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil, engine.Options{})
			id, told, last := b.mailed(1, time.Now())[0].ID, []string(nil), ledger.Job{}
			job := func() ledger.Job {
				jobs, notices := b.due()
				told, last = append(told, notices...), jobs[0]
				return last
			}
			for step := range strings.SplitSeq(steps, ", ") {
				switch step {
				case toEve:
					b.must(b.resend(id, "eve@example.com"))
				case inPrint:
					b.must(&ledger.Resend{VoucherID: id, Resend: gift.Resend{Caller: b.caller, Method: contact.Printed}})
				case again:
					b.must(b.resend(id, ""))
				case accept:
					b.must(accepted(job()))
				case bounce:
					b.must(&ledger.Bounce{AccountID: last.AccountID, VoucherID: id, JobID: last.ID})
				case refuse:
					b.must(refused(job()))
				case claim:
					job()
				case doubt:
					j := job()
					j.Due, j.Doubts = time.Now(), 1
					if err := b.store.PostponeJob(t.Context(), j, "no answer"); err != nil {
						t.Fatal(err)
					}
				}
			}
			b.must(b.resend(id, "ben@example.com"))
			job()
			for n := range told {
				told[n] = strings.TrimSuffix(told[n], "@example.com")
			}
			if !slices.Equal(told, want) {
				t.Errorf("%q are told, want %q", told, want)
			}
			b.verify()
		})
	}
}
