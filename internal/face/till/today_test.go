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
		got := dayBegins(dayOf(at.In(zone), 0), zone, 0)
		if got.UTC().Format(time.RFC3339) != tt.want {
			t.Errorf("at %s in %s the day began at %s, want %s", tt.now, tt.zone, got, tt.want)
		}
		if day, want := got.Format(time.DateOnly), at.In(zone).Format(time.DateOnly); day != want {
			t.Errorf("at %s in %s the day that began is %s, not %s", tt.now, tt.zone, day, want)
		}
	}
}

// TestDaysThatEndInTheNight: where a day ends at four, what is done at two belongs to the day before, also where clocks
// change that night.
func TestDaysThatEndInTheNight(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ now, day, from string }{
		{"2026-11-22T02:59:59Z", "2026-11-21", "2026-11-21T03:00:00Z"},
		{"2026-11-22T03:00:00Z", "2026-11-22", "2026-11-22T03:00:00Z"},
		{"2026-11-22T22:59:59Z", "2026-11-22", "2026-11-22T03:00:00Z"},
		{"2026-03-29T01:59:00Z", "2026-03-28", "2026-03-28T03:00:00Z"}, // summer time begins at one
		{"2026-03-29T02:00:00Z", "2026-03-29", "2026-03-29T02:00:00Z"},
		{"2026-10-25T02:59:00Z", "2026-10-24", "2026-10-24T02:00:00Z"}, // and ends
	} {
		at, err := time.Parse(time.RFC3339, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		day := dayOf(at.In(zone), 4*time.Hour)
		from := dayBegins(day, zone, 4*time.Hour)
		if day.Format(time.DateOnly) != tt.day || from.UTC().Format(time.RFC3339) != tt.from {
			t.Errorf("%s is of %s, from %s", tt.now, day, from.UTC())
		}
	}
}
