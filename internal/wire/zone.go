package wire

import (
	"errors"
	"strings"
	"time"
)

var errZone = errors.New("This is not a time zone such as America/New_York.")

// maxZone is longer than any zone id there is.
const maxZone = 64

// ParseZone reads a time zone: an IANA id, or a Windows id, which stands for the IANA id that CLDR maps it to. It
// gives the IANA id and the zone. The zones themselves come from the machine or from time/tzdata in the binary. The
// error is a sentence for the sender.
func ParseZone(id string) (string, *time.Location, error) {
	if zone, ok := loadZone(id); ok {
		return id, zone, nil
	}
	iana := windowsZones[id]
	if zone, ok := loadZone(iana); ok {
		return iana, zone, nil
	}
	return "", nil, errZone
}

// loadZone loads only what has the shape of an IANA id. That keeps out paths, the machine's own zone, and what lies
// beside the zones on some machines but not on others: those files have lower-case names, such as right/… with its
// leap seconds.
func loadZone(id string) (*time.Location, bool) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if id == "" || len(id) > maxZone || id == "Local" || id == "Factory" || id[0] < 'A' || id[0] > 'Z' ||
		strings.Trim(id, letters+"0123456789_+-/") != "" || strings.Contains(id, "//") {
		return nil, false
	}
	zone, err := time.LoadLocation(id)
	return zone, err == nil
}
