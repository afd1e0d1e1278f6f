package intake

import (
	"time"

	"boon.example/internal/base/phrase"
)

// oldest is how many years ago the gifts of an import may begin in the books. The instant is that of the old system's
// last report: nobody closes a shop's till system of before then today, but a year is mistyped, and programs give 1970
// where they have no time. Each day since then is closed anew.
const oldest = 30

// WrongAsOf says why gifts cannot begin at an instant in the books; nil: they can.
func WrongAsOf(at, now time.Time) *phrase.Phrase {
	switch {
	case at.IsZero():
		return nil
	case at.After(now):
		return phrase.New("This is in the future.")
	case at.Before(now.AddDate(-oldest, 0, 0)):
		return phrase.New("This is more than %d years ago. Give the instant of the old system's last report.", oldest)
	}
	return nil
}

// longAgo warns of an instant that is rarely meant: the books of years that are over change.
func longAgo(o *Order, at, now time.Time) *phrase.Phrase {
	if !at.Before(now.AddDate(-1, 0, 0)) {
		return nil
	}
	return phrase.New("The gifts begin in the books on %s, which is more than a year ago. All reports and journals since "+
		"then change. If the old system's last report is of another day, give that day.",
		at.In(zoneOf(o.Account)).Format(time.DateOnly))
}
