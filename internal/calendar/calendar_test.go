package calendar

import (
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests are the same on every machine

	"pgregory.net/rapid"
)

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// search finds by brute force what FromWall reckons: the first instant at which the clocks of zone show wall, or,
// where they never do, the instant that the clock from before the gap would call wall.
func search(wall time.Time, zone *time.Location) time.Time {
	shows := func(t time.Time) time.Time {
		l := t.In(zone)
		return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), time.UTC)
	}
	// All changes of the zones below happen at whole quarters of an hour.
	const step, window = 15 * time.Minute, 27 * time.Hour
	last := wall.Truncate(step).Add(-window)
	rest := wall.Sub(wall.Truncate(step))
	for t := last; t.Before(wall.Add(window)); t = t.Add(step) {
		at := t.Add(rest)
		if s := shows(at); s.Equal(wall) {
			return at
		} else if s.After(wall) && !shows(last).After(wall) {
			return last.Add(wall.Sub(shows(last)))
		}
		last = at
	}
	panic("no such wall time within " + window.String())
}

// Days on which something happens.
var changes = []struct {
	zone string
	day  time.Time
}{
	{"America/New_York", time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC)},
	{"America/New_York", time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
	{"Europe/London", time.Date(2027, 3, 28, 0, 0, 0, 0, time.UTC)},
	{"Europe/London", time.Date(2027, 10, 31, 0, 0, 0, 0, time.UTC)},
	{"Australia/Lord_Howe", time.Date(2026, 4, 5, 0, 0, 0, 0, time.UTC)},  // half an hour
	{"Australia/Lord_Howe", time.Date(2026, 10, 4, 0, 0, 0, 0, time.UTC)}, // half an hour
	{"Pacific/Apia", time.Date(2011, 12, 30, 0, 0, 0, 0, time.UTC)},       // a day that never was
	{"Pacific/Kwajalein", time.Date(1993, 8, 21, 0, 0, 0, 0, time.UTC)},   // another
	{"Europe/Dublin", time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)},       // daylight saving is negative, in winter
	{"Europe/Dublin", time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC)},
	{"Asia/Kathmandu", time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)},  // nothing, at an odd offset
	{"America/Caracas", time.Date(2016, 5, 1, 0, 0, 0, 0, time.UTC)}, // half an hour forward, for good
	{"Africa/Casablanca", time.Date(2026, 2, 15, 0, 0, 0, 0, time.UTC)},
	{"America/Sao_Paulo", time.Date(2018, 11, 4, 0, 0, 0, 0, time.UTC)}, // midnight does not exist
	{"UTC", time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC)},
}

func TestFromWallAgainstSearch(t *testing.T) {
	t.Parallel()
	for _, c := range changes {
		zone := mustZone(t, c.zone)
		for minutes := -36 * 60; minutes < 60*60; minutes += 5 {
			wall := c.day.Add(time.Duration(minutes) * time.Minute)
			if got, want := FromWall(wall, zone), search(wall, zone); !got.Equal(want) {
				t.Fatalf("%s, %s: got %s, want %s", c.zone, wall.Format("2006-01-02 15:04"), got.In(zone), want.In(zone))
			}
		}
	}
}

func TestFromWall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ zone, wall, want string }{
		{"America/New_York", "2026-03-08 02:30", "2026-03-08T03:30:00-04:00"}, // a gap: forward by the gap
		{"America/New_York", "2026-11-01 01:30", "2026-11-01T01:30:00-04:00"}, // twice: the first
		{"America/New_York", "2026-11-01 02:00", "2026-11-01T02:00:00-05:00"},
		{"Europe/London", "2027-03-28 01:30", "2027-03-28T02:30:00+01:00"},
		{"Europe/London", "2027-10-31 01:30", "2027-10-31T01:30:00+01:00"},
		{"Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-04T02:45:00+11:00"},
		{"Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-05T01:45:00+11:00"},
		{"Pacific/Apia", "2011-12-30 12:00", "2011-12-31T12:00:00+14:00"},
		{"Europe/Dublin", "2026-03-29 01:30", "2026-03-29T02:30:00+01:00"},
		{"Europe/Dublin", "2026-10-25 01:30", "2026-10-25T01:30:00+01:00"},
		{"America/Sao_Paulo", "2018-11-04 00:00", "2018-11-04T01:00:00-02:00"},
	} {
		wall, err := time.Parse("2006-01-02 15:04", tt.wall)
		if err != nil {
			t.Fatal(err)
		}
		zone := mustZone(t, tt.zone)
		if got := FromWall(wall, zone).In(zone).Format(time.RFC3339); got != tt.want {
			t.Errorf("%s, %s: got %s, want %s", tt.zone, tt.wall, got, tt.want)
		}
	}
}

func TestAddDays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		zone, from string
		days       int
		want       string
	}{
		{"America/New_York", "2026-03-01T09:00:00-05:00", 30, "2026-03-31T09:00:00-04:00"},
		{"America/New_York", "2026-03-07T09:00:00-05:00", 1, "2026-03-08T09:00:00-04:00"}, // a day of 23 hours
		{"America/New_York", "2026-10-31T09:00:00-04:00", 1, "2026-11-01T09:00:00-05:00"}, // a day of 25 hours
		{"America/New_York", "2026-03-07T02:30:00-05:00", 1, "2026-03-08T03:30:00-04:00"}, // ends in a gap
		{"America/New_York", "2026-10-31T01:30:00-04:00", 1, "2026-11-01T01:30:00-04:00"}, // ends in an hour that comes twice
		{"America/New_York", "2026-03-02T00:00:00Z", 1, "2026-03-02T19:00:00-05:00"},      // the day is the zone's, not UTC's
		{"America/New_York", "2027-02-28T12:00:00-05:00", 366, "2028-02-29T12:00:00-05:00"},
		{"Australia/Lord_Howe", "2026-10-03T12:00:00+10:30", 1, "2026-10-04T12:00:00+11:00"},
		{"Pacific/Apia", "2011-12-28T12:00:00-10:00", 2, "2011-12-31T12:00:00+14:00"}, // ends on the day that never was
		{"Pacific/Apia", "2011-12-29T12:00:00-10:00", 2, "2011-12-31T12:00:00+14:00"},
		{"Europe/Dublin", "2026-10-24T12:00:00+01:00", 1, "2026-10-25T12:00:00Z"},
		{"UTC", "2026-11-21T12:00:00.123456Z", 3650, "2036-11-18T12:00:00.123456Z"},
	} {
		from, err := time.Parse(time.RFC3339Nano, tt.from)
		if err != nil {
			t.Fatal(err)
		}
		zone := mustZone(t, tt.zone)
		if got := AddDays(from, tt.days, zone).In(zone).Format(time.RFC3339Nano); got != tt.want {
			t.Errorf("%s, %s + %d days: got %s, want %s", tt.zone, tt.from, tt.days, got, tt.want)
		}
	}
}

func TestAddDaysKeepsTheClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(changes).Draw(t, "change")
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		from := c.day.Add(time.Duration(rapid.Int64Range(-int64(400*24*time.Hour), int64(60*time.Hour)).Draw(t, "from")))
		days := rapid.IntRange(1, 3_650).Draw(t, "days")
		got := AddDays(from, days, zone).In(zone)
		local := from.In(zone)
		wall := time.Date(local.Year(), local.Month(), local.Day()+days, local.Hour(), local.Minute(), local.Second(),
			local.Nanosecond(), time.UTC)
		if want := search(wall, zone); !got.Equal(want) {
			t.Fatalf("%s and %d days is %s, want %s", local, days, got, want)
		}
	})
}
