package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store"
)

// TestDeletedLogIsNoticed: a service whose log was deleted says so loudly, is not ready, and takes no more money. When
// it starts again, nothing is missing of what it had answered.
func TestDeletedLogIsNoticed(t *testing.T) {
	t.Parallel()
	s := &service{T: t, data: t.TempDir(), logs: &boontest.Log{}}
	s.apply(examples.HarborCoffee())
	s.run(server.Config{FilesEvery: 100 * time.Millisecond})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	if server.FilesEvery > 30*time.Second {
		t.Errorf("the files are looked at every %v only", server.FilesEvery)
	}
	if err := os.Remove(filepath.Join(s.data, store.DatabaseName+"-wal")); err != nil {
		t.Fatal(err)
	}
	s.eventually(func() bool { status, _, _ := s.call("GET", "/readyz", "", ""); return status == 503 })
	s.eventually(func() bool {
		_, said, loud := strings.Cut(s.logs.String(), `"level":"ERROR","msg":"THE DATABASE IS NO LONGER WHAT THIS SERVICE `+
			`OPENED"`)
		return loud && strings.Contains(said, "boon.db-wal was deleted")
	})
	redeem := `{"voucherCode":"` + g.VoucherCode + `","amount":5,"organizationID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11"}`
	if status, body, err := s.callOnce("POST", redeemPath, examples.HarborTillKey, "once", redeem); err != nil ||
		status != 503 {
		t.Errorf("a redemption is answered %d %s, %v, want 503", status, body, err)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.run(server.Config{})
	if status, body, err := s.callOnce("POST", redeemPath, examples.HarborTillKey, "once", redeem); err != nil ||
		status != 200 {
		t.Errorf("after a new start, the redemption is answered %d %s, %v", status, body, err)
	}
}

func (s *service) eventually(is func() bool) {
	s.Helper()
	for begun := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > timeout {
			s.Fatalf("not after %v:\n%s", timeout, s.logs)
		}
	}
}
