package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
)

// What a heavy command is, and how the light ones are kept from waiting for many of them.
const (
	// heavyShare: heavy commands get one part in so many of the time while light ones come, so that far fewer than one
	// light command in a hundred meets a heavy one, whose lock or whose work would delay it.
	//
	// An order of 1,000 gifts takes some 70 ms, with the sync of a disk. Beside 3,000 locations, whose 167 calls a second
	// leave no pause, one is done every 21 s: an account's second waits that long, and its third is refused after MaxHeld.
	// Beside 10 locations, a call every two seconds, each waits for half a second without a call, and a hundred are done
	// in two minutes.
	heavyShare = 300
	// MaxHeld is how long a heavy command is held back at most, so that its caller has an answer before it gives up.
	MaxHeld = 30 * time.Second
	// quiet is how long no light command may have come for heavy ones to follow each other at once.
	quiet = time.Second / 2
	// A heavy command takes about a megabyte while it waits. Whoever has more of them at the same time is told to repeat
	// them.
	maxHeavyQueue     = 256
	maxHeavyOfAccount = 32
)

// heavyLane commits heavy commands one by one, so that light ones neither share their transactions nor queue behind
// them.
//
// # Why it is hard
//
// An order of 1,000 gifts keeps the database for as long as hundreds of redemptions. If orders followed each other,
// most tills would wait. If orders waited for a pause of the tills, a busy day would have none, and callers would give
// up. So heavy commands get a small share of the time while light ones come, all of it while none come, and an end of
// waiting after MaxHeld. And one account with many orders must not use up the share of the others.
//
// # Invariants
//
//  1. A heavy command is alone in its transaction.
//  2. While light commands come (the newest group of them is younger than quiet), the next heavy command begins only
//     after heldUntil: heavyShare-1 times as long as the one before kept others waiting, and no longer than hold allows
//     for its size. The time counts from the decision (lane.began), as the transaction is in nobody's way before.
//  3. Nobody waits for longer than MaxHeld without an end. If a command has waited for MaxHeld and its account had no
//     turn within MaxHeld, the command is begun in spite of heldUntil. If its account had one, the command is refused,
//     and nothing was done.
//  4. Next is the account whose turn was longest ago, and of that account the oldest command. So an account with many
//     orders does not keep the one order of another waiting.
//  5. What waits is bounded, for each account and in all. Beyond that a command is refused at once, as each takes about
//     a megabyte.
//  6. A command whose caller has gone is dropped before its turn, never during it.
//  7. When the engine stops, no command is held back any more: all that wait are committed.
//  8. waiting and served are guarded by Engine.mu; heldUntil belongs to the goroutine of the lane.
//
// # What shows it
//
// TestLightCommandsComeBetweenHeavyOnes and TestAHundredOrders show the share (2); TestOrdersAreHeldForAWhile and
// TestOrdersThatFindNoPlaceAreRefused the end of waiting (3); TestAccountsTakeTurns the turns (4);
// TestOrdersOfAnAccountAreBounded the bounds (5).
type heavyLane struct {
	lane
	wake      chan struct{}         // has a value when something was queued since
	waiting   map[guid.ID][]*task   // of each account, the oldest first
	served    map[guid.ID]time.Time // when the newest of an account was begun, for MaxHeld; later after a long one
	heldUntil time.Time             // when the next may be begun, while light ones come
}

// enqueue queues a command. The engine's lock is held.
func (h *heavyLane) enqueue(t *task) error {
	switch account := t.Call.AccountID; {
	case len(h.waiting[account]) >= maxHeavyOfAccount:
		return ledger.Unavailable("The account has too many large orders under way.")
	case h.depth() >= maxHeavyQueue:
		return ledger.Unavailable("The service is overloaded.")
	default:
		h.waiting[account] = append(h.waiting[account], t)
	}
	h.awaken()
	return nil
}

func (h *heavyLane) awaken() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// depth is the number of commands that wait. The engine's lock is held.
func (h *heavyLane) depth() (n int) {
	for _, tasks := range h.waiting {
		n += len(tasks)
	}
	return n
}

func (h *heavyLane) run() {
	for {
		next, ended, idle := h.next(time.Now())
		h.finish(ended)
		switch {
		case next != nil:
			h.began = time.Now() // should it not come to a decision
			h.commit([]*task{next})
			h.hold(next, time.Now())
			h.finish([]*task{next})
		case !idle:
			time.Sleep(10 * time.Millisecond)
		case h.stopping():
			return
		default:
			<-h.wake
		}
	}
}

// hold says until when others are held back after a command. One that is as long as many orders, such as a stock, has
// as many pauses: the next of its account waits for all of them, those of others for MaxHeld at most.
func (h *heavyLane) hold(after *task, now time.Time) {
	const pause = MaxHeld * 5 / 6
	orders := max(1, after.Weight()/gift.MaxRecipients)
	h.heldUntil = now.Add(min((heavyShare-1)*now.Sub(h.began), time.Duration(orders)*pause))
	h.mu.Lock()
	defer h.mu.Unlock()
	if account, at := after.Call.AccountID, h.heldUntil.Add(-MaxHeld); at.After(h.served[account]) {
		h.served[account] = at
	}
}

// next gives the command that is to be committed now, if there is one, and those that have ended without: their callers
// have gone, or they waited for MaxHeld while others of their account were done. idle tells that none is left.
func (h *heavyLane) next(now time.Time) (next *task, ended []*task, idle bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := now.Before(h.heldUntil) && now.UnixNano()-h.newestLight.Load() < int64(quiet) && !h.stopped
	maps.DeleteFunc(h.served, func(_ guid.ID, at time.Time) bool { return now.Sub(at) >= MaxHeld })
	for account, tasks := range h.waiting {
		served := h.served[account]
		tasks = slices.DeleteFunc(tasks, func(t *task) bool {
			if err := t.ctx.Err(); err != nil {
				t.Fail(unknown(err))
			} else if held && !served.IsZero() && now.Sub(t.queued) >= MaxHeld {
				t.Fail(ledger.Unavailable("Large orders wait while tills are busy; nothing was done."))
			}
			if t.Err != nil {
				ended = append(ended, t)
			}
			return t.Err != nil
		})
		if h.waiting[account] = tasks; len(tasks) == 0 {
			delete(h.waiting, account)
		} else if next == nil || cmp.Or(served.Compare(h.served[next.Call.AccountID]),
			tasks[0].queued.Compare(next.queued)) < 0 {
			next = tasks[0]
		}
	}
	if idle = next == nil; idle || held && now.Sub(next.queued) < MaxHeld {
		return nil, ended, idle
	}
	account := next.Call.AccountID
	h.served[account], h.waiting[account] = now, h.waiting[account][1:]
	return next, ended, false
}
