package store

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// hold holds an amount of a voucher for a time from noon.
func hold(t testing.TB, s *Store, v *gift.Voucher, amount money.Amount, lasts time.Duration) (e gift.Entry) {
	t.Helper()
	runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(v)}}, func(st *ledger.State) ledger.Changes {
		after, made, err := st.Vouchers[ref(v)].Hold(gift.Hold{Redeem: gift.Redeem{
			Context: gift.Context{EntryID: newID(), Now: noon, Actor: merchant.Actor{LocationID: holdsAt}}, Amount: amount},
			Lasts: lasts})
		if err != nil {
			t.Fatal(err)
		}
		e = made
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}, Requests: []ledger.Request{{
			RequestKey: ledger.RequestKey{AccountID: v.AccountID, Operation: operation.HoldGift, Key: e.ID.String()},
			EntryID:    e.ID, At: noon, Answer: ledger.Answer{Code: ledger.OK, Body: []byte(e.ID.String())}}}}
	})
	return e
}

var holdsAt = newID()

// testHolds: open holds come with their voucher, and what became of one comes with it.
func testHolds(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 2)
	v := &g[0].Voucher
	long, short := hold(t, s, v, 500, time.Hour), hold(t, s, v, 300, time.Minute)
	hold(t, s, &g[1].Voucher, 1, 2*time.Hour)
	want := []gift.OpenHold{{ID: long.ID, Left: 500, Until: long.Until, LocationID: holdsAt},
		{ID: short.ID, Left: 300, Until: short.Until, LocationID: holdsAt}}
	read, err := s.Gift(t.Context(), v.AccountID, v.ID)
	must(t, err)
	diff(t, read.Holds, want)
	for after, due := range map[time.Duration][]ledger.Ref{0: nil, time.Minute - 1: nil, time.Minute: {ref(v)},
		3 * time.Hour: {ref(v), ref(&g[1].Voucher)}} {
		found, err := s.DueHolds(t.Context(), noon.Add(after), 10, 0)
		must(t, err)
		diff(t, found, due)
	}
	first, err := s.DueHolds(t.Context(), noon.Add(3*time.Hour), 1, 0)
	must(t, err)
	diff(t, first, []ledger.Ref{ref(v)})
	second, err := s.DueHolds(t.Context(), noon.Add(3*time.Hour), 1, 1)
	must(t, err)
	diff(t, second, []ledger.Ref{ref(&g[1].Voucher)})

	holdRef := ledger.Ref{AccountID: v.AccountID, ID: long.ID}
	byID := ledger.Want{Holds: []ledger.Ref{holdRef}}
	byKey := ledger.Want{Undo: []ledger.RequestKey{{AccountID: v.AccountID, Operation: operation.HoldGift,
		Key: long.ID.String()}}}
	var released gift.Entry
	needed := gift.Entry{AccountID: long.AccountID, ID: long.ID, VoucherID: long.VoucherID, Kind: long.Kind,
		Actor: merchant.Actor{LocationID: holdsAt}, Until: long.Until, Reference: long.Reference}
	runGroup(t, s, byID, func(st *ledger.State) ledger.Changes {
		diff(t, *st.Holds[holdRef], gift.Held{Entry: needed})
		diff(t, st.Vouchers[ref(v)].Holds, want)
		c := gift.Capture{Context: gift.Context{EntryID: newID(), Now: noon}, Caller: &merchant.Caller{}, Amount: 200,
			KeepRest: true}
		after, e, err := st.Vouchers[ref(v)].Capture(*st.Holds[holdRef], c)
		must(t, err)
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
	})
	runGroup(t, s, byKey, func(st *ledger.State) ledger.Changes {
		diff(t, *st.Holds[holdRef], gift.Held{Entry: needed}) // it is open still
		after, first, _ := st.Vouchers[ref(v)].ReleaseOne(gift.Context{EntryID: newID(), Now: noon})
		after, second, _ := after.ReleaseOne(gift.Context{EntryID: newID(), Now: noon})
		released = first
		return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{first, second}}
	})
	runGroup(t, s, byID, func(st *ledger.State) ledger.Changes {
		diff(t, *st.Holds[holdRef], gift.Held{Entry: needed, Last: released})
		return ledger.Changes{}
	})
	free, err := s.Gift(t.Context(), v.AccountID, v.ID)
	must(t, err)
	if free.Holds != nil || free.Balance != v.Balance-200 {
		t.Errorf("after all: %+v", free.Voucher)
	}
	if due, err := s.DueHolds(t.Context(), noon.Add(time.Hour), 10, 0); err != nil || len(due) != 0 {
		t.Errorf("%v is due: %v", due, err)
	}
}

