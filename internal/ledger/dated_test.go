package ledger_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
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
