package crash

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// TestFullDisk: a process whose files may grow no further answers writes with 503 and goes on reading; once there is room
// again it redeems by itself, and so does one that was started in a full folder. Nothing that was acknowledged is lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	data := folder(t)
	const limit = 1 << 20
	server := start(t, binary, data)
	ids := sell(t, server.url)
	limitFiles(t, server, limit)
	till := &till{unknown: map[string]string{}, acked: map[string]string{}}
	n := 0
	redeem := func() error {
		n++
		key, body := fmt.Sprintf("k-%d", n), fmt.Sprintf(`{"voucherID":%q,"amount":0.01,"reference":%q}`, ids[n%len(ids)], strings.Repeat("x", 100))
		till.unknown[key] = body
		return till.redeem(server.url, key, body)
	}
	refused := func() {
		t.Helper()
		for range 2 { // each takes a second: what a failed write left behind is looked for
			if err := redeem(); err == nil || !strings.HasPrefix(err.Error(), "503: ") || !strings.Contains(err.Error(), `"UNAVAILABLE"`) {
				t.Fatalf("on a full disk: %v, want 503 UNAVAILABLE", err)
			}
		}
		var gift struct{ VoucherCode string }
		get(t, server.url, "/api/integration/gifting/gifts/"+ids[0], &gift)
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
	server = start(t, binary, data)
	limitFiles(t, server, 1)
	refused()
	limitFiles(t, server, 1<<40)
	till.settle(t, server.url)
	compare(t, server.url, ids, till)
	server.kill(t)
	run(t, binary, "verify", "--data", data)
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
