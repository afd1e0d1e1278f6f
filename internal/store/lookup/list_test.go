package lookup

import (
	"testing"
	"testing/synctest"
	"time"
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
