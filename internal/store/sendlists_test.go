package store

import (
	"errors"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/sealed"
	"boon.example/internal/sendlist"
)

// sendListOf is a list of an account with one order.
func sendListOf(account guid.ID) *sendlist.List {
	return &sendlist.List{ID: newID(), AccountID: account, MemberID: newID(), Member: "Ann", Address: "192.0.2.1",
		File: "people.csv", MadeAt: noon, Rows: 1, Sum: 500, Orders: []sendlist.Order{{Value: "5.00", To: 1}}}
}

var sendContent = &sendlist.Content{Order: []byte(`{"paymentMethodID":2}`),
	Rows: []sendlist.Row{{Line: 2, Contact: "ana@example.com"}}}

// testSendLists: a list is kept once, and its content as long as there is something to send; it is no other account's.
func testSendLists(t *testing.T, open opener) {
	s, _ := open(t)
	account, other := newID(), newID()
	l := sendListOf(account)
	must(t, s.KeepSendList(t.Context(), l, sendContent))
	again := *l
	again.File = "others.csv"
	must(t, s.KeepSendList(t.Context(), &again, sendContent))
	is, err := s.SendList(t.Context(), account, l.ID)
	must(t, err)
	diff(t, is, *l)
	for _, foreign := range []guid.ID{other, {}} {
		if _, err := s.SendList(t.Context(), foreign, l.ID); !errors.Is(err, refusal.NotFound) {
			t.Errorf("another account has the list: %v", err)
		}
	}
	for n := range sendlist.MaxWaiting {
		more := sendListOf(account)
		more.MadeAt = noon.Add(time.Duration(n+1) * time.Second)
		err := s.KeepSendList(t.Context(), more, sendContent)
		if last := n == sendlist.MaxWaiting-1; last != errors.Is(err, refusal.RateLimited) || !last && err != nil {
			t.Errorf("list %d that is not sent: %v", n+2, err)
		}
	}
	all, err := s.SendLists(t.Context(), account)
	must(t, err)
	if len(all) != sendlist.MaxWaiting || all[len(all)-1].ID != l.ID {
		t.Errorf("there are %d lists, the oldest is %s", len(all), all[len(all)-1].ID)
	}
	must(t, s.DeleteSendList(t.Context(), account, all[0].ID))
	if err := s.DeleteSendList(t.Context(), other, l.ID); !errors.Is(err, refusal.NotFound) {
		t.Errorf("another account throws it away: %v", err)
	}
	must(t, s.ForgetSendLists(t.Context(), noon.Add(sendlist.WaitsFor)))
	must(t, s.ForgetSendLists(t.Context(), noon.Add(sendlist.WaitsFor+time.Microsecond)))
	if _, err := s.SendList(t.Context(), account, l.ID); !errors.Is(err, refusal.NotFound) {
		t.Errorf("a list that nobody confirmed is there after a day: %v", err)
	}
	if all, err = s.SendLists(t.Context(), account); err != nil || len(all) != sendlist.MaxWaiting-2 {
		t.Errorf("%d lists are left: %v", len(all), err)
	}
}

// testSendListsAreSearched for a contact, as long as they keep what is sent.
func testSendListsAreSearched(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	l, other := sendListOf(account), sendListOf(newID())
	c := *sendContent
	c.Order = []byte(`{"externalTransactionCustomerEmailAddress":"carla@example.com"}`)
	must(t, errors.Join(s.KeepSendList(t.Context(), l, &c), s.KeepSendList(t.Context(), other, sendContent)))
	find := func(contact string) int {
		t.Helper()
		n, until, err := s.SendListsTo(t.Context(), account, func(is string) bool { return is == contact })
		if must(t, err); n > 0 != until.Equal(l.MadeAt.Add(sendlist.WaitsFor)) {
			t.Errorf("%d lists are kept until %v", n, until)
		}
		return n
	}
	if rows, buyer, nobody := find("ana@example.com"), find("carla@example.com"), find("ben@example.com"); rows != 1 ||
		buyer != 1 || nobody != 0 {
		t.Errorf("found in %d lists, as the buyer in %d, somebody else in %d", rows, buyer, nobody)
	}
	must(t, s.ChangeSendList(t.Context(), account, l.ID, noon, func(l *sendlist.List) error {
		l.ConfirmedAt, l.EndedAt = noon, noon
		return nil
	}))
	if n := find("ana@example.com"); n != 0 {
		t.Error("a list that is sent keeps whom it was sent to")
	}
}

