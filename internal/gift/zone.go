package gift

import (
	"errors"
	"strings"
	"time"
)

var errZone = errors.New("This is not a time zone such as America/New_York.")

// maxZone is longer than any zone id there is.
const maxZone = 64

// ParseZone reads a time zone: an IANA id, or a Windows id, which stands for the IANA id that CLDR maps it to. It gives the IANA id
// and the zone. The zones themselves come from the machine or from time/tzdata in the binary. The error is a sentence for the sender.
func ParseZone(id string) (string, *time.Location, error) {
	if zone, ok := loadZone(id); ok {
		return id, zone, nil
	}
	iana := windowsZones[id]
	if zone, ok := loadZone(iana); ok {
		return iana, zone, nil
	}
	return "", nil, errZone
}

// loadZone loads only what has the shape of an IANA id. That keeps out paths, the machine's own zone, and what lies beside the zones
// on some machines but not on others: those files have lower-case names, such as right/… with its leap seconds.
func loadZone(id string) (*time.Location, bool) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if id == "" || len(id) > maxZone || id == "Local" || id == "Factory" || id[0] < 'A' || id[0] > 'Z' ||
		strings.Trim(id, letters+"0123456789_+-/") != "" || strings.Contains(id, "//") {
		return nil, false
	}
	zone, err := time.LoadLocation(id)
	return zone, err == nil
}

// AddDays gives the instant at which the clocks of zone show the same time of day as at from, days calendar days later.
// It is not days × 24 hours: a day in which the clocks change has 23 or 25. A local time that does not exist moves
// forward by the gap; one that exists twice is the first.
func AddDays(from time.Time, days int, zone *time.Location) time.Time {
	local := from.In(zone)
	y, m, d := local.Date()
	wall := time.Date(y, m, d+days, local.Hour(), local.Minute(), local.Second(), local.Nanosecond(), time.UTC)
	return FromWall(wall, zone)
}

// FromWall gives the instant at which the clocks of zone show what wall, read as UTC, shows. Gaps and overlaps as in AddDays.
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
