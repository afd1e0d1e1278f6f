package store

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

// testRedirect: a group sees how gifts go and who has their jobs, changes both, and what was before stays known.
func testRedirect(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	gifts := issue(t, s, account, 40) // more than one statement carries
	addJobs(t, s, gifts)
	leased := claim(t, s, noon, 9)
	if len(leased) != 1 {
		t.Fatalf("%d jobs were claimed, want the first", len(leased))
	}
	if _, err := s.GiftOf(t.Context(), leased[0]); err != nil {
		t.Error(err)
	}
	want := ledger.Want{}
	for i := range gifts {
		at := ref(&gifts[i].Voucher)
		want.Vouchers, want.Deliveries, want.Resends = append(want.Vouchers, at), append(want.Deliveries, at, at),
			append(want.Resends, at)
	}
	first, second := ref(&gifts[0].Voucher), ref(&gifts[1].Voucher)
	to := gift.Delivery{Method: contact.SMS, Contact: "+14155550132", Scheduled: true, DeliveryDate: noon.Add(time.Hour),
		DeliveryZone: "Asia/Kolkata"}
	resent := ledger.Resent{AccountID: account, VoucherID: first.ID, Seq: 2, ID: newID(), At: noon, Method: contact.Email,
		Contact: "former@example.com"}
	runGroup(t, s, want, func(st *ledger.State) ledger.Changes {
		for i := range gifts {
			post := st.Deliveries[ref(&gifts[i].Voucher)]
			if post == nil || len(post.Jobs) != 1 {
				t.Fatalf("gift %d: %+v", i, post)
			}
			diff(t, post.Delivery, gifts[i].Card.Delivery())
			if has := !post.Jobs[0].Lease.IsZero(); has != (i == 0) ||
				!post.Jobs[0].Due.Equal(noon.Add(time.Duration(i)*time.Minute)) {
				t.Errorf("gift %d: job %+v", i, post.Jobs[0])
			}
		}
		before := st.Deliveries[second].Jobs[0] // of two commands in one group, the last one holds
		before.Due, before.Attempts = noon.Add(2*time.Hour), 1
		moved := before
		moved.Due, moved.Attempts = noon.Add(3*time.Hour), 0
		return ledger.Changes{
			Resends: []ledger.Resent{resent},
			DeliveryChanges: []ledger.DeliveryChange{{AccountID: account, VoucherID: first.ID},
				{AccountID: account, VoucherID: first.ID, Delivery: to}},
			Jobs:        []ledger.Job{{ID: resent.ID, AccountID: account, VoucherID: first.ID, Due: to.DeliveryDate}},
			Done:        []ledger.Done{{JobID: leased[0].ID, AccountID: account, VoucherID: first.ID}},
			Rescheduled: []ledger.Job{before, moved},
		}
	})
	if _, err := s.GiftOf(t.Context(), leased[0]); !errors.Is(err, ledger.ErrTakenBack) {
		t.Errorf("the job that was taken back: %v", err)
	}
	runGroup(t, s, want, func(st *ledger.State) ledger.Changes {
		to.DeliveredAt = gifts[0].Card.DeliveredAt // which is not changed so
		diff(t, st.Deliveries[first].Delivery, to)
		diff(t, st.Resends, map[ledger.Ref][]ledger.Resent{first: {resent}})
		if jobs := st.Deliveries[first].Jobs; len(jobs) != 1 || jobs[0].ID != resent.ID {
			t.Errorf("the jobs of the gift that was sent again: %+v", jobs)
		}
		if jobs := st.Deliveries[second].Jobs; len(jobs) != 1 || !jobs[0].Due.Equal(noon.Add(3*time.Hour)) ||
			!jobs[0].Lease.IsZero() {
			t.Errorf("the jobs of the gift that was put off: %+v", jobs)
		}
		return ledger.Changes{}
	})
	err := s.Group(t.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
		return ledger.Changes{Rescheduled: []ledger.Job{{ID: newID(), AccountID: account, Due: noon}}}
	})
	if !errors.Is(err, ledger.ErrRejected) || !errors.Is(err, ledger.ErrInTheWay) {
		t.Errorf("a job that is gone was put off: %v", err)
	}
	var method contact.Method
	var address string
	err = db.Each(t.Context(), s.db.Readers, `SELECT method, contact FROM resend WHERE account_id = $1`,
		[]any{db.KeyOf(account)}, func(rows *sql.Rows) error { return rows.Scan(&method, &address) })
	if err != nil || method != contact.Email || address != "former@example.com" {
		t.Errorf("it went by %v to %q before, %v", method, address, err)
	}
}
