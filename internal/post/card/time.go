package card

import (
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
)

// zoneOf is the zone in which the recipient is shown dates: that of the delivery, else the account's.
func zoneOf(g *gift.Gift, a *merchant.Account) *time.Location {
	if name := g.Card.DeliveryZone; name != "" && name != "Local" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone
		}
	}
	if a.Zone != nil {
		return a.Zone
	}
	return time.UTC
}

func validity(l *locale.Locale, g *gift.Gift, zone *time.Location) string {
	from, end := g.ValidFrom.In(zone), g.End().In(zone)
	switch {
	case from.IsZero() && end.IsZero():
		return l.Text("card.validity.always")
	case end.IsZero():
		return l.Text("card.validity.from", since(l, from))
	case from.IsZero():
		name, last := until(l, "card.validity.until", end)
		return l.Text(name, last)
	case midnight(from) && midnight(end):
		return l.Text("card.validity.days", l.Days(from, end.Add(-time.Second)))
	}
	name, last := until(l, "card.validity.period", end)
	return l.Text(name, since(l, from), last)
}

// until tells in which text, and in which words, an instant is named at which something ends. Midnight is the end of
// the day before: nobody reads "until March 31, 12:00 AM" as what it is, and the text is another one then.
func until(l *locale.Locale, name string, end time.Time) (text, last string) {
	if midnight(end) {
		return name + ".midnight", l.EndOfDay(end.Add(-time.Second))
	}
	return name, l.Moment(end)
}

// since names an instant at which something begins: midnight is the day that begins then.
func since(l *locale.Locale, from time.Time) string {
	if midnight(from) {
		return l.StartOfDay(from)
	}
	return l.Moment(from)
}

func midnight(t time.Time) bool { return t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 }
