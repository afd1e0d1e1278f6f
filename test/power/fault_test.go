//go:build linux

package main

import (
	"fmt"
	"net/http"
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
	f, err := plan{cuts: 8, each: 8, clients: 8, seed: 1, binary: binary(t, false), progress: func(int) {}}.run(t.Context())
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
	f, err := plan{cuts: 8, each: 8, clients: 8, seed: 1, binary: binary(t, true), unsound: "syncs", progress: func(int) {}}.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f.lost == 0 {
		t.Errorf("nothing was lost: %s", f)
	}
	t.Logf("of %d movements lost %d", f.moves, f.lost)
}

func needDisk(t *testing.T) {
	t.Helper()
	if err := available(); err != nil {
		t.Skipf("LEFT OUT: power cuts and failing disks, which need Linux, /dev/fuse and the right to mount: %v", err)
	}
}

func binary(t *testing.T, unsound bool) string {
	t.Helper()
	path := t.TempDir() + "/boon"
	if err := rig.Build(path, unsound); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDiskFaults has the disk fail under a server in every way. What was asked for meanwhile is answered 503 or, where nobody can tell,
// once it can be told; reading goes on; what was acknowledged is there; and the service goes on by itself once the disk does, be it
// after a power cut. Each key has one effect.
func TestDiskFaults(t *testing.T) {
	needDisk(t)
	boon := binary(t, false)
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
				w.look()
				if cut {
					w.cut()
				} else {
					w.disk.breakDown(nil, false)
					w.disk.fill(-1)
				}
				w.settle()
				w.redeem(http.StatusOK, 3)
				w.check()
			})
		}
	}
}

// TestDiskCannotRead: what cannot be read is answered 503, and read once it can.
func TestDiskCannotRead(t *testing.T) {
	needDisk(t)
	w := newWard(t, binary(t, false))
	w.redeem(http.StatusOK, 5)
	w.cut() // nothing of it is in any memory any more
	w.disk.breakDown(on(syscall.EIO, reading), false)
	w.redeem(http.StatusServiceUnavailable, 4)
	w.disk.breakDown(nil, false)
	w.settle()
	w.look()
	w.check()
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

// ward is a server on a failing disk, and what was asked of it.
type ward struct {
	*testing.T
	*house
	client *rig.Client
	id     string
	code   string
	mu     sync.Mutex
	asked  map[string][]byte // by key: the answer, nil while there is none
}

func newWard(t *testing.T, binary string) *ward {
	w := &ward{T: t, client: rig.NewClient(8, 10*time.Second), asked: map[string][]byte{}}
	w.house = &house{found: &found{}, disk: newDisk(t.TempDir(), 1)}
	if err := w.plug(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.client.Close()
		if w.house.server != nil {
			w.house.server.Strike()
			w.halt(w.dead)
			w.house.server.Kill()
		}
		if err := w.unplug(); err != nil {
			t.Error(err)
		}
	})
	var err error
	if w.boon, err = rig.Install(binary, w.mount, ""); err != nil {
		t.Fatal(err)
	}
	address, err := rig.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	if w.house.server, err = w.boon.Start(address); err != nil {
		t.Fatal(err)
	}
	if w.id, w.code, err = w.client.SellOne(w.house.server.URL); err != nil {
		t.Fatal(err)
	}
	return w
}

// redeem makes so many calls at once, under new keys, which must be answered with this status.
func (w *ward) redeem(want, times int) {
	w.Helper()
	var wg sync.WaitGroup
	begun, before := time.Now(), len(w.asked)
	for n := range times {
		key := fmt.Sprintf("%d-%d-%d", want, before, n)
		wg.Go(func() {
			a := w.ask(key)
			if a == nil || a.Status != want {
				w.Errorf("%s was answered %+v, want %d", key, a, want)
				return
			}
			if want == http.StatusServiceUnavailable && (a.Code() != "UNAVAILABLE" || a.RetryAfter == "") {
				w.Errorf("%s was answered %s, Retry-After %q; want UNAVAILABLE and when to come again", key, a.Body, a.RetryAfter)
			}
		})
	}
	wg.Wait()
	w.Logf("%d calls answered %d within %.2f s", times, want, time.Since(begun).Seconds())
}

