package crash

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestFullDisk: a process whose files may grow no further answers writes with 503 and goes on reading; once there is room
// again it redeems by itself, and so does one that was started in a full folder. Nothing that was acknowledged is lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	boon := install(t)
	const limit = 1 << 20
	server := boon.start(t, freeAddress(t))
	l := &tills{urls: []string{server.url}, gifts: sell(t, server.url, 8)}
	limitFiles(t, server, limit)
	n, unknown := 0, map[string]func() error{}
	redeem := func() error {
		n++
		key, gift := fmt.Sprintf("k-%d", n), n%len(l.gifts)
		body := fmt.Sprintf(`{"voucherID":%q,"amount":0.01,"reference":%q}`, l.gifts[gift], strings.Repeat("x", 100))
		begun := time.Now()
		unknown[key] = func() error {
			answer, err := redeemOnce(server.url, key, body)
			if err == nil {
				delete(unknown, key)
				l.record(0, gift, answer, begun)
			}
			return err
		}
		return unknown[key]()
	}
	refused := func() {
		t.Helper()
		for range 2 { // each takes a second: what a failed write left behind is looked for
			if err := redeem(); err == nil || !strings.HasPrefix(err.Error(), "503: ") || !strings.Contains(err.Error(), `"UNAVAILABLE"`) {
				t.Fatalf("on a full disk: %v, want 503 UNAVAILABLE", err)
			}
		}
		var gift struct{ VoucherCode string }
		get(t, server.url, "/api/integration/gifting/gifts/"+l.gifts[0], &gift)
		status, answer, err := post(server.url, "/api/integration/redemption/validate-gift", "", `{"voucherCode":"`+gift.VoucherCode+`"}`)
		if err != nil || status != http.StatusOK {
			t.Errorf("validating on a full disk: %d %s %v", status, answer, err)
		}
	}
	for redeem() == nil {
		if n > 5000 {
			t.Fatal("the disk never got full")
		}
	}
	refused()
	limitFiles(t, server, 1<<40)
	if err := redeem(); err != nil {
		t.Fatalf("there is room again: %v", err)
	}

	limitFiles(t, server, 1) // and now it is killed on a full disk, and started on one
	refused()
	server.kill(t)
	server = boon.start(t, server.address)
	limitFiles(t, server, 1)
	refused()
	limitFiles(t, server, 1<<40)
	for key, again := range unknown {
		if err := again(); err != nil {
			t.Errorf("settling %s: %v", key, err)
		}
	}
	l.check(t, server.url)
	server.kill(t)
	boon.run(t, "verify")
}

// limitFiles says how long the files of a process may get.
func limitFiles(t *testing.T, s *server, bytes uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: bytes, Max: ^uint64(0)}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(s.cmd.Process.Pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		t.Fatalf("limiting the size of files: %v", errno)
	}
}
