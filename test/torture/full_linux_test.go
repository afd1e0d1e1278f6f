package main

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"boon.example/test/rig"
)

// TestFullDisk: a process whose files may grow no further answers writes with 503 and goes on reading; once there is
// room again it redeems by itself, and so does one that was started in a full folder. Nothing that was acknowledged is
// lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	boon := install(t, "")
	server := serve(t, boon)
	one := till(t, server.URL)
	n := 0
	redeem := func() int {
		t.Helper()
		n++
		a, err := one.Redeem(fmt.Sprintf("k-%d", n))
		check(t, err)
		return a.Status
	}
	refused := func() {
		t.Helper()
		for range 2 { // each takes a second: what a failed write left behind is looked for
			if status := redeem(); status != http.StatusServiceUnavailable {
				t.Fatalf("on a full disk: %d, want 503", status)
			}
		}
		check(t, one.Look())
	}
	limitFiles(t, server, 1<<20)
	for redeem() == http.StatusOK {
		if n > 5000 {
			t.Fatal("the disk never got full")
		}
	}
	refused()
	limitFiles(t, server, 1<<40)
	for begun := time.Now(); redeem() != http.StatusOK; {
		if time.Since(begun) > time.Minute {
			t.Fatal("there is room again, and it does not go on")
		}
	}

	limitFiles(t, server, 1) // and now it is killed on a full disk, and started on one
	refused()
	server.Kill()
	if n := strings.Count(server.Logs(), "THE DISK IS FULL"); n < 1 || n > 2 {
		t.Errorf("the log says %d times that the disk is full, and it was twice", n)
	}
	server, err := boon.Start(server.Address)
	check(t, err)
	t.Cleanup(server.Kill)
	limitFiles(t, server, 1)
	refused()
	limitFiles(t, server, 1<<40)
	check(t, one.Settle())
	check(t, one.Check())
	server.Kill()
	check(t, boon.Verify())
}

// limitFiles says how long the files of a process may get.
func limitFiles(t *testing.T, s *rig.Server, bytes uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: bytes, Max: ^uint64(0)}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(s.Pid()), syscall.RLIMIT_FSIZE,
		uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		t.Fatalf("limiting the size of files: %v", errno)
	}
}
