package api

import (
	"fmt"
	"strings"
	"time"
)

// The years in which a request may name an instant.
const (
	firstYear = 1970
	lastYear  = 2999
)

// instant reads an RFC 3339 date-time.
func (o *object) instant(name string) time.Time {
	v := o.of(name, '"', "a date-time in quotes")
	if v == nil {
		return time.Time{}
	}
	t, problem := parseInstant(string(unquote(v)), lastYear)
	if problem != "" {
		o.Add(o.at(name), "%s", problem)
	}
	return t
}

// parseInstant reads an RFC 3339 date-time that says where it stands: a guess at a missing time zone would send a gift hours
// off. problem is a sentence for the caller, "" when there is none.
func parseInstant(s string, last int) (_ time.Time, problem string) {
	const form = "This must be a date-time such as 2026-03-01T09:30:00Z or 2026-03-01T09:30:00-05:00."
	if len(s) > 40 {
		return time.Time{}, form
	}
	s = strings.ToUpper(s) // RFC 3339 allows t and z
	t, err := readInstant(s)
	if t = t.UTC(); err == nil && (t.Year() < firstYear || t.Year() > last) {
		return time.Time{}, fmt.Sprintf("The year of this date-time must be from %d to %d.", firstYear, last)
	}
	if err == nil {
		return t, ""
	}
	if _, err := readInstant(s + "Z"); err == nil {
		return time.Time{}, "This date-time must end in Z or an offset such as -05:00, so that it is clear which instant it means."
	}
	if isShaped(s, "0000-00-00") {
		return time.Time{}, "This must have a time of day and an offset too, such as " + s + "T09:30:00Z."
	}
	for _, shape := range []string{"0000-00-00T00:00:00", "0000-00-00T00:00:00Z"} {
		if isShaped(s[:min(len(s), len(shape))], shape) {
			return time.Time{}, "There is no such day or time of day."
		}
	}
	return time.Time{}, form
}

// readInstant is time.Time's own strict reader of RFC 3339, which time.Parse is not.
func readInstant(s string) (t time.Time, err error) {
	err = t.UnmarshalText([]byte(s))
	return t, err
}

// isShaped reports whether s has digits where shape has zeros, and is the same elsewhere.
func isShaped(s, shape string) bool {
	if len(s) != len(shape) {
		return false
	}
	for i := range len(s) {
		if digit := s[i] >= '0' && s[i] <= '9'; digit != (shape[i] == '0') || !digit && s[i] != shape[i] {
			return false
		}
	}
	return true
}