// TestVerifyFindsDamagedHolds: the list of holds must be what is noted beside it, and what the history says.
func TestVerifyFindsDamagedHolds(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		"held = held + 1":           "its holds do not add up",
		"holds_end = holds_end + 1": "its holds do not add up",
		"holds_end = NULL":          "its holds do not add up",
		"holds = NULL":              "it says that 0 is held by 0 holds; its history says 300 by 1",
		"holds = '[]'":              "it says that 0 is held by 0 holds; its history says 300 by 1",
		"holds = replace(holds, '300', '299'), held = 299": "it says that 299 is held by 1 holds; its history says 300 by 1",
		"holds = '{'":            "the list of holds is damaged",
		`holds = '[{"id":"x"}]'`: "the list of holds is damaged",
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			k := newSample(t)
			hold(t, k.Store, &k.whole.Voucher, 300, time.Hour)
			if found := k.verify(t); len(found) > 0 {
				t.Fatalf("before the damage: %q", found)
			}
			k.damage(t, `UPDATE voucher SET `+set+` WHERE id = $1`, k.whole.ID, k.taken.ID)
			if found := strings.Join(k.verify(t), "\n"); !strings.Contains(found, want) {
				t.Errorf("found %q, want something with %q", found, want)
			}
		})
	}
}

// TestVerifyFindsDamagedReleases: the record of a release is held against the entry that it made, and against none
// where the hold was over before.
func TestVerifyFindsDamagedReleases(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		`entry_id = NULL WHERE key = 'released'`:                  `it was answered OK, and its entry is of kind ""`,
		`code = 'NOTHING' WHERE key = 'released'`:                 `it was answered NOTHING, and its entry is of kind "HOLD_RELEASED"`,
		`code = 'OK' WHERE key = 'nothing'`:                       `it was answered OK, and its entry is of kind ""`,
		`answer = cast('{}' AS BLOB) WHERE key = 'released'`:      "its answer names another hold",
		`entry_id = NULL, code = 'NOTHING' WHERE key = 'nothing'`: "", // it is so
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			k := newSample(t)
			held := hold(t, k.Store, &k.whole.Voucher, 300, time.Hour)
			answer := func(key string, code refusal.Code, entry guid.ID) ledger.Request {
				return ledger.Request{RequestKey: ledger.RequestKey{AccountID: k.whole.AccountID, Key: key,
					Operation: operation.ReleaseHold}, EntryID: entry, At: noon,
					Answer: ledger.Answer{Code: code, Body: []byte(held.ID.String())}}
			}
			runGroup(t, k.Store, ledger.Want{Vouchers: []ledger.Ref{ref(&k.whole.Voucher)}},
				func(st *ledger.State) ledger.Changes {
					after, e, _ := st.Vouchers[ref(&k.whole.Voucher)].ReleaseOne(gift.Context{EntryID: newID(), Now: noon})
					return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}, Requests: []ledger.Request{
						answer("released", ledger.OK, e.ID), answer("nothing", ledger.Nothing, guid.ID{})}}
				})
			if found := k.verify(t); len(found) > 0 {
				t.Fatalf("before the damage: %q", found)
			}
			k.damage(t, `UPDATE request SET `+set, k.whole.ID, k.taken.ID)
			if found := strings.Join(k.verify(t), "\n"); !strings.Contains(found, want) || want == "" && found != "" {
				t.Errorf("found %q, want something with %q", found, want)
			}
		})
	}
}

// TestEntriesOfEarlierPrograms: what was held after an entry is not known of one that version 0.1 made, and that is no
// damage.
func TestEntriesOfEarlierPrograms(t *testing.T) {
	t.Parallel()
	k := newSample(t)
	k.damage(t, `UPDATE entry SET held_after = NULL WHERE id = $2`, k.spent.ID, k.taken.ID)
	if found := k.verify(t); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	history, err := k.History(t.Context(), k.spent.AccountID, k.spent.ID, 0, 10)
	if err != nil || len(history) < 2 || history[1].HeldAfter != gift.HeldUnknown || history[0].HeldAfter != 0 {
		t.Errorf("the history is %+v, %v", history, err)
	}
	if _, known := history[1].Available(); known {
		t.Error("what was available is known")
	}
}