// testSendListsAreClaimed: one process at a time works on a list, until it says how far it came or its time is over.
func testSendListsAreClaimed(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	l := sendListOf(account)
	must(t, s.KeepSendList(t.Context(), l, sendContent))
	due := func(at time.Time) *sendlist.Ref {
		t.Helper()
		all, err := s.DueSendLists(t.Context(), at)
		must(t, err)
		if len(all) == 0 {
			return nil
		}
		return &all[0]
	}
	if due(noon.Add(-time.Second)) != nil || due(noon) == nil {
		t.Fatal("it is not due when it was made")
	}
	of := *due(noon)
	is, content, err := s.ClaimSendList(t.Context(), of, noon)
	must(t, err)
	diff(t, is, *l)
	diff(t, content, *sendContent)
	if _, _, err := s.ClaimSendList(t.Context(), of, noon); !errors.Is(err, refusal.NotFound) || due(noon) != nil {
		t.Errorf("a second process claims it: %v", err)
	}
	if due(noon.Add(10*time.Minute)) == nil {
		t.Error("it is lost with the process that claimed it")
	}
	change := func(at time.Time, do func(*sendlist.List)) {
		t.Helper()
		must(t, s.ChangeSendList(t.Context(), account, l.ID, at, func(l *sendlist.List) error { do(l); return nil }))
	}
	change(noon, func(l *sendlist.List) { l.Looked(0) })
	if due(noon.Add(time.Hour)) != nil {
		t.Error("it goes on before somebody confirmed it")
	}
	change(noon, func(l *sendlist.List) { l.Confirm(newID(), "Ann", "192.0.2.1", noon) })
	if err := s.DeleteSendList(t.Context(), account, l.ID); !errors.Is(err, refusal.NotFound) {
		t.Errorf("a list that is being sent is thrown away: %v", err)
	}
	_, _, err = s.ClaimSendList(t.Context(), of, noon)
	must(t, err)
	change(noon, func(l *sendlist.List) { l.Made(0, "order", "", nil, noon) })
	contents := 0
	must(t, s.db.Get(t.Context(), `SELECT count(*) FROM send_list AS l WHERE l.account_id = $1 AND l.content IS NOT NULL`,
		[]any{account[:]}, &contents))
	if contents > 0 {
		t.Error("a list that is sent keeps its content")
	}
	if due(noon.Add(time.Hour)) != nil {
		t.Error("a list that is sent goes on")
	}
	must(t, s.ForgetSendLists(t.Context(), noon.Add(sendlist.WaitsFor+time.Hour)))
	if is, err = s.SendList(t.Context(), account, l.ID); err != nil || is.State() != sendlist.Done {
		t.Errorf("it is %s: %v", is.State(), err)
	}
	err = s.ChangeSendList(t.Context(), newID(), l.ID, noon, func(*sendlist.List) error { return nil })
	if !errors.Is(err, refusal.NotFound) {
		t.Errorf("another account changes it: %v", err)
	}
}

// testSendListsAreLeft: a list that was sent in part makes room for another one, and keeps no lines, once it is left as
// it is.
func testSendListsAreLeft(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	for range sendlist.MaxWaiting {
		must(t, s.KeepSendList(t.Context(), sendListOf(account), sendContent))
	}
	l := sendListOf(account)
	if err := s.KeepSendList(t.Context(), l, sendContent); !errors.Is(err, refusal.RateLimited) {
		t.Fatalf("one list more: %v", err)
	}
	all, err := s.SendLists(t.Context(), account)
	must(t, err)
	must(t, s.ChangeSendList(t.Context(), account, all[0].ID, noon, func(l *sendlist.List) error {
		l.Looked(0)
		l.Confirm(newID(), "Ann", "192.0.2.1", noon)
		l.Made(0, "", "", []string{"No."}, noon)
		return nil
	}))
	if err := s.KeepSendList(t.Context(), l, sendContent); !errors.Is(err, refusal.RateLimited) {
		t.Fatalf("what was refused can be tried no more: %v", err)
	}
	must(t, s.ChangeSendList(t.Context(), account, all[0].ID, noon, func(l *sendlist.List) error {
		l.Leave(newID(), "Ben", "192.0.2.1", noon)
		return nil
	}))
	must(t, s.KeepSendList(t.Context(), l, sendContent))
	if is, err := s.SendList(t.Context(), account, all[0].ID); err != nil || is.State() != sendlist.Left {
		t.Errorf("it is %s: %v", is.State(), err)
	}
}

// testPlantedSendLists: a row that was changed or moved in the database opens nothing, so nothing of it is sent.
func testPlantedSendLists(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	one, other := sendListOf(account), sendListOf(account)
	must(t, s.KeepSendList(t.Context(), one, sendContent))
	must(t, s.KeepSendList(t.Context(), other, sendContent))
	run(t, s, `UPDATE send_list SET content = (SELECT o.content FROM send_list AS o WHERE o.id = $1)
		WHERE account_id = $2 AND id = $3`, one.ID[:], account[:], other.ID[:])
	_, _, err := s.ClaimSendList(t.Context(), sendlist.Ref{AccountID: account, ID: other.ID}, noon)
	if !errors.Is(err, sealed.ErrTampered) {
		t.Errorf("the content of another list: %v", err)
	}
	run(t, s, `UPDATE send_list SET document = (SELECT o.document FROM send_list AS o WHERE o.id = $1)
		WHERE account_id = $2 AND id = $3`, other.ID[:], account[:], one.ID[:])
	if _, err := s.SendList(t.Context(), account, one.ID); !errors.Is(err, sealed.ErrTampered) {
		t.Errorf("another list in its place: %v", err)
	}
}
