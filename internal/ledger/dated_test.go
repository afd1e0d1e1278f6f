package ledger_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
)

// TestGiftsAreDatedWhenTheyAreKept: gifts that were made before a process stood still are not kept with the time from
// before. Their day may be closed in the books by now.
func TestGiftsAreDatedWhenTheyAreKept(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 3, 4, 23, 59, 59, 0, time.UTC)
	var still atomic.Int64 // how long the process stood still
	var g gate
	b := setup(t, g.wrap, engine.Options{Now: func() time.Time { return begun.Add(time.Duration(still.Load())) }})
	g.shut()
	var made gift.Gift
	c := b.call(operation.SendGift, "")
	c.Render = func(r ledger.Result, _ error) ledger.Answer {
		made = r.Gifts[0]
		return ledger.Answer{Code: ledger.Created, Body: []byte("made")}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := b.engine.Do(t.Context(), c, &ledger.Issue{Gifts: []gift.Gift{b.draft(50)}}); err != nil {
			t.Error(err)
		}
	})
	<-g.waiting
	still.Store(int64(20 * time.Minute))
	g.release()
	wg.Wait()
	if want := begun.Add(20 * time.Minute); !made.CreatedAt.Equal(want) {
		t.Errorf("the gift is dated %v, before the process stood still; want %v", made.CreatedAt, want)
	}
	b.verify()
}

// TestNoIDIsBeforeItsDate: the id of an entry tells no earlier time than the entry's date, also where the clock is set
// back between the two. So whoever looks for what was made from an instant on looks at no ids of before it.
func TestNoIDIsBeforeItsDate(t *testing.T) {
	t.Parallel()
	set := engine.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }} // ids are drawn by the machine's
	b := setup(t, nil, set)
	b.caller.Account.MaxGiftValue = 5000
	from, to := b.gift(50), b.gift(50)
	b.must(&ledger.Transfer{From: from, To: to, Transfer: gift.Transfer{Caller: b.caller, Amount: 10}})
	for _, id := range []guid.ID{from, to} {
		all, err := b.store.History(t.Context(), b.caller.Account.ID, id, 0, 10)
		if err != nil || len(all) != 2 {
			t.Fatalf("%v, %v", all, err)
		}
		for _, e := range all {
			if first := gift.FirstID(e.At); bytes.Compare(e.ID[:], first[:]) < 0 {
				t.Errorf("%s of %v has the id %v", e.Kind, e.At, e.ID)
			}
		}
	}
	b.verify()
}
