package server

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/contact"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

const day = 24 * time.Hour

// records is a store in which an account has idempotency records, and what deletes the old ones.
type records struct {
	*testing.T
	forgetting
	account   guid.ID
	directory *merchant.Directory
}

func newRecords(t *testing.T, database string) *records {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Database: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	account := guid.ID(uuid.New())
	return &records{t, forgetting{store: s, keep: KeepRequests},
		account, &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{account: {}}}}
}

func (r *records) save(c ledger.Changes) {
	r.Helper()
	if err := r.store.Group(r.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes { return c }); err != nil {
		r.Fatal(err)
	}
}

func (r *records) put(operation operation.Name, key string, at time.Time) {
	r.Helper()
	r.save(ledger.Changes{Requests: []ledger.Request{{RequestKey: ledger.RequestKey{AccountID: r.account,
		Operation: operation, Key: key}, At: at}}})
}

// enter makes an entry at an instant: that of a new gift.
func (r *records) enter(at time.Time) {
	r.Helper()
	code, err := codes.NewVoucherCode(rand.Reader)
	if err != nil {
		r.Fatal(err)
	}
	token, err := codes.NewToken(rand.Reader)
	if err != nil {
		r.Fatal(err)
	}
	g, e := gift.Gift{
		Voucher: gift.Voucher{ID: guid.ID(uuid.New()), AccountID: r.account,
			OrderID: guid.ID(uuid.New()), ProgramID: merchant.BusinessProgram.ID,
			Currency: money.Currency{Code: "USD", Decimals: 2}, Funded: 100, Balance: 100, CreatedAt: at},
		Card: gift.Card{Code: code, Token: token, Sender: "Ann", Method: contact.Printed, DeliveryZone: "UTC"},
	}.Begin(gift.Context{EntryID: guid.ID(uuid.Must(uuid.NewV7())), Now: at})
	r.save(ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
}

// pass deletes what is due, and tells how many records that were.
func (r *records) pass(now time.Time, ran time.Duration) (records int) {
	r.Helper()
	list, err := r.after(r.Context(), r.directory, now, ran)
	for n := 0; err == nil && n < len(list); {
		var done int
		var more bool
		done, more, err = next(r.Context(), list[n])
		if n%2 == 0 { // events come after the records of an account
			records += done
		}
		if !more {
			n++
		}
	}
	if err != nil {
		r.Fatal(err)
	}
	return records
}

func (r *records) kept(operation operation.Name, key string) bool {
	r.Helper()
	found, err := r.store.Requests(r.Context(), r.account, operation, key)
	if err != nil {
		r.Fatal(err)
	}
	return len(found) == 1
}

// onBoth runs a test on both stores.
func onBoth(t *testing.T, test func(t *testing.T, r *records)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { test(t, newRecords(t, "")) })
	t.Run("postgres", func(t *testing.T) {
		pgtest.Need(t) // the test of the embedded store is its like
		test(t, newRecords(t, pgtest.Empty(t)))
	})
}

// TestOldRecordsAreForgotten: records of calls that moved no value are deleted, more than go into one batch, when they
// are older than it was told to keep them; those of redemptions stay.
func TestOldRecordsAreForgotten(t *testing.T) {
	onBoth(t, func(t *testing.T, r *records) {
		now := time.Now()
		for n := range 2*forgetBatch + 50 {
			r.put(operation.SendGift, fmt.Sprintf("old %d", n), now.Add(-30*day-time.Hour))
		}
		r.put(operation.SendGift, "oldest", now.Add(-31*day))
		r.put(operation.SendGift, "young", now.Add(-30*day+time.Hour))
		r.put(operation.RedeemGift, "redeemed", now.Add(-400*day))
		r.enter(now)
		if n := r.pass(now, 0); n != 0 {
			t.Errorf("%d records were deleted before the service had run", n)
		}
		if n := r.pass(now.Add(time.Hour), time.Hour); n != 1 { // two hours' worth
			t.Errorf("%d records were deleted, not the oldest", n)
		}
		if n := r.pass(now.Add(12*time.Hour), 11*time.Hour); n != 2*forgetBatch+50 {
			t.Errorf("%d records were deleted", n)
		}
		if !r.kept(operation.SendGift, "young") || !r.kept(operation.RedeemGift, "redeemed") {
			t.Error("a record was deleted that is to be kept")
		}
	})
}

