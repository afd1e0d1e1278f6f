package ledger_test

import (
	"sync"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
)

// must runs commands that are done.
func (b *bench) must(commands ...ledger.Command) {
	b.Helper()
	for _, cmd := range commands {
		if err := b.do(cmd); err != nil {
			b.Fatalf("%T: %v", cmd, err)
		}
	}
}

func (b *bench) cancel(id guid.ID) *ledger.Cancel {
	return &ledger.Cancel{VoucherIDs: []guid.ID{id}, Cancel: gift.Cancel{Caller: b.caller, To: gift.Cancelled}}
}

func (b *bench) reinstate(id guid.ID) *ledger.Reinstate {
	return &ledger.Reinstate{VoucherIDs: []guid.ID{id}, Reinstate: gift.Reinstate{Caller: b.caller}}
}

func (b *bench) resend(id guid.ID, to string) *ledger.Resend {
	r := &ledger.Resend{VoucherID: id, Resend: gift.Resend{Caller: b.caller, Contact: to}}
	if to != "" {
		r.Method = contact.Email
	}
	return r
}

func accepted(j ledger.Job) *ledger.Deliver {
	return &ledger.Deliver{Job: j, Outcome: gift.Outcome{Delivered: true}}
}

func refused(j ledger.Job) *ledger.Deliver {
	return &ledger.Deliver{Job: j, Outcome: gift.Outcome{Reason: "550"}}
}

func unwanted(j ledger.Job) *ledger.Deliver { return &ledger.Deliver{Job: j, Unwanted: true} }

// due claims the jobs that bring gifts, and tells to whom the others go.
func (b *bench) due() (gifts []ledger.Job, told []string) {
	b.Helper()
	jobs, err := b.store.ClaimJobs(b.Context(), time.Now().Add(time.Second), time.Minute, 10)
	if err != nil {
		b.Fatal(err)
	}
	for _, j := range jobs {
		if j.Kind == ledger.GiftJob {
			gifts = append(gifts, j)
		} else {
			told = append(told, j.Contact)
		}
	}
	return gifts, told
}

// TestReinstatedAfterAResend: the message of a gift that was sent again, cancelled and reinstated counts, and so does
// the report that it did not arrive.
func TestReinstatedAfterAResend(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	id := b.mailed(1, time.Now())[0].ID
	b.must(b.resend(id, ""), b.cancel(id))
	b.must(unwanted(b.claim()), b.reinstate(id))
	job := b.claim()
	b.must(accepted(job))
	b.status(id, gift.Delivered)
	b.must(&ledger.Bounce{AccountID: job.AccountID, VoucherID: id, JobID: job.ID, Reason: "undelivered"})
	b.status(id, gift.FailedDelivery)
	b.verify()
}

// TestReinstatedInTheGroupOfTheOutcome: a job that was given up a moment ago, in the same transaction, is made anew.
func TestReinstatedInTheGroupOfTheOutcome(t *testing.T) {
	t.Parallel()
	var g gate
	b := setup(t, g.wrap, engine.Options{})
	id := b.mailed(1, time.Now())[0].ID
	b.must(b.cancel(id))
	for n, err := range b.together(&g, unwanted(b.claim()), b.reinstate(id)) {
		if err != nil {
			t.Errorf("command %d: %v", n, err)
		}
	}
	b.must(accepted(b.claim()))
	b.status(id, gift.Delivered)
	b.verify()
}

// together runs commands in one transaction, in this order.
func (b *bench) together(g *gate, commands ...ledger.Command) []error {
	g.shut()
	var callers sync.WaitGroup
	callers.Go(func() { b.redeem(b.Context(), newID(), 1, "") })
	<-g.waiting
	errs := make([]error, len(commands))
	for n, cmd := range commands {
		callers.Go(func() { errs[n] = b.do(cmd) })
		b.queued(n + 1)
	}
	g.release()
	callers.Wait()
	return errs
}

// TestReinstatedBeforeAResendWentOut: whatever a gift was before, the message that a resend asked for goes out once
// the gift is reinstated; one that was accepted, be it while the gift was out of use, does not go out again.
func TestReinstatedBeforeAResendWentOut(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	for _, before := range []gift.Status{gift.Delivered, gift.FailedDelivery, gift.Claimed} {
		id := b.mailed(1, time.Now())[0].ID
		if job := b.claim(); before == gift.FailedDelivery {
			b.must(refused(job))
		} else {
			b.must(accepted(job))
		}
		if before == gift.Claimed {
			b.must(&ledger.Redeem{VoucherID: id, Redeem: gift.Redeem{Amount: 1}})
		}
		b.must(b.resend(id, "ben@example.com"), b.cancel(id))
		jobs, _ := b.due()
		b.must(unwanted(jobs[0]), b.reinstate(id))
		b.status(id, before)
		jobs, _ = b.due()
		if len(jobs) != 1 {
			t.Fatalf("%s: %d messages to Ben, want one", before, len(jobs))
		}
		b.must(b.cancel(id), accepted(jobs[0]), b.reinstate(id))
		if jobs, _ = b.due(); len(jobs) != 0 {
			t.Errorf("%s: Ben gets it again: %v", before, jobs)
		}
		b.must(b.resend(id, ""))
		b.must(accepted(b.claim()), b.cancel(id), b.reinstate(id))
		if jobs, _ = b.due(); len(jobs) != 0 {
			t.Errorf("%s: what was accepted goes out again: %v", before, jobs)
		}
	}
	b.verify()
}

// TestReinstatedInPrint: paper is there.
func TestReinstatedInPrint(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	id := b.mailed(1, time.Now())[0].ID
	b.must(&ledger.Resend{VoucherID: id, Resend: gift.Resend{Caller: b.caller, Method: contact.Printed}}, b.cancel(id),
		b.reinstate(id))
	b.status(id, gift.Delivered)
	if jobs, _ := b.due(); len(jobs) != 0 {
		t.Errorf("it is sent: %v", jobs)
	}
	b.verify()
}
