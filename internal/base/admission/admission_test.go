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
	tries    int
	inFlight []Party // of the calls that try made, those admitted first in front
}

func newEntrance(most int) *entrance {
	e := &entrance{}
	e.Control = New(most, func(p Priority) { e.refusals[p]++ })
	return e
}

// try makes a call of a party of its own in the background, and waits until it has been admitted or waits itself.
func (e *entrance) try(name string, p Priority) {
	party := Party{ID: guid.ID{byte(e.tries)}}
	e.tries++
	go func() {
		if e.Enter(context.Background(), party, p) {
			e.admitted, e.inFlight = append(e.admitted, name), append(e.inFlight, party)
		}
	}()
	synctest.Wait()
}

// leave ends the redemption that was admitted first.
func (e *entrance) leave() {
	first := e.inFlight[0]
	e.inFlight = e.inFlight[1:] // before the next one comes in, which adds itself
	e.Leave(first, Redeem)
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
			e.leave()
		}
		if want := []string{"redeem 1", "redeem 2", "validate", "write"}; !slices.Equal(e.admitted, want) {
			t.Errorf("admitted %v, want %v", e.admitted, want)
		}
		e.leave()
		if n := len(e.admitted); n != 5 {
			t.Errorf("the read was not admitted, though nothing else waits: %v", e.admitted)
		}
	})
}

// Calls that somebody waits for at a counter are known of for a second; others make nobody rest.
func TestAdmissionKnowsOfCounters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, p := range []Priority{Redeem, Validate, Write, Read} {
			a := New(4, func(Priority) {})
			if a.Busy() {
				t.Errorf("%s: busy before a call came", p)
			}
			a.Enter(context.Background(), Party{}, p)
			a.Leave(Party{}, p)
			time.Sleep(time.Second - 1)
			if counter := p <= Validate; a.Busy() != counter {
				t.Errorf("%s: busy: %t", p, a.Busy())
			}
			if time.Sleep(time.Nanosecond); a.Busy() {
				t.Errorf("%s: busy a second after the last call", p)
			}
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
				if e.Enter(context.Background(), Party{}, Priority(n%int(Priorities))) {
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
				e.Enter(ctx, Party{}, Redeem)
				var admitted, late atomic.Int64
				for range 100 {
					go func() {
						came := time.Now()
						if e.Enter(ctx, Party{}, Redeem) {
							admitted.Add(1)
						} else if time.Since(came) > queueTimeout+refusalInterval {
							late.Add(1)
						}
					}()
				}
				synctest.Wait()
				for range 100 { // one each 10 ms
					time.Sleep(10 * time.Millisecond)
					e.Leave(Party{}, Redeem)
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
				if e.Enter(context.Background(), Party{ID: guid.ID{byte(n % 5)}, Guest: n%2 == 0}, p) {
					time.Sleep(time.Duration(n*104729%50) * time.Millisecond)
					e.Leave(Party{ID: guid.ID{byte(n % 5)}, Guest: n%2 == 0}, p)
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
							if e.Enter(t.Context(), Party{ID: guid.ID{party}}, p) {
								inFlight = append(inFlight, party)
							}
						}()
						synctest.Wait()
					}
				}
				for n := range byte(4) {
					enter(11+n, 1) // every place is taken
				}
				taken := len(inFlight)
				enter(1, 300)
				enter(2, 1)
				enter(3, 1)
				enter(2, 1)
				var got []byte
				for len(inFlight) > 0 {
					had := len(inFlight)
					e.Leave(Party{ID: guid.ID{inFlight[0]}}, p)
					synctest.Wait()
					got = append(got, inFlight[had:]...)
					inFlight = inFlight[1:]
				}
				want := []byte{1, 2, 3, 1, 2, 1}
				if got = got[4-taken:]; !slices.Equal(got[:len(want)], want) { // after those of the first four that waited
					t.Errorf("admitted were those of %v, want %v", got[:len(want)], want)
				}
				if n, waiting := e.State(); n != 0 || waiting != 0 || len(e.byParty) != 0 {
					t.Errorf("%d are in flight and %d wait in the end", n, waiting)
				}
			})
		})
	}
}

// TestAdmissionLeavesPlacesToOthers: parties whose calls never end leave a place at once to the next one, and however
// many networks of guests there are, accounts have half of the places.
func TestAdmissionLeavesPlacesToOthers(t *testing.T) {
	t.Parallel()
	account := func(n int) Party { return Party{ID: guid.ID{1, byte(n)}} }
	network := func(n int) Party { return Party{ID: guid.ID{2, byte(n >> 8), byte(n)}, Guest: true} }
	for _, tt := range []struct {
		name    string
		of      func(int) Party
		parties int
	}{{"accounts", account, 6}, {"networks", network, 1000}} {
		for p := range Priorities {
			t.Run(tt.name+" "+p.String(), func(t *testing.T) {
				t.Parallel()
				a := New(MaxInFlight, nil)
				var in []Party
				for n := range tt.parties {
					for party := tt.of(n); a.fits(party, p); in = append(in, party) {
						a.Enter(t.Context(), party, p)
					}
				}
				if next := account(100); !a.fits(next, p) {
					t.Fatalf("%d of %d places are taken, and the next account has none", len(in), a.atMost[p])
				} else if half := a.atMost[p] / 2; tt.parties > half && len(in) > half {
					t.Errorf("guests have %d of %d places", len(in), a.atMost[p])
				}
				for _, party := range in {
					a.Leave(party, p)
				}
				if n, _ := a.State(); n != 0 || len(a.byParty) != 0 {
					t.Errorf("%d are in flight in the end", n)
				}
			})
		}
	}
}
