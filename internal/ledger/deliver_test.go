package ledger_test

import (
	"errors"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// posted issues a gift by SMS and claims its job.
func (b *bench) posted() ledger.Job { b.Helper(); return b.postedWith(func(*gift.Gift) {}) }

// postedWith is posted, of a gift that is changed before it is made.
func (b *bench) postedWith(change func(*gift.Gift)) ledger.Job {
	b.Helper()
	g := b.draft(1000)
	g.Card.Method, g.Card.Contact = contact.SMS, "+14155550132"
	change(&g)
	if _, err := b.engine.Do(b.Context(), b.call(operation.SendGift, ""),
		&ledger.Issue{Gifts: []gift.Gift{g}}); err != nil {
		b.Fatal(err)
	}
	return b.claim()
}

func (b *bench) claim() ledger.Job {
	b.Helper()
	jobs, err := b.store.ClaimJobs(b.Context(), time.Now().Add(time.Second), time.Minute, 10)
	if err != nil || len(jobs) != 1 {
		b.Fatalf("claimed %v, %v", jobs, err)
	}
	return jobs[0]
}

func (b *bench) do(cmd ledger.Command) error {
	_, err := b.engine.Do(b.Context(), b.call("deliver", ""), cmd)
	return err
}

func (b *bench) status(id guid.ID, want gift.Status) {
	b.Helper()
	g, err := b.store.Gift(b.Context(), b.caller.Account.ID, id)
	if err != nil || g.Status != want {
		b.Errorf("the gift is %v (%v), want %v", g.Status, err, want)
	}
}

// TestBounce: a late failure counts while its message is the one that brought the gift, and a replay of it never does.
func TestBounce(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	job := b.posted()
	bounce := &ledger.Bounce{AccountID: job.AccountID, VoucherID: job.VoucherID, JobID: job.ID, Reason: "undelivered"}
	accept := func(j ledger.Job) {
		t.Helper()
		if err := b.do(&ledger.Deliver{Job: j, Outcome: gift.Outcome{Delivered: true}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.do(bounce); !errors.Is(err, ledger.ErrTooEarly) {
		t.Errorf("before the acceptance is recorded: %v", err)
	}
	b.status(job.VoucherID, gift.Pending)
	accept(job)
	for range 2 {
		if err := b.do(bounce); err != nil {
			t.Error(err)
		}
		b.status(job.VoucherID, gift.FailedDelivery)
	}
	accept(job) // once more, as it was not known whether it had been recorded
	b.status(job.VoucherID, gift.FailedDelivery)
	later := ledger.Job{ID: newID(), AccountID: job.AccountID, VoucherID: job.VoucherID} // it is sent again
	accept(later)
	b.status(job.VoucherID, gift.Delivered)
	if err := b.do(bounce); err != nil {
		t.Error(err)
	}
	b.status(job.VoucherID, gift.Delivered)
	bounce.JobID = later.ID
	if _, err := b.redeem(t.Context(), job.VoucherID, 100, ""); err != nil {
		t.Fatal(err)
	}
	if err := b.do(bounce); err != nil {
		t.Error(err)
	}
	b.status(job.VoucherID, gift.Claimed)
	if err := b.do(&ledger.Bounce{AccountID: job.AccountID, VoucherID: newID(), JobID: job.ID}); !errors.Is(err,
		refusal.NotFound) {
		t.Errorf("an unknown gift: %v", err)
	}
	b.verify()
}

// TestNotice: a redemption that leaves something has one, in its own transaction, and its outcome changes nothing.
func TestNotice(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	job := b.posted()
	if err := b.do(&ledger.Deliver{Job: job, Outcome: gift.Outcome{Delivered: true}}); err != nil {
		t.Fatal(err)
	}
	redeem := func(amount money.Amount, key string) {
		t.Helper()
		cmd := &ledger.Redeem{VoucherID: job.VoucherID, Redeem: gift.Redeem{Amount: amount}, Notice: true}
		if _, err := b.engine.Do(t.Context(), b.call(operation.RedeemGift, key), cmd); err != nil {
			t.Fatal(err)
		}
	}
	redeem(400, "one")
	redeem(400, "one") // the till repeats it
	notice := b.claim()
	if notice.Kind != ledger.BalanceJob || notice.VoucherID != job.VoucherID {
		t.Errorf("the notice is %+v", notice)
	}
	before, err := b.store.Gift(t.Context(), job.AccountID, job.VoucherID)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.do(&ledger.Deliver{Job: notice, Outcome: gift.Outcome{Reason: "no such number"}}); err != nil {
		t.Fatal(err)
	}
	redeem(100, "two")
	second := b.claim()
	if err := b.do(&ledger.Deliver{Job: second, Outcome: gift.Outcome{Delivered: true}}); err != nil {
		t.Fatal(err)
	}
	after, err := b.store.Gift(t.Context(), job.AccountID, job.VoucherID)
	if err != nil || after.Status != gift.Claimed || !after.Card.DeliveredAt.Equal(before.Card.DeliveredAt) ||
		after.Seq != before.Seq+1 {
		t.Errorf("the notices changed the gift: %+v, %v", after.Voucher, err)
	}
	redeem(500, "three") // nothing is left
	if next, err := b.store.NextJob(t.Context()); err != nil || !next.IsZero() {
		t.Errorf("there is a job at %v (%v)", next, err)
	}
	b.verify()
}
