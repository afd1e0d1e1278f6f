package ledger_test

import (
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
)

// TestTheBuyerIsToldOnce: the buyer of a gift is told of its delivery and of its first use, and never again: also where
// an outcome is recorded twice, or where the gift is sent again; and of no delivery where the gift was used before.
func TestTheBuyerIsToldOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	buys := func(tells gift.BuyerNotices) ledger.Job {
		t.Helper()
		return b.postedWith(func(g *gift.Gift) { g.Tells, g.BuyerLanguage = tells, "de" })
	}
	do := func(cmd ledger.Command) {
		t.Helper()
		if err := b.do(cmd); err != nil {
			t.Fatal(err)
		}
	}
	accept := func(j ledger.Job) { t.Helper(); do(&ledger.Deliver{Job: j, Outcome: gift.Outcome{Delivered: true}}) }
	told := func(kind ledger.JobKind, job ledger.Job) {
		t.Helper()
		notice := b.claim()
		if notice.Kind != kind || notice.VoucherID != job.VoucherID || notice.Language != "de" || notice.Contact != "" {
			t.Errorf("the notice is %+v, want %s", notice, kind)
		}
		accept(notice)
		accept(notice) // the program was killed before it knew
	}
	nobody := func() {
		t.Helper()
		if next, err := b.store.NextJob(t.Context()); err != nil || !next.IsZero() {
			t.Errorf("there is a job at %v (%v)", next, err)
		}
	}
	redeem := func(job ledger.Job) {
		t.Helper()
		if _, err := b.redeem(t.Context(), job.VoucherID, 100, ""); err != nil {
			t.Fatal(err)
		}
	}

	job := buys(gift.TellArrival | gift.TellFirstUse)
	accept(job)
	accept(job)
	told(ledger.ArrivedJob, job)
	do(&ledger.Bounce{AccountID: job.AccountID, VoucherID: job.VoucherID, JobID: job.ID, Reason: "no such mailbox"})
	accept(ledger.Job{ID: newID(), AccountID: job.AccountID, VoucherID: job.VoucherID}) // it is sent again
	nobody()
	redeem(job)
	told(ledger.UsedJob, job)
	redeem(job)
	nobody()

	early := buys(gift.TellArrival | gift.TellFirstUse)
	do(&ledger.Deliver{Job: early, Outcome: gift.Outcome{Reason: "no such mailbox"}})
	redeem(early)
	told(ledger.UsedJob, early)
	accept(ledger.Job{ID: newID(), AccountID: early.AccountID, VoucherID: early.VoucherID})
	nobody()

	arrival := buys(gift.TellArrival)
	accept(arrival)
	told(ledger.ArrivedJob, arrival)
	redeem(arrival)
	nobody()
	b.verify()
}
