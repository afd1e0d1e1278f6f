//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"boon.example/internal/store"
	"boon.example/test/rig"
	"boon.example/test/storm"
)

// plan is so many cuts, on stores that take turns.
type plan struct {
	cuts, each, clients int
	seed                uint64
	binary              string
	unsynced            bool // the disk forgets to sync the write-ahead log
	progress            func(cuts int)
}

// found is what the cuts came to.
type found struct {
	stores, births, cuts, losing int // losing: cuts after which something acknowledged was missing
	broken                       int // stores that opened no more, of a disk that forgets to sync
	calls, moves, dropped        int
	lost, doubled, unexplained   int
	slowestStart                 time.Duration
	took                         time.Duration
	problems                     []string
}

func (f *found) sound() bool { return f.lost+f.doubled+f.unexplained == 0 && len(f.problems) == 0 }

func (f *found) String() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%d power cuts under load on %d stores, and %d while one was made; %d writes or sectors dropped; %d "+
		"calls answered, %d movements: "+
		"lost %d (in %d cuts), doubled %d, not linearizable %d; %.0f s, slowest start %.1f s", f.cuts, f.stores, f.births,
		f.dropped, f.calls,
		f.moves, f.lost, f.losing, f.doubled, f.unexplained, f.took.Seconds(), f.slowestStart.Seconds())
	for _, p := range f.problems {
		fmt.Fprintf(b, "\n  %s", p)
	}
	return b.String()
}

// run cuts the power as often as planned.
func (p plan) run(ctx context.Context) (*found, error) {
	dir, err := os.MkdirTemp("", "boon-power-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	f, begun := &found{}, time.Now()
	for ctx.Err() == nil && f.cuts < p.cuts {
		mount := filepath.Join(dir, fmt.Sprintf("disk-%d", f.stores))
		if err := os.Mkdir(mount, 0o700); err != nil {
			return nil, err
		}
		h := &machine{plan: p, found: f, disk: newDisk(mount, p.seed+uint64(f.stores))}
		if err := h.live(min(p.each, p.cuts-f.cuts)); err != nil {
			return nil, fmt.Errorf("after %d cuts: %w", f.cuts, err)
		}
		f.stores++
		f.dropped += h.disk.dropped
	}
	f.took = time.Since(begun)
	return f, nil
}

// machine is a server on a disk.
type machine struct {
	plan
	*found
	*disk
	boon   *rig.Installation
	server *rig.Server
	cutsAt []time.Time
}

// live makes a store, cuts the power under its load, and checks it in the end.
func (h *machine) live(times int) (err error) {
	if err := h.plug(); err != nil {
		return err
	}
	defer func() {
		if h.server != nil {
			h.server.Strike()
		}
		if h.disk.server != nil {
			err = errors.Join(err, h.unplug())
		}
	}()
	if err := h.born(); err != nil {
		return err
	}
	address, err := rig.FreeAddress()
	if err != nil {
		return err
	}
	if h.server, err = h.boon.Start(address); err != nil {
		return err
	}
	tills := storm.New(storm.Options{Clients: h.clients, Seed: h.disk.lot.Uint64(), Replays: 300}, h.server.URL)
	if err := h.storm(tills, times); errors.Is(err, errBroken) {
		return nil
	} else if err != nil {
		return err
	}
	h.take(tills.Check(h.server.URL))
	h.server.Kill()
	if err := h.boon.Verify(); err != nil {
		h.problems = append(h.problems, err.Error())
	}
	h.server = nil
	return nil
}

// births is how often the power goes while a store is made.
const births = 2

// born makes a store; the first times, the power goes while it is made.
func (h *machine) born() (err error) {
	for range births {
		left := 1 + h.disk.lot.IntN(150)
		h.cutAt(func(step, string) bool { left--; return left <= 0 })
		stopped := make(chan struct{})
		go func() { // a process that a cut kills waits for the disk for ever
			select {
			case <-h.cut:
				h.halt(h.dead)
			case <-stopped:
			}
		}()
		_, _ = rig.Install(h.binary, h.mount, "") // it may come to an end before the cut
		close(stopped)
		h.powerOff()
		if err := h.again(); err != nil {
			return err
		}
		h.found.births++
	}
	if h.boon, err = rig.Install(h.binary, h.mount, ""); err != nil {
		return err
	}
	h.forgetful = h.unsynced
	return nil
}

// again loses what is lost and gives the disk its power back.
func (h *machine) again() error {
	if err := h.unplug(); err != nil {
		return err
	}
	h.mu.Lock()
	h.lose()
	h.mu.Unlock()
	return h.plug()
}

// storm cuts the power under busy tills.
func (h *machine) storm(tills *storm.Storm, times int) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { tills.Run(ctx, 0, 1<<40) })
	for range times {
		h.arm(tills)
		h.server.Strike()
		h.halt(h.dead)
		h.server.Kill()
		h.cutsAt = append(h.cutsAt, time.Now())
		if err := h.again(); err != nil {
			return err
		}
		server, err := h.boon.Start(h.server.Address)
		if err != nil && h.unsynced && damaged(err) { // what such a disk does, too
			h.found.broken++
			h.found.cuts++
			h.server = nil
			tills.Abandon()
			return errBroken
		}
		if err != nil {
			return err
		}
		h.server, h.slowestStart = server, max(h.slowestStart, server.Ready)
		if err := h.boon.Verify(); err != nil {
			h.problems = append(h.problems, fmt.Sprintf("after cut %d: %v", h.found.cuts+1, err))
		}
		h.found.cuts++
		h.progress(h.found.cuts)
	}
	return nil
}

var errBroken = errors.New("the store opens no more")

// damaged reports whether a server did not start for what SQLite says of a file that is no whole database, or because
// the database lacks what the note beside it says was committed.
func damaged(err error) bool {
	text := err.Error()
	return strings.Contains(text, "lacks what was committed last") ||
		strings.Contains(text, "disk image is malformed") || strings.Contains(text, "file is not a database")
}

// arm waits until the tills are busy and the power is gone: before some step, often one of those that copy the log
// back, or at any moment.
func (h *machine) arm(tills *storm.Storm) {
	for begun, before := time.Now(), tills.Calls(); tills.Calls() < before+20 && time.Since(begun) < 10*time.Second; {
		time.Sleep(time.Millisecond)
	}
	switch left := 1; h.disk.lot.IntN(4) {
	case 0:
		left += h.disk.lot.IntN(600)
		h.cutAt(func(what step, name string) bool {
			if name == store.DatabaseName && what != reading {
				left--
			}
			return left <= 0
		})
	case 1:
		left += h.disk.lot.IntN(40)
		h.cutAt(func(what step, _ string) bool {
			if what == syncing {
				left--
			}
			return left <= 0
		})
	default:
		left += h.disk.lot.IntN(2500)
		h.cutAt(func(step, string) bool { left--; return left <= 0 })
	}
	select {
	case <-h.cut:
	case <-time.After(100*time.Millisecond + rand.N(400*time.Millisecond)):
		h.powerOff()
	}
}

// take adds up what a check found.
func (h *machine) take(r *storm.Report) {
	f := h.found
	f.calls += int(r.Calls)
	f.moves += r.Moves
	f.lost += r.Lost
	f.doubled += r.Doubled
	f.unexplained += r.Unexplained
	f.problems = append(f.problems, r.Problems...)
	losing := map[int]bool{}
	for _, at := range r.LostAt {
		n := 0
		for n < len(h.cutsAt) && h.cutsAt[n].Before(at) {
			n++
		}
		losing[n] = true
	}
	f.losing += len(losing)
}