func (w *ward) ask(key string) *rig.Answer {
	a, err := w.client.Post(w.house.server.URL+rig.Redeem, rig.Accounts()[0].Keys[0], key, fmt.Sprintf(`{"voucherID":%q,"amount":0.01}`, w.id))
	if err != nil {
		w.Errorf("%s: %v", key, err)
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.asked[key]; !known || a.Status == http.StatusOK {
		w.asked[key] = nil
	}
	if a.Status == http.StatusOK {
		w.asked[key] = a.Body
	}
	return a
}

// look reads while the disk does not take anything.
func (w *ward) look() {
	w.Helper()
	a, err := w.client.Post(w.house.server.URL+rig.Validate, rig.Accounts()[0].Keys[0], "", fmt.Sprintf(`{"voucherCode":%q}`, w.code))
	if err != nil || a.Status != http.StatusOK {
		w.Errorf("validate-gift: %+v %v, want 200", a, err)
	}
	a, err = w.client.Get(w.house.server.URL+rig.Gifts+w.id, rig.Accounts()[0].Keys[0])
	if err != nil || a.Status != http.StatusOK {
		w.Errorf("the gift: %+v %v, want 200", a, err)
	}
}

// cut cuts the power and starts again, on a disk that has recovered.
func (w *ward) cut() {
	w.Helper()
	w.powerOff()
	w.house.server.Strike()
	w.halt(w.dead)
	w.house.server.Kill()
	w.disk.breakDown(nil, false)
	w.disk.fill(-1)
	if err := w.house.again(); err != nil {
		w.Fatal(err)
	}
	server, err := w.boon.Start(w.house.server.Address)
	if err != nil {
		w.Fatal(err)
	}
	w.house.server = server
}

// settle repeats every call: those that were not answered are carried out now, unless they were before; the others are answered as then.
func (w *ward) settle() {
	w.Helper()
	begun := time.Now()
	for key, before := range w.asked {
		a := w.ask(key)
		for ; a != nil && a.Status == http.StatusServiceUnavailable && time.Since(begun) < 20*time.Second; a = w.ask(key) {
			time.Sleep(20 * time.Millisecond)
		}
		if a == nil || a.Status != http.StatusOK || before != nil && string(a.Body) != string(before) {
			w.Errorf("%s, repeated on a sound disk: %+v, first %s", key, a, before)
		}
	}
	w.Logf("went on by itself within %.2f s", time.Since(begun).Seconds())
}

// check counts the effects: one for each key.
func (w *ward) check() {
	w.Helper()
	var g struct{ CurrentBalance any }
	if err := w.client.Read(w.house.server.URL+rig.Gifts+w.id, rig.Accounts()[0].Keys[0], &g); err != nil {
		w.Fatal(err)
	}
	left := 10000 - len(w.asked)
	if got, want := fmt.Sprint(g.CurrentBalance), strings.TrimRight(fmt.Sprintf("%d.%02d", left/100, left%100), "0"); got != want {
		w.Errorf("the gift is worth %s after %d keys, want %s", got, len(w.asked), want)
	}
	if err := w.boon.Verify(); err != nil {
		w.Error(err)
	}
}

// TestDiskFailsOnce: one step of a redemption fails, or took effect and says that it failed. It is answered 200 or 503, and done once.
func TestDiskFailsOnce(t *testing.T) {
	needDisk(t)
	w := newWard(t, binary(t, false))
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
			a := w.ask(fmt.Sprintf("%s, took effect: %v", what, effect))
			w.disk.breakDown(nil, false)
			if failed == 0 {
				t.Errorf("%s did not fail", what)
			}
			if a == nil || a.Status != http.StatusOK && a.Status != http.StatusServiceUnavailable {
				t.Errorf("%s, took effect: %v: %+v, want 200 or 503", what, effect, a)
			}
			w.settle()
			w.check()
		}
	}
}
