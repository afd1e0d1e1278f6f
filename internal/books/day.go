package books

import (
	"iter"
	"sort"
	"time"

	"boon.example/internal/calendar"
)

// Skew is how far clocks may be wrong without a wrong figure: an entry is dated so much earlier than the clock that
// closes days says, or than its id tells, at most.
const Skew = 10 * time.Minute

// Day is a day of an account, from midnight to midnight by the clocks of its zone. A day of the books stays what it was
// when it was closed, whatever the zone becomes.
type Day struct {
	Number      int       // as 20261122
	From, Until time.Time // Until is the first instant of the next one
}

// Days are days of an account, one after the other without a gap.
type Days []Day

// DayOf is the day of an instant.
func DayOf(at time.Time, zone *time.Location) Day {
	y, m, d := at.In(zone).Date()
	return Day{number(y, m, d), midnight(y, m, d, zone), midnight(y, m, d+1, zone)}
}

// Next is the day after this one. It begins where this one ended. Where the zone has changed since, it is longer or
// shorter than others: no day is there twice.
func (d Day) Next(zone *time.Location) Day {
	next := Day{From: d.Until}
	y, m, day := d.Until.In(zone).Date()
	if number(y, m, day) <= d.Number {
		y, m, day = d.Number/10_000, time.Month(d.Number/100%100), d.Number%100+1
	}
	at := time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
	next.Number = number(at.Date())
	if next.Until = midnight(y, m, day+1, zone); !next.Until.After(next.From) {
		next.Until = midnight(y, m, day+2, zone)
	}
	return next
}

func number(y int, m time.Month, d int) int { return y*10_000 + int(m)*100 + d }

func midnight(y int, m time.Month, d int, zone *time.Location) time.Time {
	return calendar.FromWall(time.Date(y, m, d, 0, 0, 0, 0, time.UTC), zone).UTC()
}

// Number is the number of the day of an instant, as 20261122: by the clocks of the zone where it is on none of the
// days.
func (all Days) Number(at time.Time, zone *time.Location) int {
	if day, ok := all.Of(at); ok {
		return day.Number
	}
	return number(at.In(zone).Date())
}

// Of is the day of an instant; ok is false where it is on none of the days.
func (all Days) Of(at time.Time) (day Day, ok bool) {
	n := sort.Search(len(all), func(n int) bool { return at.Before(all[n].Until) })
	if n == len(all) || at.Before(all[n].From) {
		return day, false
	}
	return all[n], true
}

// Month is the month of an instant, as 202611.
func (all Days) Month(at time.Time, zone *time.Location) int { return all.Number(at, zone) / 100 }

// Within are the days that are wholly from an instant on and before another one.
func (all Days) Within(from, until time.Time) Days {
	first := sort.Search(len(all), func(n int) bool { return !all[n].From.Before(from) })
	after := sort.Search(len(all), func(n int) bool { return all[n].Until.After(until) })
	return all[first:max(first, after)]
}

// ByMonth gives the days of each month, one month after the other.
func (all Days) ByMonth() iter.Seq[Days] {
	return func(yield func(Days) bool) {
		for all := all; len(all) > 0; {
			n := 1
			for n < len(all) && all[n].Number/100 == all[0].Number/100 {
				n++
			}
			if !yield(all[:n:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// Months are the days of each month as one, from its first day to its last: all that Month needs, and there are few of
// them.
func (all Days) Months() (months Days) {
	for _, day := range all {
		last := len(months) - 1
		if last >= 0 && months[last].Number/100 == day.Number/100 && months[last].Until.Equal(day.From) {
			months[last].Until = day.Until
		} else {
			months = append(months, day)
		}
	}
	return months
}
