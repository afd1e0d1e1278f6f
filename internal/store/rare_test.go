package store

import (
	"strconv"
	"strings"
	"testing"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
)

// TestRareEventsAreReadAlone: whoever asks for a rare type of event gets it in one page, however many redemptions lie
// before it, and goes on behind them; and every type is told as whoever asks for all of them is told it.
func TestRareEventsAreReadAlone(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			account := newID()
			g := issue(t, s, account, 1)[0]
			block := func(v *gift.Voucher) {
				after, e, err := v.Block(gift.Block{Context: gift.Context{EntryID: newID(), Now: noon}, Caller: &merchant.Caller{},
					ReasonCode: gift.ReasonStolen})
				must(t, err)
				want := ledger.Want{Vouchers: []ledger.Ref{{AccountID: account, ID: v.ID}}}
				runGroup(t, s, want, func(*ledger.State) ledger.Changes {
					return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
				})
				*v = after
			}
			manyRedemptions(t, s, account)
			block(&g.Voucher)
			q := event.Query{AccountID: account, Limit: 10, Types: []gift.EventType{gift.EventBlocked}}
			settled(t, s, q, 1)
			page, err := s.Events(t.Context(), q)
			must(t, err)
			if len(page.Events) != 1 || page.More {
				t.Errorf("%d events in the first page, more: %v", len(page.Events), page.More)
			}
			manyRedemptions(t, s, account)
			issue(t, s, account, 1)
			all := event.Query{AccountID: account, Limit: 10}
			settled(t, s, event.Query{AccountID: account, Limit: 10, Types: []gift.EventType{gift.EventCreated}}, 2)
			_, end := follow(t, s, all)
			for q.After = page.Next; ; q.After = page.Next {
				page, err = s.Events(t.Context(), q)
				must(t, err)
				if len(page.Events) > 0 {
					t.Errorf("%d events that were not there", len(page.Events))
				}
				if !page.More {
					break
				}
			}
			if page.Next != end {
				t.Errorf("the place is %v, and the end is %v", page.Next, end)
			}
		})
	}
}

// manyRedemptions are more than a page looks at.
func manyRedemptions(t *testing.T, s *Store, account guid.ID) {
	t.Helper()
	for range 3 * feed.MaxRead / 500 {
		var rows []string
		var args []any
		for range 500 {
			id := newID()
			args = append(args, id[:])
			rows = append(rows, `($1, 0, ' REDEMPTION ', $`+strconv.Itoa(len(args)+1)+`, '')`)
		}
		_, err := s.db.Writer.ExecContext(t.Context(), `INSERT INTO event (account_id, made_at, kinds, entries, body) VALUES `+
			strings.Join(rows, ", "), append([]any{db.KeyOf(account)}, args...)...)
		must(t, err)
	}
}

// TestRareEventsHaveAnIndex: the condition of the statement is that of the index, and the plan uses it.
func TestRareEventsHaveAnIndex(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			for _, text := range feed.Statements(s.db) {
				if strings.Contains(text, "'ISSUED'") {
					if plan := explain(t, s, text); !strings.Contains(plan, "event_rare") {
						t.Errorf("%s\n%s", text, plan)
					}
					return
				}
			}
			t.Error("no statement asks for rare events")
		})
	}
}
