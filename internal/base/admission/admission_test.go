package admission

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/guid"
)

// entrance is an admission control that notes what came of each call.
type entrance struct {
	*Control
	refusals [Priorities]int
	admitted []string
}

func newEntrance(most int) *entrance {
	e := &entrance{}
	e.Control = New(most, func(p Priority) { e.refusals[p]++ })
	return e
}

// try makes a call in the background, and waits until it has been admitted or waits itself.
func (e *entrance) try(name string, p Priority) {
	go func() {
		if e.Enter(context.Background(), guid.ID{}, p) {
			e.admitted = append(e.admitted, name)
		}
	}()
	synctest.Wait()
}

// A priority has a share of the places together with those below it, so that those above always find some.
func TestAdmissionSharesPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(8)
		for _, p := range []Priority{Read, Write, Validate, Redeem} {
			for range 9 {
				e.try(p.String(), p)
			}
		}
		if want := strings.Fields("read read write write validate validate redeem redeem"); !slices.Equal(e.admitted, want) {
			t.Errorf("admitted %v, want %v", e.admitted, want)
		}
		if inFlight, waiting := e.State(); inFlight != 8 || waiting != 28 {
			t.Errorf("%d in flight and %d waiting, want 8 and 28", inFlight, waiting)
		}
		time.Sleep(queueTimeout)
		synctest.Wait()
		if want := [Priorities]int{7, 7, 7, 7}; e.refusals != want {
			t.Errorf("refused %v, want %v", e.refusals, want)
		}
	})
}

// Redemptions may take every place, and calls of another priority find one as long as it is not taken.
func TestAdmissionKeepsNoPlaceEmpty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(8)
		for range 7 {
			e.try("redeem", Redeem)
		}
		e.try("read", Read)
		if len(e.admitted) != 8 {
			t.Errorf("admitted %v, want 8 calls", e.admitted)
		}
	})
}

// A free place goes to the highest priority, and within it to the call that came first.
func TestAdmissionOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(4)
		for range 4 {
			e.try("", Redeem)
		}
		e.admitted = nil
		e.try("read", Read)
		e.try("write", Write)
		e.try("redeem 1", Redeem)
		e.try("validate", Validate)
		e.try("redeem 2", Redeem)
		for range 4 {
			e.Leave(guid.ID{}, Redeem)
			synctest.Wait()
		}
		if want := []string{"redeem 1", "redeem 2", "validate", "write"}; !slices.Equal(e.admitted, want) {
			t.Errorf("admitted %v, want %v", e.admitted, want)
		}
		e.Leave(guid.ID{}, Redeem)
		synctest.Wait()
		if n := len(e.admitted); n != 5 {
			t.Errorf("the read was not admitted, though nothing else waits: %v", e.admitted)
		}
	})
}

// A call waits for queueTimeout, and never for more than refusalInterval beyond it, whenever it came.
func TestAdmissionRefusesInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(1)
		e.try("", Redeem)
		var refused sync.WaitGroup
		for n := range 200 {
			refused.Go(func() {
				time.Sleep(time.Duration(n*7919%2000) * time.Millisecond)
				came := time.Now()
				if e.Enter(context.Background(), guid.ID{}, Priority(n%int(Priorities))) {
					t.Error("a call was admitted beside one that has the only place")
				}
				if waited := time.Since(came); waited < queueTimeout || waited > queueTimeout+refusalInterval {
					t.Errorf("a call was refused after %s", waited)
				}
			})
		}
		refused.Wait()
		if _, waiting := e.State(); waiting != 0 || e.refusals != [Priorities]int{50, 50, 50, 50} {
			t.Errorf("%d calls wait, and %v were refused", waiting, e.refusals)
		}
	})
}

