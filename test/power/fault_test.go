//go:build linux

package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"boon.example/test/rig"
)

// TestPowerCuts is the short version of the program.
func TestPowerCuts(t *testing.T) {
	needDisk(t)
	f, err := plan{cuts: 8, each: 8, clients: 8, seed: 1, binary: binary(t), progress: func(int) {}}.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !f.sound() || f.moves == 0 {
		t.Error(f)
	}
	t.Log(f)
}

// TestUnsyncedLogLosesMoney is the control: the same cuts notice a log that is not synced when it commits.
func TestUnsyncedLogLosesMoney(t *testing.T) {
	needDisk(t)
	f, err := plan{cuts: 8, each: 8, clients: 8, seed: 1, binary: binary(t), unsynced: true,
		progress: func(int) {}}.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f.lost+f.broken == 0 {
		t.Errorf("nothing was lost: %s", f)
	}
	t.Logf("of %d movements lost %d; stores that opened no more: %d", f.moves, f.lost, f.broken)
}

func needDisk(t *testing.T) {
	t.Helper()
	if err := available(); err != nil {
		t.Skipf("LEFT OUT: power cuts and failing disks, which need Linux, /dev/fuse and the right to mount: %v", err)
	}
}

// build makes the program, once.
var build = sync.OnceValues(func() (string, error) {
	_, path, err := rig.Workshop()
	return path, err
})

func binary(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDiskFaults has the disk fail under a server in every way. What was asked for meanwhile is answered 503 or, where
// nobody can tell, once it can be told; reading goes on; what was acknowledged is there; and the service goes on by
// itself once the disk does, be it after a power cut, which the short version leaves to make torture. Each key has one
// effect.
func TestDiskFaults(t *testing.T) {
	needDisk(t)
	boon := binary(t)
	t.Run("boon doctor sees it", func(t *testing.T) { doctorSees(t, boon) })
	failing := func(errno syscall.Errno, steps ...step) func(*disk) {
		return func(d *disk) { d.breakDown(on(errno, steps...), false) }
	}
	for name, fault := range map[string]func(*disk){
		"full":                             func(d *disk) { d.fill(0) },
		"nearly full":                      func(d *disk) { d.fill(6000) },
		"write fails":                      failing(syscall.EIO, writing),
		"sync fails":                       failing(syscall.EIO, syncing),
		"sync took effect and says failed": func(d *disk) { d.breakDown(on(syscall.EIO, syncing), true) },
		"read-only":                        failing(syscall.EROFS, writing, renaming, syncing),
	} {
		for _, cut := range []bool{false, true} {
			if cut && testing.Short() {
				continue
			}
			t.Run(fmt.Sprintf("%s, then a cut: %v", name, cut), func(t *testing.T) {
				t.Parallel()
				w := newWard(t, boon)
				w.redeem(http.StatusOK, 5)
				fault(w.disk)
				w.redeem(http.StatusServiceUnavailable, 4)
				w.should(w.till.Look())
				if cut {
					w.cut()
				} else {
					w.disk.breakDown(nil, false)
					w.disk.fill(-1)
				}
				w.goesOn()
				w.redeem(http.StatusOK, 3)
				w.check()
			})
		}
	}
}

// TestDiskCannotRead: what cannot be read is answered 503, and read once it can.
func TestDiskCannotRead(t *testing.T) {
	needDisk(t)
	w := newWard(t, binary(t))
	w.redeem(http.StatusOK, 5)
	w.cut() // nothing of it is in any memory any more
	w.disk.breakDown(on(syscall.EIO, reading), false)
	w.redeem(http.StatusServiceUnavailable, 4)
	w.disk.breakDown(nil, false)
	w.goesOn()
	w.should(w.till.Look())
	w.check()
}

// doctorSees: boon doctor on a folder whose disk is slow to sync, or fails to.
func doctorSees(t *testing.T, boon string) {
	t.Parallel()
	w := newWard(t, boon)
	doctor := func() string {
		said, _ := exec.CommandContext(t.Context(), boon, "doctor", "--data", w.mount, "--listen", "127.0.0.1:0",
			"--admin-listen", "").CombinedOutput()
		return string(said)
	}
	if said := doctor(); !strings.Contains(said, "Nothing looks wrong.") {
		t.Error(said)
	}
	slow := func() syscall.Errno { time.Sleep(120 * time.Millisecond); return 0 }
	fails := func() syscall.Errno { return syscall.EIO }
	for want, sync := range map[string]func() syscall.Errno{
		"WRONG: the disk takes ": slow,
		"WRONG: the data folder does not keep what is written to it:": fails,
	} {
		w.disk.breakDown(func(what step, name string) syscall.Errno {
			if what == syncing && strings.HasPrefix(name, ".boon-doctor") {
				return sync()
			}
			return 0
		}, false)
		if said := doctor(); !strings.Contains(said, want) {
			t.Errorf("want %q:\n%s", want, said)
		}
	}
}

// on fails steps on the files that hold money.
func on(errno syscall.Errno, steps ...step) func(step, string) syscall.Errno {
	return func(what step, name string) syscall.Errno {
		for _, s := range steps {
			if s == what && database(name) {
				return errno
			}
		}
		return 0
	}
}

// ward is a server on a failing disk, and a till that uses it.
type ward struct {
	*testing.T
	*machine
	till *rig.Till
}

func newWard(t *testing.T, binary string) *ward {
	w := &ward{T: t, machine: &machine{found: &found{}, disk: newDisk(t.TempDir(), 1)}}
	w.must(w.plug())
	client := rig.NewClient(8, time.Minute)
	t.Cleanup(func() {
		client.Close()
		if w.machine.server != nil {
			w.machine.server.Strike()
			w.halt(w.dead)
			w.machine.server.Kill()
		}
		if err := w.unplug(); err != nil {
			t.Error(err)
		}
	})
	var err error
	w.boon, err = rig.Install(binary, w.mount, "")
	w.must(err)
	address, err := rig.FreeAddress()
	w.must(err)
	w.machine.server, err = w.boon.Start(address)
	w.must(err)
	w.till, err = client.NewTill(w.machine.server.URL)
	w.must(err)
	return w
}

func (w *ward) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *ward) should(err error) {
	w.Helper()
	if err != nil {
		w.Error(err)
	}
}

