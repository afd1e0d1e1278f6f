package api

import (
	"errors"
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
	if err == nil && (t.Year() < firstYear || t.Year() > last) {
		return time.Time{}, fmt.Sprintf("The year of this date-time must be from %d to %d.", firstYear, last)
	}
	if err == nil {
		return t, ""
	}
	_, zoned := readInstant(s + "Z")
	switch {
	case zoned == nil:
		return time.Time{}, "This date-time must end in Z or an offset such as -05:00, so that it is clear which instant it means."
	case isShaped(s, "0000-00-00"):
		return time.Time{}, "This must have a time of day and an offset too, such as " + s + "T09:30:00Z."
	case isOutOfRange(err), isOutOfRange(zoned):
		return time.Time{}, "There is no such day or time of day."
	}
	return time.Time{}, form
}

var errShape = errors.New("not shaped as a date-time")

// readInstant is stricter than time.Parse, which takes one-digit hours, decimal commas and offsets of 24 hours.
func readInstant(s string) (time.Time, error) {
	const shape = "0000-00-00T00:00:00"
	if len(s) <= len(shape) || !isShaped(s[:len(shape)], shape) || s[len(shape)] == ',' {
		return time.Time{}, errShape
	}
	t, err := time.Parse(time.RFC3339, s)
	if offset := s[len(s)-5:]; err == nil && s[len(s)-1] != 'Z' && (offset[:2] > "23" || offset[3:] > "59") {
		return time.Time{}, errShape
	}
	return t.UTC(), err
}

func isOutOfRange(err error) bool {
	failed, ok := errors.AsType[*time.ParseError](err)
	return ok && strings.HasSuffix(failed.Message, "out of range")
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
