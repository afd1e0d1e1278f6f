package calendar

import (
	"strconv"
	"strings"
	"time"
)

// Period is a length of time as calendars have it.
type Period struct {
	Years, Months, Days int
	Time                time.Duration
}

// periodUnits are the letters of an ISO 8601 duration in their order, and how much of each one may ask for.
var periodUnits = []struct {
	letter byte
	most   int
}{{'Y', 50}, {'M', 600}, {'W', 2_700}, {'D', 18_300}, {'T', 0}, {'H', 439_200}, {'M', 26_352_000}, {'S', 1_581_120_000}}

// ParsePeriod reads an ISO 8601 duration of whole numbers, such as P30D, P1Y6M or PT12H.
func ParsePeriod(text string) (p Period, ok bool) {
	rest, found := strings.CutPrefix(text, "P")
	if !found || rest == "" || strings.HasSuffix(rest, "T") || len(rest) > 64 {
		return Period{}, false
	}
	unit := 0
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits == len(rest) {
			return Period{}, false
		}
		letter := rest[digits]
		for unit < len(periodUnits) && periodUnits[unit].letter != letter {
			if periodUnits[unit].letter == 'T' { // what is behind it needs it
				return Period{}, false
			}
			unit++
		}
		if unit == len(periodUnits) || (letter == 'T') != (digits == 0) {
			return Period{}, false
		}
		n := 0
		if digits > 0 {
			var err error
			if n, err = strconv.Atoi(rest[:digits]); err != nil || n > periodUnits[unit].most {
				return Period{}, false
			}
		}
		p.add(unit, n)
		rest, unit = rest[digits+1:], unit+1
	}
	return p, true
}

func (p *Period) add(unit, n int) {
	switch unit {
	case 0:
		p.Years = n
	case 1:
		p.Months = n
	case 2:
		p.Days = 7 * n
	case 3:
		p.Days += n
	case 5:
		p.Time += time.Duration(n) * time.Hour
	case 6:
		p.Time += time.Duration(n) * time.Minute
	case 7:
		p.Time += time.Duration(n) * time.Second
	}
}

// After is the instant a period after another, in the calendar of a zone. A month that is too short ends at its last
// day.
func (p *Period) After(t time.Time, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	if months := 12*p.Years + p.Months; months > 0 {
		local := t.In(zone)
		first := time.Date(local.Year(), local.Month()+time.Month(months), 1, local.Hour(), local.Minute(), local.Second(),
			local.Nanosecond(), time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		t = FromWall(first.AddDate(0, 0, min(local.Day(), last)-1), zone)
	}
	if p.Days > 0 {
		t = AddDays(t, p.Days, zone)
	}
	return t.Add(p.Time)
}
