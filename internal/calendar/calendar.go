// Package calendar reckons with days and months as the clocks of a time zone show them.
package calendar

import "time"

// AddDays gives the instant at which the clocks of zone show the same time of day as at from, days calendar days later.
// It is not days × 24 hours: a day in which the clocks change has 23 or 25. A local time that does not exist moves
// forward by the gap; one that exists twice is the first.
func AddDays(from time.Time, days int, zone *time.Location) time.Time {
	local := from.In(zone)
	y, m, d := local.Date()
	wall := time.Date(y, m, d+days, local.Hour(), local.Minute(), local.Second(), local.Nanosecond(), time.UTC)
	return FromWall(wall, zone)
}

// FromWall gives the instant at which the clocks of zone show what wall, read as UTC, shows. Gaps and overlaps as in
// AddDays.
func FromWall(wall time.Time, zone *time.Location) time.Time {
	// The offsets in force a day to either side are those before and after a change, if there is one.
	before, after := offsetAt(wall.AddDate(0, 0, -1), zone), offsetAt(wall.AddDate(0, 0, 1), zone)
	first, second := wall.Add(-before), wall.Add(-after)
	if offsetAt(second, zone) == after && offsetAt(first, zone) != before {
		return second
	}
	return first // the first of two, the only one, or in a gap the clock that was not yet put forward
}

func offsetAt(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
