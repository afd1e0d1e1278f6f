package card

import (
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/locale"
)

// zoneOf is the zone in which the recipient is shown dates: that of the delivery, else the account's.
func zoneOf(g *gift.Gift, a *gift.Account) *time.Location {
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
		return l.Text("card.validity.from", l.Moment(from))
	case from.IsZero():
		return until(l, "card.validity.until", end)
	}
	return until(l, "card.validity.period", end, l.Moment(from))
}

// until is a text whose last argument is the instant at which something ends. Midnight is the end of the day before:
// nobody reads "until March 31, 12:00 AM" as what it is, and the text has other words then.
func until(l *locale.Locale, name string, end time.Time, before ...any) string {
	if end.Hour() == 0 && end.Minute() == 0 && end.Second() == 0 {
		return l.Text(name+".midnight", append(before, l.EndOfDay(end.Add(-time.Second)))...)
	}
	return l.Text(name, append(before, l.Moment(end))...)
}
