package till

import (
	"testing"
	"time"
)

func TestDayBegins(t *testing.T) {
	t.Parallel()
	for now, want := range map[string]string{
		"2026-11-22T04:59:59Z": "2026-11-21T05:00:00Z", // New York
		"2026-11-22T05:00:00Z": "2026-11-22T05:00:00Z",
		"2026-11-01T23:00:00Z": "2026-11-01T04:00:00Z", // the day on which summer time ends
		"2026-03-08T23:00:00Z": "2026-03-08T05:00:00Z", // and the one on which it begins
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		zone, err := time.LoadLocation("America/New_York")
		if err != nil {
			t.Fatal(err)
		}
		if got := dayBegins(at, zone).UTC().Format(time.RFC3339); got != want {
			t.Errorf("at %s the day began at %s, want %s", now, got, want)
		}
	}
}
