package store

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/pgtest"
)

// promotion makes a promotional gift that ends at a time.
func promotion(t *testing.T, s *Store, account guid.ID, end time.Time) gift.Gift {
	t.Helper()
	g, e := newGift(account)
	g.Promotional, g.PromotionID, g.ValidUntil = true, newID(), end
	save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}})
	return g
}

// told are the events of ends of gifts: how many of each type there are of each gift.
func told(t *testing.T, s *Store, account guid.ID, n int) map[guid.ID][2]int {
	t.Helper()
	all, _ := settled(t, s, event.Query{AccountID: account, Limit: 9,
		Types: []gift.EventType{event.Expiring, event.Expired}}, n)
	found := map[guid.ID][2]int{}
	for i := range all {
		of := found[all[i].Gift.ID]
		if all[i].Type == event.Expired {
			of[1]++
		} else {
			of[0]++
		}
		found[all[i].Gift.ID] = of
	}
	return found
}

// tellAll has two instances tell at once of all that is due, while some of them are cut off.
func tellAll(t *testing.T, instances []*Store, account guid.ID, now time.Time) {
	t.Helper()
	var all sync.WaitGroup
	for n := range 6 {
		all.Go(func() {
			for more := 1; more > 0; {
				var err error
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(4*time.Millisecond))
				_, cut := instances[n%2].TellExpiry(ctx, account, now, 4)
				cancel()
				_ = cut // what was done then is in the database
				if more, err = instances[n%2].TellExpiry(t.Context(), account, now, 4); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	// A gift is stepped over while the server still holds it for one who was cut off: a later round tells of it.
	for range 100 {
		due, err := instances[0].DueExpiry(t.Context(), account, now, 100)
		must(t, err)
		if due == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
		_, err = instances[0].TellExpiry(t.Context(), account, now, 4)
		must(t, err)
	}
	t.Error("some are due still")
}

// testExpiry: each end of a gift that is good for something is told of once, as expiring and as expired, whichever
// instances tell at once and whoever is cut off; the end of one of which nothing is left is not.
func testExpiry(t *testing.T, open opener) {
	s, again := open(t)
	instances := []*Store{s, again()}
	account := newID()
	end := noon.AddDate(0, 0, 30)
	want := map[guid.ID][2]int{}
	var longer gift.Gift
	for n := range 20 {
		longer = promotion(t, s, account, end.Add(time.Duration(n)*time.Second))
		want[longer.ID] = [2]int{1, 0}
	}
	empty := promotion(t, s, account, end)
	redeem(t, s, &empty.Voucher, empty.Balance)
	promotion(t, s, newID(), end) // another account's
	issue(t, s, account, 1)       // which does not expire

	tellAll(t, instances, account, end.Add(-event.ExpiringBefore-1))
	diff(t, told(t, s, account, 0), map[guid.ID][2]int{})
	tellAll(t, instances, account, end.Add(time.Minute-event.ExpiringBefore))
	diff(t, told(t, s, account, 20), want)
	extend := func(until time.Time) {
		t.Helper()
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&longer.Voucher)}}, func(st *ledger.State) ledger.Changes {
			after, e, err := st.Vouchers[ref(&longer.Voucher)].Extend(gift.Extend{Until: until,
				Caller: &merchant.Caller{Account: &merchant.Account{ID: account}}, Context: gift.Context{EntryID: newID(),
					Now: noon}})
			must(t, err)
			return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
		})
	}
	extend(end.AddDate(0, 0, 20))
	tellAll(t, instances, account, end.Add(time.Minute))
	for id := range want {
		if id != longer.ID {
			want[id] = [2]int{1, 1}
		}
	}
	diff(t, told(t, s, account, 39), want)
	tellAll(t, instances, account, end.AddDate(0, 0, 13))
	want[longer.ID] = [2]int{2, 0}
	diff(t, told(t, s, account, 40), want)
	extend(end.AddDate(0, 0, 21)) // for less than the notice
	tellAll(t, instances, account, end.AddDate(0, 0, 21))
	want[longer.ID] = [2]int{3, 1}
	diff(t, told(t, s, account, 42), want)
}

// TestExpiryTakesFewStatements: to tell of many gifts takes PostgreSQL as many statements as to tell of one.
func TestExpiryTakesFewStatements(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database has no round trips
	traced := &statements{seen: map[string]bool{}}
	s, _ := openServerForTest(t, traced)
	account, end := newID(), noon.AddDate(0, 0, 30)
	tell := func(gifts int) int {
		t.Helper()
		for range gifts {
			promotion(t, s, account, end)
		}
		before := traced.sent + traced.trips
		n, err := s.TellExpiry(t.Context(), account, end, 100)
		must(t, err)
		if n != 2*gifts { // each expires soon, and has expired
			t.Errorf("%d gifts were told of, want %d", n, 2*gifts)
		}
		return traced.sent + traced.trips - before
	}
	if one, many := tell(1), tell(50); many > one {
		t.Errorf("one gift takes %d statements, 50 take %d", one, many)
	}
	want := map[guid.ID][2]int{}
	for id := range told(t, s, account, 102) {
		want[id] = [2]int{1, 1}
	}
	if diff(t, told(t, s, account, 102), want); len(want) != 51 {
		t.Errorf("%d gifts were told of, want 51", len(want))
	}
}
