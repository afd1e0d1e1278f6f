package imports

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
)

// Sentences about dates.
var (
	errNoDate  = phrase.New("This is no date that can be told; write it as 2026-12-31.")
	errTwoDays = phrase.New("Whether the day or the month stands first in this date cannot be told; write it as " +
		"2026-12-31.")
)

// noTime is how exports say that there is none: those of WooCommerce's own extension with 0, those of databases in
// full.
var noTime = []string{"", "0", "0000-00-00", "0000-00-00 00:00:00"}

// days are the layouts that say which part is the year, the month and the day, as package time knows them. Where dots
// are, the day stands first, in every country that writes dots.
var days = []string{time.DateOnly, "2006/1/2", "20060102", "2.1.2006", "January 2, 2006", "Jan 2, 2006",
	"2 January 2006", "2 Jan 2006", "2-Jan-2006"}

// clocks are what stands behind a day.
var clocks = []string{"15:04", "15:04:05", "3:04 PM", "3:04:05 PM", "15:04:05 -0700", "15:04:05 -07:00", "15:04:05 MST"}

// DateOrder is what stands first in the dates of a file whose year stands last.
type DateOrder string

// The orders. Where nobody knows which one a file has, a date that could be two days is refused.
const (
	UnknownFirst DateOrder = ""
	DayFirst     DateOrder = "day"
	MonthFirst   DateOrder = "month"
)

// orders is what a file shows of the order of its dates.
type orders struct{ dayFirst, monthFirst, both bool } // dates that can have this order only; that can have both

// turned is a day whose year stands last, and of which the month may be either of the others.
var turned = regexp.MustCompile(`^([0-9]{1,2})[/-]([0-9]{1,2})[/-]([0-9]{4})$`)

// inOrder gives a day whose year stands last with its year first; any other one stays as it is.
func inOrder(day string, order DateOrder, seen *orders) (string, *phrase.Phrase) {
	parts := turned.FindStringSubmatch(day)
	if parts == nil {
		return day, nil
	}
	first, _ := strconv.Atoi(parts[1]) // two digits at most
	second, _ := strconv.Atoi(parts[2])
	switch {
	case first > 12 && second <= 12:
		order, seen.dayFirst = DayFirst, true
	case first <= 12 && second > 12:
		order, seen.monthFirst = MonthFirst, true
	case first == second:
		order = DayFirst
	default:
		seen.both = true
	}
	switch order {
	case DayFirst:
		return parts[3] + "/" + parts[2] + "/" + parts[1], nil
	case MonthFirst:
		return parts[3] + "/" + parts[1] + "/" + parts[2], nil
	}
	return "", errTwoDays
}

// readDay reads a day, with or without a clock behind it, as people and exports write it: in a time zone, where it
// names none itself.
func readDay(text string, zone *time.Location, order DateOrder, seen *orders) (at time.Time, clocked bool,
	wrong *phrase.Phrase) {
	day, clock := text, ""
	if n := strings.Index(text, ":"); n > 0 {
		if n = strings.LastIndexAny(text[:n], " T"); n > 0 {
			day, clock = strings.TrimRight(text[:n], " ,"), strings.ToUpper(text[n+1:])
		}
	}
	if day, wrong = inOrder(day, order, seen); wrong != nil {
		return time.Time{}, false, wrong
	}
	for _, layout := range days {
		if clock == "" {
			if at, err := time.ParseInLocation(layout, day, zone); err == nil && at.Year() > 1970 {
				return at, false, nil
			}
			continue
		}
		for _, behind := range clocks {
			at, err := time.ParseInLocation(layout+" "+behind, day+" "+clock, zone)
			named, _ := at.Zone()
			known := behind != "15:04:05 MST" || slices.Contains([]string{"UTC", "GMT"}, named)
			if err == nil && at.Year() > 1970 && known {
				return at, true, nil
			}
		}
	}
	return time.Time{}, false, errNoDate
}

// readTime reads an instant or a day of the account's time zone; of a day, its end or its beginning.
func (r *Reader) readTime(field Field, end bool) (time.Time, bool) {
	text := unquoted(r.text(field))
	if slices.Contains(noTime, text) {
		return time.Time{}, false
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil && at.Year() > 1970 {
		return at.UTC().Truncate(time.Microsecond), true
	}
	at, clocked, wrong := readDay(text, r.account.TimeZone(), r.dates, &r.shown)
	if wrong != nil {
		r.wrong(field, "%s", wrong)
		return time.Time{}, false
	}
	if end && !clocked {
		at = time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, r.account.TimeZone())
	}
	return at.UTC(), true
}

// Dates is the order of dates that the whole file shows, once all its lines are read, and whether lines were read
// with another one: then whoever wants the file reads it once more, with ReadDates. Of a file that shows none, or
// both, it is the one that the system's exports have, or none.
func (r *Reader) Dates() (is DateOrder, other bool) {
	switch {
	case r.shown.dayFirst && !r.shown.monthFirst:
		is = DayFirst
	case r.shown.monthFirst && !r.shown.dayFirst:
		is = MonthFirst
	case !r.shown.dayFirst:
		is = r.format.Dates
	}
	return is, is != r.dates && r.shown.both
}

// ReadDates has dates be read in an order.
func (r *Reader) ReadDates(is DateOrder) { r.dates = is }
