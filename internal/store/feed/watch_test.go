package feed

import (
	"encoding/binary"
	"errors"
	"testing"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

func account(n int) (id guid.ID) {
	binary.BigEndian.PutUint64(id[:], uint64(n))
	return id
}

// TestEveryAccountMayWait: however many calls of some accounts wait, another's gets a place, of those that have the
// most; in the end all have as many.
func TestEveryAccountMayWait(t *testing.T) {
	t.Parallel()
	const greedy = MaxWaiting / MaxWaitingOfAccount
	w := newWatch()
	w.running = true
	wait := func(n int) (*waiter, error) {
		one := &waiter{&event.Query{AccountID: account(n)}, make(chan struct{}, 1)}
		return one, w.add(one)
	}
	var theirs []*waiter
	for n := range greedy {
		for range MaxWaitingOfAccount {
			one, err := wait(n)
			if err != nil {
				t.Fatal(err)
			}
			theirs = append(theirs, one)
		}
	}
	if _, err := wait(0); !errors.Is(err, refusal.RateLimited) {
		t.Errorf("one more of a greedy account: %v", err)
	}
	mine := 0
	for ; mine < MaxWaitingOfAccount; mine++ {
		if _, err := wait(greedy); err != nil {
			break
		}
	}
	if want := MaxWaiting / (greedy + 1); mine < want || len(w.waiting) != MaxWaiting {
		t.Errorf("an honest account has %d places, want %d; %d calls wait", mine, want, len(w.waiting))
	}
	ended := 0
	for _, one := range theirs {
		select {
		case _, waits := <-one.woken:
			if waits {
				t.Error("one was woken that may wait on")
			}
			ended++
		default:
		}
	}
	if ended != mine {
		t.Errorf("%d waits were ended for %d", ended, mine)
	}
	if _, err := wait(0); !errors.Is(err, refusal.RateLimited) {
		t.Errorf("one more of an account that lost some: %v", err)
	}
	for _, one := range theirs {
		w.remove(one) // those that were ended, too
	}
	if len(w.waiting) != mine || len(w.ofAccount) != 1 {
		t.Errorf("%d wait, of %d accounts", len(w.waiting), len(w.ofAccount))
	}
}