// redeem makes so many calls at once, under new keys, which must be answered with this status; 200 may come after
// 503, of a machine that is busy.
func (w *ward) redeem(want, times int) {
	w.Helper()
	var wg sync.WaitGroup
	begun := time.Now()
	for n := range times {
		wg.Go(func() {
			key := fmt.Sprintf("%d-%d-%d", want, begun.UnixNano(), n)
			a, err := w.till.Redeem(key)
			for err == nil && want == http.StatusOK && a.Status != want && time.Since(begun) < time.Minute {
				time.Sleep(200 * time.Millisecond)
				a, err = w.till.Redeem(key)
			}
			w.should(err)
			if a != nil && a.Status != want {
				w.Errorf("a redemption was answered %d %s, want %d", a.Status, a.Body, want)
			}
		})
	}
	wg.Wait()
	w.Logf("%d calls answered %d within %.2f s", times, want, time.Since(begun).Seconds())
}

// cut cuts the power and starts again, on a disk that has recovered.
func (w *ward) cut() {
	w.Helper()
	w.powerOff()
	w.machine.server.Strike()
	w.halt(w.dead)
	w.machine.server.Kill()
	w.disk.breakDown(nil, false)
	w.disk.fill(-1)
	w.must(w.machine.again())
	var err error
	w.machine.server, err = w.boon.Start(w.machine.server.Address)
	w.must(err)
}

// goesOn sees that the service goes on by itself.
func (w *ward) goesOn() {
	w.Helper()
	begun := time.Now()
	w.should(w.till.Settle())
	w.Logf("went on by itself within %.2f s", time.Since(begun).Seconds())
}

func (w *ward) check() {
	w.Helper()
	w.should(w.till.Check())
	w.should(w.boon.Verify())
}

// TestDiskFailsOnce: one step of a redemption fails, or took effect and says that it failed. It is answered 200 or 503,
// and done once.
func TestDiskFailsOnce(t *testing.T) {
	needDisk(t)
	w := newWard(t, binary(t))
	for _, what := range []step{writing, syncing} {
		for _, effect := range []bool{false, true} {
			failed := 0
			fail := on(syscall.EIO, what)
			w.disk.breakDown(func(s step, name string) syscall.Errno {
				errno := fail(s, name)
				if errno != 0 {
					if failed++; failed > 1 {
						return 0
					}
				}
				return errno
			}, effect)
			_, err := w.till.Redeem(fmt.Sprintf("%s, took effect: %v", what, effect))
			w.should(err)
			w.disk.breakDown(nil, false)
			if failed == 0 {
				t.Errorf("%s did not fail", what)
			}
			w.goesOn()
			w.check()
		}
	}
}
