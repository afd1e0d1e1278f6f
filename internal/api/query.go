package api

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/nfc"
)

// query reads the parameters of a request's address as an object reads the members of its body. Those that nobody asks for are let be: what
// stands between caller and service may add some.
type query struct {
	gift.Problems
	values url.Values
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
	switch values := q.values[name]; {
	case len(values) > 1:
		q.Add(name, "This parameter is given more than once.")
	case len(values) == 1:
		return nfc.String(values[0]) // as texts are stored
	}
	return ""
}

func (q *query) line(name string, limit int) string {
	s := q.text(name)
	if err := gift.CheckText(s, limit, true); err != nil {
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
	id, err := gift.ReadID(s)
	if err != nil {
		q.Add(name, "This must be a GUID such as 22222222-2222-2222-2222-222222222222.")
	}
	return id
}

func (q *query) instant(name string) (t time.Time) {
	if s := q.text(name); s != "" {
		var problem string
		if t, problem = parseInstant(s, false, 9999); problem != "" {
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
func (w *writer) nextCursor(list string, last gift.ID) {
	if last.IsZero() {
		w.null("nextCursor")
		return
	}
	w.nextCursorAt(list, last[:])
}

func (w *writer) nextCursorAt(list string, last []byte) {
	if last == nil {
		w.null("nextCursor")
		return
	}
	w.text("nextCursor", base64.RawURLEncoding.EncodeToString(append([]byte(list), last...)))
}
