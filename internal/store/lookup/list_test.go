package lookup

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

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
		release, err := waitFor(t.Context(), r.lists, listShare)
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
			if len(r.lists) != step.held {
				t.Errorf("%d readers are held, want %d", len(r.lists), step.held)
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
	for range cap(r.lists) {
		if _, err := waitFor(t.Context(), r.lists, listShare); err != nil {
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
