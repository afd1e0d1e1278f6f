package store

import (
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
)

// TestExportsAreOfOneMoment: all gifts and entries are given, page after page, in the order of their ids, none of
// another account, and nothing that came meanwhile.
func TestExportsAreOfOneMoment(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			account, other := newID(), newID()
			var c ledger.Changes
			for n := range 1203 {
				g, e := newGift(account)
				if n%10 == 0 {
					g, e = newGift(other)
				}
				c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
			}
			save(t, s, c)
			late, entry := newGift(account)
			gifts, entries := 0, 0
			last := guid.ID{}
			must(t, s.EachGift(t.Context(), account, time.Time{}, time.Time{}, func(g *gift.Gift) error {
				if gifts++; gifts == 1 {
					save(t, s, ledger.Changes{Gifts: []gift.Gift{late}, Entries: []gift.Entry{entry}})
				}
				if g.AccountID != account || g.ID == late.ID || string(g.ID[:]) <= string(last[:]) {
					t.Errorf("gift %s after %s", g.ID, last)
				}
				last = g.ID
				return nil
			}))
			must(t, s.EachEntry(t.Context(), account, time.Time{}, time.Time{}, func(c *gift.Change) error {
				entries++
				if c.AccountID != account || c.Unit.Code != late.Currency.Code || c.ProgramID != late.ProgramID {
					t.Errorf("entry %+v", c)
				}
				return nil
			}))
			if gifts != 1082 || entries != 1083 {
				t.Errorf("%d gifts and %d entries, want 1082 and 1083", gifts, entries)
			}
		})
	}
}

// TestExportsOfAPeriod: what was made at its first moment is in, what was made at its end is not.
func TestExportsOfAPeriod(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			account := newID()
			var c ledger.Changes
			for n := range 5 {
				g, e := newGift(account)
				at := noon.Add(time.Duration(n) * time.Hour)
				g.CreatedAt, e.At = at, at
				g.ID = idAt(at)
				g.ID[15] = byte(n)
				e.VoucherID, e.ID = g.ID, g.ID
				g.Last = e.ID
				c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
			}
			save(t, s, c)
			count := func(from, to time.Time) (gifts, entries int) {
				must(t, s.EachGift(t.Context(), account, from, to, func(*gift.Gift) error { gifts++; return nil }))
				must(t, s.EachEntry(t.Context(), account, from, to, func(*gift.Change) error { entries++; return nil }))
				return gifts, entries
			}
			for _, want := range []struct {
				from, to time.Time
				n        int
			}{
				{time.Time{}, time.Time{}, 5},
				{noon, time.Time{}, 5},
				{noon.Add(time.Hour), noon.Add(3 * time.Hour), 2},
				{time.Time{}, noon, 0},
				{noon.Add(4 * time.Hour), time.Time{}, 1},
				{noon.Add(5 * time.Hour), time.Time{}, 0},
			} {
				if gifts, entries := count(want.from, want.to); gifts != want.n || entries != want.n {
					t.Errorf("from %s to %s: %d gifts, %d entries, want %d", want.from, want.to, gifts, entries, want.n)
				}
			}
		})
	}
}
