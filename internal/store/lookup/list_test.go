package lookup

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/base/fair"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// TestListsRest: a reader that a list has used is free again after three times as long, so that lists alone never take
// all of a processor.
func TestListsRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(nil)
		release, err := waitFor(t.Context(), r.lists, listShare, guid.ID{1}, guid.ID{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // it is read
		release()
		for _, step := range []struct {
			pause time.Duration
			held  int
		}{{0, 1}, {3*time.Second - 1, 1}, {1, 0}} {
			time.Sleep(step.pause)
			synctest.Wait()
			if held := 2 - r.lists.Free(); held != step.held {
				t.Errorf("%d readers are held, want %d", held, step.held)
			}
		}
	})
}

// TestOrdersWaitForNoLists: what takes an order out of use finds its gifts while every list waits for others.
func TestOrdersWaitForNoLists(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), db.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	r := New(d)
	for r.lists.Free() > 0 {
		if _, err := waitFor(t.Context(), r.lists, listShare, guid.ID{1}, guid.ID{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		filter  gift.Filter
		timeout time.Duration
		waits   bool
	}{
		{gift.Filter{OrderID: guid.ID{1}}, 5 * time.Second, false},
		{gift.Filter{Reference: "R-1"}, 5 * time.Second, false},
		{gift.Filter{}, 10 * time.Millisecond, true},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
		defer cancel()
		test.filter.Limit = 10
		if _, err := r.Gifts(ctx, test.filter); (err != nil) != test.waits {
			t.Errorf("the gifts of %+v: %v", test.filter, err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := r.List(ctx, test.filter); err == nil {
			t.Errorf("a list of %+v did not wait for the others", test.filter)
		}
	}
}

// TestListsTakeTurns: while one account has a hundred lists waiting for each kind of reader, the list of another one is
// the next to be read.
func TestListsTakeTurns(t *testing.T) {
	t.Parallel()
	r := New(nil)
	for name, readers := range map[string]*fair.Places{"lists": r.lists, "lists of a key": r.tills, "orders": r.orders} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				order := make(chan guid.ID, 101)
				var held []func()
				for readers.Free() > 0 {
					release, err := waitFor(t.Context(), readers, 0, guid.ID{1}, guid.ID{})
					if err != nil {
						t.Fatal(err)
					}
					held = append(held, release)
				}
				for n := range 101 {
					account := guid.ID{1}
					if n == 100 {
						account = guid.ID{2}
					}
					go func() {
						if release, err := waitFor(t.Context(), readers, 0, account, guid.ID{}); err == nil {
							order <- account
							release()
						}
					}()
					synctest.Wait()
				}
				held[0]()
				synctest.Wait()
				if first := <-order; first != (guid.ID{2}) {
					t.Errorf("the first turn is that of account %d", first[0])
				}
				held[1]()
				synctest.Wait()
			})
		})
	}
}
