package api

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"boon.example/internal/gift"
)

// query reads the parameters of a request's address as an object reads the members of its body.
type query struct {
	gift.Problems
	values url.Values
	asked  []string
}

func (c *call) query() *query {
	q := &query{}
	var err error
	if q.values, err = url.ParseQuery(c.r.URL.RawQuery); err != nil {
		q.Add("", "The query of this address cannot be read.")
	}
	return q
}

// text gives a parameter, "" when it is absent.
func (q *query) text(name string) string {
	q.asked = append(q.asked, name)
	switch values := q.values[name]; {
	case len(values) > 1:
		q.Add(name, "This parameter is given more than once.")
	case len(values) == 1 && values[0] == "":
		q.Add(name, "This parameter is empty; leave it out.")
	case len(values) == 1:
		return norm.NFC.String(values[0]) // as texts are stored
	}
	return ""
}

func (q *query) line(name string, limit int) string {
	s := q.text(name)
	if err := gift.CheckText(s, limit, false); err != nil {
		q.Add(name, "%s", err)
	}
	return s
}

func (q *query) guid(name string) (id gift.ID) {
	if s := q.text(name); s != "" {
		id = q.parseID(name, s)
	}
	return id
}

func (q *query) parseID(name, s string) gift.ID {
	id, err := gift.ParseID(s)
	if err != nil {
		q.Add(name, "This must be a GUID such as 22222222-2222-2222-2222-222222222222.")
	}
	return id
}

func (q *query) instant(name string) (t time.Time) {
	if s := q.text(name); s != "" {
		var problem string
		if t, problem = parseInstant(s, 9999); problem != "" {
			if strings.Contains(s, " ") {
				problem += " In an address the + of an offset is written %2B."
			}
			q.Add(name, "%s", problem)
		}
	}
	return t
}

// The number of elements of a page.
const (
	defaultLimit = 50
	maxLimit     = 200
)

func (q *query) limit() int {
	s := q.text("limit")
	if s == "" {
		return defaultLimit
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxLimit || strconv.Itoa(n) != s {
		q.Add("limit", "The limit must be a whole number from 1 to %d.", maxLimit)
	}
	return n
}

// cursor reads where a page begins, as writer.nextCursor wrote it; nil for the first page.
func (q *query) cursor(list string, length int) []byte {
	s := q.text("cursor")
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

// nextCursor writes where the next page begins; nil where there is none. A cursor names the last element of its page, so that
// it stays right while elements are added.
func (w *writer) nextCursor(list string, last []byte) {
	if last == nil {
		w.null("nextCursor")
		return
	}
	w.text("nextCursor", base64.RawURLEncoding.EncodeToString(append([]byte(list), last...)))
}

// finish refuses the parameters that nobody asked for, and gives the verdict.
func (q *query) finish() error {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		if slices.Contains(q.asked, name) {
			continue
		}
		if close := gift.Closest(name, q.asked); close != "" {
			q.Add(shorten(name), "There is no such parameter; did you mean %s?", close)
		} else {
			q.Add(shorten(name), "There is no such parameter here.")
		}
	}
	return q.Err()
}
