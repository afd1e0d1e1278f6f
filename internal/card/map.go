package card

import (
	"net/url"
	"slices"
	"strings"

	"boon.example/internal/gift"
)

// Place is a location at which a gift can be used.
type Place struct {
	Name string
	Map  string // the address of a search for it on a map, which says nothing of the gift
}

// mapSearch is a map that anybody may link to, and that takes no note of who comes.
const mapSearch = "https://www.openstreetmap.org/search?query="

// mapOf is the search for a location: the merchant, its name, and the region it lies in, from the nearest to the
// farthest, as addresses are written: US-CA is CA, US.
func mapOf(merchant string, l *gift.Location) string {
	region := strings.Split(l.Jurisdiction, "-")
	slices.Reverse(region)
	if strings.ContainsAny(region[0], "0123456789") {
		region = region[1:] // a number, which no map knows
	}
	words := slices.DeleteFunc(append([]string{merchant, Line(l.Name)}, region...), func(s string) bool { return s == "" })
	return mapSearch + url.QueryEscape(strings.Join(words, ", "))
}
