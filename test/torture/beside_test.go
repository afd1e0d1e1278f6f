package main

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"boon.example/test/rig"
)

// TestTwoServersOnOneFolder: two processes serve one data folder, which nobody should do, while others verify it. Every
// till sends the same requests with the same keys to both; each is done once, and answered alike.
func TestTwoServersOnOneFolder(t *testing.T) {
	t.Parallel()
	boon := install(t, "")
	first, second := serve(t, boon), serve(t, boon)
	const tills, calls = 4, 60
	here := till(t, first.URL)
	there := here.At(second.URL)
	var wg sync.WaitGroup
	for n := range tills {
		for _, at := range []*rig.Till{here, there} {
			wg.Go(func() {
				for c := range calls {
					if err := at.MustRedeem(fmt.Sprintf("k-%d", (c+n)%calls)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Go(func() {
		for range 3 {
			if err := boon.Verify(); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	for _, at := range []*rig.Till{here, there} { // both tell the same
		check(t, at.Check())
	}
	first.Kill()
	second.Kill()
	check(t, boon.Verify())
}

// TestToldToStopUnderLoad: a process that is told to stop ends with exit code 0; what it answered is there afterwards.
func TestToldToStopUnderLoad(t *testing.T) {
	t.Parallel()
	boon := install(t, "")
	l := busyTills(t, boon, 16, serve(t, boon))
	time.Sleep(500 * time.Millisecond)
	if err := l.servers[0].Stop(); err != nil {
		t.Errorf("the process ended with %v, want exit code 0", err)
	}
	var err error
	l.servers[0], err = boon.Start(l.servers[0].Address)
	check(t, err)
	time.Sleep(500 * time.Millisecond)
	l.end("told to stop")
}
