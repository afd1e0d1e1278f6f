package wire

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// Zone is a time zone that people live in.
type Zone struct {
	ID      string // of IANA
	Country string // ISO 3166-1
}

// zoneTable is the ids and countries of zone.tab of the tz database, release 2025b, which is in the public domain:
//
//	awk '!/^#/{print $3, $1}' zone.tab | LC_ALL=C sort
//
//go:embed zones.txt
var zoneTable string

var zones = sync.OnceValue(func() (all []Zone) {
	for line := range strings.Lines(zoneTable) {
		id, country, _ := strings.Cut(strings.TrimSpace(line), " ")
		all = append(all, Zone{id, country})
	}
	return all
})

// Zones are the time zones that people live in, in the order of their ids. ParseZone takes more: old ids, and those of
// Windows.
func Zones() []Zone { return slices.Clone(zones()) }

// CountryOfZone is the country that a time zone is of, by its ISO 3166-1 code; "": that cannot be told, as of UTC.
func CountryOfZone(id string) string {
	iana, _, err := ParseZone(id)
	at := slices.IndexFunc(zones(), func(z Zone) bool { return z.ID == iana })
	if err != nil || at < 0 {
		return ""
	}
	return zones()[at].Country
}
