package doctor

import (
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
