package wire

import (
	"testing"
	"time"
)

// FuzzInstant: what is read as an instant is one that every RFC 3339 reader takes for the same, and an offset that is
// absent changes nothing else.
func FuzzInstant(f *testing.F) {
	for _, s := range []string{
		"2026-03-01T09:30:00Z", "2026-03-01t09:30:00.123456789z", "2024-02-29T23:59:59-05:00", "2026-02-29T00:00:00Z",
		"2026-03-01T24:00:00Z", "2026-12-31T23:59:60Z",
		"2026-03-01T09:30:00", "2026-03-01T09:30:00+24:00", "2026-03-01T09:30:00,5Z", "0000-01-01T00:00:00Z",
		"2999-12-31T23:59:59+23:59",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, problem := parseInstant(s, false, lastYear)
		if problem != nil {
			return
		}
		if zoned, problem := parseInstant(s, true, lastYear); problem != nil || !zoned.Equal(got) {
			t.Fatalf("%q is %v, and %v %q where an offset may be absent", s, got, zoned, problem)
		}
		if again, err := time.Parse(time.RFC3339Nano, got.Format(time.RFC3339Nano)); err != nil || !again.Equal(got) ||
			got.Year() < firstYear || got.Year() > lastYear {
			t.Fatalf("%q is read as %v, which is read as %v, %v", s, got, again, err)
		}
	})
}
