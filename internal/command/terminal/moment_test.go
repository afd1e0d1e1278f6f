package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	t.Parallel()
	here, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2026-11-22": "2026-11-21T23:00:00Z", "2026-07-22": "2026-07-21T22:00:00Z",
		"2026-11-22 18:00": "2026-11-22T17:00:00Z", "2026-11-22T18:00": "2026-11-22T17:00:00Z",
		"2026-11-22 18:00:30": "2026-11-22T17:00:30Z", "2026-11-22T18:00Z": "2026-11-22T18:00:00Z",
		"2026-11-22 18:00+09:00": "2026-11-22T09:00:00Z", "2026-11-22 18:00Z": "2026-11-22T18:00:00Z",
		"2026-11-22T18:00:00-05:00": "2026-11-22T23:00:00Z", "2026-11-22T18:00:00.5Z": "2026-11-22T18:00:00.5Z",
		"22.11.2026": "", "11/22/2026": "", "2026-11-31": "", "tomorrow": "", "": "",
	} {
		at, err := parseMoment(text, here)
		switch {
		case want == "" && (err == nil || !strings.Contains(err.Error(), "write a date such as 2026-11-22")):
			t.Errorf("%q is read as %v, %v", text, at, err)
		case want != "" && (err != nil || at.UTC().Format(time.RFC3339Nano) != want):
			t.Errorf("%q is read as %v, %v, want %s", text, at, err, want)
		}
	}
}
