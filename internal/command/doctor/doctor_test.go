package doctor

import (
	"net"
	"strings"
	"testing"

	"boon.example/internal/server"
)

// TestDoctorReadsTheClock: what the kernel says of the clock, and what is told of it.
func TestDoctorReadsTheClock(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kept, known bool
		fact, note  string
	}{
		{true, true, "kept right by the system", ""},
		{false, true, "Z", "nothing keeps the clock right"},
		{false, false, "not known here", ""},
	} {
		var r server.Report
		diagnosis{&r}.clock(tt.kept, tt.known)
		if len(r.Facts) != 1 || !strings.HasSuffix(r.Facts[0].Value, tt.fact) || len(r.Wrong) > 0 ||
			!strings.HasPrefix(strings.Join(r.Notes, "; "), tt.note) || len(r.Notes) > 0 != (tt.note != "") {
			t.Errorf("kept %v, known %v: %+v", tt.kept, tt.known, r)
		}
	}
}

// TestDoctorTriesWallets: a host that wallets need is tried, and what was seen is told.
func TestDoctorTriesWallets(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := server.Host{Name: "Apple Wallet", Address: l.Addr().String()}
	d := diagnosis{&server.Report{}}
	d.wallet(t.Context(), host)
	if len(d.Wrong) > 0 || len(d.Facts) != 1 || !strings.Contains(d.Facts[0].Value, host.Address) {
		t.Errorf("a host that answers: %+v", d.Report)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	d.wallet(t.Context(), host)
	if len(d.Wrong) != 1 || !strings.HasPrefix(d.Wrong[0], "Apple Wallet cannot be reached, so passes do not change") {
		t.Errorf("a host that is away: %+v", d.Report)
	}
}
