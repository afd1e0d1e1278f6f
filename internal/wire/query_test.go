package wire

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestDaysAndInstants: where a day or an instant is taken, who writes neither is told of both.
func TestDaysAndInstants(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2026-11-30":                "2026-12-01T05:00:00Z",
		"2026-11-30T17:00:00Z":      "2026-11-30T17:00:00Z",
		"2026-11-30T17:00:00-05:00": "2026-11-30T22:00:00Z",
		"yesterday":                 "a day such as 2026-11-30, or a date-time",
		"30.11.2026":                "a day such as 2026-11-30, or a date-time",
		"2026-11-31":                "no such day",
		"2026-11-30T17:00:00 05:00": "%2B",
	} {
		q := ReadQuery("at=" + url.QueryEscape(text))
		got, told := q.DayOrInstant("at", zone, true).Format(time.RFC3339), ""
		if err := q.Err(); err != nil {
			told = err.Error()
		}
		if got != want && !strings.Contains(told, want) {
			t.Errorf("%q is read as %s, %s", text, got, told)
		}
	}
}
