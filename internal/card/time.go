package card

import (
	"strings"
	"time"

	"boon.example/internal/gift"
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

func validity(g *gift.Gift, zone *time.Location) string {
	from, until := g.ValidFrom, g.End()
	switch {
	case from.IsZero() && until.IsZero():
		return "This gift does not expire."
	case until.IsZero():
		return "Valid from " + moment(from, zone) + "; it does not expire."
	case from.IsZero():
		return "Valid until " + endOf(until, zone) + "."
	}
	return "Valid from " + moment(from, zone) + " until " + endOf(until, zone) + "."
}

// moment writes an instant for people: March 30, 2026, 8:00 PM (New York time).
func moment(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	return t.Format("January 2, 2006, 3:04 PM") + " (" + zoneName(t) + ")"
}

// endOf writes the instant at which something ends. Midnight is the end of the day before: nobody reads "until March
// 31, 12:00 AM" as what it is.
func endOf(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	if t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
		return "the end of " + t.Add(-time.Second).Format("January 2, 2006") + " (" + zoneName(t) + ")"
	}
	return moment(t, zone)
}

// zoneName names a time zone as people do: by its city, or, where the id has none, by its abbreviation.
func zoneName(t time.Time) string {
	id := t.Location().String()
	slash := strings.LastIndexByte(id, '/')
	if slash < 0 || strings.HasPrefix(id, "Etc/") || strings.ContainsAny(id[slash:], "0123456789") {
		return t.Format("MST")
	}
	return strings.ReplaceAll(id[slash+1:], "_", " ") + " time"
}