// TestEventsAreKept: for 90 days, which is longer than records are.
func TestEventsAreKept(t *testing.T) {
	onBoth(t, func(t *testing.T, r *records) {
		now := time.Now()
		r.put(operation.SendGift, "k", now.Add(-100*day))
		for _, age := range []time.Duration{91 * day, 90*day + time.Hour, 90*day - time.Hour, time.Minute} {
			r.enter(now.Add(-age))
		}
		r.pass(now, 400*day)
		if events := r.events(2); len(events) != 2 || now.Sub(events[0].At).Round(time.Hour) != 90*day-time.Hour {
			t.Errorf("%+v are kept", events)
		}
	})
}

// events are those that are kept, once there are so many.
func (r *records) events(n int) (events []event.Event) {
	r.Helper()
	for begun := time.Now(); len(events) < n && time.Since(begun) < time.Minute; time.Sleep(10 * time.Millisecond) {
		// Others may have something under way on the same server.
		page, err := r.store.Events(r.Context(), event.Query{AccountID: r.account, Limit: 9})
		if err != nil {
			r.Fatal(err)
		}
		events = page.Events
	}
	return events
}

// TestEventsAreForgottenWithoutRecords: where no call has an Idempotency-Key, or only those that move value.
func TestEventsAreForgottenWithoutRecords(t *testing.T) {
	onBoth(t, func(t *testing.T, r *records) {
		now := time.Now()
		r.put(operation.RedeemGift, "k", now.Add(-400*day))
		for _, age := range []time.Duration{100 * day, 91 * day, 89 * day, time.Minute} {
			r.enter(now.Add(-age))
		}
		r.pass(now, 0)
		if events := r.events(4); len(events) != 4 {
			t.Errorf("%+v are kept before the service had run", events)
		}
		r.pass(now.Add(6*day), 6*day)
		if events := r.events(2); len(events) != 2 {
			t.Errorf("%+v are kept", events)
		}
	})
}

// TestAClockThatIsAheadForgetsNextToNothing: a service that starts with a clock 40 days ahead deletes nothing for that,
// and nothing at once when a redemption under that clock has been stored; in a day it deletes two days' worth, and when
// the clock is right again, nothing more.
func TestAClockThatIsAheadForgetsNextToNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, r *records) {
		now := time.Now()
		ahead := now.Add(40 * day)
		for age := range 30 {
			r.put(operation.SendGift, fmt.Sprintf("day %d", age), now.Add(-time.Duration(age)*day))
		}
		r.enter(now)
		if n := r.pass(ahead, time.Hour); n != 0 {
			t.Fatalf("%d records were deleted for the clock alone", n)
		}
		r.enter(ahead)
		if n := r.pass(ahead, 0); n != 0 {
			t.Fatalf("%d records were deleted at once", n)
		}
		for hour := range 24 {
			r.pass(ahead.Add(time.Duration(hour+1)*time.Hour), time.Hour)
		}
		for age := range 30 {
			if kept := r.kept(operation.SendGift, fmt.Sprintf("day %d", age)); kept != (age < 28) && age != 28 {
				t.Errorf("after a day the record of %d days ago is kept: %v", age, kept)
			}
		}
		if n := r.pass(now.Add(25*time.Hour), time.Hour); n != 0 {
			t.Errorf("%d records were deleted after the clock was right again", n)
		}
	})
}

func TestRecordsAreNotForgottenTooSoon(t *testing.T) {
	t.Parallel()
	if err := Run(t.Context(), Config{Data: t.TempDir(), KeepRequests: 29 * day}); err == nil {
		t.Error("29 days were accepted")
	}
}

// TestATestClockMakesNothingOld: entries of a test account whose clock was advanced by years are no sign that records
// of live accounts are old.
func TestATestClockMakesNothingOld(t *testing.T) {
	onBoth(t, func(t *testing.T, r *records) {
		now := time.Now()
		r.put(operation.SendGift, "k", now.Add(-100*day))
		r.enter(now.Add(-99 * day))
		live, test := r.account, guid.ID(uuid.New())
		r.directory.Accounts[test] = &merchant.Account{ID: test, Test: true}
		r.account = test
		r.enter(now.AddDate(10, 0, 0))
		r.account = live
		if n := r.pass(now, 400*day); n != 0 || !r.kept(operation.SendGift, "k") {
			t.Errorf("%d records were forgotten by a clock that somebody advanced", n)
		}
		r.enter(now)
		if n := r.pass(now.Add(100*day), 400*day); n != 1 {
			t.Errorf("%d records were forgotten by the real one", n)
		}
	})
}
