package wire

import (
	"regexp"
	"time"

	"boon.example/internal/base/phrase"
)

// The years in which a request may name an instant.
const (
	firstYear = 1970
	lastYear  = 2999
)

// Instant reads an ISO 8601 date-time that says where it stands.
func (o *Object) Instant(name string) time.Time { return o.moment(name, false) }

// InstantUTC reads an ISO 8601 date-time; without an offset it is UTC.
func (o *Object) InstantUTC(name string) time.Time { return o.moment(name, true) }

func (o *Object) moment(name string, utc bool) time.Time {
	v := o.Of(name, '"', "a date-time in quotes")
	if v == nil {
		return time.Time{}
	}
	t, problem := parseInstant(string(Unquote(v)), utc, lastYear)
	if problem != nil {
		o.Add(o.At(name), "%s", problem)
	}
	return t
}

// dateTime is what is read of ISO 8601: a calendar date and a time of day in the extended format. The seconds and the
// offset may be left out.
var dateTime = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2})(?::([0-9]{2})(?:[.,` +
	`]([0-9]{1,9}))?)?` +
	`(?:([Zz])|([+-](?:[01][0-9]|2[0-3]))(?::?([0-5][0-9]))?)?$`)

// parseInstant reads a date-time. One without an offset is UTC where utc says so; elsewhere it is refused: a guess
// would be hours off. problem is a sentence for the caller, nil when there is none.
func parseInstant(s string, utc bool, last int) (_ time.Time, problem error) {
	parts := dateTime.FindStringSubmatch(s)
	switch {
	case parts == nil && calendarDate.MatchString(s):
		return time.Time{}, phrase.New("This must have a time of day too, such as %sT09:30:00Z.", s)
	case parts == nil:
		return time.Time{}, phrase.New("This must be a date-time such as 2026-03-01T09:30:00Z or 2026-03-01T09:30-05:00.")
	}
	t, err := readInstant(parts[1:])
	switch {
	case err != nil:
		return time.Time{}, phrase.New("There is no such day or time of day.")
	case parts[5] == "" && parts[6] == "" && !utc:
		return time.Time{}, phrase.New("This date-time must end in Z or an offset such as -05:00, so that it is clear " +
			"which instant it means.")
	case t.Year() < firstYear || t.Year() > last:
		return time.Time{}, phrase.New("The year of this date-time must be from %d to %d.", firstYear, last)
	}
	return t, nil
}

var calendarDate = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)

// readInstant puts date, time of day, seconds, their fraction, Z, and the hours and minutes of an offset together.
// What is absent is "".
func readInstant(parts []string) (time.Time, error) {
	or := func(s, absent string) string {
		if s == "" {
			return absent
		}
		return s
	}
	offset := "Z"
	if parts[5] != "" {
		offset = parts[5] + ":" + or(parts[6], "00")
	}
	t, err := time.Parse(time.RFC3339, parts[0]+"T"+parts[1]+":"+or(parts[2], "00")+"."+or(parts[3], "0")+offset)
	return t.UTC(), err
}
