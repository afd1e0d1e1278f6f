package store

import (
	"context"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/store/pgtest"
)

// timeOver is a context whose time is over, and that lets everything go on.
type timeOver struct{ context.Context }

func (timeOver) Deadline() (time.Time, bool) { return time.Now().Add(-time.Hour), true }

// testPagesEndEarly: a page of events or gifts ends early where time runs out, and who goes on from it misses none.
func testPagesEndEarly(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	const gifts = 120
	issue(t, s, account, gifts)
	settled(t, s, event.Query{AccountID: account, Limit: 200}, gifts)
	ctx := timeOver{t.Context()}
	q := event.Query{AccountID: account, Limit: 200}
	seen, pages := map[guid.ID]bool{}, 0
	for more := true; more; pages++ {
		page, err := s.Events(ctx, q)
		must(t, err)
		for _, e := range page.Events {
			seen[e.Gift.ID] = true
		}
		if more, q.After = page.More, page.Next; len(page.Events) == 0 {
			t.Fatal("a page has nothing")
		}
	}
	if len(seen) != gifts || pages < 3 {
		t.Errorf("%d gifts on %d pages of events, want %d on 3", len(seen), pages, gifts)
	}
	f := gift.Filter{AccountID: account, Limit: 200}
	seen, pages = map[guid.ID]bool{}, 0
	for more := true; more; pages++ {
		page, err := s.List(ctx, f)
		must(t, err)
		for i := range page.Gifts {
			seen[page.Gifts[i].ID] = true
		}
		f.Before, more = page.Next, !page.Next.IsZero()
	}
	if len(seen) != gifts || pages < 3 {
		t.Errorf("%d gifts on %d pages, want %d on 3", len(seen), pages, gifts)
	}
}

// TestPagesTakeFewStatementsOnCitus: where rows go one by one to the machines that have them, those of an account go
// together. It asks plain PostgreSQL as it would Citus, which understands the same statements.
func TestPagesTakeFewStatementsOnCitus(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database is not spread
	traced := &statements{seen: map[string]bool{}}
	s, _ := openServerForTest(t, traced)
	account := newID()
	issue(t, s, account, 100)
	settled(t, s, event.Query{AccountID: account, Limit: 200}, 100)
	s.db.Spread = true
	before := traced.sent
	page, err := s.Events(t.Context(), event.Query{AccountID: account, Limit: 200})
	must(t, err)
	list, err := s.List(t.Context(), gift.Filter{AccountID: account, Limit: 200})
	must(t, err)
	if len(page.Events) != 100 || len(list.Gifts) != 100 {
		t.Errorf("%d events and %d gifts, want 100", len(page.Events), len(list.Gifts))
	}
	if n := traced.sent - before; n > 20 {
		t.Errorf("two pages take %d statements", n)
	}
}
