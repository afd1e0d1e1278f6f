package wire

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"boon.example/internal/base/phrase"
)

var errZone = phrase.New("This is not a time zone such as America/New_York.")

// maxZone is longer than any zone id there is.
const maxZone = 64

// ParseZone reads a time zone: an IANA id, or a Windows id, which stands for the IANA id that CLDR maps it to. It
// gives the IANA id and the zone. The zones themselves come from the machine or from time/tzdata in the binary. The
// error is a sentence for the sender, with the zone that was probably meant.
func ParseZone(id string) (string, *time.Location, error) {
	if zone, ok := loadZone(id); ok {
		return id, zone, nil
	}
	iana := windowsZones[id]
	if zone, ok := loadZone(iana); ok {
		return iana, zone, nil
	}
	if meant := closestZone(id); meant != "" {
		return "", nil, phrase.New("This is not a time zone such as America/New_York; did you mean %s?", meant)
	}
	return "", nil, errZone
}

// areas are the first parts of the ids of zones that people live in.
var areas = []string{"Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"}

// closestZone finds the zone that a text was probably meant to be: one in other letter case, a city without its area,
// or a slip of the finger in one of the zones that CLDR maps to; "" when none is close.
func closestZone(text string) string {
	if len(text) > maxZone {
		return ""
	}
	text = titled(text)
	candidates := []string{text}
	if !strings.Contains(text, "/") {
		for _, area := range areas {
			candidates = append(candidates, area+"/"+text)
		}
	}
	for _, id := range candidates {
		if _, ok := loadZone(id); ok {
			return id
		}
	}
	if !strings.Contains(text, "/") {
		return ""
	}
	return Closest(text, slices.Sorted(maps.Values(windowsZones)))
}

// titled writes a text as ids of zones are written: new york is New_York.
func titled(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), " ", "_")
	begins := true
	return strings.Map(func(r rune) rune {
		begin := begins
		begins = r == '/' || r == '_' || r == '-'
		if begin {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, text)
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
