package till

import (
	"testing"
	"time"
)

func TestDayBegins(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ zone, now, want string }{
		{"America/New_York", "2026-11-22T04:59:59Z", "2026-11-21T05:00:00Z"},
		{"America/New_York", "2026-11-22T05:00:00Z", "2026-11-22T05:00:00Z"},
		{"America/New_York", "2026-11-01T23:00:00Z", "2026-11-01T04:00:00Z"}, // the day on which summer time ends
		{"America/New_York", "2026-03-08T23:00:00Z", "2026-03-08T05:00:00Z"}, // and the one on which it begins
		{"America/Santiago", "2026-09-06T18:00:00Z", "2026-09-06T04:00:00Z"}, // clocks go from midnight to one
		{"America/Santiago", "2026-09-06T04:00:00Z", "2026-09-06T04:00:00Z"},
		{"America/Santiago", "2026-09-06T03:59:59Z", "2026-09-05T04:00:00Z"},
		{"America/Havana", "2026-03-08T18:00:00Z", "2026-03-08T05:00:00Z"},
		{"America/Havana", "2026-11-01T18:00:00Z", "2026-11-01T04:00:00Z"}, // midnight comes twice
	} {
		at, err := time.Parse(time.RFC3339, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		zone, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		got := dayBegins(at.In(zone))
		if got.UTC().Format(time.RFC3339) != tt.want {
			t.Errorf("at %s in %s the day began at %s, want %s", tt.now, tt.zone, got, tt.want)
		}
		if day, want := got.Format(time.DateOnly), at.In(zone).Format(time.DateOnly); day != want {
			t.Errorf("at %s in %s the day that began is %s, not %s", tt.now, tt.zone, day, want)
		}
	}
}