// Where the line moves, a call waits for longer if its turn then comes in time, and else, or where its caller gives up
// before, for no longer than where it stands still; but for a few, whose turn is to come just in time.
func TestAdmissionWaitsInALineThatMoves(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		deadline time.Duration
		admitted int
	}{{"without a deadline", 0, 75}, {"with one", 450 * time.Millisecond, 45}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, ctx := newEntrance(1), context.Background()
				if tt.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.deadline)
					defer cancel()
				}
				e.try("", Redeem)
				var admitted, late atomic.Int64
				for range 100 {
					go func() {
						came := time.Now()
						if e.Enter(ctx, guid.ID{}, Redeem) {
							admitted.Add(1)
						} else if time.Since(came) > queueTimeout+refusalInterval {
							late.Add(1)
						}
					}()
				}
				synctest.Wait()
				for range 100 { // one each 10 ms
					time.Sleep(10 * time.Millisecond)
					e.Leave(guid.ID{}, Redeem)
					synctest.Wait()
				}
				if n := int(admitted.Load()); n < tt.admitted-1 || n > tt.admitted+1 || late.Load() > 4 {
					t.Errorf("%d were admitted, want %d; %d were refused late", n, tt.admitted, late.Load())
				}
			})
		})
	}
}

// Whatever happened before, a service with nothing in flight admits at once, and counts to the right number.
func TestAdmissionLosesNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(16)
		for n := range 2000 {
			p := Priority(n % int(Priorities))
			go func() {
				time.Sleep(time.Duration(n*7919%1000) * time.Millisecond)
				if e.Enter(context.Background(), guid.ID{byte(n % 5)}, p) {
					time.Sleep(time.Duration(n*104729%50) * time.Millisecond)
					e.Leave(guid.ID{byte(n % 5)}, p)
				}
			}()
		}
		for range 2000 {
			time.Sleep(time.Millisecond)
			if inFlight, _ := e.State(); inFlight > 16 {
				t.Fatalf("%d calls are in flight, at most 16 may be", inFlight)
			}
		}
		synctest.Wait()
		if inFlight, waiting := e.State(); inFlight != 0 || waiting != 0 {
			t.Errorf("%d in flight and %d waiting after all have ended", inFlight, waiting)
		}
		if e.refusals == [Priorities]int{} {
			t.Error("nothing was refused, and so not much was tested")
		}
	})
}

// TestAdmissionTakesTurns: while one party has hundreds of calls waiting, the first call of another one is the next,
// whatever the priority.
func TestAdmissionTakesTurns(t *testing.T) {
	t.Parallel()
	for p := range Priorities {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := newEntrance(4)
				var inFlight []byte
				enter := func(party byte, calls int) {
					for range calls {
						go func() {
							if e.Enter(t.Context(), guid.ID{party}, p) {
								inFlight = append(inFlight, party)
							}
						}()
						synctest.Wait()
					}
				}
				enter(1, 300)
				enter(2, 1)
				enter(3, 1)
				enter(2, 1)
				var got []byte
				for len(inFlight) > 0 {
					had := len(inFlight)
					e.Leave(guid.ID{inFlight[0]}, p)
					synctest.Wait()
					got = append(got, inFlight[had:]...)
					inFlight = inFlight[1:]
				}
				if want := []byte{1, 2, 3, 1, 2, 1}; !slices.Equal(got[:len(want)], want) {
					t.Errorf("admitted were those of %v, want %v", got[:len(want)], want)
				}
				if n, waiting := e.State(); n != 0 || waiting != 0 || len(e.byParty) != 0 {
					t.Errorf("%d are in flight and %d wait in the end", n, waiting)
				}
			})
		})
	}
}

// TestAdmissionLeavesPlacesToOthers: a party whose calls never end leaves a place at once to another one.
func TestAdmissionLeavesPlacesToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(MaxInFlight)
		for p := range Priorities {
			for party := range byte(2) {
				for n := range 2 * MaxInFlight {
					go e.Enter(t.Context(), guid.ID{byte(p), party}, p)
					if synctest.Wait(); e.byParty[guid.ID{byte(p), party}] == nil {
						t.Fatalf("party %d has no place for %s", party, p)
					}
					if _, waiting := e.State(); waiting > 0 || n == 2*MaxInFlight-1 {
						break
					}
				}
				time.Sleep(queueTimeout + refusalInterval) // those that wait are refused
				synctest.Wait()
			}
			for party := range byte(2) {
				for e.byParty[guid.ID{byte(p), party}] != nil {
					e.Leave(guid.ID{byte(p), party}, p)
				}
			}
		}
	})
}
