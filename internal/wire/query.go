package wire

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/base/normalize"
	"boon.example/internal/base/phrase"
	"boon.example/internal/calendar"
	"boon.example/internal/contact"
	"boon.example/internal/guid"
)

// Query reads the parameters of a request's address as an object reads the members of its body. Those that nobody
// asks for are let be: what stands between caller and service may add some.
type Query struct {
	Problems
	values url.Values
}

// ReadQuery takes the query of an address apart.
func ReadQuery(raw string) *Query {
	q := &Query{}
	var err error
	if q.values, err = url.ParseQuery(raw); err != nil {
		q.Add("", "The query of this address cannot be read.")
	}
	return q
}

// Names are the parameters that the address has, sorted.
func (q *Query) Names() []string { return slices.Sorted(maps.Keys(q.values)) }

// Given reports whether the address has a parameter, be it empty.
func (q *Query) Given(name string) bool { return q.values.Has(name) }

// Text gives a parameter, "" when it is absent.
func (q *Query) Text(name string) string {
	switch values := q.values[name]; {
	case len(values) > 1:
		q.Add(name, "This parameter is given more than once.")
	case len(values) == 1:
		return normalize.String(values[0]) // as texts are stored
	}
	return ""
}

// Line reads a text of at most limit characters.
func (q *Query) Line(name string, limit int) string {
	s := q.Text(name)
	if err := contact.CheckText(s, limit, true); err != nil {
		q.Add(name, "%s", err)
	}
	return s
}

// GUID reads a GUID.
func (q *Query) GUID(name string) (id guid.ID) {
	if s := q.Text(name); s != "" {
		id = q.ParseID(name, s)
	}
	return id
}

// ParseID reads a GUID that stands elsewhere in the address.
func (q *Query) ParseID(name, s string) guid.ID {
	id, err := guid.Read(s)
	if err != nil {
		q.Add(name, "This must be a GUID such as 22222222-2222-2222-2222-222222222222.")
	}
	return id
}

// Instant reads a date-time that says where it stands.
func (q *Query) Instant(name string) (t time.Time) {
	if s := q.Text(name); s != "" {
		var problem error
		if t, problem = parseInstant(s, false, 9999); problem != nil {
			if strings.Contains(s, " ") {
				problem = phrase.New("%s In an address the + of an offset is written %%2B.", problem)
			}
			q.Add(name, "%s", problem)
		}
	}
	return t
}

// DayOrInstant reads a date-time, or a date: that is the midnight in the zone with which the day begins or, with end,
// ends.
func (q *Query) DayOrInstant(name string, zone *time.Location, end bool) time.Time {
	s := q.Text(name)
	switch {
	// a + that was not written as %2B has become a space: Instant says so
	case s != "" && !calendarDate.MatchString(s) && !dateTime.MatchString(strings.ReplaceAll(s, " ", "+")):
		q.Add(name, "This must be a day such as 2026-11-30, or a date-time such as 2026-11-30T17:00:00Z.")
		return time.Time{}
	case !calendarDate.MatchString(s):
		return q.Instant(name)
	}
	day, err := time.Parse(time.DateOnly, s)
	switch {
	case err != nil:
		q.Add(name, "There is no such day.")
		return time.Time{}
	case day.Year() < firstYear:
		q.Add(name, "The year must be from %d.", firstYear)
		return time.Time{}
	case end:
		day = day.AddDate(0, 0, 1)
	}
	return calendar.FromWall(day, zone).UTC()
}

// The number of elements of a page.
const (
	defaultLimit = 50
	maxLimit     = 200
)

// Limit reads the number of elements of a page.
func (q *Query) Limit() int { return q.LimitTo(defaultLimit, maxLimit) }

// LimitTo reads the number of elements of a page that may be so long, or is as long as usual.
func (q *Query) LimitTo(usual, most int) int {
	s := q.Text("limit")
	if s == "" {
		return usual
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most || strconv.Itoa(n) != s {
		q.Add("limit", "The limit must be a whole number from 1 to %d.", most)
	}
	return n
}

// Cursor reads where a page begins, as Writer.NextCursor wrote it; nil for the first page.
func (q *Query) Cursor(list string, length int) []byte {
	s := q.Text("cursor")
	if s == "" {
		return nil
	}
	at, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(at) != len(list)+length || string(at[:len(list)]) != list {
		q.Add("cursor", "This is not a cursor that this list gave out as nextCursor.")
		return nil
	}
	return at[len(list):]
}

// NextCursor writes where the next page begins; nil where there is none. A cursor names the last element of its page,
// so that it stays right while elements are added.
func (w *Writer) NextCursor(list string, last guid.ID) {
	if last.IsZero() {
		w.Null("nextCursor")
		return
	}
	w.NextCursorAt(list, last[:])
}

// NextCursorAt is NextCursor for elements without an ID.
func (w *Writer) NextCursorAt(list string, last []byte) {
	if last == nil {
		w.Null("nextCursor")
		return
	}
	w.Text("nextCursor", CursorText(list, last))
}

// CursorText is a cursor as Query.Cursor reads it.
func CursorText(list string, last []byte) string {
	return base64.RawURLEncoding.EncodeToString(append([]byte(list), last...))
}
